"""Arrays in memory, or mapped into it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tractable.arrays.devices import on_host
from tractable.arrays.namespace import is_sparse, namespace_of
from tractable.arrays.weights import check_weights
from tractable.data.blocks import block_rows, device_rows, in_halves, tree_sum
from tractable.data.source import Batch, Source, batch_rows
from tractable.primitives.threads import even_rows
from tractable.value import replace, value


class _Matrix(Source):
    """Rows of an array X (n, d) with their targets and weights."""

    X: Any
    in_memory = True

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])


@value
class ArraySource(_Matrix):
    """The rows of a NumPy array, read-only, strided and memory-mapped ones included, never copied whole.

    Floats of 32 and 64 bits pass as they are; other numbers become float64 batch by batch.

    Parameters
    ----------
    X : (n, d) array of numbers
        The rows.
    y : (n,) or (n, t) array, optional
        Targets, kept in their own type.
    weights : (n,) array, optional
        Finite and not negative.

    Examples
    --------
    >>> source = ArraySource(X=np.arange(6).reshape(3, 2), y=["a", "b", "a"])
    >>> source.n_rows, source.n_features
    (3, 2)
    >>> next(source.batches()).X.dtype
    dtype('float64')
    """

    X: np.ndarray
    y: np.ndarray | None = None
    weights: np.ndarray | None = None

    def __post_init__(self) -> None:
        X = _matrix(self.X)
        y = None if self.y is None else _targets(self.y, len(X))
        weights = (
            None if self.weights is None else check_weights(_host_array(self.weights, "weights"), len(X))
        )
        for name, checked in (("X", X), ("y", y), ("weights", weights)):
            object.__setattr__(self, name, checked)

    def batches(self) -> Iterator[Batch]:
        return self.blocks(batch_rows(self.n_features))

    def blocks(self, rows: int | None = None) -> Iterator[Batch]:
        """See `Source.blocks`: cut from the array itself, so that a block may be all of it."""
        return iter(self.shared_blocks(rows))

    def shared_blocks(self, rows: int | None) -> "_Blocks":
        """See `Source.shared_blocks`."""
        whole = Batch(X=self.X, y=self.y, weights=self.weights)
        return _Blocks(whole, rows or 4 * block_rows(self.n_features))

    def _rows_for(self, of: Callable[[Batch], Any]) -> int:
        return even_rows(self.n_rows, super()._rows_for(of))

    def collect(self, check_targets: Callable[[list[Any]], None] | None = None) -> Batch:
        """See `Source.collect`: the array itself, without a copy."""
        if check_targets is not None and self.y is not None:
            check_targets([self.y])
        return Batch(X=as_floats(self.X), y=self.y, weights=self.weights)

    def assign(self, y: Any = None, weights: Any = None) -> "ArraySource":
        given = {name: part for name, part in (("y", y), ("weights", weights)) if part is not None}
        return replace(self, **given) if given else self


class _Blocks(Sequence[Batch]):
    """The blocks of rows of an array, each cut where it is asked for: in the thread that works on it."""

    def __init__(self, whole: Batch, step: int) -> None:
        self.whole, self.step = whole, step

    def __len__(self) -> int:
        return max(1, -(-self.whole.n_rows // self.step))

    def __getitem__(self, i: Any) -> Any:
        if not 0 <= i < len(self):
            raise IndexError(i)
        block = self.whole if len(self) == 1 else self.whole[i * self.step : (i + 1) * self.step]
        return block if block.X.dtype in _FLOATS else replace(block, X=as_floats(block.X))


@value
class SparseSource(_Matrix):
    """The rows of a sparse matrix of SciPy, never dense at once: in sparse blocks, or in small dense ones.

    Parameters
    ----------
    X : (n, d) sparse matrix or array of numbers, of any format
        The rows; entries that are not stored are zeros.
    y, weights : array, optional
        Targets and frequencies of the rows, as of `ArraySource`.
    dense : bool
        Whether blocks are dense, for functions that know no others; else they are CSR, in double precision.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> source = SparseSource(X=csr_array([[0, 2], [1, 0]]))
    >>> [block.X.tolist() for block in source.blocks(1)]
    [[[0.0, 2.0]], [[1.0, 0.0]]]
    >>> [block.X.shape for block in source.in_sparse_blocks().blocks()]
    [(2, 2)]
    """

    X: Any
    y: Any = None
    weights: Any = None
    dense: bool = True

    @property
    def in_memory(self) -> bool:  # type: ignore[override]
        """Whether blocks may be stored: dense ones are not."""
        return not self.dense

    def __post_init__(self) -> None:
        if self.X.ndim != 2:
            raise ValueError(f"X must be rows and columns; got shape {tuple(self.X.shape)}")
        X = self.X.tocsr()
        if not X.has_canonical_format:  # entries may be stored in several parts
            X = X.copy()
            X.sum_duplicates()
        X = X if self.dense else X.astype(np.float64, copy=False)
        y = None if self.y is None else _targets(self.y, X.shape[0])
        weights = self.weights
        if weights is not None:
            weights = check_weights(_host_array(weights, "weights"), X.shape[0])
        for name, checked in (("X", X), ("y", y), ("weights", weights)):
            object.__setattr__(self, name, checked)

    def batches(self) -> Iterator[Batch]:
        return self.blocks(batch_rows(self.n_features))

    def blocks(self, rows: int | None = None) -> Iterator[Batch]:
        """See `Source.blocks`: a block is dense while it is used, or sparse, of many stored entries."""
        if self.dense:
            step = min(rows or 4 * block_rows(self.n_features), batch_rows(self.n_features))
        else:
            entries = max(SPARSE_ENTRIES, 4 * self.n_features)  # beside which results of columns are small
            n_blocks = self.X.nnz // entries
            n_blocks -= n_blocks % 2  # as `even_rows`, so that threads have the same to do
            step = -(-self.n_rows // max(1, n_blocks))
        for start in range(0, max(self.n_rows, 1), step):
            part = slice(start, start + step)
            y, weights = (None if each is None else each[part] for each in (self.y, self.weights))
            X = _rows_of(self.X, part)
            yield Batch(X=X.astype(np.float64).toarray() if self.dense else X, y=y, weights=weights)

    def collect(self, check_targets: Callable[[list[Any]], None] | None = None) -> Batch:
        """See `Source.collect`: as the blocks are, dense or sparse."""
        if self.dense:
            return super().collect(check_targets)
        if check_targets is not None and self.y is not None:
            check_targets([self.y])
        return Batch(X=self.X, y=self.y, weights=self.weights)

    def in_sparse_blocks(self) -> "SparseSource":
        """Return the same rows in sparse blocks."""
        return replace(self, dense=False) if self.dense else self

    def in_dense_blocks(self) -> "SparseSource":
        """Return the same rows in dense blocks."""
        return self if self.dense else replace(self, dense=True)

    def take(self, rows: Any) -> "SparseSource":
        """Return some of the rows, with their targets and weights."""
        y, weights = (None if each is None else np.asarray(each)[rows] for each in (self.y, self.weights))
        return replace(self, X=self.X[rows], y=y, weights=weights)


#: Stored entries of a sparse block, at least.
SPARSE_ENTRIES = 2**19


def _rows_of(X: Any, part: slice) -> Any:
    """Return consecutive rows of a CSR matrix, without a copy of their entries."""
    start, stop, _ = part.indices(X.shape[0])
    if stop - start == X.shape[0]:
        return X
    first, last = X.indptr[start], X.indptr[stop]
    found = type(X)((stop - start, X.shape[1]), dtype=X.dtype)
    found.data, found.indices = X.data[first:last], X.indices[first:last]
    found.indptr = X.indptr[start : stop + 1] - first
    return found


@value
class DeviceArraySource(_Matrix):
    """The rows of an array of another library: they stay on their device, in few large blocks.

    A block that does not fit into the memory of the device is cut in halves.

    Parameters
    ----------
    X : (n, d) array of any library that follows the array API
        The rows.
    y, weights : array, optional
        Targets and frequencies of the rows.
    to_host : bool
        Whether statistics, which are small, come to the host, for models whose parameters are NumPy's while
        they are learned.
    """

    X: Any
    y: Any = None
    weights: Any = None
    to_host: bool = False
    on_device = True

    def __post_init__(self) -> None:
        if self.X.ndim != 2 or self.X.shape[0] == 0:
            shape = tuple(self.X.shape)
            raise ValueError(f"data must be rows and columns, with at least one row; got shape {shape}")
        xp = namespace_of(self.X)
        for name in ("y", "weights"):
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else xp.asarray(given))

    def batches(self) -> Iterator[Batch]:
        return self.blocks()

    def blocks(self, rows: int | None = None) -> Iterator[Batch]:
        """See `Source.blocks`: as many rows as the memory of the device allows, however few are asked for."""
        whole = Batch(X=self.X, y=self.y, weights=self.weights)
        step = device_rows(self.X)
        return (whole[start : min(start + step, self.n_rows)] for start in range(0, self.n_rows, step))

    def reduce(self, of: Callable[[Batch], Any], **options: Any) -> Any:
        """See `Source.reduce`: block after block, as the device's own kernels use all of it."""
        found = tree_sum(part for block in self.blocks() for part in in_halves(of, block, block.n_rows))
        return on_host(found) if self.to_host else found

    def collect(self, check_targets: Callable[[list[Any]], None] | None = None) -> Batch:
        """See `Source.collect`: the array itself, without a copy."""
        return Batch(X=self.X, y=self.y, weights=self.weights)


_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def refuse_records(name: str, x: Any) -> None:
    """Refuse a structured array, whose rows are records of named fields and no numbers."""
    if isinstance(x, np.ndarray) and x.dtype.kind == "V":
        raise ValueError(
            f"{name} must hold real numbers, and is a structured array; give its fields as columns: "
            "pandas.DataFrame(array)"
        )


def as_floats(x: np.ndarray) -> np.ndarray:
    """Return native floats: 32 and 64 bits as they are, any other number in 64."""
    return x if x.dtype in _FLOATS else x.astype(np.float64)


def _matrix(X: Any) -> np.ndarray:
    X = _host_array(X, "X")
    refuse_records("X", X)
    if X.ndim != 2:
        raise ValueError(
            f"X must be 2-D, (rows, features); got shape {X.shape}. Reshape your data with "
            "X.reshape(-1, 1) if it has a single feature, X.reshape(1, -1) if it is a single row"
        )
    if X.dtype.kind not in "fiubO":
        raise ValueError(f"X must hold real numbers; got dtype {X.dtype}")
    try:
        return object_numbers(X) if X.dtype.kind == "O" else X
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must hold real numbers: {error}") from error


def object_numbers(x: np.ndarray) -> np.ndarray:
    """Return an array of Python objects as float64, None as NaN; text is no number, be it of digits.

    Examples
    --------
    >>> object_numbers(np.array([1, 2.5, None, True], dtype=object))
    array([1. , 2.5, nan, 1. ])
    """
    text = next((entry for entry in x.flat if isinstance(entry, str | bytes)), None)
    if text is not None:
        raise ValueError(f"{text!r} is text")
    return x.astype(np.float64)


def _targets(y: Any, n_rows: int) -> np.ndarray:
    y = _host_array(y, "y")
    if y.ndim not in (1, 2):
        raise ValueError(f"y must be 1-D or 2-D; got shape {y.shape}")
    if len(y) != n_rows:
        raise ValueError(f"y has {len(y)} rows, but X has {n_rows}")
    return y


def _host_array(x: Any, name: str) -> np.ndarray:
    if type(x) is np.ndarray and x.ndim:
        return x
    if is_sparse(x):
        raise TypeError(f"{name} is a sparse {type(x).__name__}; dense rows are needed: {name}.toarray()")
    if namespace_of(x) is not namespace_of():
        raise TypeError(
            f"{name} is a {type(x).__module__}.{type(x).__name__}, which is not moved to the host silently; "
            "convert it to NumPy first"
        )
    if isinstance(x, np.ma.MaskedArray):
        return np.ma.filled(x.astype(np.float64), np.nan)
    kind = type(x).__name__
    try:
        x = np.asarray(x)
    except ValueError as error:
        raise ValueError(f"{name} is not an array: {error}") from error
    if x.ndim == 0:
        hint = f": X has no column {x.item()!r}" if isinstance(x.item(), str) and name != "X" else ""
        raise ValueError(f"{name} must be an array; got {kind}{hint}")
    return x
