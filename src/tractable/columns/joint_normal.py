"""Normal columns that depend on each other, x | k ~ N(μ_k, Σ_k), some of whose entries are missing."""

from collections.abc import Iterator

import numpy as np

from tractable.arrays import log_det_cholesky
from tractable.arrays.log_space import LOG_2PI
from tractable.columns.membership import Responsibilities
from tractable.columns.normal import NormalPrior
from tractable.covariance import Full
from tractable.primitives.em import PatternRows
from tractable.statistics import Moments
from tractable.value import value


@value
class JointNormalScores:
    """log N(z_o | μ_k, Σ_k) of the observed entries of rows, (n, K); 0 of rows without any.

    All components at once: blocks of a table are small, and a call for each would take longer.
    """

    mean: np.ndarray  # (K, p)
    covariance: np.ndarray  # (K, p, p)

    def __call__(self, rows: PatternRows) -> np.ndarray:
        """Return the scores of rows that are grouped by which entries are observed."""
        found = np.zeros((rows.n_rows, len(self.mean)))
        for o, where, z in _by_pattern(rows):
            if len(o):
                lower, whitener = factors(self.covariance[:, o[:, None], o])
                white = whitener @ (z - self.mean[:, None, o]).transpose(0, 2, 1)
                constants = log_det_cholesky(lower) + len(o) * LOG_2PI
                found[where] = -0.5 * (np.einsum("kon,kon->nk", white, white) + constants)
        return found


def joint_moments(rows: PatternRows, membership: Responsibilities, about: JointNormalScores) -> Moments:
    """Return weight, mean and scatter (K, p, p) of the rows of each component, missing entries expected.

    Given the parameters `about` and the gain G = Σ_mo Σ_oo⁻¹, the missing entries of a row are
    μ_m + G (z_o - μ_o) on average, with the covariance Σ_mm - G Σ_om.
    """
    mean, covariance = about.mean, about.covariance
    first, second = np.zeros_like(mean), np.zeros_like(covariance)
    p = mean.shape[1]
    for o, where, z in _by_pattern(rows):
        m = np.setdiff1d(np.arange(p), o)
        mine = membership.values[where].T  # (K, rows)
        step = z - mean[:, None, o]  # (K, rows, o)
        weighted = mine[:, :, None] * step
        if not len(m):
            first += weighted.sum(axis=1)
            second += weighted.transpose(0, 2, 1) @ step
            continue
        spread = np.zeros((len(mean), p, len(o)))  # from the observed entries to all
        spread[:, o, np.arange(len(o))] = 1.0
        if len(o):
            gain = np.linalg.solve(covariance[:, o[:, None], o], covariance[:, o[:, None], m])  # (K, o, m)
            spread[:, m] = gain.transpose(0, 2, 1)
        left = covariance[:, m[:, None], m] - spread[:, m] @ covariance[:, o[:, None], m]
        second[:, m[:, None], m] += mine.sum(axis=1)[:, None, None] * left
        first += (spread @ weighted.sum(axis=1)[:, :, None])[:, :, 0]
        second += spread @ (weighted.transpose(0, 2, 1) @ step) @ spread.transpose(0, 2, 1)
    weight = membership.total
    step = first / np.where(weight > 0, weight, 1.0)[:, None]
    scatter = second - weight[:, None, None] * step[:, :, None] * step[:, None, :]
    return Moments(weight=weight, mean=mean + step, scatter=scatter)


def joint_estimate(sums: Moments, prior: NormalPrior) -> tuple[np.ndarray, np.ndarray]:
    """Return means and covariances (S + n added + Ψ) / (n + ν), of matrices S and Ψ."""
    weight = np.asarray(sums.weight)[:, None, None]
    covariance = sums.scatter / np.where(weight > 0, weight, 1.0)
    covariance = 0.5 * (covariance + covariance.transpose(0, 2, 1)) + np.diag(prior.added)
    if prior.weight:
        covariance = (weight * covariance + prior.scatter) / (weight + prior.weight)
    mean = np.where(weight[:, :, 0] > 0, sums.mean, prior.mean)
    return mean, np.where(weight + prior.weight > 0, covariance, prior.variance)


def _by_pattern(rows: PatternRows) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield which columns each pattern observes, the positions of its rows, and their entries."""
    for i, mask in enumerate(rows.masks):
        o, (a, b) = np.flatnonzero(mask), rows.begins[i : i + 2]
        entries = rows.flat[rows.starts[i] : rows.starts[i] + (b - a) * len(o)]
        yield o, rows.order[a:b], entries.reshape(b - a, len(o))


def factors(covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower Cholesky factors L of covariances (K, d, d), and W = L⁻¹, which whitens."""
    try:
        lower = np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError:
        lower = Full.jittered(covariances).cholesky
    return lower, np.linalg.inv(lower)
