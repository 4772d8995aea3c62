"""Checks of rows, targets and weights: arrays, frames, devices, sources and batches."""

from collections.abc import Callable, Mapping
from itertools import islice
from math import isfinite, isnan
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.validation import assert_all_finite, check_array, validate_data

from tractable.arrays import weights
from tractable.arrays.batched import as_reals
from tractable.arrays.devices import as_plain, placed
from tractable.arrays.limits import LARGEST, check_squarable, extremes
from tractable.arrays.namespace import (
    Array,
    check_held,
    check_real_kind,
    check_unmasked,
    device,
    is_collection,
    is_foreign_array,
    is_numpy_array,
    library_of,
    namespace_of,
)
from tractable.data import Batch, Source, SparseSource, as_source, is_frame, is_sparse, is_streamed
from tractable.data.arrays import refuse_records
from tractable.data.blocks import sum_of_squares
from tractable.data.frames import object_columns_as_numbers
from tractable.primitives import as_double
from tractable.statistics.rows import counts
from tractable.value import replace, value

T = TypeVar("T")


@value
class Rows:
    """Checked rows, ready for a fold."""

    data: Any
    y: Any = None
    weights: Any = None
    to_host: bool = False  # whether statistics of rows on a device come to the host

    @property
    def source(self) -> Source:
        """The rows with their targets and weights as a source; statistics of rows on a device as said."""
        found = as_source(self.data, self.y, self.weights)
        return replace(found, to_host=True) if self.to_host else found

    @property
    def row_weights(self) -> Array:
        """The weights of rows in memory, ones where every row counts once."""
        return counts(self.weights, self.data)

    @property
    def n_rows(self) -> int | None:
        """Number of rows, where it is known before a pass."""
        return self.data.n_rows if isinstance(self.data, Source) else self.data.shape[0]

    def part(self, which: np.ndarray) -> "Rows":
        """Return some rows of those in memory, by their numbers."""
        weights = None if self.weights is None else self.weights[which]
        return Rows(data=self.data[which], y=None if self.y is None else self.y[which], weights=weights)


def check_rows(
    estimator: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    reset: bool,
    min_rows: int = 1,
    supervised: bool = False,
    finite: bool = True,
) -> Rows:
    """Check rows to learn from, and remember (`reset`) or compare their width and column names.

    Targets are checked where the model is `supervised`, and ignored elsewhere. Targets and weights may be
    column names of a frame or a source. A model whose own first pass finds NaN and infinity need not have the
    rows read for them (`finite=False`).
    """
    y = y if supervised else None
    sparse = sparse_rows(estimator, X, None, sample_weight)
    if sparse is not None:
        check_names(estimator, None, sparse.n_features, reset=reset)
        _check_enough(sparse.n_rows, sparse.n_features, min_rows)
        if supervised:
            sparse = replace(sparse, y=check_targets(estimator, y, np.empty((sparse.n_rows, 0))))
        return Rows(data=sparse)
    if not is_collection(X):
        check_unmasked("y", y)
        if sample_weight is not None:
            check_real_kind("sample_weight", sample_weight)
    if isinstance(sample_weight, str) or isinstance(y, str):
        X, y, sample_weight = as_rows_source(X, y, sample_weight), None, None
    if is_streamed(X):
        source = as_rows_source(X, y, sample_weight)
        check_names(estimator, source.feature_names, source.n_features, reset=reset)
        _check_enough(source.n_rows, source.n_features, min_rows)
        if not supervised:
            return Rows(data=without_targets(source))
        return Rows(data=with_real_targets(source) if is_regressor(estimator) else source)
    X = check_columns(estimator, X, reset=reset, min_rows=min_rows, finite=finite)
    y = check_targets(estimator, y, X) if supervised else None
    return Rows(
        data=X,
        y=y,
        weights=check_weights(sample_weight, X),
        to_host=is_foreign_array(X) and estimator._learns_on_host,  # noqa: SLF001
    )


def _check_enough(n_rows: int | None, n_features: int, min_rows: int) -> None:
    if n_rows is not None and n_rows < min_rows:
        raise ValueError(f"X has {n_rows} rows, while a minimum of {min_rows} is required")
    if not n_features:
        raise ValueError("X has 0 features, while a minimum of 1 is required")


def sparse_rows(estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Return sparse rows as a source of dense blocks, where a model takes them, else None."""
    if not is_sparse(X) or not estimator.__sklearn_tags__().input_tags.sparse:
        return None
    X = X.tocsr()
    check_real_kind("X", X.data)
    if 0 in X.shape:
        what = "sample" if X.shape[0] == 0 else "feature"
        raise ValueError(
            f"X: found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required."
        )
    check_finite(
        estimator, X.data.astype(np.float64, copy=False), "X", allow_nan=estimator.model_tags.missing_values
    )
    return SparseSource(X=X, y=y, weights=check_weights(sample_weight, np.empty((X.shape[0], 0))))


def refuse_foreign(X: Any) -> None:
    """Refuse arrays of other libraries, for models that run on the host: nothing moves there silently."""
    if is_foreign_array(X):
        raise ValueError(
            f"X must be a NumPy array or a frame; X is an array of {library_of(X)}, "
            "which is not moved to the host silently: convert it to NumPy first"
        )


def refuse_sparse(estimator: Any, X: Any) -> None:
    """Refuse sparse rows, for models that take dense ones: they are not made dense silently."""
    if is_sparse(X):
        raise ValueError(
            f"X is a sparse {type(X).__name__}, and {type(estimator).__name__} takes dense rows: nothing is "
            "made dense silently; give X.toarray(), where that fits into memory"
        )


def check_table(X: Any, name: str = "X") -> np.ndarray:
    """Return rows as a table of finite float64 on the host, for functions that have no estimator."""
    if is_foreign_array(X):
        raise ValueError(f"{name} must be an array of NumPy or a frame: move it to the host first")
    if is_streamed(X) and not isinstance(X, str):
        raise ValueError(f"{name} is a source or a stream of batches, and must be rows held in memory")
    x = np.ascontiguousarray(as_reals(name, X), dtype=np.float64)
    if x.ndim != 2 or not x.size:
        raise ValueError(f"{name} must be rows of finite numbers, two-dimensional; got shape {x.shape}")
    if not np.isfinite(x).all():
        raise ValueError(f"{name} contains NaN or infinity, and must be finite numbers")
    return x


def as_rows_source(X: Any, y: Any, sample_weight: Any) -> Source:
    """Return rows with their targets and weights as a source; errors name `sample_weight`."""
    try:
        return as_source(X, y, sample_weight)
    except ValueError as error:
        # Of sources, the argument is `weights`.
        said = str(error)
        if sample_weight is None or "weights" not in said or "sample_weight" in said:
            raise
        raise ValueError(said.replace("weights", "sample_weight", 1)) from error


def with_real_targets(source: Source) -> Source:
    """Return a source that refuses missing targets, and dates, durations and complex numbers as targets."""
    if source.in_memory:  # of one type, which a few rows tell
        for batch in islice(source.blocks(1), 1):
            _checked_targets(batch)
        return source
    return source.map(_checked_targets)


def _checked_targets(batch: Batch) -> Batch:
    if batch.y is None:
        raise ValueError("y is missing: the rows have no target; give it, or name its column")
    check_real_kind("y", batch.y)
    y = _as_numbers(batch.y)
    return batch if y is batch.y else replace(batch, y=y)


def _as_numbers(y: Any) -> Any:
    """Return targets of a type that tensors hold: objects, such as those of columns of frames, as float64."""
    if is_foreign_array(y):
        return y
    y = np.asarray(y)
    try:
        return y if y.dtype.kind in "fiub" else y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must be numbers: {error}") from None


def without_targets(source: Source) -> Source:
    """Return the rows of a source, whose targets a model of the rows alone ignores."""
    if source.in_memory and all(batch.y is None for batch in islice(source.blocks(1), 1)):
        return source
    return source.map(_rows_alone)


def _rows_alone(batch: Batch) -> Batch:
    return batch if batch.y is None else replace(batch, y=None)


def require_targets(estimator: Any, y: Any) -> None:
    """Refuse to learn without targets."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None"
        )


def check_targets(estimator: Any, y: Any, X: Array, *, allow_nan: bool = False) -> Array:
    """Check the targets of rows: numbers, finite (or NaN where it is allowed), one (or one vector) a row."""
    require_targets(estimator, y)
    check_real_kind("y", y)
    xp = namespace_of(X)
    if not is_numpy_array(X):
        y = xp.astype(placed("y", _as_numbers(y), X), xp.float64)
        if bool(xp.any(xp.isinf(y) if allow_nan else ~xp.isfinite(y))):
            raise ValueError(f"y contains {'infinity' if allow_nan else 'NaN or infinity'}")
        check_squarable("y", y)
    else:
        try:
            if not (type(y) is np.ndarray and y.dtype == np.float64 and y.size):
                y = check_array(
                    y,
                    dtype=np.float64,
                    ensure_2d=False,
                    allow_nd=True,
                    ensure_all_finite=False,
                    input_name="y",
                )
            check_finite(estimator, y, "y", allow_nan=allow_nan)
        except (ValueError, TypeError) as error:
            # Some of scikit-learn's messages do not say which argument they mean.
            if isinstance(error, ValueError) and " y" in str(error):
                raise
            raise ValueError(f"y must be numbers: {error}") from None
    if y.ndim not in (1, 2) or y.shape[0] != X.shape[0]:
        raise ValueError(
            "y must have one entry a row: Found input variables with inconsistent numbers of samples: "
            f"X has {X.shape[0]} rows, y has shape {tuple(y.shape)}"
        )
    return y


def check_columns(
    estimator: Any,
    X: Any,
    *,
    reset: bool = False,
    min_rows: int = 1,
    finite: bool = True,
    allow_nan: bool | None = None,
) -> Array:
    """Check rows held in memory: two-dimensional, real, finite (or NaN where the model allows it)."""
    allow_nan = estimator.model_tags.missing_values if allow_nan is None else allow_nan
    if _is_plain(X) and len(X) >= min_rows and (reset or _has_width(estimator, X.shape[1])):
        _check_library(estimator, None, reset=reset)
        X = X if X.dtype in _FLOATS else X.astype(np.float64)
        if reset:
            check_names(estimator, None, X.shape[1], reset=True)
        if finite:
            check_finite(estimator, X, "X", allow_nan=allow_nan)
        return X
    check_held("X", X)
    if is_foreign_array(X):
        X = _check_foreign(estimator, as_plain("X", X), reset=reset, allow_nan=allow_nan)
        _check_enough(X.shape[0], X.shape[1], min_rows)
        _check_library(estimator, X, reset=reset)
        return X
    refuse_sparse(estimator, X)
    if isinstance(X, Mapping):
        raise ValueError(f"X must be an array or a frame, got a {type(X).__name__}: make a frame of it")
    X = _readable(X)
    _check_library(estimator, None, reset=reset)
    try:
        X = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=list(_FLOATS),
            ensure_all_finite=False,
            ensure_min_samples=min_rows,
        )
        if finite:
            check_finite(estimator, X, "X", allow_nan=allow_nan)
    except (ValueError, OverflowError, TypeError) as error:
        # Some of scikit-learn's messages do not say which argument they mean.
        named = isinstance(error, ValueError) and "X" in str(error)
        if named or (isinstance(error, TypeError) and "Cannot cast" not in str(error)):
            raise
        raise ValueError(f"X: {error}") from None
    return X


def _is_plain(X: Any) -> bool:
    """Return whether `validate_data` would return rows as they are, or as floats.

    Its checks are most of the work of a prediction of one row, and much of a fit of a few hundred.
    """
    plain = type(X) is np.ndarray and X.ndim == 2 and X.size > 0
    return plain and (X.dtype in _FLOATS or X.dtype.kind in "iub")


def _has_width(estimator: Any, width: int) -> bool:
    """Return whether an estimator was fitted to so many columns, without names."""
    known = getattr(estimator, "n_features_in_", None)
    return known == width and not hasattr(estimator, "feature_names_in_")


_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def check_finite(estimator: Any, x: np.ndarray, name: str, *, allow_nan: bool = False) -> None:
    """Refuse infinity, NaN unless it is allowed, and numbers too large to square.

    If the sum of all squares is small enough, nothing is wrong: one pass at memory speed. Otherwise the
    entries are looked at one by one.
    """
    squares = sum_of_squares(x)
    if squares < LARGEST**2:
        return
    if isnan(squares) and not allow_nan:
        raise ValueError(f"{name} contains NaN; {type(estimator).__name__} {_WITHOUT_MISSING[name]}")
    assert_all_finite(x, allow_nan=allow_nan, input_name=name)
    check_squarable(name, x)


def check_after(
    estimator: Any, x: np.ndarray | None, first_pass: Callable[[], T], sum_of_squares: Callable[[T], float]
) -> T:
    """Return what the first pass of a model over rows finds, and refuse the rows as `check_finite` does.

    They are read for that only where the pass fails, or where the sum of squares that it found is not small
    enough to show that nothing is wrong. Rows that are checked already are None.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            found = first_pass()
            finite = x is None or sum_of_squares(found) < LARGEST**2
        except ValueError:
            if x is not None:  # an entry that is refused is named
                check_finite(estimator, x, "X")
            raise
    if x is not None and not finite:
        check_finite(estimator, x, "X")
    return found


#: What a model without missing entries takes, and what can be done about them.
_WITHOUT_MISSING = {
    "X": "takes complete rows: leave out those with missing entries, or fill them in first "
    "(TableMixture.impute, or an imputer in a pipeline)",
    "y": "needs the target of every row: leave out the rows without one",
}


def check_query(estimator: Any, X: Any, *, allow_nan: bool | None = None) -> np.ndarray:
    """Check rows of a query, as float64, where the rows of the fit were; NaN as in `fit`, unless stated."""
    check_held("X", X)
    if not (estimator._learns_on_host or estimator._stores_tensors):  # noqa: SLF001
        refuse_foreign(X)
    return as_double(check_columns(estimator, X, allow_nan=allow_nan))


def check_scores(X: Any, width: int) -> Array:
    """Check coordinates of rows in a subspace of so many directions, as float64 of their own library."""
    refused = f"X must be scores of shape (n_samples, {width}), as transform returns them"
    if is_streamed(X) and not isinstance(X, str):
        raise ValueError(f"{refused}, held in memory; it is a source or a stream")
    scores = as_reals("X", X.to_numpy() if is_frame(X) else X)
    if scores.ndim != 2 or scores.shape[1] != width:
        raise ValueError(f"{refused}; got shape {tuple(scores.shape)}")
    xp = namespace_of(scores)
    if not bool(xp.all(xp.isfinite(scores))):
        raise ValueError("X contains NaN or infinity, and must be finite scores")
    return xp.astype(scores, xp.float64, copy=False)


def check_folds(cv: Any, X: Any, y: Any, *, classifier: bool) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the training and the test rows of each fold; five folds when `cv` is not given.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test)
        As in scikit-learn.
    X, y : arrays
        Rows and targets.
    classifier : bool
        Whether folds have the classes in equal proportions.
    """
    from sklearn.model_selection import check_cv  # it loads much that no other model needs

    try:
        splitter = check_cv(cv, y, classifier=classifier)
        folds = [(np.asarray(train), np.asarray(test)) for train, test in splitter.split(X, y)]
    except (TypeError, ValueError) as error:
        message = f"cv must be folds of X and y, by number, splitter or pairs of (train, test) rows: {error}"
        raise ValueError(message) from error
    if not folds:
        raise ValueError("cv must have a fold, got none")
    return folds


def check_weights(sample_weight: Any, X: Array) -> Array | None:
    """Check the weights of rows: one a row, finite, not negative, not all zero."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(X.shape[0], float(sample_weight))
    sample_weight = placed("sample_weight", sample_weight, X)
    return weights.check_weights(sample_weight, X.shape[0], like=X, name="sample_weight", some=True)


def check_row_noise(noise_variance: Any, X: Array) -> Array:
    """Check the variance of the noise of rows, one a row or one for all: positive, finite; (n,) float64."""
    xp, n = namespace_of(X), X.shape[0]
    variance = xp.astype(as_reals("noise_variance", noise_variance, X), xp.float64)
    if variance.ndim > 1 or (variance.ndim == 1 and variance.shape[0] != n):
        raise ValueError(
            f"noise_variance must be a number or one a row, {n}, got shape {tuple(variance.shape)}"
        )
    if not bool(xp.all((variance > 0) & xp.isfinite(variance))):
        raise ValueError("noise_variance must be positive and finite")
    return check_squarable("noise_variance", xp.broadcast_to(variance, (n,)), nonzero=True)


def _readable(X: Any) -> Any:
    """Return rows in a form that scikit-learn reads as we do: masks are missing entries, dates no numbers."""
    if X is None:
        raise ValueError(
            "X is None; it must be rows and columns of numbers, (n_samples, n_features): an array, a frame, "
            "a source such as tractable.scan(path), or an iterable of batches"
        )
    if is_streamed(X):
        raise ValueError(
            "X is a source or a stream of batches, which is not held in memory; "
            "tractable.predict_to(model, source, path, method=…) writes the predictions to a file"
        )
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(np.float64), np.nan)
    refuse_records("X", X)
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise ValueError(f"X must hold real numbers; got dtype {X.dtype}")
    if hasattr(X, "collect") and not is_frame(X):
        raise ValueError(f"X is a {type(X).__name__}, which has no rows yet; give X.collect()")
    if isinstance(X, np.ndarray) and X.dtype.kind == "O" and any(isinstance(x, str) for x in X.flat):
        raise ValueError(
            "X must hold real numbers, and has text among Python objects: convert it first; ContrastCoding "
            "codes the words of a frame"
        )
    if is_frame(X):
        as_source(X)  # names the columns that are no numbers
        return object_columns_as_numbers(X)
    return X


def _check_foreign(estimator: Any, X: Array, *, reset: bool, allow_nan: bool) -> Array:
    xp = namespace_of(X)
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X must be rows and columns, at least one of each; got shape {tuple(X.shape)}")
    if xp.isdtype(X.dtype, ("bool", "integral")):
        X = xp.astype(X, xp.float64)
    if not xp.isdtype(X.dtype, "real floating"):
        raise ValueError(f"X must be real floating numbers, got {X.dtype}")
    # NaN and infinity are extremes, which are found without an array as large as X.
    low, high = extremes(X)
    finite = isfinite(low) and isfinite(high)
    if not finite and (not allow_nan or bool(xp.any(xp.isinf(X)))):
        raise ValueError(f"X contains {'infinity' if allow_nan else 'NaN or infinity'}")
    check_squarable("X", max(-low, high) if finite else X)
    check_names(estimator, None, X.shape[1], reset=reset)
    return X


def _check_library(estimator: Any, X: Array | None, *, reset: bool) -> None:
    """Remember (`reset`) or compare the library that arrays are of, None on the host."""
    given = None if X is None else library_of(X)
    if reset:
        estimator._library_ = given
        return
    known = getattr(estimator, "_library_", None)
    if given != known:
        raise ValueError(
            f"X must be an array of {known or 'NumPy'}, of which the rows of the fit were, and is one of "
            f"{given or 'NumPy'}: nothing is moved silently; convert X first"
        )
    held = None if X is None else next((x for x in vars(estimator).values() if is_foreign_array(x)), None)
    if held is not None and str(device(held)) != str(device(X)):
        raise ValueError(
            f"X is on the device {device(X)}, and the model on {device(held)}; nothing is moved silently: "
            "move X, or model.to(device)"
        )


def check_names(estimator: Any, names: Any, width: int, *, reset: bool) -> None:
    """Remember (`reset`) or compare the names and the number of columns."""
    if reset:
        estimator.n_features_in_ = width
        vars(estimator).pop("feature_names_in_", None)
        if names is not None:
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
        return
    known = getattr(estimator, "feature_names_in_", None)
    if names is not None and known is not None and list(names) != list(known):
        raise ValueError(f"X has the columns {list(names)}, but the model was fitted on {list(known)}")
    if width != estimator.n_features_in_:
        raise ValueError(
            f"X has {width} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
