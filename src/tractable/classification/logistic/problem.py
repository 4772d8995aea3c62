"""The objective of logistic regression over a source of rows, and the search for its minimum."""

import math
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.grouping import weighted_counts
from tractable.arrays.limits import reciprocals
from tractable.arrays.linalg import jittered_cholesky, solve_cholesky
from tractable.arrays.namespace import is_numpy_array, is_sparse, namespace_of, to_numpy
from tractable.data import Batch, Source
from tractable.data.arrays import ArraySource, DeviceArraySource, SparseSource
from tractable.data.blocks import FEW_ENTRIES, stacked
from tractable.data.dispatch import sample_rows
from tractable.engines.fold import fold
from tractable.engines.glm.losses import (
    UNSCALED,
    Logit,
    LossExpansion,
    Probit,
    Scaling,
    design,
)
from tractable.engines.lbfgs import lbfgs
from tractable.engines.newton import NewtonResult, newton_cg
from tractable.engines.sparse.proximal_newton import proximal_newton
from tractable.primitives import SILENT
from tractable.primitives.glm.agnostic import weighted_square
from tractable.primitives.sparse_rows import StandardizedSparse, sparse_quantiles
from tractable.primitives.threads import even_blocks, ordered_map, single_threaded_blas
from tractable.statistics import DiagonalMoments, Standardizer, column_varies
from tractable.statistics.rows import as_rows, counts
from tractable.value import replace, value

#: Rows and entries of a block, at most.
BLOCK, BLOCK_ENTRIES = 2**16, 2**21
#: Rows, and entries of the design matrix, up to which a table in memory is standardized once.
HELD_ROWS, HELD_ENTRIES = 2**12, 2**20
#: Entries of the design matrix that a fitted model may hold, to compute a covariance when it is asked for.
DEFERRED_ENTRIES = 2**17
#: Rows up to which the curvature is that of all. Of more, a sample stands for them, whose curvature is so
#: good a guess with so many rows a coefficient.
SAMPLE, LEAST_SAMPLE, SAMPLE_A_COEFFICIENT = 20_000, 2_000, 20
#: With more parameters than this the curvature is replaced by one block for all linear predictors.
MOST_PARAMETERS = 1500
#: With more parameters than this, and a penalty, the curvature is computed before these steps alone, and
#: corrected by differences of gradients: each computation takes as long as that many gradients. The first one
#: is that of coefficients that are all zero, which the moments of the columns give.
MOST_NEWTON, REFRESH, MEMORY = 64, (0, 4, *range(12, 500, 8)), 10
#: Of more than `MOST_PARAMETERS` the one block is computed before these.
REFRESH_MANY = (0, 4, 20)
#: The mean curvature of a row counts at least as this part of what it is where all coefficients are zero:
#: rows that are well classified would be left out, whose classes the next step may change.
#: The diagonal alone of correlated columns is too small for long steps.
LEAST_MEAN, LEAST_DIAGONAL = 0.1, 0.5
#: Coordinate descent holds a square matrix of this many parameters, at most.
MOST_SPARSE = 5000
#: A column that hardly varies in the sample is given at least this part of the median curvature.
LEAST_CURVATURE = 1e-3
#: Gradients below this part of the sum of the absolute values of their terms are rounding.
LEAST_GRADIENT = 1e-8
#: Where steps after convergence end: at the rounding of the objective; or, where an estimate of the curvature
#: guides them and there is a penalty, at this part of the tolerance, and of many parameters at that one.
ROUNDING, FINAL, FINAL_OF_MANY = 2e-20, 1e-6, 1e-4
#: Tolerance and most steps of the search over the sample alone.
ROUGH, FEW = 1e-5, 10
#: A factor whose squared pivots are above this part of the diagonal is as good as one with jitter.
WELL_CONDITIONED = 1e-8
#: Entries whose function is taken at once.
SUM_ENTRIES = 2**15
#: Largest penalty weight.
MOST_PENALTY = 1e300

#: Entries of the design matrix, and of the probabilities of all classes, up to which a search of more than
#: `MOST_NEWTON` parameters takes Newton steps by conjugate gradients; products with H, at most, of a step.
MOST_DESIGN, MOST_PROBABILITIES, MOST_PRODUCTS = 2**24, 2**23, 200
#: Columns whose mean is at most this many standard deviations keep their digits in products with rows that
#: are not centred.
WELL_CENTRED = 1e3
#: Entries of rows, and of linear predictors, of a block that stays in the cache; multiplications that are
#: worth several threads, and the tasks these share.
PRODUCT_ENTRIES, SHARED_PRODUCTS, TASKS = 2**16, 2**22, 8
#: Rows for each linear predictor, up to which those of far more columns are met by their products with each
#: other; of these, the most over the penalty weight, and what is added to them.
MOST_ROWS_A_PREDICTOR, MOST_GRAM, GRAM_JITTER = 100, 1e7, 1e-13
#: The sum of the second derivatives counts, in the preconditioner, at least as this part of that where all
#: coefficients are zero.
LEAST_TOTAL = 1e-2
#: Multiplications from which products with the curvature are in single precision.
SINGLE_PRODUCTS = 2**18

#: Sources whose rows are one array.
IN_MEMORY = (ArraySource, DeviceArraySource, SparseSource)

#: Rows of a block, and in all, from which the quartiles of columns are estimated.
QUARTILE_ROWS, MOST_QUARTILE_ROWS = 256, 4096
#: A column whose standard deviation is this many times that by its quartiles has outliers.
OUTLIERS = 100.0
#: Interquartile range of a standard normal.
IQR = 1.349


@value
class ClassSummary:
    """Moments of the columns, weights of the classes, and some of the rows; they add."""

    moments: DiagonalMoments
    class_weight: np.ndarray  # (K,)
    some: Any  # (m, d), sparse where the rows are

    @classmethod
    def of(cls, x: Any, codes: Any, weights: Any = None, *, n_classes: int) -> "ClassSummary":
        """Summarise a block of rows with class codes."""
        counted = x if weights is None else x[weights > 0]
        some = counted[:: 1 + counted.shape[0] // QUARTILE_ROWS, :]
        one = counts(weights, x if is_sparse(x) else as_rows(x[:, :1]))
        return cls(
            moments=DiagonalMoments.of(x, weights),
            class_weight=weighted_counts(codes, one, n_classes),
            some=some if is_sparse(some) else np.asarray(to_numpy(some), dtype=np.float64),
        )

    def __add__(self, other: "ClassSummary") -> "ClassSummary":
        some = stacked([self.some, other.some])
        return ClassSummary(
            moments=self.moments + other.moments,
            class_weight=self.class_weight + other.class_weight,
            some=some if some.shape[0] <= MOST_QUARTILE_ROWS else some[::2],
        )

    def standardizer(self, *, centered: bool) -> Standardizer:
        """Return the standardizer of the columns, with the scale 0 for constant ones.

        A column with outliers so large that they would hide the other rows is standardized by its quartiles.
        """
        found = Standardizer.from_moments(self.moments)
        low, median, high = _quartiles(self.some)
        width = (high - low) / IQR
        stddev = np.sqrt(self.moments.scatter / self.moments.total)
        robust = column_varies(median, width) & (stddev > OUTLIERS * width)
        shift, stddev = np.where(robust, median, found.shift), np.where(robust, width, stddev)
        varies = found.varies
        if not centered:
            stddev = np.hypot(stddev, shift)
            shift, varies = np.zeros_like(shift), stddev > 0.0
        scale = np.where(varies, reciprocals(np.where(varies, stddev, 1.0)), 0.0)
        return Standardizer(shift=shift, scale=scale, varies=varies)

    def mean_squares(self, standardizer: Standardizer) -> np.ndarray:
        """Return the mean squares of standardized columns: 1, but for constant ones and outliers."""
        second = self.moments.scatter / self.moments.total + (self.moments.mean - standardizer.shift) ** 2
        with np.errstate(over="ignore", invalid="ignore"):
            return np.nan_to_num(second * standardizer.scale * standardizer.scale)

    def class_weights(self, class_weight: Any, classes: np.ndarray) -> np.ndarray | None:
        """Return the factors of the weights of each class's rows that the parameter asks for, (K,)."""
        if class_weight is None:
            return None
        if isinstance(class_weight, str) and class_weight == "balanced":
            return np.sum(self.class_weight) / (len(classes) * self.class_weight)
        if not isinstance(class_weight, Mapping):
            raise ValueError(f'class_weight must be None, "balanced" or a dictionary, got {class_weight!r}')
        unknown = [label for label in class_weight if label not in classes.tolist()]
        if unknown:
            raise ValueError(f"class_weight has the label {unknown[0]!r}, which y does not have")
        found = np.array([class_weight.get(label, 1.0) for label in classes.tolist()], dtype=np.float64)
        if not (np.all(np.isfinite(found)) and np.all(found > 0.0)):
            raise ValueError(f"class_weight must be positive numbers, got {dict(class_weight)}")
        return found


def _quartiles(rows: Any) -> np.ndarray:
    levels = [0.25, 0.5, 0.75]
    if is_sparse(rows):
        return sparse_quantiles(rows, levels)
    # Columns that are contiguous are sorted in a fraction of the time of `np.quantile` over rows.
    ordered = np.sort(np.ascontiguousarray(rows.T), axis=1)
    place = np.multiply(levels, len(rows) - 1)
    below = place.astype(np.int64)
    low, high = ordered[:, below], ordered[:, np.minimum(below + 1, len(rows) - 1)]
    return (low + (place - below) * (high - low)).T


@value
class _ClassWeighted:
    """Multiplies the weights of a batch by those of the classes."""

    factors: np.ndarray

    def __call__(self, batch: Batch) -> Batch:
        factor = namespace_of(batch.y).take(beside(self.factors, batch.y), batch.y)
        return replace(batch, weights=factor if batch.weights is None else factor * batch.weights)


def with_class_weights(data: Source, factors: np.ndarray | None) -> Source:
    """Return rows whose weights are multiplied by those of their classes."""
    if factors is None:
        return data
    of = _ClassWeighted(factors=factors)
    return of(data) if isinstance(data, IN_MEMORY) else data.map(of)  # type: ignore[arg-type,return-value]


@value
class LogisticProblem:
    """Loss and penalty over free coefficients (c, p) of standardized columns, over the weight of the rows.

    The objective is scikit-learn's, divided by C and the weight of the rows.
    """

    data: Source  # rows whose targets are class codes
    link: Logit | Probit
    standardizer: Standardizer  # with the scale 0 for constant columns
    weight: float  # of all rows
    C: float
    l1_ratio: float
    has_intercept: bool  # whether the first coefficient of each linear predictor is an intercept
    class_factors: np.ndarray | None = None  # (K,), by which the weights of each class's rows are multiplied
    mean_factor: float = 1.0  # of a row
    mean_squares: Any = 1.0  # of the standardized columns, (d,)

    @property
    def alpha(self) -> float:
        """Penalty weight of squares for columns that are not standardized."""
        return (1.0 - self.l1_ratio) / self.C

    @cached_property
    def ridge(self) -> np.ndarray:
        """Penalty weights of squares, (p,); zero for the intercept."""
        with np.errstate(over="ignore", under="ignore"):
            return self._with_intercept(self.alpha * self.standardizer.scale * self.standardizer.scale)

    @cached_property
    def lasso(self) -> np.ndarray:
        """Penalty weights of absolute values, (p,); zero for the intercept."""
        with np.errstate(over="ignore", under="ignore"):
            return self._with_intercept(self.l1_ratio / self.C * self.standardizer.scale)

    def _with_intercept(self, penalty: np.ndarray) -> np.ndarray:
        return np.append(np.zeros(int(self.has_intercept)), np.minimum(penalty, MOST_PENALTY))

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the free coefficients."""
        return self.link.contrasts.shape[1], len(self.ridge)

    @property
    def scaling(self) -> Scaling:
        """Shift and scale of the columns."""
        return self.standardizer.shift, self.standardizer.scale

    @property
    def few_parameters(self) -> bool:
        """Whether the curvature of all parameters is computed."""
        return self.shape[0] * self.shape[1] <= MOST_PARAMETERS

    @cached_property
    def held(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None] | None:
        """Design matrix, codes and weights of a small table in memory; None of others, met by blocks."""
        data, width = self.data, self.shape[1]
        if not (isinstance(data, ArraySource) and is_numpy_array(data.X)):
            return None
        n = len(data.X)
        if n > HELD_ROWS or n * width > HELD_ENTRIES:
            return None
        return design(data.X, self.scaling, width), np.asarray(data.y), data.weights

    def reduce(
        self, of: Callable[..., Any], data: Source | None = None, *, dense: bool = True, **options: Any
    ) -> Any:
        """Return the sum of ``of(x, codes, weights, scaling=…, **options)`` over all rows, or others.

        A small table is one block, of rows of the design matrix. Sparse rows are in dense blocks, where there
        are few parameters, unless the function takes them.
        """
        data = self.data if data is None else data
        if data is self.data and self.held is not None:
            with single_threaded_blas(self.held[0].size > FEW_ENTRIES):
                return of(*self.held, scaling=UNSCALED, **options)
        if dense and isinstance(data, SparseSource):
            data = data.in_dense_blocks()
        rows = min(BLOCK, max(1, BLOCK_ENTRIES // len(self.ridge)))
        return fold(partial(of, scaling=self.scaling, **options), data, rows=rows, label="LogisticRegression")

    def objective(self, coef: np.ndarray) -> tuple[float, np.ndarray, Callable[[], np.ndarray]]:
        """Return loss and squared penalty, their gradient, one pass over all rows, and the `information`."""
        if self.held is not None:
            loss, gradient, information = self._at_once(coef)
        else:
            found: LossExpansion = self.reduce(_loss, dense=False, link=self.link, coef=coef)
            loss, gradient, information = float(found.value), found.gradient, partial(self.information, coef)
        with np.errstate(over="ignore", under="ignore"):
            pull = self.ridge * coef
            value = loss + 0.5 * float(np.vdot(pull, coef))
            return value / self.weight, (gradient + pull) / self.weight, information

    @SILENT
    def _at_once(self, coef: np.ndarray) -> tuple[float, np.ndarray, Callable[[], np.ndarray]]:
        """Return the loss of a small table, its gradient, and a function that returns the `information`."""
        assert self.held is not None
        (z, codes, weights), link, each = self.held, self.link, self.link.class_coef(coef)
        with single_threaded_blas(z.size > FEW_ENTRIES):
            eta = (z @ each[0])[None, :] if len(each) == 1 else each @ z.T
            loss, slopes, rows = link.expand_rows(eta, codes, weights)
            if len(each) > 1:
                return loss, link.free_coef(slopes @ z), partial(self.information, coef)
            # Of one linear predictor the curvature of the rows is known already.
            roots: Any = rows.weights
            return loss, slopes @ z, lambda: weighted_square(np, np.sqrt(roots), z)

    @cached_property
    def rows(self) -> "DesignRows | None":
        """All rows, for Newton steps by conjugate gradients, where there are many parameters and not too many
        rows in memory.
        """
        data, (c, p) = self.data, self.shape
        if not (self.alpha > 0.0 and c * p > MOST_NEWTON and isinstance(data, ArraySource)):
            return None
        if data.n_rows > SAMPLE and self.few_parameters:  # factors of the curvature of a sample are cheap
            return None
        options: Any = {"width": p, "n_predictors": c if c == 1 else c + 1}
        if self.held is not None:
            z, codes, weights = self.held
            return DesignRows(x=z, codes=codes, weights=weights, scaling=UNSCALED, **options)
        X, (shift, scale) = data.X, self.scaling
        fits = data.n_rows * p <= MOST_DESIGN and data.n_rows * (c + 1) <= MOST_PROBABILITIES
        if not (fits and is_numpy_array(X)):
            return None
        options |= {"codes": np.asarray(data.y), "weights": data.weights}
        as_is = X.dtype == np.float64 and X.flags.c_contiguous
        if as_is and np.all(np.abs(shift * scale) <= WELL_CENTRED):
            return DesignRows(x=X, scaling=self.scaling, **options)
        return DesignRows(x=design(X, self.scaling, p), scaling=UNSCALED, **options)

    def expansion(self, coef: np.ndarray) -> tuple[Any, ...]:
        """Return the objective at coefficients of the classes, its gradient, and functions for Hv and diag H.

        They are of the rows in memory, for `newton_cg`.
        """
        assert self.rows is not None
        loss, gradient, product, total = self.rows.expand(self.link, coef)
        squares = np.append(
            np.ones(int(self.has_intercept)), np.broadcast_to(self.mean_squares, len(self.standardizer.scale))
        )

        def diagonal() -> np.ndarray:
            # A class whose rows are all well classified would have next to none.
            least = LEAST_TOTAL * self.link.curvature_at_zero * self.weight
            found = np.maximum(total(), least)[:, None] * squares + self.ridge
            return np.where(found > 0.0, found, 1.0) / self.weight

        value = loss + 0.5 * float(np.vdot(self.ridge * coef, coef))
        return (
            value / self.weight,
            (gradient + self.ridge * coef) / self.weight,
            lambda v: (product(v) + self.ridge * v) / self.weight,
            diagonal,
        )

    def information(self, coef: np.ndarray, data: Source | None = None) -> np.ndarray:
        """Return the curvature of the loss over all rows, or others, (c p, c p): one pass."""
        return self.reduce(_information, data, link=self.link, coef=coef)

    def deferred_information(self, coef: np.ndarray) -> Callable[[], np.ndarray] | None:
        """Return a function that computes `information` later; None where its rows take more memory than it.

        It is that of a copy of the rows.
        """
        if self.held is None or self.held[0].size > max(DEFERRED_ENTRIES, coef.size**2):
            return None
        z, codes, weights = self.held
        weights = None if weights is None else weights.copy()
        return partial(_held_information, z, codes.copy(), weights, link=self.link, coef=coef)

    def hessian(self, coef: np.ndarray, information: Callable[[], np.ndarray] | None = None) -> np.ndarray:
        """Return the curvature of the objective, estimated from a sample where there are many rows."""
        known = information is not None and self.held is not None
        found = information() if known else self.information(coef, self.sample)  # type: ignore[misc]
        if not self.exact:
            _raise_diagonal(found, self.shape)
        add_to_diagonal(found, np.tile(self.ridge, self.shape[0]))
        found /= self.weight
        return found

    def curvature(
        self, coef: np.ndarray, information: Callable[[], np.ndarray] | None = None
    ) -> Callable[[np.ndarray], np.ndarray]:
        """Return a function that solves with the curvature of the objective, or with one block for all."""
        many, begins = math.prod(self.shape) > MOST_NEWTON, not np.any(coef)
        if begins and many and self.alpha > 0.0:
            return self._mean_block(coef, diagonal=self.shape[1] > MOST_NEWTON)
        if not self.few_parameters or (begins and self.shape[0] > 1):  # where all are zero it is exact
            return self._mean_block(coef, diagonal=self.shape[1] > MOST_PARAMETERS)
        solve = solver(self.hessian(coef, information))
        return lambda g: solve(g.reshape(-1, 1)).reshape(g.shape)

    def settled(
        self, coef: np.ndarray, gradient: np.ndarray, tol: float, terms: np.ndarray | None = None
    ) -> bool:
        """Return whether gradients are small beside Σ |w r z|, the absolute values of the terms they sum.

        One outlying row may make the curvature so large that a step predicts next to no decrease, though the
        gradients of the other rows have one sign. Where all terms vanish, the classes are separated.
        """
        if terms is None:
            terms = self.reduce(_gradient_terms, self.sample, dense=False, link=self.link, coef=coef)
        terms = terms + np.abs(self.ridge * coef)
        part = max(np.sqrt(tol), LEAST_GRADIENT)
        least = tol * self.weight  # no column is larger than that
        some = terms > (least if np.all(terms > least) else tol * self._sizes)
        return bool(np.all(np.abs(gradient)[some] * self.weight <= part * terms[some]))

    @cached_property
    def _sizes(self) -> np.ndarray:
        """Σ w min(|z|, 1) of every column of the sample, (p,): at most its weight."""
        return self.reduce(_sizes, self.sample, dense=False, width=self.shape[1])

    @property
    def sample_rows(self) -> int:
        """The size of the sample, at most `SAMPLE`."""
        return min(SAMPLE, max(LEAST_SAMPLE, SAMPLE_A_COEFFICIENT * self.shape[0] * self.shape[1]))

    @cached_property
    def sample(self) -> Source:
        """At most `sample_rows` rows, drawn uniformly, whose weights add up to those of all rows."""
        rng, data = np.random.default_rng(0), self.data
        if isinstance(data, IN_MEMORY):
            if data.n_rows <= SAMPLE:
                return data
            chosen = np.sort(rng.choice(data.n_rows, self.sample_rows, replace=False, shuffle=False))
            xp, chosen = namespace_of(data.X), beside(chosen, data.X)
            x, codes = (xp.take(each, chosen, axis=0) for each in (data.X, data.y))
            w = None if data.weights is None else xp.take(data.weights, chosen)
        else:
            labelled = data.map(_append_codes, n_features=data.n_features + 1)
            most = self.sample_rows if (data.n_rows or 0) > SAMPLE else SAMPLE
            both, w = sample_rows(labelled, None, most, rng)
            x, codes = both[:, :-1], both[:, -1].astype(np.int64)
            data = ArraySource(X=x, y=codes)
        w = counts(w, as_rows(x))
        return replace(data, X=x, y=codes, weights=w * (self.weight / float(namespace_of(w).sum(w))))

    @property
    def exact(self) -> bool:
        """Whether the sample is all rows."""
        known = self.data.n_rows
        return (self.sample.n_rows or 0) < SAMPLE if known is None else known <= SAMPLE

    def _mean_block(self, coef: np.ndarray, *, diagonal: bool) -> Callable[[np.ndarray], np.ndarray]:
        """Solve with the mean of the blocks of the curvature on its diagonal, the same for all predictors."""
        options: Any = {"link": self.link, "coef": coef, "diagonal": diagonal}
        found = self.reduce(_mean_block, self.sample, dense=not diagonal, **options) / self.weight
        ridge = self.ridge / self.weight
        if diagonal:
            sizes = np.where(found + ridge > 0.0, found + ridge, 1.0)
            return lambda g: g / sizes
        add_to_diagonal(found, ridge)
        _raise_diagonal(found, (1, len(ridge)))
        solve = solver(found)
        return lambda g: solve(g.T).T

    def to_columns(self, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients and intercepts of the classes, in the units of the columns."""
        each = self.link.class_coef(coef)
        first = int(self.has_intercept)
        slopes = each[:, first:] * self.standardizer.scale
        intercept = each[:, 0] - slopes @ self.standardizer.shift if first else np.zeros(len(each))
        return slopes, intercept - np.mean(intercept) if first and len(each) > 1 else intercept

    def from_columns(self, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Return free coefficients of the standardized columns, the inverse of `to_columns`."""
        scale, varies = self.standardizer.scale, self.standardizer.varies
        found = np.where(varies, coef / np.where(varies, scale, 1.0), 0.0)
        if self.has_intercept:
            found = np.column_stack([intercept + coef @ self.standardizer.shift, found])
        return self.link.free_coef(found)


@value
class DesignRows:
    """Rows in memory, whose products with coefficients are taken by blocks that stay in the cache.

    Those with the curvature, which only guide a search, are in single precision where there are many.

    Parameters
    ----------
    x : array (n, p), or (n, d) where there is a scaling
        The design matrix; or the rows, which are standardized within the products, less accurate by as many
        digits as the means of columns have in standard deviations.
    codes, weights : arrays (n,), weights may be None
        Classes and how often each row counts.
    scaling : shift and scale (d,), optional
        Of the columns.
    width : int
        p, the columns of the design matrix: d, or 1 + d with a leading 1.
    n_predictors : int
        Linear predictors of a row.
    """

    x: np.ndarray
    codes: np.ndarray
    weights: np.ndarray | None
    scaling: Scaling
    width: int
    n_predictors: int

    def expand(
        self, link: Logit | Probit, coef: np.ndarray
    ) -> tuple[float, np.ndarray, Callable[[np.ndarray], np.ndarray], Callable[[], np.ndarray]]:
        """Return the loss and its gradient, and functions: H v, and the sums of the rows' second derivatives.

        Parameters
        ----------
        link, coef
            The link, and coefficients (n_predictors, p).
        """
        (shift, scale), first = self.scaling, None
        inner, unit, curvatures = coef, self._unit, {}
        if shift is not None:
            inner = coef[:, self.width - self.x.shape[1] :] * scale
            first = coef[:, 0] - inner @ shift if self.width > self.x.shape[1] else -(inner @ shift)

        def of(rows: slice, eta: np.ndarray) -> tuple[np.ndarray, Any]:
            weights = None if self.weights is None else self.weights[rows]
            eta = eta if first is None else eta + first[:, None]
            loss, slopes, curvature = link.expand_rows(eta, self.codes[rows], weights)
            curvatures[rows.start] = curvature.over(unit, self._z.dtype)
            return slopes, np.append(np.sum(slopes, axis=1), loss)

        def bend(rows: slice, u: np.ndarray) -> tuple[np.ndarray, Any]:
            return curvatures[rows.start].times(u), 0.0

        def product(v: np.ndarray) -> np.ndarray:
            return unit * self._sums(bend, self._z, v.astype(self._z.dtype))[0]

        def total() -> np.ndarray:
            return unit * np.sum([each.total() for each in curvatures.values()], axis=0)

        gradient, sums = self._sums(of, self.x, inner)
        if shift is not None:
            gradient = (gradient - sums[:-1, None] * shift) * scale
            if self.width > self.x.shape[1]:
                gradient = np.column_stack([sums[:-1], gradient])
        return float(sums[-1]), gradient, product, total

    @SILENT
    def gradient_terms(self, link: Logit | Probit, coef: np.ndarray) -> np.ndarray:
        """Return Σ w |r| |z| for every coefficient, up to the rounding of single precision."""

        def task(blocks: list[slice]) -> np.ndarray:
            found = np.zeros(coef.shape)
            for rows in blocks:
                for part in even_blocks(rows.stop - rows.start, max(32, PRODUCT_ENTRIES // self.width)):
                    z, codes = self._z[rows][part], self.codes[rows][part]
                    weights = None if self.weights is None else self.weights[rows][part]
                    eta = np.dot(coef.astype(z.dtype), z.T).astype(np.float64)
                    slopes = np.abs(link.expand_rows(eta, codes, weights)[1] / self._unit)
                    found += np.dot(slopes.astype(z.dtype), np.abs(z))
            return found

        return self._unit * sum(ordered_map(task, self._tasks))  # type: ignore[return-value]

    def _sums(
        self, of: Callable[[slice, np.ndarray], tuple[np.ndarray, Any]], x: np.ndarray, coef: np.ndarray
    ) -> tuple[np.ndarray, Any]:
        """Return Σ r xᵀ of what a function returns for linear predictors of blocks, and its other sums."""
        one, step = len(coef) == 1, self._step

        def task(blocks: list[slice]) -> tuple[np.ndarray, Any]:
            sums, others = np.zeros(coef.shape, dtype=x.dtype), 0.0
            for rows in blocks:
                r, other = of(rows, self._scores(x[rows], coef))
                for part in even_blocks(r.shape[1], step):
                    # Products with a vector read the rows once, without a copy.
                    sums += np.dot(r[0], x[rows])[None, :] if one else np.dot(r[:, part], x[rows][part])
                others = others + other
            return sums, others

        if len(self._tasks) == 1:
            return task(self._tasks[0])
        parts = list(ordered_map(task, self._tasks))
        return sum(each for each, _ in parts), sum(each for _, each in parts)  # type: ignore[return-value]

    def _scores(self, x: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Return the linear predictors of a block of rows, (c, n)."""
        if len(coef) == 1:
            return np.dot(x, coef[0])[None, :]
        found = np.empty((len(coef), len(x)), dtype=x.dtype)
        for part in even_blocks(len(x), self._step):
            found[:, part] = np.dot(coef, x[part].T)
        return found

    @property
    def _step(self) -> int:
        """Rows of a product: those with a vector gain nothing by few, those with a narrow matrix half."""
        return max(32, PRODUCT_ENTRIES // self.width) if self.n_predictors > 1 else len(self.x)

    @cached_property
    def _unit(self) -> float:
        """The mean weight of a row."""
        return 1.0 if self.weights is None else float(np.mean(self.weights)) or 1.0

    @cached_property
    def _tasks(self) -> list[list[slice]]:
        """The rows of each block of each task; several tasks are shared by threads."""
        n = len(self.x)
        most = max(32, min(PRODUCT_ENTRIES // self.n_predictors, 4 * PRODUCT_ENTRIES // self.width))
        shared = self._n_products >= SHARED_PRODUCTS
        blocks = even_blocks(n, min(most, -(-n // TASKS)) if shared else most)
        each = -(-len(blocks) // TASKS) if shared else len(blocks)
        return [blocks[a : a + each] for a in range(0, len(blocks), each)]

    @property
    def _n_products(self) -> int:
        return len(self.x) * self.width * self.n_predictors

    @cached_property
    def _z(self) -> np.ndarray:
        """The design matrix, in single precision where there is much to multiply."""
        shift = self.scaling[0]
        if shift is None and self._n_products < SINGLE_PRODUCTS:
            return self.x
        found = np.empty((len(self.x), self.width), dtype=np.float32)
        first = self.width - self.x.shape[1]
        found[:, :first] = 1.0

        @SILENT  # products of what is too large are not finite, and end the search
        def fill(blocks: list[slice]) -> None:
            for rows in blocks:
                for part in even_blocks(rows.stop - rows.start, max(32, PRODUCT_ENTRIES // self.width)):
                    x, out = self.x[rows][part], found[rows][part, first:]
                    if shift is None:
                        out[...] = x
                    else:
                        np.multiply(x - shift, self.scaling[1], out=out, casting="same_kind")

        list(ordered_map(fill, self._tasks))
        return found


@value
class RowSpace:
    """A logistic regression of fewer rows than columns, in as many coordinates as it has rows.

    The coefficients of the minimum are combinations of the rows, β = Xᵀa (Kimeldorf and Wahba 1971). With the
    factor L of XXᵀ, and γ = Lᵀa, linear predictors are Lγ and the penalty |β|² is |γ|²: the same problem, of
    the rows of L. X is centred, in the units of its columns.

    Parameters
    ----------
    whole, problem : LogisticProblem
        The regression on the columns, and that on the rows of L.
    x, lower : arrays (n, d), or `StandardizedSparse`, and (n, n)
        Centred rows, and L.
    """

    whole: LogisticProblem
    problem: LogisticProblem
    x: Any
    lower: np.ndarray

    @classmethod
    def of(cls, whole: LogisticProblem) -> "RowSpace | None":
        """Return the smaller problem; None where there are not far more columns than rows."""
        data, (shift, scale), n = whole.data, whole.scaling, whole.data.n_rows or 0
        within = 0 < 2 * n <= len(scale) and n <= MOST_ROWS_A_PREDICTOR * whole.shape[0]
        if not (within and whole.alpha > 0.0 and isinstance(data, ArraySource | SparseSource)):
            return None
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is too large
            if isinstance(data, SparseSource):
                x: Any = StandardizedSparse(X=data.X.tocsr().astype(np.float64), shift=shift)
                crossed = x.X @ shift
                gram = (x.X @ x.X.T).toarray() - crossed - crossed[:, None] + shift @ shift
            elif is_numpy_array(data.X):
                x = np.subtract(data.X, shift, dtype=np.float64)
                gram = x @ x.T
            else:
                return None
        largest = float(np.max(np.diagonal(gram)))
        most = 1.0 if data.weights is None else float(np.max(data.weights))
        if not 0.0 < largest * most < MOST_GRAM * whole.alpha:  # rounding of products would count
            return None
        add_to_diagonal(gram, np.array(GRAM_JITTER * largest))
        lower = np.linalg.cholesky(gram)
        standardizer = Standardizer(shift=np.zeros(n), scale=np.ones(n), varies=np.ones(n, dtype=bool))
        problem = replace(
            whole,
            data=ArraySource(X=lower, y=np.asarray(data.y), weights=data.weights),
            standardizer=standardizer,
            mean_squares=np.mean(lower * lower, axis=0),
        )
        return cls(whole=whole, problem=problem, x=x, lower=lower)

    def search(self, start: np.ndarray, **options: Any) -> NewtonResult:
        """Return the coefficients of the columns, from those of L at the minimum."""
        from scipy.linalg import solve_triangular

        first, scale, lower = int(self.whole.has_intercept), self.whole.standardizer.scale, self.lower
        begin = np.zeros(self.problem.shape)
        if np.any(start):
            eta = self.x @ (start[:, first:] * scale).T
            begin = np.column_stack([start[:, :first], solve_triangular(lower, eta, lower=True).T])
        found = search(self.problem, begin, **options)
        combined = solve_triangular(lower, found.x[:, first:].T, lower=True, trans="T").T @ self.x
        slopes = combined * np.where(scale > 0.0, reciprocals(np.where(scale > 0.0, scale, 1.0)), 0.0)
        coef = np.column_stack([found.x[:, :first], slopes])
        gradient = self.whole.objective(coef)[1]
        return replace(found, x=coef, gradient=gradient, violation=float(np.max(np.abs(gradient))))


def search(problem: LogisticProblem, start: np.ndarray, *, tol: float, max_iter: int) -> NewtonResult:
    """Return the coefficients of the least objective; of many rows, starting from those of a sample."""
    if np.any(problem.lasso > 0.0):
        return _sparse_search(problem, start, tol=tol, max_iter=max_iter)
    narrow = RowSpace.of(problem)
    if narrow is not None:
        return narrow.search(start, tol=tol, max_iter=max_iter)
    if problem.rows is not None:
        found, near = _newton_cg_search(problem, start, tol=tol, max_iter=max_iter)
        if (found.converged and near) or found.interrupted or found.n_iter >= max_iter:
            return found
        # The columns are far from orthogonal, and the penalty is weak.
        after = _factor_search(problem, found.x, tol=tol, max_iter=max_iter - found.n_iter)
        trace = np.append(found.trace[:-1], after.trace)
        converged = after.converged or found.converged  # there may be nothing left to gain
        return replace(after, n_iter=len(trace) - 1, trace=trace, converged=converged)
    return _factor_search(problem, start, tol=tol, max_iter=max_iter)


def _newton_cg_search(
    problem: LogisticProblem, start: np.ndarray, *, tol: float, max_iter: int
) -> tuple[NewtonResult, bool]:
    """Search by conjugate gradients, over coefficients of the classes; say whether that is the minimum."""
    link, rows, ridge = problem.link, problem.rows, problem.ridge
    assert rows is not None

    # The penalty alone bounds how far the objective is above its minimum, by ½ |∇f|² over its curvature:
    # conjugate gradients do not see directions in which the rows hardly vary.
    least = np.where(ridge > 0.0, ridge, LEAST_TOTAL * link.curvature_at_zero * problem.weight)
    tries: list[bool] = []

    def at_minimum(gradient: np.ndarray) -> bool:
        above = 0.5 * problem.weight * float(np.sum(gradient * gradient / least))
        return bool(above <= tol * np.log(len(link.contrasts)))

    def settled(coef: np.ndarray, gradient: np.ndarray) -> bool:
        tries.append(at_minimum(gradient))
        enough = tries[-1] or len(tries) > 1  # one more step, and then factors
        return enough and problem.settled(coef, gradient, tol, rows.gradient_terms(link, coef))

    final = tol * (FINAL if problem.few_parameters else FINAL_OF_MANY)
    options: Any = {"tol": tol, "final_tol": final, "max_iter": max_iter, "settled": settled}
    found = newton_cg(problem.expansion, link.class_coef(start), most_products=MOST_PRODUCTS, **options)
    gradient = link.free_coef(found.gradient)
    violation = float(np.max(np.abs(gradient), initial=0.0))
    near = at_minimum(gradient)
    return replace(found, x=link.free_coef(found.x), gradient=gradient, violation=violation), near


def _factor_search(problem: LogisticProblem, start: np.ndarray, *, tol: float, max_iter: int) -> NewtonResult:
    """Search by factors of the curvature, or of a block of it."""
    if not (problem.exact or np.any(start)):
        part = replace(problem, data=problem.sample)
        rough = _smooth_search(part, start, exact=False, tol=ROUGH, max_iter=FEW)
        if rough.interrupted:
            return rough
        start = rough.x
    settled = partial(problem.settled, tol=tol)
    options: Any = {"tol": tol, "max_iter": max_iter, "settled": settled}
    options["final_tol"] = tol * (FINAL if problem.few_parameters else FINAL_OF_MANY)
    return _smooth_search(problem, start, exact=problem.exact, **options)


def _smooth_search(
    problem: LogisticProblem, start: np.ndarray, *, exact: bool, **options: Any
) -> NewtonResult:
    many = problem.alpha > 0.0 and math.prod(problem.shape) > MOST_NEWTON
    exact = exact and problem.few_parameters and not many
    refresh = REFRESH if problem.few_parameters else REFRESH_MANY
    options = {"refresh": refresh, "memory": MEMORY, **options}
    if "final_tol" in options and (exact or (problem.few_parameters and not problem.alpha > 0.0)):
        options["final_tol"] = min(options["final_tol"], ROUNDING)
    found = lbfgs(problem.objective, start, curvature=problem.curvature, exact=exact, **options)
    return replace(found, violation=float(np.max(np.abs(found.gradient), initial=0.0)))


def _sparse_search(problem: LogisticProblem, start: np.ndarray, *, tol: float, max_iter: int) -> NewtonResult:
    c, p = problem.shape
    if c * p > MOST_SPARSE:
        raise ValueError(
            f"X has too many columns for l1_ratio > 0: {c * p} coefficients, at most {MOST_SPARSE}"
        )

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient, _ = problem.objective(flat.reshape(c, p))
        return value, gradient.reshape(-1)

    def hessian(flat: np.ndarray) -> np.ndarray:
        found = problem.hessian(flat.reshape(c, p))
        if c > 1 and problem.has_intercept:
            # A shift of all intercepts changes no probability: curvature along it makes the minimum unique.
            first = np.arange(c) * p
            found[np.ix_(first, first)] += float(np.mean(np.diagonal(found)[first])) / c
        return found

    def settled(flat: np.ndarray, violations: np.ndarray) -> bool:
        return problem.settled(flat.reshape(c, p), violations.reshape(c, p), tol)

    penalty = np.tile(problem.lasso, c) / problem.weight
    options: Any = {"tol": tol, "max_iter": max_iter, "settled": settled}
    found = proximal_newton(objective, hessian, start.reshape(-1), penalty, **options)
    return replace(found, x=found.x.reshape(c, p), gradient=found.gradient.reshape(c, p))


def solver(hessian: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that solves with a curvature, plus as little jitter as makes it definite."""
    from scipy.linalg.lapack import dpotrf, dpotrs

    factor, failed = dpotrf(hessian, lower=1, clean=0)
    if not failed and np.all(np.diagonal(factor) ** 2 > WELL_CONDITIONED * np.diagonal(hessian)):
        return lambda columns: dpotrs(factor, columns, lower=1)[0]
    lower = jittered_cholesky(hessian, max_jitter=1.0).lower
    return lambda columns: solve_cholesky(lower, columns)


def add_to_diagonal(matrix: np.ndarray, entries: np.ndarray) -> None:
    """Add to the diagonal of a matrix, in place."""
    matrix.reshape(-1)[:: len(matrix) + 1] += entries


def _raise_diagonal(hessian: np.ndarray, shape: tuple[int, int]) -> None:
    """Raise the curvature of columns that hardly vary in a sample: too long a step is halved many times."""
    diagonal = np.diagonal(hessian).reshape(shape)
    least = LEAST_CURVATURE * np.median(diagonal, axis=1, keepdims=True)
    i = np.arange(len(hessian))
    hessian[i, i] += np.maximum(least - diagonal, 0.0).reshape(-1)


def _loss(
    x: Any, codes: Any, weights: Any = None, *, link: Logit | Probit, coef: np.ndarray, scaling: Scaling
) -> LossExpansion:
    loss, gradient = link.loss(x, codes, weights, scaling, coef)
    return LossExpansion(value=loss, gradient=gradient)


def _held_information(
    z: np.ndarray, codes: np.ndarray, weights: np.ndarray | None, *, link: Logit | Probit, coef: np.ndarray
) -> np.ndarray:
    with single_threaded_blas(z.size > FEW_ENTRIES):
        return link.curvature(z, codes, weights, UNSCALED, coef)


def _information(
    x: Any, codes: Any, weights: Any = None, *, link: Logit | Probit, coef: np.ndarray, scaling: Scaling
) -> Any:
    return link.curvature(x, codes, weights, scaling, coef)


def _gradient_terms(
    x: Any, codes: Any, weights: Any = None, *, link: Logit | Probit, coef: np.ndarray, scaling: Scaling
) -> np.ndarray:
    """Return Σ w |r| |z| for every coefficient."""
    z, residuals = link.residuals(x, codes, scaling, coef)
    r = namespace_of(residuals).abs(residuals).T
    return _entry_sums(z, _absolute, r if weights is None else r * weights)


def _sizes(
    x: Any,
    codes: Any,  # noqa: ARG001
    weights: Any = None,
    *,
    scaling: Scaling,
    width: int,
) -> np.ndarray:
    z = design(x, scaling, width)
    return _entry_sums(z, _size, _row_counts(weights, z))


def _entry_sums(z: Any, of: Callable[[np.ndarray], np.ndarray], r: np.ndarray) -> np.ndarray:
    """Return Σ_n r_n of(z_n), of a function of single entries; of sparse rows by their stored entries."""
    if isinstance(z, StandardizedSparse):
        return z.column_sums(of, r)
    if not is_numpy_array(z):
        return r @ of(z)
    step = max(1, SUM_ENTRIES // z.shape[1])
    return sum(r[..., a : a + step] @ of(z[a : a + step]) for a in range(0, max(1, len(z)), step))


def _row_counts(weights: Any, z: Any) -> np.ndarray:
    return counts(weights, z.X if isinstance(z, StandardizedSparse) else z)


def _absolute(z: np.ndarray) -> np.ndarray:
    return namespace_of(z).abs(z)


def _size(z: np.ndarray) -> np.ndarray:
    return namespace_of(z).clip(_absolute(z), 0.0, 1.0)


def _square(z: np.ndarray) -> np.ndarray:
    return z * z


def _mean_block(
    x: Any,
    codes: Any,
    weights: Any = None,
    *,
    link: Logit | Probit,
    coef: np.ndarray,
    scaling: Scaling,
    diagonal: bool,
) -> np.ndarray:
    """Return Σ w v z zᵀ with the mean curvature v of each row by its linear predictors; or its diagonal."""
    z = design(x, scaling, coef.shape[1])
    v = link.mean_curvature(z, codes, coef)
    least = LEAST_DIAGONAL if diagonal else LEAST_MEAN
    v = namespace_of(v).clip(v, least * link.curvature_at_zero, None)
    v = v if weights is None else weights * v
    if diagonal:
        return _entry_sums(z, _square, v)
    half = namespace_of(v).sqrt(v)[:, None] * z
    return half.T @ half


def _append_codes(batch: Batch) -> Batch:
    """Return a batch whose last column is the class code."""
    x = np.column_stack([batch.X, np.asarray(batch.y)]).astype(float)
    return Batch(X=x, weights=batch.weights)
