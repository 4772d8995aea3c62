"""Scores of rows so far from every class that squared distances overflow."""

from typing import Any

import numpy as np

from tractable.arrays.special import gammaln
from tractable.classification.naive_bayes.columns import NaiveColumns, some_columns
from tractable.classification.naive_bayes.model import FittedColumns
from tractable.primitives.naive_bayes import category_scores, diagonal_scores
from tractable.smoothing import WINDOWS, check_window

__all__ = ["LogScores", "far_scores", "nearest"]


def far_scores(x: np.ndarray, means: np.ndarray, scales: np.ndarray, constants: np.ndarray) -> np.ndarray:
    """Return c_k - ½ Σ_j ((x_j - μ_kj) s_kj)² less what the nearest class has of the squares, (n, K).

    Distances z are compared as (z_k - z_m)(z_k + z_m), in units in which nothing overflows, so that classes
    that share s differ by their means alone. Only what they differ by may be too large to be told: such
    classes have -inf beside the one that is nearest.

    Parameters
    ----------
    x : array (n, d)
        NaN of a column that is missing.
    means : array (n, K, d)
    scales : array (K, d)
        Reciprocals of standard deviations.
    constants : array (n, K)
        All else that is known of the classes; -inf of those that cannot be.

    Examples
    --------
    >>> x, means, scales = np.array([[1e200]]), np.array([[[1.0], [2.0]]]), np.array([[3.0], [3.0]])
    >>> far_scores(x, means, scales, np.zeros((1, 2))).tolist()
    [[-9e+200, 0.0]]
    """
    missing = np.isnan(x)
    x = np.where(missing, 0.0, x)
    unit, high = np.max(np.abs(x), axis=1, keepdims=True), float(scales.max())
    unit = np.where(unit > 0, unit, 1.0)
    u, s = x / unit, scales / high
    m = np.where(missing[:, None, :], 0.0, means / unit[:, :, None])

    def farther(k: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return z_k² - z_b², summed over columns, in units; a class a row each."""
        (mk, sk), (mb, sb) = ((m[np.arange(len(x)), c], s[c]) for c in (k, b))
        return np.sum((u * (sk - sb) - (mk * sk - mb * sb)) * ((u - mk) * sk + (u - mb) * sb), axis=1)

    n, K = constants.shape
    possible = ~np.isneginf(constants)
    best = np.argmax(possible, axis=1)
    for k in range(K):
        own = np.full(n, k)
        best = np.where(possible[:, k] & (farther(own, best) < 0), own, best)
    found = np.array(constants)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(K):
            more = 0.5 * farther(np.full(n, k), best)
            squares = more * unit[:, 0] * high * unit[:, 0] * high
            found[:, k] -= np.where((more == 0.0) | ~possible[:, k], 0.0, squares)
    return found


def nearest(x: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the nearest of sorted points to each x."""
    place = np.clip(np.searchsorted(points, x), 1, max(len(points) - 1, 1))
    below, above = points[place - 1], points[np.minimum(place, len(points) - 1)]
    return np.where(np.abs(x - below) <= np.abs(x - above), below, above)


LOG_2PI = float(np.log(2.0 * np.pi))


class LogScores:
    """log p(x, C_k) of blocks of rows, what depends on the classes alone being prepared once.

    Where scores are `relative` they may lack what all classes say alike, which probabilities do not need.
    """

    def __init__(
        self, fitted: FittedColumns, layout: NaiveColumns, log_prior: np.ndarray, *, relative: bool
    ) -> None:
        self.fitted, self.log_prior, self.relative = fitted, log_prior, relative
        self.n_classes = len(log_prior)
        self.categorical, self.bernoulli = layout.where("categorical"), layout.where("bernoulli")
        kernels = layout.where("kernel").tolist()
        self.samples = [j for j in kernels if _is_gaussian(fitted.parts[j])]
        told = {*self.categorical.tolist(), *self.bernoulli.tolist(), *self.samples}
        self.others = [j for j, part in enumerate(fitted.parts) if part is not None and j not in told]
        with np.errstate(divide="ignore"):
            self._prepare()

    def _prepare(self) -> None:
        stddevs = np.sqrt(self.fitted.variance)
        self.scales, self.log_norms = 1.0 / stddevs, -np.log(stddevs) - 0.5 * LOG_2PI
        tables = [
            np.vstack([np.log(self.fitted.parts[j].probabilities).T, self.fitted.log_unseen[:, j]])
            for j in self.categorical
        ]
        self.tables = np.vstack(tables) if tables else np.zeros((0, self.n_classes))
        self.starts = np.cumsum([0, *(len(table) for table in tables)])[:-1]
        p = self.fitted.probability
        self.log_yes, self.log_no = np.log(p), np.log1p(-p)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return log p(x, C_k), (n, K); missing entries (NaN) say nothing."""
        fitted = self.fitted
        if len(fitted.normal):
            block = some_columns(x, fitted.normal)
            found = diagonal_scores(block, fitted.mean, self.scales, self.log_norms)
        else:
            found = np.zeros((len(x), self.n_classes))
        self._add_parts(found, x, self.samples)
        self._add_finite(found, x)
        distances = len(fitted.normal) + len(self.samples)
        if self.relative and distances and np.isneginf(found[:, 0]).any():
            lost = np.all(np.isneginf(found), axis=1)
            if lost.any():
                found[lost] = self._far(np.asarray(x[lost], dtype=np.float64))
        return found

    def _add_finite(self, found: np.ndarray, x: np.ndarray) -> None:
        """Add what other columns than those of squared distances say, and what is known before."""
        found += self.log_prior
        if len(self.categorical):
            found += category_scores(some_columns(x, self.categorical), self.tables, self.starts)
        if len(self.bernoulli):
            found += self._yes_or_no(some_columns(x, self.bernoulli))
        if len(self.fitted.counted):
            found += self._counts(some_columns(x, self.fitted.counted))
        self._add_parts(found, x, self.others)

    def _add_parts(self, found: np.ndarray, x: np.ndarray, where: list[int]) -> None:
        for j in where:
            seen = ~np.isnan(x[:, j])
            found[seen] += self.fitted.parts[j].log_prob(np.asarray(x[seen, j], dtype=np.float64)[:, None])

    def _far(self, x: np.ndarray) -> np.ndarray:
        """Return scores where all squared distances overflow; a smoothed sample is then its nearest point."""
        normal = x[:, self.fitted.normal]
        constants = (~np.isnan(normal)).astype(np.float64) @ self.log_norms.T
        means = [np.broadcast_to(self.fitted.mean, (len(x), *self.fitted.mean.shape))]
        scales = [self.scales]
        for j in self.samples:
            members = self.fitted.parts[j].members
            points = [np.sort(np.asarray(member.points, dtype=np.float64)) for member in members]
            h = np.array([float(np.ravel(member.bandwidth)[0]) for member in members])
            means.append(np.stack([nearest(x[:, j], p) for p in points], axis=1)[:, :, None])
            scales.append(1.0 / h[:, None])
            constants -= np.where(np.isnan(x[:, j, None]), 0.0, np.log(h))
        self._add_finite(constants, x)
        seen = np.concatenate([normal, x[:, self.samples]], axis=1)
        return far_scores(seen, np.concatenate(means, axis=2), np.concatenate(scales, axis=1), constants)

    def _yes_or_no(self, x: np.ndarray) -> np.ndarray:
        yes, no = self.log_yes, self.log_no
        if np.all(np.isfinite(yes)) and np.all(np.isfinite(no)):
            found = x @ (yes - no).T + no.sum(axis=1)
            if np.all(np.isfinite(found)):  # nothing is missing
                return found
        codes = np.stack([no, yes], axis=-1).reshape(self.n_classes, -1).T
        return category_scores(x, codes, 2 * np.arange(x.shape[1]))

    def _counts(self, x: np.ndarray) -> np.ndarray:
        """Return Σ_j x_j log r_kj - r_kj - log x_j!, told about the rates that classes have on average."""
        rates = self.fitted.rate
        usual = rates.mean(axis=0)
        usual = np.where(usual > 0, usual, 1.0)
        with np.errstate(divide="ignore"):
            times = np.log(rates / usual)
        never = np.isinf(times)
        finite = np.where(never, 0.0, times)
        found = x @ finite.T
        if np.all(np.isfinite(found)):
            found += (usual - rates).sum(axis=1)
        else:
            seen = ~np.isnan(x)
            found = np.where(seen, x, 0.0) @ finite.T + seen.astype(np.float64) @ (usual - rates).T
        if np.any(never):
            found[(x > 0).astype(np.float64) @ never.T.astype(np.float64) > 0] = -np.inf
        return found if self.relative else found + self._common(x, usual)[:, None]

    @staticmethod
    def _common(x: np.ndarray, usual: np.ndarray) -> np.ndarray:
        """Return what all classes say alike."""
        x = np.asarray(x, dtype=np.float64)
        return np.nansum(x * np.log(usual) - usual - gammaln(x + 1.0), axis=1)


def _is_gaussian(part: Any) -> bool:
    return all(check_window(member.window) is WINDOWS["gaussian"] for member in part.members)
