"""Rows of linear models: validated, one target where a model has one, and folded into a `LinearFactor`."""

import warnings
from collections.abc import Callable
from math import inf
from typing import Any, Self

import numpy as np
from sklearn.exceptions import DataConversionWarning

from tractable.arrays.limits import LARGEST, check_squarable
from tractable.arrays.namespace import Array, as_float_array, device, is_numpy_array, namespace_of
from tractable.base import (
    OnePassEstimator,
    Rows,
    all_or_nothing,
    check_columns,
    check_fitted,
    check_rows,
)
from tractable.base.one_pass import check_weight
from tractable.base.validation import check_after, check_names, check_row_noise
from tractable.data import ArraySource, Source, SparseSource, as_source, is_sparse, is_streamed
from tractable.data.blocks import block_rows
from tractable.data.frames import FrameSource
from tractable.engines import fold
from tractable.linear_model.sparse_rows import sparse_factor
from tractable.primitives.linear import INFLATION
from tractable.primitives.sparse_rows import GRAM_COLUMNS
from tractable.primitives.threads import FEW_COLUMNS, blas_for_columns, even_rows, single_threaded_blas
from tractable.statistics import LinearFactor, Moments
from tractable.value import replace

#: Fewer rows a column are stored as they are; as a rule, products of their columns would lose digits.
FEW_ROWS = 3


def checked_factor(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, noise_variance: Any = None, **options: Any
) -> tuple[Rows, LinearFactor]:
    """Return the rows of a fit, checked (see `check_rows`), and their factor.

    Products of columns, and means, show NaN and infinity themselves: rows without weights are read once.
    """
    once = sample_weight is None and noise_variance is None
    rows = check_rows(estimator, X, y, sample_weight, supervised=True, finite=not once, **options)
    if noise_variance is not None:
        rows, sums = precision_weighted(rows, noise_variance)
        return rows, replace(linear_factor(rows), **sums)
    return rows, factor_of_unchecked(estimator, rows) if once else linear_factor(rows)


def factor_of_unchecked(estimator: Any, rows: Rows, *, inflation: float = INFLATION) -> LinearFactor:
    """Return the `linear_factor` of rows that may hold NaN or infinity, and refuse those that do."""
    if not is_numpy_array(rows.data):  # others were checked where they were read
        return linear_factor(rows, inflation=inflation)
    first = linear_factor if _has_few_rows(rows) else _factor_of_products
    found = check_after(estimator, rows.data, lambda: first(rows, inflation=inflation), _sum_of_squares)
    return _factor_of_rows(rows) if found is None else found


def _sum_of_squares(found: LinearFactor | None) -> float:
    """Return that of all entries of X; infinity where products of columns were refused."""
    return inf if found is None else float(found.weight * np.sum(found.root_mean_square[: found.dim] ** 2))


def linear_factor(rows: Rows, *, inflation: float = INFLATION) -> LinearFactor:
    """Return the factor of rows and targets; of few rows for their columns, the centred rows themselves.

    Rows in memory are read for the products of their columns, and for a QR where these would lose digits: see
    `safe_factor` for `inflation`.
    """
    found = _factor_of_products(rows, inflation=inflation)
    return _factor_of_rows(rows) if found is None else found


def _has_few_rows(rows: Rows) -> bool:
    return rows.data.shape[0] < FEW_ROWS * rows.data.shape[1]


def _factor_of_rows(rows: Rows) -> LinearFactor:
    if isinstance(rows.data, SparseSource):
        return sparse_factor(rows.data)
    if not isinstance(rows.data, Source) and _has_few_rows(rows):
        with single_threaded_blas():
            return LinearFactor.of(rows.data, rows.y, rows.weights, reduce=False)
    return fold(LinearFactor.of, rows.data, rows.y, weights=rows.weights)


#: Below this ratio of standard deviation to mean, the rows are read to see whether the column is constant.
NEARLY_CONSTANT = 1e-8

#: Products of SOME_ROWS rows a column tell whether those of all rows are worth computing, in tables of at
#: least MANY_ENTRIES entries and few columns. The products of many columns take a quarter of the time of the
#: QR that would follow.
SOME_ROWS, MANY_ENTRIES = 4, 2**19


def _factor_of_products(rows: Rows, *, inflation: float = INFLATION) -> LinearFactor | None:
    """Return the factor from the products of columns, of rows in memory; None where these lose digits."""
    if not is_numpy_array(rows.data) or _has_few_rows(rows):
        return None
    d = rows.data.shape[1]
    some = SOME_ROWS * (d + (1 if rows.y.ndim == 1 else rows.y.shape[1]))
    with blas_for_columns(d):
        if d <= FEW_COLUMNS and len(rows.data) >= 4 * some and rows.data.size >= MANY_ENTRIES:
            few = _spread_rows(rows, some)
            first = LinearFactor.moments_of(few.data, few.y, few.weights)
            if first.weight > 0 and _factor_of_moments(few, first, inflation) is None:
                return None
        return _factor_of_moments(rows, _moments(rows), inflation)


def _spread_rows(rows: Rows, n: int) -> Rows:
    """Return n to 2n rows in memory, evenly spread among those that count; all of fewer."""
    some: Any = slice(0, None, max(1, len(rows.data) // n))
    weights = rows.weights
    if weights is not None and not (weights[some] > 0.0).all():
        counted = np.flatnonzero(weights > 0.0)
        some = counted[:: max(1, len(counted) // n)]
    return replace(
        rows, data=rows.data[some], y=rows.y[some], weights=None if weights is None else weights[some]
    )


def _factor_of_moments(rows: Rows, moments: Moments, inflation: float) -> LinearFactor | None:
    """Return the factor of rows with such moments, with zeros for constant columns."""
    flat, d = rows.y.ndim == 1, rows.data.shape[1]
    n_targets = 1 if flat else rows.y.shape[1]
    form: dict[str, Any] = {"n_targets": n_targets, "flat": flat, "inflation": inflation}
    stddev = np.sqrt(np.maximum(moments.scatter.diagonal()[:d], 0.0) / (moments.weight or 1.0))
    # The scatter of a constant column may be rounding, of a sum of many numbers: the rows tell.
    if np.all(stddev > NEARLY_CONSTANT * np.abs(moments.mean[:d])):
        return LinearFactor.of_moments(moments, **form)
    varies = varying_columns(rows)
    return LinearFactor.of_moments(moments, varies=None if varies.all() else varies, **form)


def varying_columns(rows: Rows) -> Array:
    """Return which columns differ among rows in memory that count, (d,): few rows show it of most columns.

    Examples
    --------
    >>> varying_columns(Rows(data=np.array([[0.1, 0.0], [0.1, 1.0]]))).tolist()
    [False, True]
    """
    x, xp = rows.data, namespace_of(rows.data)
    if rows.weights is not None and not bool(xp.all(rows.weights > 0)):
        x = xp.take(x, xp.nonzero(rows.weights > 0)[0], axis=0)
    n, d = x.shape
    columns = xp.arange(d, device=device(x))
    same, start, most = columns, 1, block_rows(d)
    while start < n and same.shape[0]:
        stop = min(start + min(16 * start, most), n)
        first, few = (xp.take(part, same, axis=1) for part in (x[:1, :], x[start:stop, :]))
        same, start = same[xp.all(few == first, axis=0)], stop
    return xp.all(columns[:, None] != same, axis=1)


def _moments(rows: Rows) -> Moments:
    """Return the moments of the columns and targets [X, Y] of rows in memory."""
    n, d = rows.data.shape
    # One block, where a sum of two is as much work, and of many columns, whose products use all cores.
    if n <= max(block_rows(d), LinearFactor.least_rows(d)) or d > FEW_COLUMNS:
        return LinearFactor.moments_of(rows.data, rows.y, rows.weights)
    rows_a_block = even_rows(n, max(4 * block_rows(d), Moments.least_rows(d)))
    return fold(LinearFactor.moments_of, rows.data, rows.y, weights=rows.weights, rows=rows_a_block)


def precision_weighted(rows: Rows, noise_variance: Any) -> tuple[Rows, dict[str, Any]]:
    """Return rows weighted by the precision of their noise, and what their weights no longer say of them.

    `noise_variance` is one number a row, or one for all. The sums of weights and logarithms are the `count`
    and the `log_noise` of a `LinearFactor`.
    """
    if isinstance(rows.data, Source):
        raise ValueError("noise_variance needs rows in memory: a source has no column for it")
    xp = namespace_of(rows.data)
    variance = check_row_noise(noise_variance, rows.data)
    count = xp.ones_like(variance) if rows.weights is None else xp.astype(rows.weights, xp.float64)
    check_squarable("noise_variance", 1.0 / variance)
    sums = {"count": float(xp.sum(count)), "log_noise": float(xp.sum(count * xp.log(variance)))}
    return replace(rows, weights=count / variance), sums


class LinearFit(OnePassEstimator):
    """`fit` of models that learn from a `LinearFactor`, whose rows may have noise of unlike variances."""

    _supervised = True

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, noise_variance: Any = None) -> Self:
        """Learn from rows held in memory, in a file, or in a stream.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,) or (n_samples, n_targets), or column name
            The targets.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        noise_variance : float or array of shape (n_samples,), optional
            Variance of the noise of each row, relative to σ²: weighted least squares, with precisions for
            weights. `noise_variance_` is then σ², and predictions are of rows with a noise variance of one.
        """
        self._check_parameters()
        if self._learns_by_iteration(X, y, sample_weight, noise_variance):
            return self
        options: dict[str, Any] = {"reset": True, "min_rows": self._min_rows}
        factor = self._fold(self, X, y, sample_weight, noise_variance=noise_variance, **options)
        check_weight(factor)
        self._learn(factor)
        self._report()
        return self

    def _learns_by_iteration(self, X: Any, y: Any, sample_weight: Any, noise_variance: Any) -> bool:
        """Learn from sparse rows of many columns, if they are such; return whether they are."""
        if not (self._takes_sparse and is_sparse(X) and len(X.shape) == 2 and X.shape[1] > GRAM_COLUMNS):
            return False
        if noise_variance is not None:
            raise ValueError(
                f"noise_variance is not taken with sparse rows of more than {GRAM_COLUMNS} columns: give the "
                "precisions of the rows as sample_weight"
            )
        rows = check_rows(self, X, y, sample_weight, reset=True, min_rows=self._min_rows, supervised=True)
        self._iterate(rows.data)
        return True

    def _iterate(self, rows: Any) -> None:
        """Learn from sparse rows by iteration, in models that take them."""
        raise NotImplementedError(f"{type(self).__name__} must define _iterate")

    def _require_statistic(self) -> None:
        if hasattr(self, "_solution_") and not hasattr(self, "statistic_"):
            raise ValueError(
                f"the model was fitted to sparse rows of more than {GRAM_COLUMNS} columns, by iteration: it "
                "has no statistic to learn more rows with; fit all rows at once"
            )

    def _fold(
        self, subject: Any, X: Any, y: Any, sample_weight: Any, *, noise_variance: Any = None, **options: Any
    ) -> LinearFactor:
        return checked_factor(subject, X, y, sample_weight, noise_variance=noise_variance, **options)[1]

    def _statistic(self) -> Callable[..., Any]:
        return LinearFactor.of


def check_factor(statistic: Any) -> LinearFactor:
    """Return the statistic if it is a `LinearFactor` of numbers whose squares do not overflow."""
    if not isinstance(statistic, LinearFactor):
        raise ValueError(f"statistic must be a LinearFactor, got {type(statistic).__name__}")
    size = statistic.root_mean_square
    if not float(namespace_of(size).max(size)) <= LARGEST:
        check_squarable("X", size[: statistic.dim])
        check_squarable("y", size[statistic.dim :])
    check_squarable("sample_weight", min(float(statistic.weight), 1.0), nonzero=True)
    return statistic


def as_floats(x: Array) -> Array:
    """Return checked rows as float64."""
    xp = namespace_of(x)
    return xp.astype(as_float_array(x, xp), xp.float64)


def linear_predictor(model: Any, X: Any) -> Array:
    """Return intercept + xᵀ coef of a fitted model for each row, (n,) or (n, t)."""
    check_fitted(model)
    coef, rows = model.coef_, X if is_sparse(X) else as_floats(check_columns(model, X))
    return rows @ (coef if coef.ndim == 1 else coef.T) + model.intercept_


def check_one_target(n_targets: int) -> None:
    """Refuse several targets, or none."""
    if n_targets != 1:
        raise ValueError(f"y must be one target, got {n_targets}")


def as_vector(y: Any, *, stacklevel: int) -> Any:
    """Return one target as a vector; warn where it is given as a column."""
    shape: Any = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected; its one column is used"
        warnings.warn(message, DataConversionWarning, stacklevel=stacklevel)
        return y.iloc[:, 0] if hasattr(y, "iloc") else y[:, 0]
    return y


def check_rows_in_memory(estimator: Any, X: Any, y: Any, sample_weight: Any, *, min_rows: int = 1) -> Rows:
    """Check rows held in memory and one target, as arrays; y and weights may name columns of a frame."""
    if not (is_streamed(X) or isinstance(y, str) or isinstance(sample_weight, str)):
        rows = check_rows(estimator, X, y, sample_weight, reset=True, min_rows=min_rows, supervised=True)
        if isinstance(rows.data, SparseSource):
            sparse = rows.data.in_sparse_blocks()
            return Rows(data=sparse.X, y=sparse.y, weights=sparse.weights)
        if not isinstance(rows.data, np.ndarray):
            raise ValueError(f"X must be a NumPy array or a frame, got {type(X).__name__}")
        return rows
    source = as_source(X, y, sample_weight)
    if not isinstance(source, ArraySource | FrameSource):
        name = type(estimator).__name__
        raise ValueError(f"X must be rows in memory, which {name} reads many times; got {type(X).__name__}")
    held = source.collect()
    rows = check_rows(estimator, held.X, held.y, held.weights, reset=True, min_rows=min_rows, supervised=True)
    check_names(estimator, source.feature_names, source.n_features, reset=True)
    return rows


def refuse_positive(estimator: Any) -> None:
    """Refuse signs of coefficients where sparse rows of many columns are solved by iteration."""
    if estimator.positive:
        raise ValueError(f"positive=True is not taken with sparse rows of more than {GRAM_COLUMNS} columns")


def check_penalized_intercept(estimator: Any) -> None:
    """Refuse a penalised intercept of a model without an intercept."""
    if estimator.penalize_intercept and not estimator.fit_intercept:
        raise ValueError(
            "penalize_intercept=True needs fit_intercept=True: there is no intercept to penalize"
        )
