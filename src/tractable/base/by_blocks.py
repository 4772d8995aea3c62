"""Methods with one result a row, of sources and streams: block by block, as `fit` reads them."""

from collections.abc import Callable, Iterator
from functools import wraps
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from tractable.arrays.devices import clear_device_errors
from tractable.arrays.namespace import check_held, is_collection
from tractable.base.estimator import check_answerable
from tractable.base.validation import as_rows_source, sparse_rows
from tractable.data import is_streamed, with_passes
from tractable.data.blocks import map_blocks, stacked
from tractable.data.dispatch import distributed
from tractable.data.frames import select_columns
from tractable.data.predict_to import FittedColumns
from tractable.data.streamed_tables import streamed_tables
from tractable.primitives.threads import limited_blas

F = TypeVar("F", bound=Callable[..., Any])


def by_blocks(method: F) -> F:
    """Make a method with one result a row (an array, or several) take sources: the results are stacked.

    The rows are never held at once, and columns are found by name where the model was fitted on names. The
    result of a collection of Dask is a collection, lazy.
    """

    @wraps(method)
    def answered(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if isinstance(X, np.ndarray):
            with limited_blas():
                return method(self, X, *args, **options)
        if is_collection(X):
            check_answerable(self)
            return distributed().lazy_result(self, method.__name__, X, args, options)
        sparse = sparse_rows(self, X)
        if sparse is None and not is_streamed(X):
            with clear_device_errors():
                return method(self, X, *args, **options)
        check_answerable(self)
        if sparse is not None and self._answers_sparse(method.__name__, sparse.X):
            return method(self, sparse.X, *args, **options)
        X = X if sparse is None else sparse
        return map_blocks(lambda rows: method(self, rows, *args, **options), fitted_blocks(self, X))

    return answered  # type: ignore[return-value]


def of_held_rows(method: F) -> F:
    """Make a method whose result is one value of all rows (a distribution) take sources, read into memory."""

    @wraps(method)
    def answered(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        check_held("X", X)
        if isinstance(X, np.ndarray) or not is_streamed(X):
            return method(self, X, *args, **options)
        check_answerable(self)
        return method(self, held_rows(self, X), *args, **options)

    return answered  # type: ignore[return-value]


def keeps_float32(transform: F) -> F:
    """Make a method of rows on the host, computed in float64, return float32 of rows that are float32."""

    @wraps(transform)
    def rounded(self: Any, X: Any) -> Any:
        found = transform(self, X)
        if not isinstance(found, np.ndarray):  # of another library
            return found
        kinds = getattr(X, "dtypes", [getattr(X, "dtype", None)])  # of a frame, or of an array
        return found.astype(np.float32) if all(kind == np.float32 for kind in kinds) else found

    return rounded  # type: ignore[return-value]


def held_rows(estimator: Any, X: Any) -> Any:
    """Return the rows of a source in memory, with the columns that a model was fitted on."""
    blocks = list(fitted_blocks(estimator, X))
    if hasattr(blocks[0], "columns"):
        from pandas import concat

        return concat(blocks, ignore_index=True)
    return stacked(blocks)


def fitted_blocks(estimator: Any, X: Any) -> Iterator[Any]:
    """Return the blocks of a source or stream that have rows, each as the model takes rows in memory."""
    reads_text = estimator.__sklearn_tags__().input_tags.string
    X = with_passes(X)
    tables = streamed_tables(X) if reads_text else None
    found = _source_blocks(estimator, X) if tables is None else _table_blocks(estimator, tables)
    first = next(found, None)
    if first is None:
        raise ValueError("X has no rows")
    return chain([first], found)


def _source_blocks(estimator: Any, X: Any) -> Iterator[Any]:
    source = as_rows_source(X, None, None).beside_model(getattr(estimator, "_library_", None))
    columns = FittedColumns.of(estimator, source, "X")
    return (columns(block.X) for block in source.blocks() if block.n_rows)


def _table_blocks(estimator: Any, tables: Any) -> Iterator[Any]:
    """Yield frames as pandas', with the columns of the model."""
    from tractable.data.table_columns import as_pandas

    names = getattr(estimator, "feature_names_in_", None)
    for frame, _, _ in tables.start():
        pandas, _ = as_pandas(frame)
        if len(pandas):
            yield pandas if names is None else select_columns(pandas, names)
