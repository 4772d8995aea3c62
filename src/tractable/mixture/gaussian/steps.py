"""The two steps of EM for a Gaussian mixture (Bishop, section 9.2.2).

E-step: responsibilities r_nk = π_k N(x_n | μ_k, Σ_k) / Σ_j π_j N(x_n | μ_j, Σ_j), and the sums over rows of
r_nk [1, x_n, x_n x_nᵀ]: :meth:`GaussianProblem.expect` returns it as a function of a block of rows, in one of
three forms that give the same numbers (:class:`NaturalEStep`, :class:`WhitenedEStep`, and
:class:`IncompleteEStep` where entries are missing). M-step: :meth:`GaussianProblem.maximize`.

Both work on standardized rows z.
"""

from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.devices import beside, on_host
from tractable.arrays.log_space import LOG_2PI
from tractable.arrays.namespace import namespace_of
from tractable.covariance import Diagonal, Isotropic
from tractable.covariance.shapes import CovarianceShape, precision_diagonals, whiteners
from tractable.data import Batch, Source
from tractable.distributions.probabilities import log_or_minus_inf
from tractable.engines.em import EMProblem
from tractable.engines.kmeans import initial_responsibilities, initial_rows
from tractable.mixture.gaussian.model import GaussianParameters, GaussianSums
from tractable.primitives.em import (
    LINEAR,
    PRODUCTS,
    SQUARES,
    SUM_OF_SQUARES,
    PatternRows,
    group_by_pattern,
    mixture_pass,
    packed,
    pattern_pass,
    quadratic_factors,
    unpacked,
    whitened_pass,
)
from tractable.primitives.threads import even_rows
from tractable.statistics import ColumnSummary, Moments, Standardizer
from tractable.value import replace, value

#: Rows of a block, so that the work of a thread is worth handing over.
BLOCK = 16_384

#: Products of the columns of a block, of a component, where there are many columns: fewer rows will do then.
PRODUCTS_A_BLOCK = 80_000_000

#: Rows of a stream that are grouped by their missing entries at a time.
GROUPED = 131_072

#: Rounding that natural parameters may cost, as a fraction of the log density.
ROUNDING = 1e-7

#: With more columns, the products of natural parameters cost more than whitening does.
WIDE = 48


@value
class EStep:
    """What the forms of the E-step have in common: parameters, and no rows."""

    params: GaussianParameters
    shape: CovarianceShape
    standardizer: Standardizer
    penalty: float  # log prior of the parameters
    rows: int = BLOCK  # of a block

    def block_rows(self, n_columns: int) -> int:
        """Return how many rows a block should have."""
        return self.rows

    def _statistic(
        self, sums: np.ndarray, evidence: float, origin: np.ndarray, second: np.ndarray | None = None
    ) -> GaussianSums:
        """Return Σ r [1, z, second-order terms], given side by side, as expected statistics."""
        d = self.params.means.shape[1]
        return GaussianSums(
            origin=origin,
            weight=sums[:, 0],
            first=sums[:, 1 : 1 + d],
            second=self._compressed(sums[:, 1 + d :], d) if second is None else second,
            log_likelihood=float(evidence),
            penalty=self.penalty,
            params=self.params,
        )

    def _compressed(self, second: np.ndarray, d: int) -> np.ndarray:
        if self.shape.features == SUM_OF_SQUARES:
            return second.sum(axis=1)
        return second if self.shape.features == SQUARES else self.shape.compress(unpacked(second, d))


@value
class NaturalEStep(EStep):
    """Two matrix products around a softmax: log π_k N(z | k) = η_k · T(z), then Σ r_k T(z).

    T(z) are 1, the columns of z about the centre of the rows, and their products, squares or sum of squares.
    """

    natural: np.ndarray  # η, (K, features)
    centre: np.ndarray  # (d,), of the standardized rows

    def __call__(self, block: Any) -> GaussianSums:
        scale = self.standardizer.scale
        shift = self.standardizer.shift + self.centre / scale
        sums, evidence = mixture_pass(block.X, block.weights, shift, scale, self.natural, self.shape.features)
        evidence += float(np.sum(sums[:, 0])) * self.standardizer.log_jacobian
        origin, second = np.broadcast_to(self.centre, self.params.means.shape), None
        if self.shape.features == LINEAR:
            # Components that share a covariance share the quadratic term of their log densities.
            evidence -= 0.5 * float(np.sum(self.params.structure.precision() * block.products))
            second = block.products[None]
        return self._statistic(sums, evidence, origin, second)


@value
class WhitenedEStep(EStep):
    """Log densities from whitened differences, -½ |W_k (z - μ_k)|²: slower, and always precise."""

    constants: np.ndarray  # (K,), log of π_k and of the density at μ_k
    whiteners: np.ndarray  # (K, d, d) or (K, d)

    def __call__(self, block: Any) -> GaussianSums:
        shift, scale = self.standardizer.shift, self.standardizer.scale
        given = self.params.means, self.whiteners, self.constants
        sums, evidence = whitened_pass(block.X, block.weights, shift, scale, *given)
        evidence += float(np.sum(sums[:, 0])) * self.standardizer.log_jacobian
        return self._statistic(sums, evidence, self.params.means)


@value
class IncompleteEStep(EStep):
    """Missing entries marginalised in the responsibilities, and completed by their conditional moments."""

    log_weights: np.ndarray  # (K,)
    covariances: np.ndarray  # (K, d, d) or (K, d)

    def __call__(self, block: "GroupedRows") -> GaussianSums:
        given = self.log_weights, self.params.means, self.covariances
        sums, evidence = pattern_pass(block.rows, block.rows.weights, *given, part=block.part)
        return self._statistic(sums, evidence + block.log_jacobian, self.params.means)


@value
class GroupedRows:
    """Some standardized rows, grouped by which entries are missing."""

    rows: PatternRows
    part: tuple[int, int]  # the range of the sorted rows
    log_jacobians: np.ndarray  # (n,), w log |dz/dx| of the observed entries of each row

    @property
    def log_jacobian(self) -> float:
        """The sum of log |dz/dx| over the part."""
        first, last = self.part
        return float(namespace_of(self.log_jacobians).sum(self.log_jacobians[first:last]))

    def split(self) -> list["GroupedRows"]:
        """Return ranges of the rows of about equal work."""
        return [replace(self, part=part) for part in self.rows.parts()]


@value
class GroupByPattern:
    """Standardize the rows of a block and group them by which entries are missing."""

    standardizer: Standardizer

    def __call__(self, block: Batch) -> GroupedRows:
        scale = self.standardizer.scale
        rows = group_by_pattern(block.X, block.weights, self.standardizer.shift, scale)
        jacobians = np.repeat(rows.masks @ np.log(scale), np.diff(rows.begins))
        if rows.weights is not None:
            jacobians = beside(jacobians, rows.weights) * rows.weights
        return GroupedRows(rows=rows, part=(0, rows.n_rows), log_jacobians=jacobians)


@value
class RowsWithProducts:
    """Rows with Σ w z zᵀ, which every E-step of components with one covariance needs alike."""

    X: np.ndarray
    weights: np.ndarray | None
    products: np.ndarray  # (d, d), about the centre of the standardized rows


@value
class AddProducts:
    """Sum the products of the standardized rows of a block."""

    standardizer: Standardizer
    centre: np.ndarray

    def __call__(self, block: Batch) -> RowsWithProducts:
        found, scale = on_host(Moments.of(block.X, block.weights)), self.standardizer.scale
        mean = self.standardizer.transform(found.mean) - self.centre
        products = found.scatter * (scale[:, None] * scale) + found.weight * mean[:, None] * mean
        return RowsWithProducts(X=block.X, weights=block.weights, products=products)


@value
class GaussianProblem(EMProblem):
    """The data and the two steps of a Gaussian mixture, in standardized columns.

    `reg_covar` is added to the diagonal of every covariance. With the term -½ tr(diag(floor) Σ_k⁻¹) in the
    log density of component k, both steps raise one penalised likelihood.
    """

    source: Source | None  # the rows; None for an M-step alone
    summary: ColumnSummary | None
    standardizer: Standardizer
    shape: CovarianceShape
    floor: np.ndarray  # (d,), what `reg_covar` adds to the variances
    prior: Any = None  # a CovariancePrior
    n_components: int
    init_params: str = "kmeans"  # see `initial_responsibilities`
    given: dict[str, Any] | None = None  # initial `weights`, `means` and `structure` that the user gave

    @property
    def total(self) -> float:
        """Weight of the rows."""
        return 0.0 if self.summary is None else self.summary.total

    @cached_property
    def data(self) -> Any:
        """The rows as the E-steps take them."""
        assert self.source is not None
        assert self.summary is not None
        if not self.summary.complete:
            grouped = self.source.n_rows if self.source.in_memory else GROUPED
            return self.source.prepare(GroupByPattern(standardizer=self.standardizer), rows=grouped)
        if self.shape.features == LINEAR:
            added = AddProducts(standardizer=self.standardizer, centre=self._centre)
            return self.source.prepare(added, rows=BLOCK)
        return self.source

    @cached_property
    def _centre(self) -> np.ndarray:
        """The centre of the standardized rows."""
        assert self.summary is not None
        return self.summary.centre(self.standardizer)

    @cached_property
    def _squared_radius(self) -> float:
        assert self.summary is not None
        return self.summary.squared_radius(self.standardizer)

    @cached_property
    def _whitened_rows(self) -> int:
        """How many rows a block of the whitened E-step should have: more than its sums have."""
        assert self.source is not None
        d = self.source.n_features
        products = self.shape.features in (LINEAR, PRODUCTS)
        most = min(BLOCK, max(2 * d, PRODUCTS_A_BLOCK // d**2)) if products else BLOCK
        return even_rows(self.source.n_rows, most)

    def initial(self, rng: np.random.Generator) -> GaussianParameters:
        """Return initial parameters: those given, and the others from initial responsibilities."""
        given = self.given or {}
        if given.keys() >= {"weights", "means", "structure"}:
            return GaussianParameters(**given)
        z, weights = initial_rows(self.source, self.standardizer, self.n_components, rng)
        r = initial_responsibilities(self.init_params, z, weights, self.n_components, rng)
        return replace(self.from_responsibilities(z, weights, r), **given)

    def expect(self, params: GaussianParameters) -> EStep:
        """Return the E-step at these parameters, in the fastest form that is precise enough."""
        common: dict[str, Any] = {
            "params": params,
            "shape": self.shape,
            "standardizer": self.standardizer,
            "penalty": self.log_prior(params),
        }
        structure, means = params.structure, params.means
        K, d = means.shape
        log_weights = self.log_weights(params)
        assert self.summary is not None
        if not self.summary.complete:
            independent = isinstance(structure, Diagonal | Isotropic)
            found = structure.diagonal if independent else structure.dense()
            covariances = np.broadcast_to(found, (K, *found.shape[-1 if independent else -2 :]))
            return IncompleteEStep(log_weights=log_weights, covariances=covariances, **common)
        constants = log_weights - 0.5 * (structure.log_det + d * LOG_2PI)
        whitening = whiteners(structure)
        norm = float(np.max(np.sum(precision_diagonals(structure), axis=-1)))  # |W_k|² = tr Σ_k⁻¹
        precise = np.finfo(np.float64).eps * norm * self._squared_radius < ROUNDING
        if precise and (self.shape.features != PRODUCTS or d <= WIDE):
            about_centre = replace(params, means=means - self._centre)
            natural = natural_parameters(constants, about_centre, self.shape.features)
            return NaturalEStep(natural=natural, centre=self._centre, **common)
        whitening = np.broadcast_to(whitening, (K, *whitening.shape[1:]))
        return WhitenedEStep(constants=constants, whiteners=whitening, rows=self._whitened_rows, **common)

    def maximize(self, sums: GaussianSums) -> GaussianParameters:
        """Return the M-step: π_k = N_k / N, μ_k = Σ r_nk z_n / N_k, and Σ_k by the shape."""
        structure = self.shape.maximize(
            sums.weight, sums.scatter(), floor=self.floor, prior=self.prior, before=sums.params.structure
        )
        return GaussianParameters(
            weights=sums.weight / sums.weight.sum(), means=sums.means, structure=structure
        )

    def log_weights(self, params: GaussianParameters) -> np.ndarray:
        """Return the log of what multiplies N(z | μ_k, Σ_k): log π_k - ½ tr(diag(floor) Σ_k⁻¹)."""
        return log_or_minus_inf(params.weights) - 0.5 * precision_diagonals(params.structure) @ self.floor

    def log_prior(self, params: GaussianParameters) -> float:
        """Return the log prior of the parameters, up to a constant."""
        return self.prior.log_prob(params.structure)

    def from_responsibilities(
        self, z: np.ndarray, weights: np.ndarray | None, responsibilities: np.ndarray
    ) -> GaussianParameters:
        """Return the M-step of responsibilities (n, K) of complete standardized rows."""
        r = responsibilities if weights is None else responsibilities * weights[:, None]
        n = np.sum(r, axis=0)
        means = r.T @ z / np.where(n > 0, n, 1.0)[:, None]
        scatter = np.stack([_scatter(z, r[:, k], m) for k, m in enumerate(means)])
        params = GaussianParameters(weights=n / n.sum(), means=means, structure=None)
        return self.maximize(_about_means(n, self.shape.compress(scatter), params))

    def implied(self, params: GaussianParameters, total: float) -> GaussianSums:
        """Return the expected statistics of weight `total` whose M-step is `params`."""
        n = params.weights * total
        scatter = self.shape.implied_scatter(n, params.structure, floor=self.floor, prior=self.prior)
        return _about_means(n, scatter, params)


def _about_means(weight: np.ndarray, second: np.ndarray, params: GaussianParameters) -> GaussianSums:
    return GaussianSums(
        origin=params.means,
        weight=weight,
        first=np.zeros_like(params.means),
        second=second,
        log_likelihood=0.0,
        penalty=0.0,
        params=params,
    )


def _scatter(z: np.ndarray, weights: np.ndarray, mean: np.ndarray) -> np.ndarray:
    some = weights > 0  # few, where responsibilities are labels
    step = (z[some] - mean) * np.sqrt(weights[some, None])
    return step.T @ step


def natural_parameters(constants: np.ndarray, params: GaussianParameters, features: int) -> np.ndarray:
    """Return η_k with log p(z, k) = η_k · T(z); of LINEAR features, without what all components share."""
    means, structure = params.means, params.structure
    if features in (SQUARES, SUM_OF_SQUARES):
        precision = precision_diagonals(structure)
        slope = precision * means
        second = -0.5 * (precision if features == SQUARES else precision[:, :1])
    else:
        precision = structure.precision()
        slope = (precision @ means[:, :, None])[..., 0]
        second = (
            packed(precision) * quadratic_factors(means.shape[1]) if features == PRODUCTS else slope[:, :0]
        )
    return np.hstack([(constants - 0.5 * np.sum(slope * means, axis=1))[:, None], slope, second])
