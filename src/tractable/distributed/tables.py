"""Dataframes of Dask with text and categories, for models of tables: coded as numbers on the workers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from dask.delayed import delayed

from tractable.arrays.weights import check_weights
from tractable.data.columns import Roles
from tractable.data.source import Batch
from tractable.data.streamed_tables import DistinctValues
from tractable.data.table_columns import TableColumns, coded_frame
from tractable.distributed.cluster import computed, sent, tree
from tractable.distributed.collections import check_same_columns, columns_beside, frame_roles, kind_of
from tractable.distributed.source import DaskSource, Part, Partitions, Sizes, named
from tractable.value import replace, value


def collection_tables(X: Any, y: Any = None, weights: Any = None) -> "DaskTables | None":
    """Return a dataframe of Dask as a table whose columns may be text; None of other collections.

    Parameters
    ----------
    X : collection of Dask
        Rows.
    y, weights : collection or column name, optional
        Targets and frequencies of the rows.
    """
    if kind_of(X) != "DataFrame":
        return None
    roles = frame_roles(list(X.columns), y, weights)
    beside = columns_beside(X, roles, y, weights)
    return DaskTables(frame=X[list(roles.columns)], roles=roles, beside=beside)


@value
class DaskTables:
    """A dataframe of Dask with its targets and weights; what `StreamedTables` is of files and batches.

    Parameters
    ----------
    frame : dask DataFrame
        The columns that are used.
    roles : Roles
        Which of them are features, targets and weights.
    beside : tuple
        Delayed targets and weights that are no columns of the frame, None for each partition without them.
    """

    frame: Any
    roles: Roles
    beside: tuple[Any, Any]  # delayed targets and weights that are no columns, None where there are none

    @property
    def leave(self) -> tuple[Any, ...]:
        """The columns that are targets or weights."""
        weight = () if self.roles.weight is None else (self.roles.weight,)
        return (*self.roles.targets, *weight)

    def _parts(self) -> list[tuple[Any, ...]]:
        return list(zip(self.frame.to_delayed(), *self.beside, strict=True))

    def distinct_values(self) -> tuple[Any, Callable[[TableColumns], TableColumns]]:
        """See `StreamedTables.distinct_values`: by a tree over the partitions."""
        one = delayed(DistinctValues.of)
        (met,) = computed(tree([one(part[0], self.leave) for part in self._parts()]))
        return met.frame(), met.noted

    def coded(self, columns: TableColumns) -> DaskSource:
        """Return the rows as numbers, categories by their codes."""
        how = sent((self.roles, columns))
        parts = [(how, *part) for part in self._parts()]
        names = self.roles.feature_names
        width = len(self.roles.features)
        return DaskSource(
            partitions=Partitions(_coded_batch, parts, kind="DataFrame"), width=width, names=names
        )

    def reduce(self, of: Callable[[Batch], Any]) -> Any:
        """Return the sum of a function of blocks whose X is a frame."""
        one, how = delayed(_of_frame), sent((self.roles, of))
        (found,) = computed(tree([one(how, i, *part) for i, part in enumerate(self._parts())]))
        if found.total is None:
            raise ValueError("X has no rows: every partition is empty")
        return found.total


def _table(how: Any, number: int, frame: Any, y: Any, weights: Any) -> Batch:
    """Return a partition as a batch whose X is a frame of the features, with its targets and weights."""
    roles: Roles = how
    with named(number):
        check_same_columns(frame, roles)
        y = y if roles.target is None else frame[roles.target]
        weights = weights if roles.weight is None else frame[roles.weight]
        w = None if weights is None else check_weights(np.asarray(weights), len(frame), name="sample_weight")
        if y is not None and len(y) != len(frame):
            raise ValueError(f"y has {len(y)} entries, X has {len(frame)} rows")
        return Batch(X=frame[list(roles.features)], y=None if y is None else np.asarray(y), weights=w)


def _coded_batch(number: int, how: Any, frame: Any, y: Any, weights: Any) -> Batch:
    roles, columns = how
    table = _table(roles, number, frame, y, weights)
    with named(number):
        return replace(table, X=coded_frame(table.X, columns).to_numpy(dtype=np.float64))


def _of_frame(how: Any, number: int, frame: Any, y: Any, weights: Any) -> Part:
    roles, of = how
    table = _table(roles, number, frame, y, weights)
    return Part(total=of(table) if len(frame) else None, sizes=Sizes(n_rows=(len(frame),), n_bytes=(0,)))
