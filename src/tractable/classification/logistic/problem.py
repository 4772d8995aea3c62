"""The objective of logistic regression over a source of rows, its gradient and its curvature."""

import math
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.grouping import weighted_counts
from tractable.arrays.limits import reciprocals
from tractable.arrays.linalg import jittered_cholesky, solve_cholesky
from tractable.arrays.namespace import is_numpy_array, is_sparse, namespace_of, to_numpy
from tractable.classification.logistic.design_rows import SINGLE_PRODUCTS, DesignRows
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
from tractable.engines.linear_estimate import NotComputedError
from tractable.engines.newton import NewtonResult
from tractable.primitives import SILENT, runs_compiled
from tractable.primitives.glm.agnostic import weighted_square
from tractable.primitives.in_place import add_to_diagonal
from tractable.primitives.sparse_rows import StandardizedSparse, sparse_quantiles
from tractable.primitives.threads import even_rows, single_threaded_blas
from tractable.statistics import DiagonalMoments, Standardizer, column_varies
from tractable.statistics.rows import as_rows, counts
from tractable.value import replace, value

#: Rows and entries of a block, at most; and rows of one whose design matrix is made.
BLOCK, BLOCK_ENTRIES, DESIGN_BLOCK = 2**16, 2**21, 2**12
#: Fewer rows are that many blocks, for as many threads, but none has fewer entries than these.
BLOCKS, SHARED_ENTRIES = 16, 2**19
#: Rows, and entries of the design matrix, up to which a table in memory is standardized once; and so is one
#: of more rows whose loss runs no compiled code.
HELD_ROWS, HELD_ENTRIES = 2**12, 2**20
#: Entries of the design matrix that a fitted model may hold, to compute a covariance when it is asked for.
DEFERRED_ENTRIES = 2**17
#: Entries of rows that a fitted model may refer to for the same.
MOST_REFERRED = 2**23
#: Rows up to which the curvature is that of all. Of more, a sample of at most `MOST_SAMPLE` stands for them,
#: whose curvature is so good a guess with so many rows a coefficient; more of many rows, where it spares
#: passes over them.
EXACT_ROWS, MOST_SAMPLE = 2**12, 20_000
LEAST_SAMPLE, SAMPLE_A_COEFFICIENT, SAMPLED_PART = 2_000, 20, 50
#: How many times as large as the least sample a sample is that a search begins on a part of.
LARGE_SAMPLE = 4
#: With more parameters than this the curvature is replaced by one block for all linear predictors.
MOST_PARAMETERS = 1500
#: With more parameters than this, and a penalty, the search is by products with rows, where these are in
#: memory. Else the first curvature is that of coefficients that are all zero, which the moments of the
#: columns give.
MOST_NEWTON = 64
#: Entries of the design matrix, and of the probabilities of all classes, up to which that is so, and rows for
#: each parameter.
MOST_DESIGN, MOST_PROBABILITIES, MANY_ROWS = 2**24, 2**23, 200
#: Columns whose mean is at most this many standard deviations keep their digits in products with rows that
#: are not centred.
WELL_CENTRED = 1e3
#: The mean curvature of a row counts at least as this part of what it is where all coefficients are zero:
#: rows that are well classified would be left out, whose classes the next step may change.
#: The diagonal alone of correlated columns is too small for long steps.
LEAST_MEAN, LEAST_DIAGONAL = 0.1, 0.5
#: The sum of the second derivatives counts, in the preconditioner, at least as this part of that where all
#: coefficients are zero.
LEAST_TOTAL = 1e-2
#: A column whose mean square in the sample is below this part of that in all rows was missed by the sample.
MISSED = 1e-2
#: Gradients below this part of the sum of the absolute values of their terms are rounding.
LEAST_GRADIENT = 1e-8
#: A factor whose squared pivots are above this part of the diagonal is as good as one with jitter; and so is
#: one of products in single precision, for steps that correct each other.
WELL_CONDITIONED, WELL_CONDITIONED_SINGLE = 1e-8, 1e-3
#: Entries whose function is taken at once.
SUM_ENTRIES = 2**15
#: Largest penalty weight.
MOST_PENALTY = 1e300
#: Objectives of the same rows, and mean squares of their columns, differ by less than this part, by rounding.
SAME_ROWS = 1e-8

#: Sources whose rows are one array.
IN_MEMORY = (ArraySource, DeviceArraySource, SparseSource)

#: Rows of a block, and in all, from which the quartiles of columns are estimated.
QUARTILE_ROWS, MOST_QUARTILE_ROWS = 32, 4096
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
    most_rows: ClassVar = MOST_QUARTILE_ROWS  # of a sample, which a cluster may bring to one machine

    @classmethod
    def of(cls, x: Any, codes: Any, weights: Any = None, *, n_classes: int) -> "ClassSummary":
        """Summarise a block of rows with class codes."""
        counted = x if weights is None else x[weights > 0]
        some = counted[:: 1 + counted.shape[0] // QUARTILE_ROWS, :]
        return cls(
            moments=DiagonalMoments.of(x, weights),
            class_weight=weighted_counts(codes, weights, n_classes),
            some=some if is_sparse(some) else np.asarray(to_numpy(some), dtype=np.float64),
        )

    def __add__(self, other: "ClassSummary") -> "ClassSummary":
        some = stacked([self.some, other.some])
        return ClassSummary(
            moments=self.moments + other.moments,
            class_weight=self.class_weight + other.class_weight,
            some=some if some.shape[0] <= MOST_QUARTILE_ROWS else some[::2],
        )

    @property
    def sum_of_squares(self) -> float:
        """Σ w x² of all entries; NaN where one is missing."""
        known = self.moments
        if np.any(known.weight < known.total):
            return math.nan
        return float(np.sum(known.scatter + known.weight * known.mean**2))

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
        n, c = len(data.X), self.shape[0]
        work = 8 * n * (width if c == 1 else width + c)  # of the expansion of one linear predictor, or a loss
        if n * width > HELD_ENTRIES or (n > HELD_ROWS and runs_compiled(data.X, work)):
            return None
        z = (
            _by_columns(data.X, self.scaling, width)
            if width <= MOST_NEWTON
            else design(data.X, self.scaling, width)
        )
        return z, np.asarray(data.y), data.weights

    def reduce(
        self,
        of: Callable[..., Any],
        data: Source | None = None,
        *,
        dense: bool = True,
        block: int = BLOCK,
        **options: Any,
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
        width, n = len(self.ridge), data.n_rows
        rows = min(block, max(1, BLOCK_ENTRIES // width))
        if n is not None:
            rows = min(rows, even_rows(n, max(-(-n // BLOCKS), SHARED_ENTRIES // width, 1)))
        return fold(partial(of, scaling=self.scaling, **options), data, rows=rows, label="LogisticRegression")

    def objective(self, coef: np.ndarray, *, expanded: bool = False) -> tuple[Any, ...]:
        """Return loss and squared penalty, and their gradient; last, a function that returns `information`.

        It is left out where it would take a pass over the rows of its own; `expanded`, it is of the same one.
        """
        if self.held is not None:
            loss, gradient, *known = self._at_once(coef)
        else:
            options: Any = {"dense": False, "link": self.link, "coef": coef, "curvature": expanded}
            found: LossExpansion = self.reduce(LossExpansion.of, **options)
            loss, gradient = float(found.value), found.gradient
            known = [lambda: found.curvature] if expanded else []
        with np.errstate(over="ignore", under="ignore"):
            pull = self.ridge * coef
            value = loss + 0.5 * float(np.vdot(pull, coef))
            return value / self.weight, (gradient + pull) / self.weight, *known

    @SILENT
    def _at_once(self, coef: np.ndarray) -> tuple[Any, ...]:
        """Return the loss of a small table, its gradient, and, of one linear predictor, the `information`."""
        assert self.held is not None
        (z, codes, weights), link, each = self.held, self.link, self.link.class_coef(coef)
        with single_threaded_blas(z.size > FEW_ENTRIES):
            eta = (z @ each[0])[None, :] if len(each) == 1 else each @ z.T
            loss, slopes, rows = link.expand_rows(eta, codes, weights)
            if len(each) > 1:
                return loss, link.free_coef(slopes @ z)
            # Of one linear predictor the curvature of the rows is known already.
            return loss, slopes @ z, partial(self._small_information, rows.weights)

    def _small_information(self, curvatures: Any, *, single: bool = False) -> np.ndarray:
        """Return the `information` of a small table by its rows' curvatures, in either precision."""
        assert self.held is not None
        z, roots = self._single_design if single else self.held[0], np.sqrt(curvatures)
        return weighted_square(np, roots.astype(z.dtype, copy=False), z).astype(np.float64, copy=False)

    @cached_property
    def _single_design(self) -> np.ndarray:
        """The design matrix of a small table in single precision."""
        assert self.held is not None
        return self.held[0].astype(np.float32)

    @property
    def many_parameters(self) -> bool:
        """Whether there are so many, and a penalty, that factors of the curvature are to be avoided."""
        return self.alpha > 0.0 and math.prod(self.shape) > MOST_NEWTON

    @property
    def expands(self) -> bool:
        """Whether the information is best computed with the loss: of two classes, few columns or rows."""
        if self.shape[0] > 1:
            return False
        small = self.shape[1] <= MOST_NEWTON and not isinstance(self.data, SparseSource)
        return self.held is not None or small

    @property
    def by_products(self) -> bool:
        """Whether there are many parameters, and not too many rows in memory: see `DesignRows`."""
        data, (c, p) = self.data, self.shape
        if not (self.many_parameters and isinstance(data, ArraySource)):
            return False
        n = data.n_rows
        if n > max(MOST_SAMPLE, MANY_ROWS * c * p):  # factors of a sample's curvature are cheap beside a pass
            return False
        return is_numpy_array(data.X) and n * p <= MOST_DESIGN and n * (c + 1) <= MOST_PROBABILITIES

    @cached_property
    def rows(self) -> DesignRows | None:
        """All rows, for a search by products with them; None where there is another."""
        if not self.by_products:
            return None
        data: Any = self.data
        X, (shift, scale), n, (c, p) = data.X, self.scaling, data.n_rows, self.shape
        as_is = X.dtype == np.float64 and X.flags.c_contiguous and n * p * c >= SINGLE_PRODUCTS
        as_is = as_is and bool(np.all(np.abs(shift * scale) <= WELL_CENTRED))
        found = DesignRows(
            x=X if as_is else self.held[0] if self.held is not None else design(X, self.scaling, p),
            codes=np.asarray(data.y),
            weights=data.weights,
            scaling=self.scaling if as_is else UNSCALED,
            width=p,
            n_predictors=c if c == 1 else c + 1,
        )
        try:
            found.design  # noqa: B018  (made here)
        except FloatingPointError:  # too large for single precision
            return None
        return found

    @cached_property
    def squares(self) -> np.ndarray:
        """Mean squares of the columns of the design matrix, (p,)."""
        columns = np.broadcast_to(self.mean_squares, len(self.standardizer.scale))
        return np.append(np.ones(int(self.has_intercept)), columns)

    @property
    def least_total(self) -> float:
        """The least that the sum of the rows' second derivatives counts as."""
        return LEAST_TOTAL * self.link.curvature_at_zero * self.weight

    def expansion(self, coef: np.ndarray, *, rough: bool = False) -> tuple[Any, ...]:
        """Return the objective at coefficients of the classes, its gradient, and functions for Hv and diag H.

        They are of the rows in memory, for `newton_cg`; or rough ones, without the functions.
        """
        assert self.rows is not None
        rows = self.rows.expand(self.link, coef, rough=rough)
        value = rows.loss + 0.5 * float(np.vdot(self.ridge * coef, coef))
        gradient = (rows.gradient + self.ridge * coef) / self.weight
        if rough:
            return value / self.weight, gradient

        def diagonal() -> np.ndarray:
            # A class whose rows are all well classified would have next to none.
            found = np.maximum(rows.total(), self.least_total)[:, None] * self.squares + self.ridge
            return np.where(found > 0.0, found, 1.0) / self.weight

        def product(v: np.ndarray) -> np.ndarray:
            return (rows.product(v) + self.ridge * v) / self.weight

        return value / self.weight, gradient, product, diagonal

    def information(self, coef: np.ndarray, data: Source | None = None) -> np.ndarray:
        """Return the curvature of the loss over all rows, or others, (c p, c p): one pass."""
        return self.reduce(_information, data, link=self.link, coef=coef)

    def deferred_information(self, found: NewtonResult) -> "DeferredInformation | None":
        """Return `information` at a minimum, to be computed later; None where it is as well computed at once.

        It is that of a copy of few rows; or of the rows of a search by products with them, to which it
        refers until then.
        """
        coef, entries = found.x, (self.data.n_rows or 0) * self.shape[1]
        if entries <= max(DEFERRED_ENTRIES, coef.size**2) and self.held is not None:
            z, codes, weights = self.held
            weights = None if weights is None else weights.copy()
            of = partial(_held_information, z, codes.copy(), weights, link=self.link, coef=coef)
            return DeferredInformation(of)
        if not self.by_products or entries > MOST_REFERRED:
            return None
        problem = replace(self)  # without the design matrix
        return DeferredInformation(partial(_information_of, problem, coef, found.value))

    def hessian(
        self,
        coef: np.ndarray,
        information: Callable[[], np.ndarray] | None = None,
        *,
        sampled: bool = False,
    ) -> np.ndarray:
        """Return the curvature of the objective by the `information`, which may be that of a sample.

        Where it is not given, it is estimated from a sample where there are many rows.
        """
        if information is None:
            information, sampled = partial(self.information, coef, self.sample), sampled or not self.exact
        found = np.array(information())
        if sampled:
            self._raise_diagonal(found)
        add_to_diagonal(found, np.tile(self.ridge, self.shape[0]))
        found /= self.weight
        return found

    def curvature(
        self,
        coef: np.ndarray,
        information: Callable[..., np.ndarray] | None = None,
        *,
        single: bool = False,
        **options: Any,
    ) -> Callable[[np.ndarray], np.ndarray]:
        """Return a function that solves with the `hessian`, or with one block for all linear predictors.

        With `single`, that of a small table is by products in single precision, where it is well conditioned.
        """
        begins = not np.any(coef)
        if begins and self.many_parameters:
            return self._mean_block(coef, diagonal=self.shape[1] > MOST_NEWTON)
        if not self.few_parameters or (begins and self.shape[0] > 1):  # where all are zero it is exact
            return self._mean_block(coef, diagonal=self.shape[1] > MOST_PARAMETERS)
        solve = None
        if single and information is not None and self.held is not None:
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                found = self.hessian(coef, partial(information, single=True), **options)
                solve = _factor_solver(found, WELL_CONDITIONED_SINGLE)
        if solve is None:
            solve = solver(self.hessian(coef, information, **options))
        return lambda g: solve(g.reshape(-1, 1)).reshape(g.shape)

    def settled(self, coef: np.ndarray, gradient: np.ndarray, tol: float) -> bool:
        """Return whether gradients are small beside Σ |w r z|, the absolute values of the terms they sum.

        One outlying row may make the curvature so large that a step predicts next to no decrease, though the
        gradients of the other rows have one sign. Where all terms vanish, the classes are separated.
        """
        options: Any = {"dense": False, "block": DESIGN_BLOCK}
        terms = self.reduce(_gradient_terms, self.growing_samples[0], link=self.link, coef=coef, **options)
        terms = terms + np.abs(self.ridge * coef)
        part = max(np.sqrt(tol), LEAST_GRADIENT)
        least = tol * self.weight  # no column is larger than that
        some = terms > (least if np.all(terms > least) else tol * self._sizes)
        return bool(np.all(np.abs(gradient)[some] * self.weight <= part * terms[some]))

    @cached_property
    def _sizes(self) -> np.ndarray:
        """Σ w min(|z|, 1) of every column of the sample, (p,): at most its weight."""
        return self.reduce(
            _column_sums, self.growing_samples[0], dense=False, entry=_size, width=self.shape[1]
        )

    @cached_property
    def _sampled_squares(self) -> np.ndarray:
        """Mean squares of the columns in the sample, (p,)."""
        sums = self.reduce(_column_sums, self.sample, dense=False, entry=_square, width=self.shape[1])
        return sums / self.weight

    @property
    def sample_rows(self) -> int:
        """The size of the sample, at most `MOST_SAMPLE`."""
        return min(MOST_SAMPLE, max(self._least_sample, (self.data.n_rows or 0) // SAMPLED_PART))

    @property
    def _least_sample(self) -> int:
        return max(LEAST_SAMPLE, SAMPLE_A_COEFFICIENT * math.prod(self.shape))

    @cached_property
    def sample(self) -> Source:
        """At most `sample_rows` rows, each as likely as any, whose weights add up to those of all rows."""
        rng, data = np.random.default_rng(0), self.data
        if isinstance(data, IN_MEMORY):
            if data.n_rows <= EXACT_ROWS:
                return data
            # One row of each of as many parts: in order, without a sort.
            starts = np.arange(self.sample_rows + 1) * data.n_rows // self.sample_rows
            chosen = starts[:-1] + (rng.random(self.sample_rows) * np.diff(starts)).astype(np.int64)
            if isinstance(data, SparseSource):
                x, codes = data.X.tocsr()[chosen], data.y[chosen]
                w = None if data.weights is None else data.weights[chosen]
            else:
                xp, chosen = namespace_of(data.X), beside(chosen, data.X)
                x, codes = (xp.take(each, chosen, axis=0) for each in (data.X, data.y))
                w = None if data.weights is None else xp.take(data.weights, chosen)
        else:
            labelled = data.map(_append_codes, n_features=data.n_features + 1)
            most = self.sample_rows if (data.n_rows or 0) > EXACT_ROWS else MOST_SAMPLE
            both, w = sample_rows(labelled, None, most, rng)
            x, codes = both[:, :-1], both[:, -1].astype(np.int64)
            data = ArraySource(X=x, y=codes)
        return self._rescaled_to_total(replace(data, X=x, y=codes, weights=counts(w, as_rows(x))))

    @property
    def growing_samples(self) -> list[Source]:
        """The sample; before it, where that is large, a part: a search there ends near the minimum of all."""
        found: Any = self.sample
        step = found.n_rows // self._least_sample
        if self.exact or step < LARGE_SAMPLE or is_sparse(found.X):
            return [found]
        part = (each[::step, ...] for each in (found.X, found.y, found.weights))
        fields = dict(zip(("X", "y", "weights"), part, strict=True))
        return [self._rescaled_to_total(replace(found, **fields)), found]

    def _rescaled_to_total(self, rows: Any) -> Source:
        """Return rows whose weights add up to those of all."""
        w = rows.weights
        return replace(rows, weights=w * (self.weight / float(namespace_of(w).sum(w))))

    @property
    def few_rows(self) -> bool:
        """Whether a few more passes over the rows take little time."""
        return self.data.n_rows is not None and self.data.n_rows <= MOST_SAMPLE

    @property
    def exact(self) -> bool:
        """Whether the sample is all rows."""
        known = self.data.n_rows
        return (self.sample.n_rows or 0) < MOST_SAMPLE if known is None else known <= EXACT_ROWS

    def _mean_block(self, coef: np.ndarray, *, diagonal: bool) -> Callable[[np.ndarray], np.ndarray]:
        """Solve with the mean of the blocks of the curvature on its diagonal, the same for all predictors."""
        options: Any = {"link": self.link, "coef": coef, "diagonal": diagonal}
        found = self.reduce(_mean_block, self.sample, dense=not diagonal, **options) / self.weight
        ridge = self.ridge / self.weight
        if diagonal:
            sizes = np.where(found + ridge > 0.0, found + ridge, 1.0)
            return lambda g: g / sizes
        self._raise_diagonal(found)
        add_to_diagonal(found, ridge)
        solve = solver(found)
        return lambda g: solve(g.T).T

    def _raise_diagonal(self, information: np.ndarray) -> None:
        """Give columns that a sample missed, such as indicators of a few rows, an average curvature.

        Without it they get too long a step, after which the curvature of the rows that were missed is
        next to none.
        """
        diagonal = np.diagonal(information).reshape(-1, self.shape[1])
        squares = np.where(self.squares > 0.0, self.squares, 1.0)
        each = np.max(diagonal / squares, axis=1, keepdims=True)  # Σ w v, where there is an intercept
        missed = diagonal < MISSED * each * squares
        if np.any(missed):  # or only rows that vary in it are well classified
            missed &= self._sampled_squares < MISSED * squares
        add_to_diagonal(information, np.where(missed, each * squares - diagonal, 0.0).reshape(-1))

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


def solver(hessian: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that solves with a curvature, plus as little jitter as makes it definite."""
    solve = _factor_solver(hessian, WELL_CONDITIONED)
    if solve is not None:
        return solve
    lower = jittered_cholesky(hessian, max_jitter=1.0).lower
    return lambda columns: solve_cholesky(lower, columns)


def _factor_solver(hessian: np.ndarray, least: float) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return a function that solves with a curvature; None where squared pivots are below a `least` part."""
    from scipy.linalg.lapack import dpotrf, dpotrs

    factor, failed = dpotrf(hessian, lower=1, clean=0)
    if failed or not np.all(np.diagonal(factor) ** 2 > least * np.diagonal(hessian)):
        return None
    return lambda columns: dpotrs(factor, columns, lower=1)[0]


def _by_columns(x: np.ndarray, scaling: Scaling, width: int) -> np.ndarray:
    """Return `design` with contiguous columns: loops over short rows take half as long again."""
    shift, scale = scaling
    found = np.ones((width, len(x)))
    columns = found[width - x.shape[1] :]
    columns[...] = x.T
    columns -= shift[:, None]
    columns *= scale[:, None]
    return found.T


def _held_information(
    z: np.ndarray, codes: np.ndarray, weights: np.ndarray | None, *, link: Logit | Probit, coef: np.ndarray
) -> np.ndarray:
    with single_threaded_blas(z.size > FEW_ENTRIES):
        return link.curvature(z, codes, weights, UNSCALED, coef)


class DeferredInformation:
    """The curvature of a loss, computed from rows when it is first asked for; the rows are then let go."""

    __slots__ = ("_known",)

    def __init__(self, compute: Callable[[], np.ndarray]) -> None:
        self._known: Any = compute

    def __call__(self) -> np.ndarray:
        """Return the curvature."""
        if callable(self._known):
            self._known = self._known()
        return self._known

    def __getstate__(self) -> np.ndarray:
        return self()

    def __setstate__(self, known: np.ndarray) -> None:
        self._known = known


def _information_of(problem: LogisticProblem, coef: np.ndarray, value: float) -> np.ndarray:
    """Return the curvature at a minimum, after a look at whether the rows are those that it is of."""
    problem = replace(problem)  # nothing of rows that were changed is kept
    squares = problem.reduce(_column_sums, entry=_square, width=problem.shape[1]) / problem.weight
    same = abs(problem.objective(coef)[0] - value) <= SAME_ROWS * abs(value)
    if not (same and np.all(np.abs(squares - problem.squares) <= SAME_ROWS * problem.squares)):
        raise NotComputedError(
            "X was changed after the fit, and standard errors are computed from it when they are asked for: "
            "fit again, or ask for them before X is changed"
        )
    return problem.information(coef)


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


def _column_sums(
    x: Any,
    codes: Any,  # noqa: ARG001
    weights: Any = None,
    *,
    entry: Callable[[np.ndarray], np.ndarray],
    scaling: Scaling,
    width: int,
) -> np.ndarray:
    z = design(x, scaling, width)
    return _entry_sums(z, entry, _row_counts(weights, z))


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
