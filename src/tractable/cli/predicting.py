"""Answers for tables of any size, a few megabytes at a time."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tractable.cli.answers import Answers
from tractable.cli.rows import MissingEntries, WatchedRows
from tractable.cli.table import Table
from tractable.cli.writing import check_output, write_tables
from tractable.data.columns import Roles
from tractable.value import value

__all__ = ["Predicted", "predict_rows"]


@value
class Predicted:
    """What was written."""

    rows: int
    columns: tuple[str, ...]
    unanswered: int  # rows with missing entries that the model does not take: their answers are null


def predict_rows(
    ask: Answers, table: Table, kept: tuple[str, ...], output: Path, tell: Callable[[int], None]
) -> Predicted:
    """Write what is asked for every row, and tell how many are done.

    A plain question about numbers is the library's `predict_to`.
    """
    wanted = _wanted(ask.model, table)
    numbers = not table.types or table.numbers.issuperset(wanted)
    if not numbers and not ask.takes_words:
        words = ", ".join(f"{n!r} ({table.types[n]})" for n in wanted if n not in table.numbers)
        raise ValueError(
            f"DATA: {type(ask.model).__name__} takes numbers, which these columns do not hold: {words}"
        )
    named = ask.method in {"predict", "score_samples"} and not ask.proba  # both call these columns the same
    if numbers and named and not kept and check_output(output) == ".parquet":
        try:
            return _plain(ask, table, wanted, output, tell)
        except MissingEntries:
            pass  # rows with holes are answered one by one below
    return _Answered(ask, table, wanted, kept, tell).write(output)


def _wanted(model: Any, table: Table) -> tuple[str, ...]:
    """Return the columns that the model was fitted on, each of which the table must have."""
    names = getattr(model, "feature_names_in_", None)
    wanted = tuple(table.types) if names is None else tuple(names)
    table.check(wanted, "DATA")
    width = getattr(model, "n_features_in_", len(wanted))
    if table.types and len(wanted) != width:
        raise ValueError(
            f"{table.name} has {len(wanted)} columns, the model was fitted on {width} without names"
        )
    return wanted


def _source(ask: Answers, table: Table, wanted: tuple[str, ...], tell: Any = None) -> WatchedRows:
    rows = table.source(Roles(features=wanted))
    return WatchedRows(rows, holes=ask.takes_missing, drop=False, label=type(ask.model).__name__, tell=tell)


def _plain(ask: Answers, table: Table, wanted: tuple[str, ...], output: Path, tell: Any) -> Predicted:
    from pyarrow import parquet

    from tractable.data import predict_to

    source = _source(ask, table, wanted, tell)
    predict_to(ask.model, source, output, method=ask.method, interval=ask.interval)
    return Predicted(rows=source.counted, columns=tuple(parquet.read_schema(output).names), unanswered=0)


class _Answered:
    """A walk over a table that yields the columns kept and the answers."""

    def __init__(
        self, ask: Answers, table: Table, wanted: tuple[str, ...], kept: tuple[str, ...], tell: Any
    ) -> None:
        self.ask, self.table, self.wanted, self.kept, self.tell = ask, table, wanted, kept, tell
        self.columns: tuple[str, ...] = ()
        self.done = self.unanswered = 0

    def write(self, output: Path) -> Predicted:
        rows = write_tables(self._tables(), output)
        return Predicted(rows=rows, columns=self.columns, unanswered=self.unanswered)

    def _tables(self) -> Iterator[Any]:
        import pyarrow as pa

        for beside, X in self._parts():
            found = self._answers(X)
            taken = sorted(set(found) & set(beside))
            if taken:
                raise ValueError(f"--keep: the answers have a column {taken[0]!r} too")
            made = pa.table({**beside, **found})
            self.columns = tuple(made.column_names)
            self.done += made.num_rows
            self.tell(self.done)
            yield made

    def _parts(self) -> Iterator[tuple[dict[str, Any], Any]]:
        if not self.table.types:
            for batch in _source(self.ask, self.table, ()).batches():
                yield {}, batch.X
            return
        read = tuple(dict.fromkeys((*self.wanted, *self.kept)))
        for part in self.table.blocks(read):
            yield {name: part.column(name) for name in self.kept}, part.select(list(self.wanted)).to_pandas()

    def _answers(self, X: Any) -> dict[str, Any]:
        """Return the answers; null for rows that the model does not take, which are asked about zeros."""
        import pyarrow as pa

        if self.ask.takes_missing or not self.table.types:
            return {name: pa.array(column) for name, column in self._asked(X).items()}
        holes = X.isna().any(axis=1).to_numpy()
        self.unanswered += int(holes.sum())
        X = X.fillna(0.0) if holes.any() else X
        return {name: pa.array(column, mask=holes) for name, column in self._asked(X).items()}

    def _asked(self, X: Any) -> dict[str, Any]:
        named = hasattr(self.ask.model, "feature_names_in_") or not self.table.types
        return self.ask(X if named else X.to_numpy())
