"""A loss of linear predictors with a penalty over a source of rows: the one problem of all linear models."""

import math
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.linalg import symmetrize
from tractable.arrays.namespace import is_numpy_array, is_sparse, namespace_of
from tractable.data import Batch, Source
from tractable.data.arrays import ArraySource, DeviceArraySource, SparseSource
from tractable.data.dispatch import sample_rows
from tractable.engines.fold import fold
from tractable.engines.glm.losses.loss import Loss, LossExpansion, Scaling, design
from tractable.primitives.in_place import add_to_diagonal
from tractable.primitives.sparse_rows import StandardizedSparse
from tractable.primitives.threads import even_rows
from tractable.statistics import Standardizer
from tractable.statistics.rows import as_rows, counts
from tractable.value import replace, value

#: Rows and entries of a block, at most; fewer rows are that many blocks, for as many threads, but none has
#: fewer entries than these.
BLOCK, BLOCK_ENTRIES, BLOCKS, SHARED_ENTRIES = 2**16, 2**21, 16, 2**19
#: A sample has so many rows, and a part of many rows, within these bounds; where there are more than so many
#: times as many rows, a search begins at its minimum.
SAMPLE_A_COEFFICIENT, SAMPLED_PART, LEAST_SAMPLE, MOST_SAMPLE, MANY = 20, 50, 2_000, 20_000, 5
#: With more parameters than this their curvature is not computed. Steps are Newton's up to so many
#: parameters of one linear predictor of dense rows, and up to so many multiplications for a curvature.
MOST_PARAMETERS, MOST_NEWTON, NEWTON_PRODUCTS = 1500, 64, 2**25
#: A column whose curvature in the sample is below this part of what its mean square says was missed by it.
MISSED = 1e-2
#: Gradients below this part of the sum of the absolute values of their terms are rounding.
LEAST_GRADIENT = 1e-8
#: A factor whose squared pivots are above this part of the diagonal has lost no digits that count.
WELL_CONDITIONED = 1e-8
#: Curvatures this small, times their number and the machine's rounding, are no curvature.
LOST = 10.0
#: Entries whose function is taken at once.
SUM_ENTRIES = 2**15
#: Largest penalty weight.
MOST_PENALTY = 1e300
_EPS = float(np.finfo(np.float64).eps)

#: Sources whose rows are one array.
IN_MEMORY = (ArraySource, DeviceArraySource, SparseSource)


@value
class Penalty:
    """½ squares |coef|² + absolute Σ|coef| of coefficients in the units of their columns, beside Σ w loss."""

    squares: float = 0.0
    absolute: float = 0.0


@value
class LinearPredictorProblem:
    """Σ w loss(coef @ z, y) and a penalty, over the weight of the rows, of coefficients (c, p).

    Rows z are standardised columns, behind a leading 1 where there is an intercept, which has no penalty.

    Parameters
    ----------
    data : Source
        Rows and their targets.
    loss : Loss
        What linear predictors cost beside the targets.
    penalty : Penalty
        On coefficients in the units of the columns.
    standardizer : Standardizer
        Of the columns, with the scale 0 for constant ones.
    weight : float
        Of all rows.
    has_intercept : bool
        Whether the first coefficient of each linear predictor is an intercept.
    mean_squares : array (d,)
        Of the standardised columns: 1, but for constant ones and those with outliers.
    sampled : bool
        Whether the rows are a sample of those that these are of.
    """

    data: Source
    loss: Loss
    penalty: Penalty
    standardizer: Standardizer
    weight: float
    has_intercept: bool
    mean_squares: Any = 1.0
    sampled: bool = False

    @cached_property
    def ridge(self) -> np.ndarray:
        """Penalty weights of squares of standardised columns, (p,); zero for the intercept."""
        with np.errstate(over="ignore", under="ignore"):
            return self._with_intercept(
                self.penalty.squares * self.standardizer.scale * self.standardizer.scale
            )

    @cached_property
    def lasso(self) -> np.ndarray:
        """Penalty weights of absolute values, (p,); zero for the intercept."""
        with np.errstate(over="ignore", under="ignore"):
            return self._with_intercept(self.penalty.absolute * self.standardizer.scale)

    def _with_intercept(self, penalty: np.ndarray) -> np.ndarray:
        return np.append(np.zeros(int(self.has_intercept)), np.minimum(penalty, MOST_PENALTY))

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the coefficients."""
        return self.loss.n_predictors, len(self.ridge)

    @property
    def scaling(self) -> Scaling:
        """Shift and scale of the columns."""
        return self.standardizer.shift, self.standardizer.scale

    @property
    def few_parameters(self) -> bool:
        """Whether the curvature of all parameters is computed."""
        return math.prod(self.shape) <= MOST_PARAMETERS

    @property
    def by_newton(self) -> bool:
        """Whether the curvature takes so little time that steps are Newton's; of some losses always."""
        size, n = math.prod(self.shape), self.data.n_rows
        few = size <= MOST_NEWTON and self.shape[0] == 1 and not isinstance(self.data, SparseSource)
        few = few or (n is not None and n * size * size <= NEWTON_PRODUCTS)
        concordant = self.loss.self_concordant and self.few_parameters
        return concordant and (few or self.loss.curvature_at_zero is None)

    @property
    def few_rows(self) -> bool:
        """Whether a few more passes over the rows take little time."""
        return self.data.n_rows is not None and self.data.n_rows <= MOST_SAMPLE

    def reduce(self, of: Callable[..., Any], *, dense: bool = True, **options: Any) -> Any:
        """Return the sum of ``of(x, y, weights, scaling=…, **options)`` over all rows.

        Sparse rows are in dense blocks, unless the function takes them.
        """
        data = self.data
        if dense and isinstance(data, SparseSource):
            data = data.in_dense_blocks()
        width, n = len(self.ridge), data.n_rows
        rows = min(BLOCK, max(1, BLOCK_ENTRIES // width))
        if n is not None:
            rows = min(rows, even_rows(n, max(-(-n // BLOCKS), SHARED_ENTRIES // width, 1)))
        return fold(
            partial(of, scaling=self.scaling, **options), data, rows=rows, label=type(self.loss).__name__
        )

    def expansion(self, coef: np.ndarray, *, curvature: str | None = "observed") -> LossExpansion:
        """Return the loss of all rows, without the penalty: one pass."""
        options: Any = {"dense": curvature is not None, "coef": coef, "curvature": curvature}
        return self.reduce(LossExpansion.of, loss=self.loss, **options)

    def objective(self, coef: np.ndarray) -> tuple[float, np.ndarray]:
        """Return loss and squared penalty over the weight of the rows, and their gradient."""
        return self._penalised(coef, self.expansion(coef, curvature=None))

    def expanded(self, coef: np.ndarray) -> tuple[float, np.ndarray, "Curvature"]:
        """Return the same and the curvature, in one pass."""
        found = self.expansion(coef)
        information = np.asarray(found.curvature)
        value, gradient = self._penalised(coef, found)
        if not np.isfinite(information).all():
            return np.inf, gradient, Curvature(hessian=information)
        return value, gradient, self.curvature_by(information)

    def _penalised(self, coef: np.ndarray, found: LossExpansion) -> tuple[float, np.ndarray]:
        with np.errstate(over="ignore", under="ignore"):
            pull = self.ridge * coef
            value = float(found.value) + 0.5 * float(np.vdot(pull, coef))
            return value / self.weight, (np.asarray(found.gradient) + pull) / self.weight

    def information(self, coef: np.ndarray) -> np.ndarray:
        """Return the curvature of the loss over all rows, (c p, c p): one pass."""
        return np.asarray(self.expansion(coef).curvature)

    def curvature(self, coef: np.ndarray, *, exact: bool = False) -> "Curvature":
        """Return the curvature of the objective, estimated from the sample unless it is to be exact."""
        rows = self if exact else self.sample
        return rows.curvature_by(rows.information(coef))

    def curvature_by(self, information: np.ndarray) -> "Curvature":
        """Return the curvature of the objective by that of the loss."""
        hessian = np.array(information)
        if self.sampled:
            self._raise_diagonal(hessian)
        add_to_diagonal(hessian, np.tile(self.ridge, self.shape[0]))
        return Curvature(hessian=hessian / self.weight, information=information)

    @cached_property
    def block(self) -> Callable[[np.ndarray], np.ndarray]:
        """A function that solves with the curvature of each linear predictor where coefficients are zero."""
        found = self.sample.reduce(_products, width=self.shape[1]) * (self.loss.curvature_at_zero or 1.0)
        add_to_diagonal(found, self.ridge)
        solve = Curvature(hessian=found / self.weight)
        return lambda g: np.stack([solve(row) for row in g])

    @property
    def diagonal(self) -> np.ndarray:
        """The curvature of each coefficient where all are zero, roughly, (p,)."""
        found = self.weight * (self.loss.curvature_at_zero or 1.0) * self._squares + self.ridge
        return np.where(found > 0.0, found, 1.0) / self.weight

    @cached_property
    def _squares(self) -> np.ndarray:
        """Mean squares of the columns of the design matrix, (p,)."""
        columns = np.broadcast_to(self.mean_squares, len(self.standardizer.scale))
        return np.append(np.ones(int(self.has_intercept)), columns)

    def _raise_diagonal(self, information: np.ndarray) -> None:
        """Give columns that a sample missed, such as indicators of a few rows, an average curvature.

        Without it they get too long a step, after which the curvature of the rows that were missed is
        next to none.
        """
        diagonal = np.diagonal(information).reshape(-1, self.shape[1])
        squares = np.where(self._squares > 0.0, self._squares, 1.0)
        each = np.max(diagonal / squares, axis=1, keepdims=True)  # Σ w v, where there is an intercept
        missed = diagonal < MISSED * each * squares
        if np.any(missed):  # or only rows that vary in it are well classified
            missed &= self._squares_of_rows < MISSED * squares
        add_to_diagonal(information, np.where(missed, each * squares - diagonal, 0.0).reshape(-1))

    @cached_property
    def _squares_of_rows(self) -> np.ndarray:
        """Mean squares of the columns of the design matrix in these rows, (p,)."""
        return self.reduce(_square_sums, width=self.shape[1]) / self.weight

    def settled(self, coef: np.ndarray, gradient: np.ndarray, tol: float) -> bool:
        """Return whether gradients are small beside Σ |w r z|, the absolute values of the terms they sum.

        One outlying row may make the curvature so large that a step predicts next to no decrease, though the
        gradients of the other rows have one sign. Where all terms vanish, the loss has no minimum.
        """
        options: Any = {"dense": False, "loss": self.loss, "coef": coef}
        terms, sizes = self.sample.reduce(_gradient_terms, **options)
        terms = terms + np.abs(self.ridge * coef)
        some = terms > tol * sizes
        part = max(np.sqrt(tol), LEAST_GRADIENT)
        return bool(np.all(np.abs(gradient)[some] * self.weight <= part * terms[some]))

    @cached_property
    def sample(self) -> "LinearPredictorProblem":
        """The problem of a sample, each row as likely as any, whose weights add up to those of all rows.

        It is the problem itself where there are not many more rows.
        """
        least, n = max(LEAST_SAMPLE, SAMPLE_A_COEFFICIENT * math.prod(self.shape)), self.data.n_rows
        size = min(MOST_SAMPLE, max(least, (n or 0) // SAMPLED_PART))
        if n is not None and n <= 2 * size:
            return self
        rows = _sampled(self.data, size if n is not None else MOST_SAMPLE, with_codes=self.loss.of_classes)
        w = counts(rows.weights, as_rows(rows.X))
        total = float(namespace_of(w).sum(w))
        if not total > 0.0:
            return self
        return replace(self, data=replace(rows, weights=w * (self.weight / total)), sampled=True)

    def feasible(self, coef: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
        """Return coefficients at which the loss of all rows is a number, or others."""
        return coef

    @property
    def begins_with_sample(self) -> bool:
        """Whether there are so many rows that the minimum of a sample is the place to begin."""
        n = self.data.n_rows
        return n is None or n > MANY * (self.sample.data.n_rows or 0)


class Curvature:
    """A curvature, as a function that solves with it; directions that have none are left out."""

    def __init__(self, hessian: np.ndarray, information: Any = None) -> None:
        self.hessian, self.information = hessian, information

    def __call__(self, gradient: np.ndarray) -> np.ndarray:
        """Return H⁻¹ g of a gradient of any shape."""
        return self._solve(gradient.reshape(-1)).reshape(gradient.shape)

    def unbounded_step(self, gradient: np.ndarray) -> np.ndarray:
        """Return H⁻¹ g with no direction left out: curvature that is lost counts as the least that is not.

        Along a direction in which a loss falls for ever, curvature and slope vanish together. Once the
        curvature is lost, steps leave the direction out and a search ends; this step goes along it.
        """
        if self._factor is not None:
            return self(gradient)
        return self._by_spectrum(gradient.reshape(-1), lost=True).reshape(gradient.shape)

    def _solve(self, g: np.ndarray) -> np.ndarray:
        from scipy.linalg.lapack import dpotrs

        return self._by_spectrum(g) if self._factor is None else dpotrs(self._factor, g, lower=1)[0]

    @cached_property
    def _factor(self) -> np.ndarray | None:
        """The Cholesky factor; None if it loses digits that count."""
        from scipy.linalg.lapack import dpotrf

        lower, failed = dpotrf(self.hessian, lower=1, clean=0)
        diagonal = np.diagonal(self.hessian)
        well = not failed and np.all(np.diagonal(lower) ** 2 > WELL_CONDITIONED * diagonal)
        return lower if well else None

    @cached_property
    def _spectrum(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Absolute eigenvalues and eigenvectors of the Hessian with a diagonal of ±1, and its scales."""
        size = np.sqrt(np.abs(np.diagonal(self.hessian)))
        size = np.where(size > 0.0, size, 1.0)
        values, vectors = np.linalg.eigh(symmetrize(self.hessian / size / size[:, None]))
        return np.abs(values), vectors, size

    def _by_spectrum(self, g: np.ndarray, *, lost: bool = False) -> np.ndarray:
        values, vectors, size = self._spectrum
        least = LOST * len(values) * _EPS * np.max(values, initial=0.0)
        some = (values > least) | (lost and least > 0.0)
        axes, inverse = vectors[:, some], 1.0 / np.maximum(values[some], least)
        return (axes @ (inverse * (axes.T @ (g / size)))) / size


def _sampled(data: Source, size: int, *, with_codes: bool) -> Any:
    """Return rows of a source, each as likely as any."""
    rng = np.random.default_rng(0)
    if not isinstance(data, IN_MEMORY):
        beside_rows = data.map(_append_targets, n_features=data.n_features + 2)
        both, w = sample_rows(beside_rows, None, size, rng)
        y = both[:, -2].astype(np.int64) if with_codes else both[:, -2:]
        return ArraySource(X=both[:, :-2], y=y, weights=w)
    # One row of each of as many parts: in order, without a sort.
    starts = np.arange(size + 1) * data.n_rows // size
    chosen = starts[:-1] + (rng.random(size) * np.diff(starts)).astype(np.int64)
    if is_sparse(data.X):
        rows: Any = data.X
        parts = (None if each is None else each[chosen] for each in (rows.tocsr(), data.y, data.weights))
    else:
        xp, chosen = namespace_of(data.X), beside(chosen, data.X)
        columns = (data.X, data.y, data.weights)
        parts = (None if each is None else xp.take(each, chosen, axis=0) for each in columns)
    return replace(data, **dict(zip(("X", "y", "weights"), parts, strict=True)))


def _append_targets(batch: Batch) -> Batch:
    """Return a batch whose last columns are the target and the exposure, one where there is none."""
    y = np.asarray(batch.y, dtype=np.float64)
    y = y if y.ndim == 2 and y.shape[1] == 2 else np.column_stack([y, np.ones(len(y))])
    return Batch(X=np.column_stack([batch.X, y]), weights=batch.weights)


def _gradient_terms(
    x: Any, y: Any, weights: Any = None, *, loss: Loss, coef: np.ndarray, scaling: Scaling
) -> np.ndarray:
    """Return Σ w |r| |z| for every coefficient, and Σ w min(|z|, 1), at most the weight, (2, c, p)."""
    z, slopes = loss.residuals(x, y, scaling, coef)
    r = namespace_of(slopes).abs(slopes).T
    one = 0.0 * r[:1, :] + 1.0
    r, one = (r, one) if weights is None else (r * weights, one * weights)
    terms = _entry_sums(z, _absolute, r)
    return namespace_of(terms).stack([terms, _entry_sums(z, _size, one) + 0.0 * terms])


def _products(x: Any, y: Any, weights: Any = None, *, scaling: Scaling, width: int) -> np.ndarray:  # noqa: ARG001
    z = design(x, scaling, width)
    return (counts(weights, z)[:, None] * z).T @ z


def _square_sums(x: Any, y: Any, weights: Any = None, *, scaling: Scaling, width: int) -> np.ndarray:  # noqa: ARG001
    z = design(x, scaling, width)
    return _entry_sums(z, _square, counts(weights, z.X if isinstance(z, StandardizedSparse) else z))


def _entry_sums(z: Any, of: Callable[[np.ndarray], np.ndarray], r: np.ndarray) -> np.ndarray:
    """Return Σ_n r_n of(z_n), of a function of single entries; of sparse rows by their stored entries."""
    if isinstance(z, StandardizedSparse):
        return z.column_sums(of, r)
    if not is_numpy_array(z):
        return r @ of(z)
    step = max(1, SUM_ENTRIES // z.shape[1])
    return sum(r[..., a : a + step] @ of(z[a : a + step]) for a in range(0, max(1, len(z)), step))


def _absolute(z: np.ndarray) -> np.ndarray:
    return namespace_of(z).abs(z)


def _square(z: np.ndarray) -> np.ndarray:
    return z * z


def _size(z: np.ndarray) -> np.ndarray:
    return namespace_of(z).clip(_absolute(z), 0.0, 1.0)
