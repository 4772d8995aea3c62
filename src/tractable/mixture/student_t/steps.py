"""The two steps of EM for mixtures of multivariate Student-t distributions (Peel and McLachlan 2000).

The complete data are the component of a row and its precision u, x | u ~ N(μ, Σ/u), u ~ Gamma(ν/2, ν/2).
The E-step sums what the responsibilities r and the expected precisions E[u | x] = (ν + d) / (ν + Δ²) weight,
with Δ the Mahalanobis distance: :class:`StudentTEStep`. M-step: :meth:`StudentTProblem.maximize`.
"""

from typing import Any

import numpy as np

from tractable.arrays.devices import beside_rows
from tractable.arrays.linalg import product
from tractable.arrays.log_space import log_sum_exp
from tractable.arrays.namespace import namespace_of
from tractable.covariance.shapes import CovarianceShape, whiteners
from tractable.data import Batch, Source, sample_rows
from tractable.engines.em import EMProblem
from tractable.engines.kmeans import INITIAL_ROWS, initial_responsibilities, initial_rows
from tractable.engines.student_t import PrecisionSums, ScaleMixture
from tractable.statistics import ColumnSummary, Standardizer, column_varies
from tractable.statistics.rows import counts
from tractable.value import replace, value

#: The least degrees of freedom that are looked for.
LEAST_DOF = 1e-1

#: Their initial value.
FIRST_DOF = 4.0

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

    precisions: PrecisionSums  # Σ r, Σ r u, …
    first: np.ndarray  # (K, d), Σ r u (z - μ)
    second: np.ndarray  # (K, d, d) or (K, d), Σ r u (z - μ)(z - μ)ᵀ
    objective: float  # the penalised log-likelihood
    squared: np.ndarray  # (K,), Σ r u Δ²
    params: StudentTParameters  # where the responsibilities were computed
    log_det: np.ndarray  # (K,), log |Σ| there
    penalty: np.ndarray  # (K,), ½ tr(diag(floor) Σ⁻¹) there

    def __add__(self, other: "StudentTSums") -> "StudentTSums":
        added = ("precisions", "first", "second", "objective", "squared")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in added})


@value
class StudentTEStep:
    """Responsibilities r_nk ∝ π_k St(x_n | ν_k, μ_k, Σ_k), precisions, and the sums they weight."""

    params: StudentTParameters
    standardizer: Standardizer
    constants: np.ndarray  # (K,), log of π_k and of the density at μ_k
    whiteners: np.ndarray  # (K, d, d) or (K, d)
    log_det: np.ndarray  # (K,), log |Σ|
    penalty: np.ndarray  # (K,), ½ tr(diag(floor) Σ⁻¹)

    def block_rows(self, n_columns: int) -> int:
        """Return how many rows a block should have."""
        return max(64, BLOCK_ENTRIES // self.params.locations.size)

    @beside_rows
    def __call__(self, block: Batch) -> StudentTSums:
        xp = namespace_of(block.X)
        z, weights = self.standardizer.transform(block.X), block.weights
        params, diagonal = self.params, self.whiteners.ndim == 2
        student = ScaleMixture(dof=params.dof, dim=z.shape[1])
        away = z - params.locations[:, None, :]  # (K, n, d)
        if diagonal:
            white = away * self.whiteners[:, None, :]
        else:
            whiteners = xp.matrix_transpose(self.whiteners)
            white = xp.stack([product(away[k, ...], whiteners[k, ...]) for k in range(away.shape[0])])
        squared = xp.sum(white * white, axis=2)
        joint = self.constants[:, None] - student.log_fall(squared)
        evidence = log_sum_exp(joint, axis=0)
        r = xp.exp(joint - evidence)
        if weights is not None:
            evidence, r = evidence * weights, r * weights
        u, more = student.precisions(squared)
        ru = r * u
        each = [(away[k, ...], ru[k, ...]) for k in range(ru.shape[0])]
        return StudentTSums(
            precisions=student.sums(r, u, more),
            first=xp.stack([product(w, a) for a, w in each]),
            second=xp.stack(
                [product(w, a * a) if diagonal else product(a.T, a * w[:, None]) for a, w in each]
            ),
            objective=float(xp.sum(evidence)),
            squared=xp.sum(ru * squared, axis=1),
            params=params,
            log_det=self.log_det,
            penalty=self.penalty,
        )


@value
class StudentTProblem(EMProblem):
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
        white = whiteners(structure)
        # tr(diag(floor) Σ⁻¹), with Σ⁻¹ = WᵀW
        penalty = (
            0.5 * np.sum(white**2, axis=1) @ self.floor if white.ndim == 3 else 0.5 * white**2 @ self.floor
        )
        with np.errstate(divide="ignore"):  # a component without rows stays without
            weights = np.log(params.weights)
        peak = (
            ScaleMixture(dof=params.dof, dim=d).log_peak
            - 0.5 * structure.log_det
            + self.standardizer.log_jacobian
        )
        return StudentTEStep(
            params=params,
            standardizer=self.standardizer,
            constants=weights + peak - penalty,
            whiteners=white,
            log_det=structure.log_det,
            penalty=penalty,
        )

    def maximize(self, sums: StudentTSums) -> StudentTParameters:
        """Return, for each component, the better of two steps; each raises the objective.

        One averages the rows by r u; its expanded form divides by Σ r u instead of Σ r. The other changes the
        degrees of freedom alone; see :mod:`tractable.engines.student_t`. A component without rows keeps its
        parameters.
        """
        before, weight = sums.params, sums.precisions.weight
        some, student = weight > 0, ScaleMixture(dof=before.dof, dim=len(self.floor))
        n, precision = (np.where(some, x, 1.0) for x in (weight, sums.precisions.precision))
        step = sums.first / precision[:, None]
        scatter = sums.second - self.shape.compress(step[:, :, None] * step[:, None, :]) * _beside(
            precision, sums.second
        )
        expansions = np.stack([np.ones_like(n), precision / n])
        scales = [scatter / _beside(n * a, scatter) + self._added() for a in expansions]
        if self.dof is None:
            dofs = student.expanded_dof(sums.precisions, expansions, LEAST_DOF)
            tried, gain = student.likelier_dof(sums.precisions, LEAST_DOF)
        else:
            dofs, tried, gain = np.stack([before.dof] * 2), before.dof, np.full(len(n), -np.inf)
        # The averages have tr(Σ⁻¹ S) = d, of their own S; here it is what the E-step measured.
        d = float(len(self.floor))
        promised = [
            self._complete(sums, each, self.shape.fit(scale, len(self.floor)).log_det, dof, d)
            for each, scale, dof in zip(expansions, scales, dofs, strict=True)
        ]
        trace = sums.squared / n + 2.0 * sums.penalty
        here = self._complete(sums, expansions[0], sums.log_det, before.dof, trace)
        expanded = promised[1] > promised[0]
        moves = some & (np.maximum(*promised) - here >= gain)
        averaged = np.where(_beside(expanded, scatter), scales[1], scales[0])
        return StudentTParameters(
            weights=weight / weight.sum(),
            locations=np.where(moves[:, None], before.locations + step, before.locations),
            scales=np.where(_beside(moves, scatter), averaged, before.scales),
            dof=np.where(moves, np.where(expanded, dofs[1], dofs[0]), np.where(some, tried, before.dof)),
        )

    def _complete(
        self, sums: StudentTSums, expansion: np.ndarray, log_det: np.ndarray, dof: np.ndarray, trace: Any
    ) -> np.ndarray:
        """Return Q/n of each component, with α Σ for Σ and α u for u: what the averages maximise.

        `trace` is tr(Σ⁻¹ S), S the average of r α u (z - μ)(z - μ)ᵀ and the floor.
        """
        d = sums.first.shape[1]
        student = ScaleMixture(dof=sums.params.dof, dim=d)
        precisions = student.expected_log_density(sums.precisions, dof, expansion)
        return precisions - 0.5 * (log_det + d * np.log(expansion) + trace)

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
