"""Arrays, dataframes and delayed partitions of Dask as tasks, checked before the first pass."""

from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np
from dask.base import is_dask_collection
from dask.delayed import delayed

from tractable.arrays.namespace import check_unmasked, is_collection
from tractable.arrays.weights import check_weights
from tractable.data.arrays import ArraySource
from tractable.data.columns import Roles, assign_roles
from tractable.data.dispatch import triple
from tractable.data.frames import column_names, frame_source, is_frame
from tractable.data.source import Batch
from tractable.distributed.cluster import computed, tree
from tractable.distributed.source import DaskSource, Partitions, Sizes, named
from tractable.value import value

#: Operations of Dask whose partitions have the columns and types that the files of a table say.
READERS = ("ReadParquet", "ReadCSV")

#: Types of Dask that stand for one value.
DELAYED = ("Delayed", "DelayedLeaf", "DelayedAttr", "Future")


def collection_source(X: Any, y: Any = None, weights: Any = None) -> DaskSource:
    """Return a collection of Dask, with targets and weights, as a source.

    Parameters
    ----------
    X : dask Array, DataFrame, or list of delayed partitions
        The rows. A delayed partition is an array, a frame, or a tuple ``(X, y)`` or ``(X, y, weights)``,
        delayed as a whole or part by part.
    y, weights : dask Array or Series, array, or column name, optional
        Targets and frequencies of the rows, in partitions like those of X.
    """
    kind = kind_of(X)
    if kind == "Delayed":
        return _of_delayed(partition_list(X), y, weights)
    return _of_array(X, y, weights) if kind == "Array" else _of_frame(X, y, weights)


def kind_of(X: Any) -> str:
    """Return "Array", "DataFrame" or "Delayed"; refuse other collections."""
    if isinstance(X, (list, tuple)) or type(X).__name__ in DELAYED:
        return "Delayed"
    if is_dask_collection(X) and hasattr(X, "chunks") and hasattr(X, "rechunk"):
        return "Array"
    if is_dask_collection(X) and is_frame(getattr(X, "_meta", None)):
        return "DataFrame"
    raise ValueError(
        f"X is a {type(X).__name__} of Dask; rows are a dask Array of two dimensions, a DataFrame (of a "
        "Series, X.to_frame()), or a list of delayed partitions"
    )


def partition_list(X: Any) -> list[Any]:
    """Return delayed partitions as a list; a single one is the only one."""
    parts = list(X) if isinstance(X, (list, tuple)) else [X]
    for i, part in enumerate(parts):
        for each in part if isinstance(part, tuple) else (part,):
            if is_collection(each) and type(each).__name__ not in DELAYED:
                raise ValueError(
                    f"X: entry {i} is a {type(each).__name__} of Dask, which has partitions itself: "
                    "make one collection of them, by dask.array.concatenate or dask.dataframe.concat"
                )
    return [delayed(part) if isinstance(part, tuple) else part for part in parts]


def one_chunk_of_columns(X: Any) -> Any:
    """Return a dask array of rows whose chunks have all columns."""
    if X.ndim != 2:
        raise ValueError(f"X must be 2-D, (rows, features); got shape {X.shape}")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X must hold real numbers; got dtype {X.dtype}")
    if isnan(X.shape[1]):
        raise ValueError("X has an unknown number of columns; call X.compute_chunk_sizes() first")
    if X.shape[1] == 0 or X.shape[0] == 0:
        raise ValueError(f"X: found array with 0 rows or columns, of shape {X.shape}")
    return X if len(X.chunks[1]) == 1 else X.rechunk({1: -1})


def _of_array(X: Any, y: Any, weights: Any) -> DaskSource:
    X = one_chunk_of_columns(X)
    sizes = X.chunks[0]
    beside = {name: _beside(name, given, sizes) for name, given in (("y", y), ("weights", weights))}
    load = _Loaded(columns=None, width=int(X.shape[1]))
    columns = (_column(part, len(sizes)) for part in beside.values())
    parts = list(zip(X.to_delayed().ravel(), *columns, strict=True))
    known = None if any(map(isnan, sizes)) else [int(n) for n in sizes]
    n_bytes = None if known is None else float(X.nbytes)
    partitions = Partitions(load, parts, n_rows=known, n_bytes=n_bytes, kind="Array")
    return _checked(DaskSource(partitions=partitions, width=int(X.shape[1])))


def _of_frame(X: Any, y: Any, weights: Any) -> DaskSource:
    meta = X._meta  # noqa: SLF001  (the columns and types that Dask knows)
    frame_source(meta, *(v if isinstance(v, (str, list, tuple)) else None for v in (y, weights)))
    roles = frame_roles(list(meta.columns), y, weights)
    X = X[list(roles.columns)]
    load = _Loaded(columns=roles, width=len(roles.features))
    parts = list(zip(X.to_delayed(), *columns_beside(X, roles, y, weights), strict=True))
    files = files_of(X)
    partitions = Partitions(load, parts, kind="DataFrame", files=files)
    source = DaskSource(partitions=partitions, width=len(roles.features), names=roles.feature_names)
    return source if files else _checked(source)


def frame_roles(columns: list[Any], y: Any, weights: Any) -> Roles:
    """Return the roles of the columns of a dataframe; y and weights that are no names are None."""
    target = y if isinstance(y, (str, list, tuple)) else None
    weight = weights if isinstance(weights, str) else None
    return assign_roles(columns, None, target, weight, where="X", arguments=("X", "y", "weights"))


def columns_beside(X: Any, roles: Roles, y: Any, weights: Any) -> tuple[Any, Any]:
    """Return delayed targets and weights beside a dataframe, None for each partition where there are none."""
    unknown = (np.nan,) * X.npartitions
    beside = [
        None if of_name is not None else _beside(name, given, unknown)
        for name, given, of_name in (("y", y, roles.target), ("weights", weights, roles.weight))
    ]
    found, counted = (_column(part, X.npartitions) for part in beside)
    return found, counted


def files_of(X: Any) -> list[Any]:
    """Return the paths that every pass over a dataframe reads; a pass for their sizes would read them all."""
    readers = [part for part in X.expr.walk() if type(part).__name__.startswith(READERS)]
    return [path for part in readers for path in _listed(part.operand("path"))]


def _listed(path: Any) -> list[Any]:
    return list(path) if isinstance(path, (list, tuple)) else [path]


def _of_delayed(parts: list[Any], y: Any, weights: Any) -> DaskSource:
    check_beside_delayed(y, weights)
    describe = delayed(_described)
    (found,) = computed(tree([describe(part, i, y, weights) for i, part in enumerate(parts)]))
    first = found.descriptions[0]
    for i, other in enumerate(found.descriptions):
        if other[:2] != first[:2]:
            raise ValueError(f"partition {i} has {_said(other)}, and the first has {_said(first)}")
        if other[2:] != first[2:]:
            raise ValueError(f"partition {i} and the first do not both have targets, or weights")
    width, names = first[:2]
    partitions = Partitions(_Delayed(y=y, weights=weights), [(part,) for part in parts], kind="Delayed")
    partitions.note(found.sizes)
    return _with_rows(DaskSource(partitions=partitions, width=width, names=names))


def check_beside_delayed(y: Any, weights: Any) -> None:
    """Refuse targets and weights of delayed partitions that are no names of columns."""
    for name, given in (("y", y), ("weights", weights)):
        if is_collection(given) or not (given is None or isinstance(given, (str, list))):
            raise ValueError(
                f"{name}: delayed partitions bring their own; let each be a tuple (X, y, weights), or name a "
                "column"
            )


def _said(description: Any) -> str:
    width, names = description[:2]
    return f"the columns {list(names)}" if names else f"{width} columns"


def _beside(name: str, given: Any, sizes: Sequence[float]) -> Any:
    """Return targets or weights as a collection in as many partitions as the rows."""
    if given is None:
        return None
    if isinstance(given, str):
        raise ValueError(f"{name}: X has no column {given!r}, an array has no names; give a collection")
    if not is_collection(given):
        return _distributed_array(name, given, sizes)
    if hasattr(given, "chunks"):
        if given.dtype.kind in "mMc":
            raise ValueError(f"{name} must be real numbers, got dtype {given.dtype}")
        given = given.rechunk({1: -1}) if given.ndim == 2 and len(given.chunks[1]) > 1 else given
        known = not any(map(isnan, (*sizes, *given.chunks[0])))
        if known and sum(given.chunks[0]) != sum(sizes):
            raise ValueError(f"{name} has {sum(given.chunks[0])} rows, but X has {sum(sizes)}")
        given = given.rechunk({0: tuple(sizes)}) if known and given.chunks[0] != tuple(sizes) else given
    if not hasattr(given, "npartitions") or given.npartitions != len(sizes):
        there = getattr(given, "npartitions", 1)
        raise ValueError(
            f"{name} has {there} partitions, and X has {len(sizes)}: they must be cut at the same rows; "
            "make both from one collection, or name a column of X"
        )
    return given


def _distributed_array(name: str, given: Any, sizes: Sequence[float]) -> Any:
    """Return an array of this process in partitions like those of the rows."""
    import dask.array as da

    check_unmasked(name, given)
    given = np.asarray(given)
    if any(map(isnan, sizes)):
        raise ValueError(
            f"{name} is an array, and the rows of the partitions of X are not known: give a collection, or "
            "the name of a column"
        )
    if given.ndim == 0 or len(given) != sum(sizes):
        raise ValueError(f"{name} has shape {given.shape}, but X has {sum(sizes)} rows")
    return da.from_array(given, chunks=(tuple(sizes), *given.shape[1:]))


def _column(part: Any, n: int) -> Sequence[Any]:
    """Return targets or weights as a list of delayed partitions, None where there are none."""
    if part is None:
        return [None] * n
    found = part.to_delayed()
    return list(found.ravel() if hasattr(found, "ravel") else found)


def _checked(source: DaskSource) -> DaskSource:
    """Return a source whose partitions have been looked at, where their sizes are not known already."""
    if source.partitions.n_rows is None:
        tasks = source.partitions.apply(_measured, None, once=True)
        source.partitions.note(source.partitions.summed(tasks))
    return _with_rows(source)


def _measured(_: Any, batch: Batch, __: int) -> Sizes:
    return Sizes.of(batch)


def _with_rows(source: DaskSource) -> DaskSource:
    if not source.n_rows:
        raise ValueError("X has no rows: every partition is empty")
    return source


@value
class _Loaded:
    """A partition as a batch of numbers; runs on a worker."""

    columns: Roles | None
    width: int

    def __call__(self, number: int, rows: Any, y: Any = None, weights: Any = None) -> Batch:
        with named(number):
            if self.columns is not None:
                return frame_batch(rows, self.columns, y, weights)
            held = ArraySource(X=rows, y=_values(y), weights=_checked_weights(weights, len(rows))).collect()
            if held.X.shape[1] != self.width:
                raise ValueError(f"it has {held.X.shape[1]} columns, and X has {self.width}")
            return held


def frame_batch(frame: Any, roles: Roles, y: Any, weights: Any) -> Batch:
    """Return the rows of one partition of a dataframe, which has the columns of all."""
    check_same_columns(frame, roles.columns)
    targets = list(roles.target) if isinstance(roles.target, tuple) else roles.target
    return frame_source(
        frame[list(roles.columns)],
        _values(y) if targets is None else targets,
        _checked_weights(weights, len(frame)) if roles.weight is None else roles.weight,
    ).collect()


def check_same_columns(frame: Any, names: Sequence[Any]) -> None:
    """Refuse a partition that is no frame, or lacks a column."""
    if not is_frame(frame):
        raise ValueError(f"it is of {type(frame).__name__}, and the first is a frame")
    there = column_names(frame)
    missing = [name for name in names if name not in there]
    if missing:
        raise ValueError(f"the columns {missing} are missing; it has {there}")


def _checked_weights(weights: Any, n_rows: int) -> Any:
    return None if weights is None else check_weights(np.asarray(weights), n_rows, name="sample_weight")


def _values(x: Any) -> Any:
    return None if x is None else np.asarray(x)


@value
class _Descriptions:
    """Width, names, and whether there are targets and weights, of partitions, with their sizes; they add."""

    descriptions: tuple[Any, ...]
    sizes: Sizes

    def __add__(self, other: "_Descriptions") -> "_Descriptions":
        both = self.descriptions + other.descriptions
        return _Descriptions(descriptions=both, sizes=self.sizes + other.sizes)


def _described(part: Any, number: int, y: Any, weights: Any) -> _Descriptions:
    batch = _delayed_batch(part, number, y, weights)
    frame = part[0] if isinstance(part, tuple) else part
    names = None
    if is_frame(frame):
        names = frame_source(frame, *(v for v in (y, weights))).feature_names
    said = batch.X.shape[1], names, batch.y is not None, batch.weights is not None
    return _Descriptions(descriptions=(said,), sizes=Sizes.of(batch))


@value
class _Delayed:
    """A delayed partition as a batch; runs on a worker."""

    y: Any
    weights: Any

    def __call__(self, number: int, part: Any) -> Batch:
        return _delayed_batch(part, number, self.y, self.weights)


def _delayed_batch(part: Any, number: int, y: Any, weights: Any) -> Batch:
    """Return a delayed partition as a batch."""
    with named(number):
        rows, own_y, own_weights = triple(part if isinstance(part, tuple) else (part,), y, weights)
        made = frame_source if is_frame(rows) else _array_source
        return made(rows, own_y, own_weights).collect()


def _array_source(rows: Any, y: Any, weights: Any) -> ArraySource:
    return ArraySource(X=rows, y=y, weights=weights)
