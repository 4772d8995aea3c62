"""E-steps over rows with missing entries, grouped by which are missing."""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

from tractable.arrays import cholesky
from tractable.arrays.linalg import solve_triangular
from tractable.arrays.log_space import LOG_2PI
from tractable.base import Rows
from tractable.covariance import Covariance, Diagonal, Full, Isotropic
from tractable.covariance.shapes import Shape
from tractable.data import Source
from tractable.data.blocks import tree_sum
from tractable.distributions.probabilities import log_or_minus_inf
from tractable.engines import fold
from tractable.mixture.gaussian.model import GaussianParameters, GaussianSums, packed, unpacked
from tractable.mixture.units import Units
from tractable.primitives.em import (
    LINEAR,
    PRODUCTS,
    SQUARES,
    SUM_OF_SQUARES,
    PatternRows,
    group_by_pattern,
    mixture_pass,
    pattern_pass,
    whitened_diagonal_pass,
    whitened_pass,
)
from tractable.primitives.threads import ordered_map, single_threaded_blas
from tractable.statistics import Moments
from tractable.value import replace, value

__all__ = [
    "CovariancePrior",
    "GaussianSteps",
    "IncompleteRows",
    "PassSums",
    "natural_parameters",
    "precision_diagonals",
]

#: Rows of a source that are grouped at a time.
GROUPED = 131_072

#: Log weights, means and covariances of the components.
Given = tuple[np.ndarray, np.ndarray, np.ndarray]


@value
class PassSums:
    """What a pass over some rows sums; they add."""

    sums: np.ndarray  # (K, P)
    evidence: float

    def __add__(self, other: "PassSums") -> "PassSums":
        return PassSums(sums=self.sums + other.sums, evidence=self.evidence + other.evidence)


class IncompleteRows:
    """Rows with missing entries, and the passes over them.

    Rows held in memory are grouped once, which takes a copy of what was observed. Rows of a source are
    grouped anew, a batch at a time, in every pass.
    """

    def __init__(self, rows: Rows, units: Units) -> None:
        self.rows, self.units = rows, units

    def sums(self, log_weights: np.ndarray, means: np.ndarray, structure: Covariance) -> PassSums:
        """Return the completed sums about the components' means, and the log likelihood of the entries."""
        given = log_weights, means, _covariances(structure, len(means))
        if isinstance(self.rows.data, Source):
            return fold(partial(self._batch, given), self.rows.data, rows=GROUPED, label="E-step")
        grouped, jacobian = self._grouped
        with single_threaded_blas():
            parts = ordered_map(partial(_part, grouped, given), grouped.parts())
            return tree_sum([PassSums(sums=0.0, evidence=jacobian), *parts])  # type: ignore[arg-type]

    @cached_property
    def _grouped(self) -> tuple[PatternRows, float]:
        return self._group(self.rows.data, self.rows.weights)

    def _group(self, x: np.ndarray, weights: Any) -> tuple[PatternRows, float]:
        """Group rows; with the logarithm of what standardising multiplies their densities by."""
        grouped = group_by_pattern(x, weights, self.units.shift, self.units.scale)
        weight = np.ones(grouped.n_rows) if grouped.weights is None else grouped.weights
        total = np.add.reduceat(weight, grouped.begins[:-1]) if grouped.n_rows else np.zeros(0)
        return grouped, float(total @ (grouped.masks @ np.log(self.units.scale)))

    def _batch(self, given: Given, x: np.ndarray, weights: Any = None) -> PassSums:
        grouped, jacobian = self._group(x, weights)
        sums, evidence = pattern_pass(grouped, grouped.weights, *given)
        return PassSums(sums=sums, evidence=float(evidence) + jacobian)


def _part(grouped: PatternRows, given: Given, part: tuple[int, int]) -> PassSums:
    sums, evidence = pattern_pass(grouped, grouped.weights, *given, part=part)
    return PassSums(sums=sums, evidence=float(evidence))


def _covariances(structure: Covariance, K: int) -> np.ndarray:
    independent = isinstance(structure, Diagonal | Isotropic)
    found = structure.diagonal if independent else structure.dense()
    return np.broadcast_to(found, (K, *found.shape[-1 if independent else -2 :]))


#: Rows of a block, so that a thread's work is worth handing over.
BLOCK = 16_384

#: Rounding that the natural parameters may cost, as a share of the log density.
ROUNDING = 1e-7

#: With more columns, the products of natural parameters cost more than whitening does.
WIDE = 48


@value
class CovariancePrior:
    """An inverse Wishart prior as so many rows with such a scatter; none when both are zero."""

    scatter: np.ndarray  # (d, d)
    weight: float


class GaussianSteps:
    """`expect` and `maximize` of a Gaussian mixture over rows, in standardised units.

    `reg_covar` adds to every covariance what rows that were clouds of that variance would: with a share of
    -½ tr(reg Σ_k⁻¹) in the log density of component k, both steps climb one penalised likelihood.
    """

    def __init__(
        self, rows: Rows, units: Units, *, shape: Shape, reg: np.ndarray, prior: CovariancePrior
    ) -> None:
        self.rows, self.units, self.shape, self.reg, self.prior = rows, units, shape, reg, prior
        self.total = units.total

    def expect(self, params: GaussianParameters) -> GaussianSums:
        """Sum over rows what their responsibilities weight."""
        log_weights = self._log_weights(params)
        if not self.units.complete:
            found = self._incomplete.sums(log_weights, params.means, params.structure)
            return self._expected(found.sums, found.evidence, params, params.means)
        constants = log_weights - 0.5 * (params.structure.log_det + params.means.shape[1] * LOG_2PI)
        whiteners = _whiteners(params.structure)
        size = float(np.max(np.sum(whiteners.reshape(len(whiteners), -1) ** 2, axis=1)))
        precise = np.finfo(np.float64).eps * size * self.units.reach < ROUNDING
        if precise and (self.shape.kind != PRODUCTS or params.means.shape[1] <= WIDE):
            return self._natural(constants, params)
        return self._whitened(constants, whiteners, params)

    def maximize(self, sums: GaussianSums) -> GaussianParameters:
        """Take the averages that the sums suggest."""
        before, dim = sums.params, sums.first.shape[1]
        n = sums.weight.sum(keepdims=True) if self.shape.shared else sums.weight
        spread = n.reshape(-1, *(1,) * (sums.second.ndim - 1))
        floor, pseudo = (self.shape.kept(m[None]) for m in (np.diag(self.reg), self.prior.scatter))
        some = spread + self.prior.weight > 0
        average = (sums.scatter() + spread * floor + pseudo) / np.where(some, spread + self.prior.weight, 1.0)
        if not np.all(some):  # a component without rows stays where it was
            average = np.where(some, average, self.shape.kept(_dense(before.structure, dim)))
        return GaussianParameters(
            weights=sums.weight / sums.weight.sum(),
            means=sums.means,
            structure=self.shape.fit(average, dim, before.structure),
        )

    def begin(self, z: np.ndarray, weights: np.ndarray | None, shares: np.ndarray) -> GaussianParameters:
        """Take an M-step from given shares (n, K) of the components in complete rows."""
        r = shares if weights is None else shares * weights[:, None]
        n = np.sum(r, axis=0)
        means = r.T @ z / np.where(n > 0, n, 1.0)[:, None]
        scatter = np.stack([_scatter(z, r[:, k], m) for k, m in enumerate(means)])
        return self.maximize(
            GaussianSums(
                origin=means,
                weight=n,
                first=np.zeros_like(means),
                second=self.shape.kept(scatter),
                log_likelihood=0.0,
                penalty=0.0,
                params=GaussianParameters(weights=n / n.sum(), means=means, structure=None),
            )
        )

    def implied(self, params: GaussianParameters, total: float) -> GaussianSums:
        """Return the sums of so many rows that would suggest the parameters."""
        n = params.weights * total
        d = params.means.shape[1]
        counts = n.sum(keepdims=True) if self.shape.shared else n
        dense = _dense(params.structure, d)
        floor, pseudo = np.diag(self.reg), self.prior.scatter
        products = (dense - floor) * counts[:, None, None] + dense * self.prior.weight - pseudo
        return GaussianSums(
            origin=params.means,
            weight=n,
            first=np.zeros_like(params.means),
            second=self.shape.kept(products),
            log_likelihood=0.0,
            penalty=0.0,
            params=params,
        )

    def _natural(self, constants: np.ndarray, params: GaussianParameters) -> GaussianSums:
        """Take natural parameters about the rows' own centre, where products of rows keep their digits."""
        kind, centre = self.shape.kind, self.units.centre
        origin = np.broadcast_to(centre, params.means.shape)
        near = replace(params, means=params.means - centre)
        natural = natural_parameters(constants, near, kind)
        sums, evidence = self._fold(mixture_pass, natural, kind, centre=centre)
        if kind != LINEAR:
            return self._expected(sums, evidence, params, origin)
        # Products of rows are the same in every E-step: components that share a covariance share them too.
        whole = self._products
        evidence -= 0.5 * float(np.sum(params.structure.precision() * whole))
        return self._expected(sums, evidence, params, origin, whole[None])

    def _whitened(
        self, constants: np.ndarray, whiteners: np.ndarray, params: GaussianParameters
    ) -> GaussianSums:
        step = whitened_pass if whiteners.ndim == 3 else whitened_diagonal_pass
        whiteners = np.broadcast_to(whiteners, (len(constants), *whiteners.shape[1:]))
        sums, evidence = self._fold(step, params.means, whiteners, constants)
        return self._expected(sums, evidence, params, params.means)

    def _fold(
        self, step: Callable[..., Any], *arguments: Any, centre: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """Return Σ r T and the log likelihood of all rows, in their own units."""
        units = self.units
        shift = units.shift if centre is None else units.shift + centre / units.scale
        summed = partial(_summed, step, shift, units.scale, arguments)
        found = fold(summed, self.rows.data, weights=self.rows.weights, rows=BLOCK, label="E-step")
        return found.sums, found.evidence + float(np.sum(found.sums[:, 0]) * np.sum(np.log(self.units.scale)))

    def _expected(
        self,
        sums: np.ndarray,
        evidence: float,
        params: GaussianParameters,
        origin: np.ndarray,
        second: np.ndarray | None = None,
    ) -> GaussianSums:
        d = params.means.shape[1]
        return GaussianSums(
            origin=origin,
            weight=sums[:, 0],
            first=sums[:, 1 : 1 + d],
            second=self._second(sums[:, 1 + d :], d) if second is None else second,
            log_likelihood=evidence,
            penalty=self._log_prior(params),
            params=params,
        )

    def _second(self, given: np.ndarray, d: int) -> np.ndarray:
        """Bring second-order sums to the form that the shape keeps."""
        if self.shape.kind == SUM_OF_SQUARES:
            return given.sum(axis=1)
        return given if self.shape.kind == SQUARES else self.shape.kept(unpacked(given, d))

    @cached_property
    def _products(self) -> np.ndarray:
        """Σ w z zᵀ over all rows, about their centre."""
        found = fold(Moments.of, self.rows.data, weights=self.rows.weights)
        mean = (found.mean - self.units.shift) * self.units.scale - self.units.centre
        scatter = found.scatter * self.units.scale[:, None] * self.units.scale
        return scatter + found.weight * mean[:, None] * mean

    @cached_property
    def _incomplete(self) -> IncompleteRows:
        return IncompleteRows(self.rows, self.units)

    def _log_weights(self, params: GaussianParameters) -> np.ndarray:
        """Return the log of what multiplies N(z | μ_k, Σ_k): log π_k - ½ tr(reg Σ_k⁻¹)."""
        return log_or_minus_inf(params.weights) - 0.5 * precision_diagonals(params.structure) @ self.reg

    def _log_prior(self, params: GaussianParameters) -> float:
        """Return log p(Σ) of all covariances, but for a constant."""
        if self.prior.weight == 0.0:
            return 0.0
        structure = params.structure
        trace = np.sum(structure.precision() * self.prior.scatter, axis=(-2, -1))
        return -0.5 * float(np.sum(self.prior.weight * structure.log_det + trace))


def _dense(structure: Covariance | None, d: int) -> np.ndarray:
    """Return matrices (K or 1, d, d); the rows' own where there is no structure yet."""
    return np.eye(d)[None] if structure is None else structure.dense().reshape(-1, d, d)


def _scatter(z: np.ndarray, weights: np.ndarray, mean: np.ndarray) -> np.ndarray:
    some = weights > 0  # of labels, few
    step = z[some] - mean
    return step.T @ (step * weights[some, None])


def natural_parameters(constants: np.ndarray, params: GaussianParameters, kind: int) -> np.ndarray:
    """Return η_k with log p(z, k) = η_k · T(z); of LINEAR features, but for what all components share."""
    means, structure = params.means, params.structure
    if kind in (SQUARES, SUM_OF_SQUARES):
        precision = precision_diagonals(structure)
        slope = precision * means
        second = -0.5 * (precision if kind == SQUARES else precision[:, :1])
    else:
        precision = structure.precision()
        matrices = np.broadcast_to(precision, (len(means), *precision.shape[-2:]))
        slope = np.einsum("kij,kj->ki", matrices, means)
        second = packed(matrices * (0.5 * np.eye(means.shape[1]) - 1.0))
    parts = [(constants - 0.5 * np.sum(slope * means, axis=1))[:, None], slope]
    return np.hstack(parts if kind == LINEAR else [*parts, second])


def precision_diagonals(structure: Covariance) -> np.ndarray:
    """Return the diagonals of the inverses, (K, d) or (d,)."""
    if isinstance(structure, Diagonal | Isotropic):
        return 1.0 / structure.diagonal
    return np.diagonal(structure.precision(), axis1=-2, axis2=-1)


def _whiteners(structure: Covariance) -> np.ndarray:
    """Return W_k with |W_k z|² = zᵀ Σ_k⁻¹ z: (K, d, d), or (K, d) where they are diagonal; one if shared."""
    if isinstance(structure, Diagonal | Isotropic):
        return 1.0 / np.sqrt(structure.diagonal)
    lower = structure.cholesky if isinstance(structure, Full) else cholesky(structure.dense())
    lower = lower.reshape(-1, *lower.shape[-2:])
    return solve_triangular(lower, np.broadcast_to(np.eye(lower.shape[-1]), lower.shape))


def _summed(
    step: Callable[..., Any],
    shift: np.ndarray,
    scale: np.ndarray,
    arguments: tuple[Any, ...],
    x: np.ndarray,
    weights: Any = None,
) -> PassSums:
    sums, evidence = step(x, weights, shift, scale, *arguments)
    return PassSums(sums=sums, evidence=float(evidence))
