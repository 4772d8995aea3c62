"""Maximum likelihood of Gaussians from rows with missing entries: EM on the statistic, without the rows.

One Gaussian, or several with one covariance (the classes of a linear discriminant). Patterns of observed
columns are worked on side by side, as stacks of matrices.
"""

from collections.abc import Sequence
from math import log, pi

import numpy as np

from tractable.arrays import jittered_cholesky
from tractable.arrays.linalg import diagonals, inv_triangular, symmetrize, try_cholesky
from tractable.data import Whole
from tractable.engines.em import EMResult, em, squared_extrapolation
from tractable.statistics import DiagonalMoments, IncompleteMoments, Moments, Standardizer
from tractable.value import value

#: Entries of the matrices of a stack, so that they stay in cache; one matrix may have more.
ENTRIES = 2**15


@value
class SharedGaussians:
    """Gaussians with one covariance."""

    means: np.ndarray  # (K, d)
    covariance: np.ndarray  # (d, d)


@value
class CompletedMoments:
    """Expected moments of the completed rows of each Gaussian, and the observed-data log-likelihood."""

    moments: tuple[Moments, ...]
    objective: float


@value
class PatternStack:
    """Moments of P patterns with at most k observed columns each, as arrays.

    Where fewer are observed, missing columns make up for them: their moments are zero.
    """

    columns: np.ndarray  # (P, k), the observed ones first
    observed: np.ndarray  # (P, k), which of these are
    missing: np.ndarray  # (P, d), which of all columns are not
    weight: np.ndarray  # (P,)
    mean: np.ndarray  # (P, k)
    scatter: np.ndarray | None  # (P, k, k); None where all are zero, as those of single rows

    @classmethod
    def of(
        cls, parts: Sequence[tuple[tuple[int, ...], Moments]], standardizer: Standardizer
    ) -> "PatternStack":
        """Lay out the standardized moments of patterns, the last of which has most columns."""
        P, k, d = len(parts), len(parts[-1][0]), len(standardizer.shift)
        missing = np.ones((P, d), dtype=bool)
        mean, scatter = np.zeros((P, k)), np.zeros((P, k, k)) if parts[-1][1].scatter.any() else None
        for p, (seen, part) in enumerate(parts):
            missing[p, list(seen)] = False
            mean[p, : len(seen)] = part.mean
            if scatter is not None:
                scatter[p, : len(seen), : len(seen)] = part.scatter
        columns = np.argsort(missing, axis=1, kind="stable")[:, :k]
        observed = ~np.take_along_axis(missing, columns, axis=1)
        own = standardizer[columns]
        return cls(
            columns=columns,
            observed=observed,
            missing=missing,
            weight=np.array([float(part.weight) for _, part in parts]),
            mean=np.where(observed, own.transform(mean), 0.0),
            scatter=None if scatter is None else scatter * own.scale[:, :, None] * own.scale[:, None, :],
        )

    def completed(self, mean: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Return Σ E[x - m], Σ (E[(x - m)(x - m)ᵀ] - Σ_mm) and Σ log p(x_o), over the rows of all patterns.

        With Σ_oo = L Lᵀ, W = L⁻¹, V = W Σ_om and y = W (x_o - m_o), the missing entries have the expectation
        m_m + Vᵀ y and the covariance Σ_mm - Vᵀ V.
        """
        k, d = self.columns.shape[1], len(mean)
        rows = covariance[self.columns]
        own = covariance.take(d * self.columns[:, :, None] + self.columns[:, None, :])
        # A missing column is independent of the others, and has variance one.
        lower = _factors(np.where(self.observed[:, :, None] & self.observed[:, None, :], own, np.eye(k)))
        W = inv_triangular(lower)
        V = W @ np.where(self.observed[:, :, None] & self.missing[:, None, :], rows, 0.0)
        step = np.where(self.observed, self.mean - mean[self.columns], 0.0)
        y = (W @ step[:, :, None])[:, :, 0]
        expected = (y[:, None, :] @ V)[:, 0]
        expected[~self.missing] = step[self.observed]

        log_norm = 2.0 * np.log(diagonals(lower)).sum(axis=1) + log(2.0 * pi) * self.observed.sum(axis=1)
        distance = self.weight @ (log_norm + (y * y).sum(axis=1))
        weighted = self.weight[:, None] * expected
        products = expected.T @ weighted - _sum_of_products(V, self.weight[:, None, None] * V)
        if self.scatter is not None:
            # E[x - m] of rows about their mean is Tᵀ times their observed entries, (W V)ᵀ and ones.
            T = W.swapaxes(1, 2) @ V
            np.put_along_axis(T, self.columns[:, :, None], self.observed[:, :, None], axis=2)
            products += _sum_of_products(T, self.scatter @ T)
            distance += np.sum(W * (W @ self.scatter))
        return weighted.sum(axis=0), products, -0.5 * float(distance)


@value
class PatternMoments:
    """The standardized moments of rows with missing entries, laid out for the E-step."""

    stacks: tuple[PatternStack, ...]
    weight: float  # of the rows in which something is observed
    both_missing: np.ndarray  # (d, d), weight of the rows in which two columns are missing

    @classmethod
    def of(cls, statistic: IncompleteMoments, standardizer: Standardizer) -> "PatternMoments":
        """Sort the patterns by their numbers of columns, so that little of a stack is filled up."""
        # A row in which nothing was observed counts for nothing.
        parts = [part for part in statistic.parts.items() if part[0]]
        spread, single = (
            [p for p in parts if p[1].scatter.any()],
            [p for p in parts if not p[1].scatter.any()],
        )
        stacks = [PatternStack.of(cut, standardizer) for each in (spread, single) for cut in _cut(each)]
        return cls(
            stacks=tuple(stacks),
            weight=float(sum(stack.weight.sum() for stack in stacks)),
            both_missing=sum(
                (stack.missing.T @ (stack.weight[:, None] * stack.missing) for stack in stacks),
                np.zeros((statistic.dim, statistic.dim)),
            ),
        )

    def completed(self, mean: np.ndarray, covariance: np.ndarray) -> tuple[Moments, float]:
        """Return the expected moments of the completed rows, and their observed-data log-likelihood."""
        first, second = np.zeros(len(mean)), self.both_missing * covariance
        log_likelihood = 0.0
        for stack in self.stacks:
            sums, products, more = stack.completed(mean, covariance)
            first, second, log_likelihood = first + sums, second + products, log_likelihood + more
        step = first / (self.weight or 1.0)
        scatter = symmetrize(second - first[:, None] * step)
        return Moments(weight=self.weight, mean=mean + step, scatter=scatter), log_likelihood


@value
class CompletionStep:
    """The E-step: every pattern's moments completed by the conditional Gaussian of the missing entries."""

    params: SharedGaussians

    def __call__(self, parts: Sequence[PatternMoments]) -> CompletedMoments:
        pairs = zip(self.params.means, parts, strict=True)
        found = [part.completed(mean, self.params.covariance) for mean, part in pairs]
        return CompletedMoments(moments=tuple(m for m, _ in found), objective=sum(each for _, each in found))


def maximize(completed: CompletedMoments) -> SharedGaussians:
    """Return the M-step: each mean, and the covariance of all rows about their means."""
    scatter = sum(m.scatter for m in completed.moments)
    weight = sum(float(m.weight) for m in completed.moments)
    return SharedGaussians(means=np.stack([m.mean for m in completed.moments]), covariance=scatter / weight)


def extrapolate(
    start: SharedGaussians, once: SharedGaussians, twice: SharedGaussians
) -> SharedGaussians | None:
    """Return parameters farther along two steps of EM, or None; see `squared_extrapolation`.

    EM takes hundreds of steps where much is missing.
    """
    found = squared_extrapolation(*(np.vstack([p.means, p.covariance]).ravel() for p in (start, once, twice)))
    if found is None:
        return None
    K, d = twice.means.shape
    means, covariance = np.split(found.reshape(K + d, d), [K])
    varies = np.diagonal(twice.covariance) > 0.0
    if not try_cholesky(np, covariance[varies][:, varies])[1]:
        return None
    return SharedGaussians(means=means, covariance=covariance)


def fit_incomplete(
    parts: Sequence[IncompleteMoments], *, tol: float, max_iter: int
) -> tuple[list[Moments], EMResult]:
    """Return the expected moments of each Gaussian at the maximum of the observed-data likelihood.

    Every column must have been observed in the rows of each Gaussian. The search runs on standardized
    columns, so that their units and origin do not matter.
    """
    columns = [part.columns() for part in parts]
    weight, scatter = sum(w for w, _, _ in columns), sum(s for _, _, s in columns)
    within = DiagonalMoments(
        weight=weight, mean=columns[0][1], scatter=scatter, total=np.max(weight), unseen=0.0
    )
    standardizer = Standardizer.from_moments(within)
    data = Whole(value=tuple(PatternMoments.of(part, standardizer) for part in parts))
    start = SharedGaussians(
        means=standardizer.transform(np.stack([mean for _, mean, _ in columns])),
        covariance=np.diag(np.where(standardizer.varies, 1.0, 0.0)),
    )
    result = em(
        _step,
        maximize,
        start,
        data,
        tol=tol,
        max_iter=max_iter,
        label="EM over missing values",
        extrapolate=extrapolate,
    )
    width = 1.0 / standardizer.scale
    return [
        Moments(
            weight=m.weight,
            mean=standardizer.inverse_transform(m.mean),
            scatter=m.scatter * width[:, None] * width,
        )
        for m in data.reduce(_step(result.params)).moments
    ], result


def _step(params: SharedGaussians) -> CompletionStep:
    return CompletionStep(params=params)


def _cut(
    parts: list[tuple[tuple[int, ...], Moments]],
) -> list[list[tuple[tuple[int, ...], Moments]]]:
    """Return patterns in order of their numbers of columns, cut so that a stack has at most `ENTRIES`."""
    cuts: list[list[tuple[tuple[int, ...], Moments]]] = []
    for part in sorted(parts, key=lambda part: len(part[0])):
        if not cuts or (len(cuts[-1]) + 1) * len(part[0]) ** 2 > ENTRIES:
            cuts.append([])
        cuts[-1].append(part)
    return cuts


def _sum_of_products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return Σ_p a_pᵀ b_p of stacks of matrices, as one product."""
    return a.reshape(-1, a.shape[2]).T @ b.reshape(-1, b.shape[2])


def _factors(matrices: np.ndarray) -> np.ndarray:
    """Return the factors of covariances, with jitter where they are singular."""
    try:
        return np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        lower, _ = try_cholesky(np, matrices)
        singular = np.isnan(lower[:, 0, 0])
        lower[singular] = jittered_cholesky(matrices[singular], name="covariance").lower
        return lower
