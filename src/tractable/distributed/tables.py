"""Dataframes of Dask with text and categories, for models of tables: coded as numbers on the workers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from dask.delayed import delayed

from tractable.arrays.weights import check_weights
from tractable.data.columns import Roles
from tractable.data.dispatch import triple
from tractable.data.frames import column_names, is_frame, select_columns
from tractable.data.source import Batch
from tractable.data.streamed_tables import DistinctValues
from tractable.data.table_columns import TableColumns, coded_frame, declared_categorical, is_number
from tractable.distributed.cluster import computed, sent, tree
from tractable.distributed.collections import (
    check_beside_delayed,
    check_same_columns,
    columns_beside,
    files_of,
    frame_roles,
    kind_of,
    partition_list,
)
from tractable.distributed.source import DaskSource, Part, Partitions, Sizes, named
from tractable.value import replace, value


def collection_tables(X: Any, y: Any = None, weights: Any = None) -> "DaskTables | None":
    """Return dataframes of Dask, or delayed frames, as a table whose columns may be text; None of arrays.

    Parameters
    ----------
    X : collection of Dask
        Rows.
    y, weights : collection or column name, optional
        Targets and frequencies of the rows.
    """
    kind = kind_of(X)
    if kind == "Array":
        return None
    if kind == "DataFrame":
        roles = frame_roles(list(X.columns), y, weights)
        frame, beside = X[list(roles.columns)], columns_beside(X, roles, y, weights)
        return DaskTables(
            parts=list(zip(frame.to_delayed(), *beside, strict=True)), roles=roles, kind=kind, frame=frame
        )
    parts = partition_list(X)
    (columns,) = computed(delayed(_columns)(parts[0]))
    if columns is None:
        return None
    check_beside_delayed(y, weights)
    roles = frame_roles(columns, y, weights)
    return DaskTables(parts=[(part, None, None) for part in parts], roles=roles, kind=kind)


def _columns(part: Any) -> list[Any] | None:
    """Return the names of the columns of a delayed partition that is a frame."""
    rows = part[0] if isinstance(part, tuple) else part
    return column_names(rows) if is_frame(rows) else None


@value
class DaskTables:
    """Partitions that are frames, with their targets and weights; what `StreamedTables` is of files.

    Parameters
    ----------
    parts : list of tuples of Delayed
        Rows, targets and weights of each partition; None where it has none beside its columns.
    roles : Roles
        Which of the columns are features, targets and weights.
    kind : str
        The kind of the collection, for messages.
    frame : dask DataFrame, optional
        The columns that are used, where the partitions are those of a dataframe, whose types Dask knows.
    """

    parts: list[tuple[Any, Any, Any]]
    roles: Roles
    kind: str
    frame: Any = None

    def distinct_values(self, declared: Any = None) -> tuple[Any, Callable[[TableColumns], TableColumns]]:
        """See `StreamedTables.distinct_values`: by a tree over the partitions, without columns of numbers.

        Parameters
        ----------
        declared : mapping, sequence or str, optional
            The kinds of columns that are declared.
        """
        features = list(self.roles.features)
        categorical = declared_categorical(declared, features)
        words, frames, known = features, [part[0] for part in self.parts], None
        if self.frame is not None:
            meta = self.frame._meta_nonempty[features]  # noqa: SLF001  (types alone: its values are made up)
            known = DistinctValues.of(meta)
            words = [name for name in features if name in categorical or not is_number(meta[name])]
            frames = list(self.frame[words].to_delayed()) if files_of(self.frame) else frames
        if words:
            one, how = delayed(_distinct), sent((words, dict.fromkeys(categorical, "categorical")))
            (met,) = computed(tree([one(how, i, frame) for i, frame in enumerate(frames)]))
            known = met if known is None else known.with_values(met)
        assert known is not None
        return known.frame(), known.noted

    def coded(self, columns: TableColumns, unseen: str = "error") -> DaskSource:
        """Return the rows as numbers, categories by their codes; `unseen` as in `coded_frame`."""
        how = sent((self.roles, columns, unseen))
        return DaskSource(
            partitions=Partitions(_coded_batch, [(how, *part) for part in self.parts], kind=self.kind),
            width=len(self.roles.features),
            names=self.roles.feature_names,
        )

    def reduce(self, of: Callable[[Batch], Any]) -> Any:
        """Return the sum of a function of blocks whose X is a frame."""
        one, how = delayed(_of_frame), sent((self.roles, of))
        (found,) = computed(tree([one(how, i, *part) for i, part in enumerate(self.parts)]))
        if found.total is None:
            raise ValueError("X has no rows: every partition is empty")
        return found.total


def _distinct(how: Any, number: int, part: Any) -> DistinctValues:
    """Return the distinct values of some columns of a partition; runs on a worker."""
    words, declared = how
    rows = part[0] if isinstance(part, tuple) else part
    with named(number):
        check_same_columns(rows, words)
        return DistinctValues.of(select_columns(rows, words), declared)


def _table(roles: Roles, number: int, part: Any, y: Any, weights: Any) -> Batch:
    """Return a partition as a batch whose X is a frame of the features, with its targets and weights."""
    with named(number):
        frame, y, weights = triple(part if isinstance(part, tuple) else (part,), y, weights)
        check_same_columns(frame, roles.columns)
        y = y if roles.target is None else frame[roles.target]
        weights = weights if roles.weight is None else frame[roles.weight]
        w = None if weights is None else check_weights(np.asarray(weights), len(frame), name="sample_weight")
        if y is not None and len(y) != len(frame):
            raise ValueError(f"y has {len(y)} entries, X has {len(frame)} rows")
        X = select_columns(frame, roles.features)
        return Batch(X=X, y=None if y is None else np.asarray(y), weights=w)


def _coded_batch(number: int, how: Any, part: Any, y: Any, weights: Any) -> Batch:
    roles, columns, unseen = how
    table = _table(roles, number, part, y, weights)
    with named(number):
        return replace(table, X=coded_frame(table.X, columns, unseen).to_numpy(dtype=np.float64))


def _of_frame(how: Any, number: int, part: Any, y: Any, weights: Any) -> Part:
    roles, of = how
    table = _table(roles, number, part, y, weights)
    n_rows = len(table.X)
    return Part(total=of(table) if n_rows else None, sizes=Sizes(n_rows=(n_rows,), n_bytes=(0,)))
