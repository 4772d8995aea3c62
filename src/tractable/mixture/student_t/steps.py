"""The two steps of EM for mixtures of multivariate Student-t distributions (Peel and McLachlan 2000).

The complete data are the component of a row and its precision u, x | u ~ N(μ, Σ/u), u ~ Gamma(ν/2, ν/2).
The E-step sums what the responsibilities r and the expected precisions E[u | x] = (ν + d) / (ν + Δ²) weight,
with Δ the Mahalanobis distance: :class:`StudentTEStep`. M-step: :meth:`StudentTProblem.maximize`.
"""

import math
from typing import Any

import numpy as np

from tractable.arrays.gamma import log_minus_digamma, trigamma
from tractable.arrays.log_space import log_sum_exp
from tractable.covariance.shapes import CovarianceShape, precision_diagonals, whiteners
from tractable.data import Batch, Source, sample_rows
from tractable.engines.kmeans import INITIAL_ROWS, initial_responsibilities, initial_rows
from tractable.statistics import ColumnSummary, Standardizer, column_varies
from tractable.statistics.rows import counts
from tractable.value import parameters, value

#: The range of the degrees of freedom: at the upper end tails are no heavier than those of a normal.
LEAST_DOF, GREATEST_DOF = 1e-1, 1e6

#: Their initial value.
FIRST_DOF = 4.0

#: An M-step may also try these multiples of the degrees of freedom: where tails are light, EM is slow.
TRIALS = (1.0 / 3.0, 3.0)

#: Newton steps to the degrees of freedom: each doubles the digits.
ROOT_STEPS = 6

#: Entries of the arrays that a block of rows makes.
BLOCK_ENTRIES = 2**19

#: The standard deviation of a normal column is so many times its median distance from the median.
NORMAL_WIDTH = 1.482602218505602


@value
class StudentTParameters:
    """Weights, locations, scale matrices and degrees of freedom, in standardized columns."""

    weights: np.ndarray  # (K,)
    locations: np.ndarray  # (K, d)
    scales: np.ndarray  # Σ, (K, d, d), or (K, d) where columns are uncorrelated
    dof: np.ndarray  # (K,)


@value
class StudentTSums:
    """Expected statistics: what responsibilities r and precisions u weight, about the locations."""

    weight: np.ndarray  # (K,), Σ r
    precision: np.ndarray  # (K,), Σ r u
    first: np.ndarray  # (K, d), Σ r u (z - μ)
    second: np.ndarray  # (K, d, d) or (K, d), Σ r u (z - μ)(z - μ)ᵀ
    excess: np.ndarray  # (K,), Σ r (log u - u + 1)
    trials: np.ndarray  # (K, 2), Σ r log St(ν')/St(ν) with the TRIALS ν' of ν
    objective: float  # the penalised log-likelihood
    params: StudentTParameters  # where the responsibilities were computed

    def __add__(self, other: "StudentTSums") -> "StudentTSums":
        mine = {name: x for name, x in parameters(self).items() if name != "params"}
        return StudentTSums(
            params=self.params, **{name: x + getattr(other, name) for name, x in mine.items()}
        )


@value
class StudentTEStep:
    """Responsibilities r_nk ∝ π_k St(x_n | ν_k, μ_k, Σ_k), precisions, and the sums they weight."""

    params: StudentTParameters
    standardizer: Standardizer
    constants: np.ndarray  # (K,), log of π_k and of the density at μ_k
    whiteners: np.ndarray  # (K, d, d) or (K, d)
    trials: tuple[np.ndarray, ...]  # other degrees of freedom to compare

    def block_rows(self, n_columns: int) -> int:
        """Return how many rows a block should have."""
        return max(64, BLOCK_ENTRIES // self.params.locations.size)

    def __call__(self, block: Batch) -> StudentTSums:
        z, weights = self.standardizer.transform(block.X), block.weights
        d, params, diagonal = z.shape[1], self.params, self.whiteners.ndim == 2
        away = z - params.locations[:, None]  # (K, n, d)
        white = away * self.whiteners[:, None] if diagonal else away @ np.swapaxes(self.whiteners, 1, 2)
        squared, dof = np.sum(white * white, axis=2), params.dof[:, None]
        joint = self.constants[:, None] - 0.5 * (dof + d) * np.log1p(squared / dof)
        evidence = log_sum_exp(joint, axis=0)
        r = np.exp(joint - evidence)
        if weights is not None:
            evidence, r = evidence * weights, r * weights
        u, more = (dof + d) / (dof + squared), (d - squared) / (dof + squared)  # u and u - 1
        ru = r * u
        return StudentTSums(
            weight=r.sum(axis=1),
            precision=ru.sum(axis=1),
            first=np.einsum("kn,knd->kd", ru, away),
            second=np.stack(
                [w @ (a * a) if diagonal else a.T @ (a * w[:, None]) for a, w in zip(away, ru, strict=True)]
            ),
            excess=np.sum(r * (_log(u, more) - more), axis=1),
            trials=self._gains(r, squared, d),
            objective=float(evidence.sum()),
            params=params,
        )

    def _gains(self, r: np.ndarray, squared: np.ndarray, d: int) -> np.ndarray:
        """Return what other degrees of freedom would add to Σ r log St."""
        if not self.trials:
            return np.zeros((len(r), len(TRIALS)))

        def total(dof: np.ndarray) -> np.ndarray:
            logs = np.log1p(squared / dof[:, None])
            return r.sum(axis=1) * _log_peak(dof, d) - 0.5 * (dof + d) * np.sum(r * logs, axis=1)

        here = total(self.params.dof)
        return np.stack([total(dof) - here for dof in self.trials], axis=1)


@value
class StudentTProblem:
    """The data and the two steps of a mixture of Student-t distributions, in standardized columns.

    `floor` is added to the diagonal of every scale matrix. With the term -½ tr(diag(floor) Σ⁻¹) in the log
    density, both steps raise one penalised likelihood.
    """

    data: Any  # the rows as a source; None for an M-step alone
    total: float  # weight of the rows
    standardizer: Standardizer  # see `median_standardizer`
    shape: CovarianceShape  # full or diagonal
    n_components: int
    dof: float | None  # degrees of freedom of every component, if they are known
    floor: np.ndarray  # (d,)

    def initial(self, rng: np.random.Generator) -> StudentTParameters:
        """Return medians and widths of the clusters of k-means, on rows transformed by arcsinh."""
        z, weights = initial_rows(self.data, self.standardizer, self.n_components, rng)
        location, width = median_and_width(z, counts(weights, z))
        near = np.arcsinh(
            (z - location) / np.where(width > 0, width, 1.0)
        )  # logarithmic from a few widths on
        r = initial_responsibilities("kmeans", near, weights, self.n_components, rng)
        r = r if weights is None else r * weights[:, None]
        found = [median_and_width(z, column) for column in r.T]
        variances = np.stack([width**2 for _, width in found]) + self.floor
        products = variances[:, :, None] * np.eye(z.shape[1])
        return StudentTParameters(
            weights=r.sum(axis=0) / r.sum(),
            locations=np.stack([location for location, _ in found]),
            scales=self.shape.compress(products),
            dof=np.full(self.n_components, FIRST_DOF if self.dof is None else float(self.dof)),
        )

    def expect(self, params: StudentTParameters) -> StudentTEStep:
        """Return the E-step at these parameters."""
        d = len(self.floor)
        structure = self.shape.fit(params.scales, d)
        penalty = 0.5 * precision_diagonals(structure) @ self.floor
        with np.errstate(divide="ignore"):  # a component without rows stays without
            weights = np.log(params.weights)
        peak = _log_peak(params.dof, d) - 0.5 * structure.log_det + self.standardizer.log_jacobian
        return StudentTEStep(
            params=params,
            standardizer=self.standardizer,
            constants=weights + peak - penalty,
            whiteners=whiteners(structure),
            trials=() if self.dof is not None else _tried(params.dof),
        )

    def maximize(self, sums: StudentTSums) -> StudentTParameters:
        """Return, for each component, the better of two steps; each raises the objective.

        One averages the rows by r u; its expanded form (Liu, Rubin and Wu 1998) divides by Σ r u instead of
        Σ r. The other leaves u out of the complete data and changes the degrees of freedom alone. A component
        without rows keeps its parameters.
        """
        before, some = sums.params, sums.weight > 0
        n, precision = (np.where(some, x, 1.0) for x in (sums.weight, sums.precision))
        step = sums.first / precision[:, None]
        scatter = sums.second - self.shape.compress(step[:, :, None] * step[:, None, :]) * _beside(
            precision, sums.second
        )
        expansions = [np.ones_like(n), precision / n]
        scales = [scatter / _beside(n * a, scatter) + self._added() for a in expansions]
        dofs = self._next_dofs(sums, n, expansions)
        promised = [
            self._complete(sums, n, scatter, *each) for each in zip(expansions, scales, dofs, strict=True)
        ]
        here = self._complete(sums, n, sums.second, expansions[0], before.scales, before.dof)
        expanded = promised[1] > promised[0]
        tried, gain = self._trial(sums, n)
        moves = some & (np.maximum(*promised) - here >= gain)
        averaged = np.where(_beside(expanded, scatter), scales[1], scales[0])
        return StudentTParameters(
            weights=sums.weight / sums.weight.sum(),
            locations=np.where(moves[:, None], before.locations + step, before.locations),
            scales=np.where(_beside(moves, scatter), averaged, before.scales),
            dof=np.where(moves, np.where(expanded, dofs[1], dofs[0]), np.where(some, tried, before.dof)),
        )

    def _trial(self, sums: StudentTSums, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the better of the trials of ν, and what it adds to the log density of a row, on average."""
        if self.dof is not None:
            return sums.params.dof, np.full(len(n), -np.inf)
        which = np.argmax(sums.trials, axis=1)
        tried, gain = np.stack(_tried(sums.params.dof), axis=1), sums.trials / n[:, None]
        here = np.arange(len(n))
        return tried[here, which], gain[here, which]

    def _complete(
        self,
        sums: StudentTSums,
        n: np.ndarray,
        scatter: np.ndarray,
        expansion: np.ndarray,
        scales: np.ndarray,
        dof: np.ndarray,
    ) -> np.ndarray:
        """Return Q/n of each component, with α Σ for Σ and α u for u: what the averages maximise."""
        from scipy.special import gammaln

        d, half = sums.first.shape[1], 0.5 * dof
        structure = self.shape.fit(scales, d)
        white = whiteners(structure)
        inner = scatter / _beside(n * expansion, scatter) + self._added()
        if white.ndim == 2:
            trace = np.sum(inner * white**2, axis=1)
        else:
            trace = np.einsum("kij,kjl,kil->k", white, inner, white)
        u = sums.precision / n
        log_u = sums.excess / n + u - 1.0 - _log_minus(sums.params.dof, d) - np.log(expansion)
        gamma = half * (np.log(half) + log_u - u / expansion) - gammaln(half)
        return gamma - 0.5 * (structure.log_det + d * np.log(expansion) + trace)

    def _next_dofs(self, sums: StudentTSums, n: np.ndarray, expansions: list[np.ndarray]) -> list[np.ndarray]:
        """Return ν with log(ν/2) - ψ(ν/2) = E u/α - 1 - E log(u/α), where Q is greatest, for each α."""
        before = sums.params.dof
        if self.dof is not None:
            return [before for _ in expansions]
        u = sums.precision / n
        least = _log_minus(before, sums.first.shape[1]) - sums.excess / n
        return list(_solved(np.stack([least + (u / a - u) + np.log(a) for a in expansions])))

    def _added(self) -> np.ndarray:
        return self.shape.compress(np.diag(self.floor)[None])


def median_standardizer(source: Source, summary: ColumnSummary) -> Standardizer:
    """Return the standardizer by medians, which outliers do not move.

    The scale is that at which the median distance from the median of a normal column of variance one is
    that of the column. Of many rows some are looked at, always the same.
    """
    moments = summary.standardizer()
    x, weights = sample_rows(source, None, INITIAL_ROWS, np.random.default_rng(0))
    location, width = median_and_width(x, counts(weights, x))
    width = NORMAL_WIDTH * width
    robust = moments.varies & column_varies(location, width)
    return Standardizer(
        shift=np.where(robust, location, moments.shift),
        scale=np.where(robust, 1.0 / np.where(robust, width, 1.0), moments.scale),
        varies=moments.varies,
    )


def median_and_width(z: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the median of each column and the median distance from it.

    Where more than half of the rows have one value, the median distance of the others.
    """
    location = _median(z, weights)
    away = np.abs(z - location)
    width = _median(away, weights)
    for j in np.flatnonzero(width == 0):
        other = (away[:, j] > 0) & (weights > 0)
        if other.any():
            width[j] = _median(away[other, j, None], weights[other])[0]
    return location, width


def _median(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted median of each column; whole weights are repetitions."""
    order = np.argsort(x, axis=0, kind="stable")
    total = np.cumsum(weights[order], axis=0)
    ordered, half = np.take_along_axis(x, order, axis=0), 0.5 * total[-1]
    low = np.argmax(total >= half, axis=0)
    high = np.argmax(total > half, axis=0)
    columns = np.arange(x.shape[1])
    return 0.5 * (ordered[low, columns] + ordered[high, columns])


def _beside(x: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Return one number a component with as many axes as its scale matrix."""
    return x.reshape(-1, *(1,) * (like.ndim - 1))


def _log(u: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Return log u accurately for u near one and near zero, given u - 1 as `more`."""
    return np.where(u < 0.5, np.log(u), np.log1p(np.maximum(more, -0.5)))


def _log_minus(dof: np.ndarray, dim: int) -> np.ndarray:
    """Return log a - ψ(a) for a = (ν + d)/2: how far E log u is below log E u."""
    return log_minus_digamma(0.5 * (dof + dim))


def _log_peak(dof: np.ndarray, dim: int) -> np.ndarray:
    """Return the log density at the location, where the scale is the identity."""
    from scipy.special import betaln, gammaln

    return gammaln(0.5 * dim) - betaln(0.5 * dof, 0.5 * dim) - 0.5 * dim * np.log(dof * math.pi)


def _tried(dof: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple(np.clip(dof * times, LEAST_DOF, GREATEST_DOF) for times in TRIALS)


def _solved(wanted: np.ndarray) -> np.ndarray:
    """Return ν with log(ν/2) - ψ(ν/2) = wanted, within its bounds.

    The left side is convex in 1/ν, with slopes from 1 to 2, and at least 1/ν: so Newton's steps from
    1/ν = wanted decrease monotonically, and a few are enough.
    """
    low, high = 1.0 / GREATEST_DOF, 1.0 / LEAST_DOF
    inverse = np.clip(wanted, low, high)
    for _ in range(ROOT_STEPS):
        half = 0.5 / inverse
        slope = 2.0 * half * (half * trigamma(half) - 1.0)
        inverse = np.clip(inverse - (log_minus_digamma(half) - wanted) / slope, low, high)
    return 1.0 / inverse
