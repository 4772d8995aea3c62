"""`tractable predict`: a saved model's answers for a table, in a file."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tractable.cli.console import FLAG, AsJson, Debug, Quiet, talking
from tractable.value import value

if TYPE_CHECKING:
    from tractable.cli.tables import Table, WatchedRows

__all__ = ["Answers", "Predicted", "answers_of", "predict", "predict_rows"]

#: What the answers are called; others go by the method's own name.
NAMES = {"predict": "prediction", "score_samples": "score", "predict_proba": "probability"}


#: What can be asked; of those that a model has, the first is asked when nothing is said.
METHODS = (
    "predict",
    "score_samples",
    "transform",
    "predict_proba",
    "predict_log_proba",
    "predict_var",
    "predict_dist",
    "decision_function",
    "outlier_scores",
)


@value
class Answers:
    """What to ask of a model: a method, the ends of an interval, the probabilities of classes."""

    model: Any
    method: str
    interval: float | None = None
    proba: bool = False

    @property
    def takes_missing(self) -> bool:
        """Whether the model answers for rows with missing entries."""
        return bool(self.model.model_tags.missing_values)

    @property
    def takes_words(self) -> bool:
        """Whether the model reads columns of words."""
        return bool(self.model.__sklearn_tags__().input_tags.string)

    def __call__(self, X: Any) -> dict[str, Any]:
        """Return the answers for some rows, a column a name."""
        found = self._first(getattr(self.model, self.method)(X), len(X))
        if self.proba and self.method != "predict_proba":
            found |= _columns(
                "predict_proba", self.model.predict_proba(X), len(X), self._labels("predict_proba")
            )
        if self.interval is not None:
            import numpy as np

            ends = np.asarray(self.model.predict_interval(X, coverage=self.interval))
            found |= _columns("low", ends[..., 0], len(X)) | _columns("high", ends[..., 1], len(X))
        return found

    def _first(self, answer: Any, n_rows: int) -> dict[str, Any]:
        import numpy as np

        if self.method == "predict_dist":
            return _columns("mean", answer.mean, n_rows) | _columns("stddev", answer.stddev, n_rows)
        if self.method == "transform" and hasattr(self.model, "get_feature_names_out"):
            return dict(zip(map(str, self.model.get_feature_names_out()), np.asarray(answer).T, strict=True))
        return _columns(self.method, answer, n_rows, self._labels(self.method))

    def _labels(self, method: str) -> list[str] | None:
        if method not in {"predict_proba", "predict_log_proba"}:
            return None
        labels = getattr(self.model, "classes_", None)
        return None if labels is None else [_class_name(label) for label in labels]


@value
class Predicted:
    """What was written."""

    rows: int
    columns: tuple[str, ...]
    unanswered: int  # rows with missing entries that the model does not take: their answers are null


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `tractable fit` saved.")],
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="A CSV or Parquet file, a folder, or a quoted pattern.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write, .parquet or .csv.")
    ],
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval", "-i", metavar="COVERAGE", help="Also the ends of this interval: low, high."
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", "-p", metavar=FLAG, help="Also probability_<class>, a column a class.")
    ] = False,
    method: Annotated[
        str | None,
        typer.Option(
            "--method", "-m", help="What to ask: predict, score_samples, outlier_scores, transform, …"
        ),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="A,B,…", help="Columns of DATA to carry along; `all` for every one."),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a model's answers for every row of DATA, in the order of its rows.

    Columns are found by the names the model was fitted on; others are ignored. Rows are never held at once.

    Some examples:

      tractable predict species.tractable penguins.csv -o out.csv --proba

      tractable predict fare.tractable trips.parquet -o out.parquet -i 0.9

      tractable predict m.tractable rows.csv -o out.csv -m outlier_scores
    """
    with talking(as_json=as_json, quiet=quiet, debug=debug) as say:
        from tractable.cli.console import Steps, names_in
        from tractable.cli.tables import check_output, open_table

        check_output(output)
        began = time.monotonic()
        with Steps(say) as step:
            step(f"loading {model}")
            fitted = _loaded(model)
            ask = answers_of(fitted, method, interval, proba=proba)
            table = open_table(data)
            say.note(table.notes)
            if output.resolve() in [path.resolve() for path in (model, *table.paths)]:
                raise ValueError(f"--output: {output} is a file that is being read")
            kept = tuple(table.types) if keep == "all" else names_in(keep or "")
            table.check(kept, "--keep")
            label = f"predicting {data} by {type(fitted).__name__}"
            step(label)
            done = predict_rows(ask, table, kept, output, lambda rows: step(f"{label}: {rows:,} rows"))
        if done.unanswered:
            name = type(fitted).__name__
            say.warn(f"{done.unanswered} rows have no answer: {name} does not take missing entries")
        say.answer(
            {
                "model": type(fitted).__name__,
                "method": ask.method,
                "rows": done.rows,
                "rows_without_answer": done.unanswered,
                "columns": list(done.columns),
                "seconds": round(time.monotonic() - began, 3),
                "saved": str(output),
            },
            [f"{done.rows:,} rows: {_shown(done.columns)}", f"saved {output}"],
        )


def _loaded(path: Path) -> Any:
    from tractable.base import Estimator
    from tractable.persistence import load

    found = load(path)
    if not isinstance(found, Estimator):
        raise ValueError(f"{path} holds no model but a {type(found).__name__}")
    return found


def _shown(columns: tuple[str, ...]) -> str:
    return ", ".join(columns[:12]) + (", …" if len(columns) > 12 else "")


def predict_rows(
    ask: Answers, table: "Table", kept: tuple[str, ...], output: Path, tell: Callable[[int], None]
) -> Predicted:
    """Write what is asked for every row, and tell how many are done.

    A plain question about numbers is the library's `predict_to`.
    """
    from tractable.cli.tables import MissingEntries, check_output

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


def _wanted(model: Any, table: "Table") -> tuple[str, ...]:
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


def _source(ask: Answers, table: "Table", wanted: tuple[str, ...], tell: Any = None) -> "WatchedRows":
    from tractable.cli.tables import WatchedRows
    from tractable.data.columns import Roles

    rows = table.source(Roles(features=wanted))
    return WatchedRows(rows, holes=ask.takes_missing, drop=False, label=type(ask.model).__name__, tell=tell)


def _plain(ask: Answers, table: "Table", wanted: tuple[str, ...], output: Path, tell: Any) -> Predicted:
    from pyarrow import parquet

    from tractable.data import predict_to

    source = _source(ask, table, wanted, tell)
    predict_to(ask.model, source, output, method=ask.method, interval=ask.interval)
    return Predicted(rows=source.counted, columns=tuple(parquet.read_schema(output).names), unanswered=0)


class _Answered:
    """A walk over a table that yields the columns kept and the answers."""

    def __init__(
        self, ask: Answers, table: "Table", wanted: tuple[str, ...], kept: tuple[str, ...], tell: Any
    ) -> None:
        self.ask, self.table, self.wanted, self.kept, self.tell = ask, table, wanted, kept, tell
        self.columns: tuple[str, ...] = ()
        self.done = self.unanswered = 0

    def write(self, output: Path) -> Predicted:
        from tractable.cli.tables import write_tables

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


def answers_of(model: Any, method: str | None, interval: float | None, *, proba: bool) -> Answers:
    """Check what is asked of a model before any row is read."""
    name = type(model).__name__
    offered = [known for known in METHODS if hasattr(model, known)]
    if not offered:
        raise ValueError(f"{name} answers no questions about new rows")
    method = offered[0] if method is None else method
    asked = [method, *(["predict_proba"] if proba else ())]
    lacking = [one for one in asked if one not in offered]
    lacking += ["predict_interval"] if interval is not None and not hasattr(model, "predict_interval") else []
    if lacking:
        raise ValueError(f"{name} has no {lacking[0]}; it has {', '.join(offered)}")
    if interval is not None and not 0.0 < interval < 1.0:
        raise ValueError(f"--interval is a coverage between 0 and 1; got {interval:g}")
    return Answers(model=model, method=method, interval=interval, proba=proba)


def _columns(method: str, found: Any, n_rows: int, labels: list[str] | None = None) -> dict[str, Any]:
    import numpy as np

    name, found = NAMES.get(method, method), np.asarray(found)
    if found.ndim not in (1, 2) or len(found) != n_rows:
        raise ValueError(f"--method {method} does not answer with a row for each of {n_rows} rows")
    if found.ndim == 1:
        return {name: found}
    labels = [str(k) for k in range(found.shape[1])] if labels is None else labels
    return {f"{name}_{label}": column for label, column in zip(labels, found.T, strict=True)}


def _class_name(label: Any) -> str:
    """Return what a class is called; whole numbers that were read as fractions are whole."""
    label = label.item() if hasattr(label, "item") else label
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
