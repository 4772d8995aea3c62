"""Streams of tables with text: frames of files and of batches, coded as numbers."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tractable.arrays.namespace import is_collection
from tractable.arrays.weights import check_weights
from tractable.data import arrow
from tractable.data.blocks import reduce_blocks
from tractable.data.columns import check_known
from tractable.data.dispatch import distributed, holds_batches, repeatable, triple
from tractable.data.files import FileSource
from tractable.data.frames import column_names, is_frame, select_columns
from tractable.data.source import Batch, Source
from tractable.data.table_columns import (
    MOST_CATEGORIES,
    TableColumns,
    as_pandas,
    coded_frame,
    declared_categorical,
    is_number,
    many_categories,
    type_name,
)
from tractable.value import replace, value


@value
class StreamedTables:
    """A stream of frames with their targets and weights."""

    start: Callable[[], Iterator[tuple[Any, Any, Any]]]  # a pass over (frame, y, weights), arrays or None
    leave: tuple[Any, ...] = ()  # columns of the frames that are targets or weights

    def distinct_values(self, declared: Any = None) -> tuple[Any, Callable[[TableColumns], TableColumns]]:
        """Return a frame with every value of the columns that have categories once, by a pass.

        `learn_columns` gives the same columns for it as for all rows together, but for the library and types
        of the frames, which the second result, a function, adds.

        Parameters
        ----------
        declared : mapping, sequence or str, optional
            The kinds of columns that are declared: numbers have categories where it says so.
        """
        met: DistinctValues | None = None
        for frame in self._features():
            found = DistinctValues.of(frame, declared)
            met = found if met is None else met + found
        if met is None:
            raise ValueError("X: there are no batches")
        return met.frame(), met.noted

    def coded(self, columns: TableColumns, unseen: str = "error") -> "CodedSource":
        """Return the rows as numbers, categories by their codes; `unseen` as in `coded_frame`."""
        return CodedSource(tables=self, columns=columns, unseen=unseen)

    def reduce(self, of: Callable[[Batch], Any]) -> Any:
        """Return the sum of a function of blocks whose X is a frame without targets and weights."""
        return reduce_blocks(of, self._frames())

    def _frames(self) -> Iterator[Batch]:
        for frame, y, weights in self.start():
            yield Batch(X=self._without(frame), y=y, weights=weights)

    def _features(self) -> Iterator[Any]:
        return (self._without(frame) for frame, _, _ in self.start())

    def _without(self, frame: Any) -> Any:
        return select_columns(frame, [name for name in column_names(frame) if name not in self.leave])


@value
class DistinctValues:
    """The distinct values of the columns of frames that have categories, one of others; they add."""

    met: dict[Any, Any]  # of each column, a series
    types: dict[Any, str]  # of the first frame
    library: str
    declared: frozenset[Any]  # the columns declared as categorical, whose numbers are categories

    @classmethod
    def of(cls, frame: Any, declared: Any = None) -> "DistinctValues":
        """Return those of one frame; `declared` are kinds of its columns."""
        pandas, library = as_pandas(frame)
        names = list(pandas.columns)
        categorical = declared_categorical(declared, names)
        return cls(
            met={name: _distinct(pandas[name], name in categorical) for name in names},
            types={name: type_name(frame, library, name) for name in names},
            library=library,
            declared=categorical,
        )

    def __add__(self, other: "DistinctValues") -> "DistinctValues":
        import pandas as pd

        met = {**self.met}
        for name, values in other.met.items():
            both = [met[name], values] if name in met else [values]
            if len(both) == 1 or any(map(len, both)):
                met[name] = _distinct(pd.concat([part for part in both if len(part)]), name in self.declared)
        return replace(self, met=met)

    def with_values(self, other: "DistinctValues") -> "DistinctValues":
        """Return these with the values that another found of some of the columns."""
        return replace(self, met={**self.met, **other.met}, types={**self.types, **other.types})

    def frame(self) -> Any:
        """Return a frame with every value at least once: shorter columns repeat theirs."""
        import pandas as pd

        longest = max(map(len, self.met.values()), default=0)
        rows = {
            name: values.iloc[np.arange(longest) % len(values)] if len(values) else values
            for name, values in self.met.items()
        }
        return pd.DataFrame({name: values.reset_index(drop=True) for name, values in rows.items()})

    def noted(self, columns: TableColumns) -> TableColumns:
        """Return columns with the library and the types of the frames."""
        types = tuple(self.types.get(name, "") for name in columns.names or ())
        return replace(columns, library=self.library, types=types)


@value
class CodedSource(Source):
    """A stream of tables as numbers, categories by their codes."""

    tables: StreamedTables
    columns: TableColumns
    unseen: str = "error"  # what a new category becomes

    @property
    def n_features(self) -> int:
        return len(self.columns.kinds)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        names = self.columns.names or ()
        return names if all(isinstance(name, str) for name in names) else None

    def batches(self) -> Iterator[Batch]:
        names = list(self.columns.names or ())
        for number, (frame, y, weights) in enumerate(self.tables.start()):
            pandas, _ = as_pandas(frame)
            check_known(names, list(pandas.columns), "X", f"batch {number}")
            extra = [name for name in pandas.columns if name not in (*names, *self.tables.leave)]
            if extra:
                raise ValueError(f"batch {number} has columns that the first has not: {extra}")
            X = coded_frame(pandas[names], self.columns, self.unseen).to_numpy(dtype=np.float64)
            w = None if weights is None else check_weights(weights, len(X), name="sample_weight")
            if y is not None and len(y) != len(X):
                raise ValueError(f"batch {number}: y has {len(y)} entries, X has {len(X)} rows")
            yield Batch(X=X, y=y, weights=w)


def streamed_tables(X: Any, y: Any = None, weights: Any = None) -> StreamedTables | None:
    """Return files, batches or a collection as a stream of frames; None if they are arrays, or other sources.

    Parameters
    ----------
    X : source, re-iterable of batches, or function that starts a pass over them
        The rows. Callers that read X otherwise where the result is None pass `with_passes(X)`, so that the
        first batch, by which this decides, is not lost.
    y, weights : column name, optional
        The columns that hold the targets and the frequencies.

    Examples
    --------
    >>> import pandas as pd
    >>> pets = pd.DataFrame({"pet": ["cat", "dog"], "legs": [4, 4]})
    >>> tables = streamed_tables([(pets, ["a", "b"]), (pets.iloc[:1], ["b"])])
    >>> [(len(frame), labels.tolist()) for frame, labels, _ in tables.start()]
    [(2, ['a', 'b']), (1, ['b'])]
    """
    if is_collection(X):
        return distributed().collection_tables(X, y, weights)
    if isinstance(X, FileSource):
        source = X.with_roles(y, weights)
        return _of_files(source) if source.feature_names is not None else None
    if isinstance(X, Source) or is_frame(X) or not holds_batches(X):
        return None
    passes = repeatable(X)
    first = passes.first()
    if not is_frame(first[0] if isinstance(first, tuple) and first else first):
        return None
    leave = tuple(name for name in (y, weights) if isinstance(name, str))

    def frames() -> Iterator[tuple[Any, Any, Any]]:
        n_rows = 0
        for number, item in enumerate(passes):
            frame, own_y, own_weights = triple(item if isinstance(item, tuple) else (item,), y, weights)
            if not is_frame(frame):
                raise ValueError(f"batch {number} is no frame, and the first is")
            pandas, _ = as_pandas(frame)
            check_known(leave, list(pandas.columns), "y or sample_weight", f"batch {number}")
            beside = (np.asarray(pandas[v]) if isinstance(v, str) else v for v in (own_y, own_weights))
            n_rows += len(pandas)
            yield (frame, *(None if v is None else np.asarray(v) for v in beside))
        passes.end(n_rows)

    return StreamedTables(start=frames, leave=leave)


def _of_files(source: FileSource) -> StreamedTables | None:
    roles = source.roles
    if roles.weight is None and roles.target is None and not roles.features:
        return None

    def frames() -> Iterator[tuple[Any, Any, Any]]:
        for table in source.tables():
            where = str(source.paths[0])
            features = table.select(list(roles.features))
            yield features, arrow.targets_of(table, roles), arrow.weights_of(table, roles, where)

    return StreamedTables(start=frames)


def _distinct(column: Any, categorical: bool) -> Any:
    """Return the distinct values of a column; of numbers that are no categories one, for their type."""
    if is_number(column) and not categorical:
        return column.iloc[:1]
    try:
        found = column.drop_duplicates()
    except TypeError:  # values that have no hash: one is enough to refuse them
        return column.dropna().iloc[:1]
    if len(found) > MOST_CATEGORIES + 1:
        raise many_categories(column.name, len(found))
    return found
