"""`tractable predict`: the predictions of a saved model for every row of a table, in a file."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tractable.cli.console import FLAG, Console, Data, StepProgress, abbreviated, split_names, with_console
from tractable.cli.streams import check_outputs
from tractable.value import value

if TYPE_CHECKING:
    from tractable.cli.tables import TableFiles

#: The methods that can be asked for; the default is the first that a model has.
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


@with_console
def predict(
    console: Console,
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A file that `fit` or `report` saved, or -.")
    ],
    data: Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write, .parquet or .csv, or -.")
    ] = Path("-"),
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval", "-i", metavar="COVERAGE", help="Also the ends of this interval: low, high."
        ),
    ] = None,
    proba: Annotated[
        bool,
        typer.Option("--proba", "-p", metavar=FLAG, help="Also probability_<class>, one column per class."),
    ] = False,
    method: Annotated[
        str | None,
        typer.Option(
            "--method", "-m", help="The method: predict, score_samples, outlier_scores, transform, …"
        ),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="A,B,…", help="Columns of DATA to copy; `all` for every one."),
    ] = None,
) -> None:
    """Write the predictions for every row of DATA, in the order of its rows.

    Columns are found by the names the model was fitted on; others are ignored. Rows are never held at once.

    Some examples:

      tractable predict species.tractable penguins.csv -o out.csv --proba

      tractable predict species.tractable - < penguins.csv > out.csv

      tractable predict fare.tractable trips.parquet -o out.parquet -i 0.9

      tractable predict m.tractable rows.csv -o out.csv -m outlier_scores
    """
    from tractable.cli.tables import check_output, open_table, table_paths

    console.leave_stdout_to("--output", output)
    check_output(output)
    check_outputs({"--output": output}, [model, *table_paths(data)])
    began = time.monotonic()
    with StepProgress(console) as step:
        step(f"loading {model}")
        fitted = load_model(model)
        name = model_name(fitted)
        ask = predictor(fitted, method, interval, proba=proba)
        table = open_table(data)
        console.note(table.notes)
        copied = tuple(table.types) if keep == "all" else split_names(keep or "")
        table.check(copied, "--keep")
        label = f"predicting {data} by {name}"
        step(label)
        done = predict_table(ask, table, copied, output, lambda rows: step(f"{label}: {rows:,} rows"))
    if done.incomplete:
        console.warn(f"{done.incomplete} rows have no prediction: {name} does not take missing entries")
    found = {
        "model": name,
        "method": ask.method,
        "rows": done.rows,
        "rows_without_prediction": done.incomplete,
        "columns": list(done.columns),
        "seconds": round(time.monotonic() - began, 3),
        "saved": str(output),
    }
    console.result(
        found,
        [f"{done.rows:,} rows: {abbreviated(done.columns)}", f"saved {output}"][: 1 if console.err else 2],
    )


def load_model(path: Path) -> Any:
    from tractable.base import Estimator
    from tractable.cli.streams import input_path
    from tractable.persistence import load
    from tractable.report import TablePredictor

    found = load(input_path(str(path)))
    if not isinstance(found, Estimator | TablePredictor):
        raise ValueError(f"{path} holds no model but a {type(found).__name__}")
    return found


def model_name(model: Any) -> str:
    """Return what a model is called: the name of its class, or that of the report's best model."""
    return str(getattr(model, "name", type(model).__name__))


@value
class Predictor:
    """A model with the method to call, the coverage of an interval, and whether to add class probabilities.

    Called with rows, it returns named columns with one entry a row.
    """

    model: Any
    method: str
    interval: float | None = None
    proba: bool = False

    @property
    def takes_missing(self) -> bool:
        """Whether the model takes rows with missing entries."""
        return not hasattr(self.model, "model_tags") or bool(self.model.model_tags.predicts_missing)

    @property
    def takes_words(self) -> bool:
        """Whether the model reads columns of words."""
        tags = getattr(self.model, "__sklearn_tags__", None)
        return tags is None or bool(tags().input_tags.string)

    def __call__(self, X: Any) -> dict[str, Any]:
        from tractable.data.predict_to import named_columns

        found = self._columns(self.method, X)
        if self.proba and self.method != "predict_proba":
            found |= self._columns("predict_proba", X)
        if self.interval is not None:
            ends = self.model.predict_interval(X, coverage=self.interval)
            for name, end in zip(("low", "high"), (ends[..., 0], ends[..., 1]), strict=True):
                found |= named_columns(name, end, len(X))
        return found

    def _columns(self, method: str, X: Any) -> dict[str, Any]:
        from tractable.data.predict_to import NAMES, named_columns

        found = getattr(self.model, method)(X)
        if method == "predict_dist":
            return named_columns("mean", found.mean, len(X)) | named_columns("stddev", found.stddev, len(X))
        if method == "transform" and hasattr(self.model, "get_feature_names_out"):
            import numpy as np

            return dict(zip(map(str, self.model.get_feature_names_out()), np.asarray(found).T, strict=True))
        classes = getattr(self.model, "classes_", None) if method.endswith("_proba") else None
        labels = None if classes is None else [_label(c) for c in classes]
        return named_columns(NAMES.get(method, method), found, len(X), labels)


def predictor(model: Any, method: str | None, interval: float | None, *, proba: bool) -> Predictor:
    """Return the predictor of the options; what the model does not offer is refused."""
    name = model_name(model)
    offered = [known for known in METHODS if hasattr(model, known)]
    if not offered:
        raise ValueError(f"{name} has none of the methods {', '.join(METHODS)}")
    method = offered[0] if method is None else method
    wanted = [method, *(["predict_proba"] if proba else ())]
    lacking = [one for one in wanted if one not in offered]
    lacking += ["predict_interval"] if interval is not None and not hasattr(model, "predict_interval") else []
    if lacking:
        raise ValueError(f"{name} has no {lacking[0]}; it has {', '.join(offered)}")
    if interval is not None and not 0.0 < interval < 1.0:
        raise ValueError(f"--interval is a coverage between 0 and 1; got {interval:g}")
    return Predictor(model=model, method=method, interval=interval, proba=proba)


def _label(label: Any) -> str:
    """Return a class as text; integers that were read as floats are written as integers."""
    label = label.item() if hasattr(label, "item") else label
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


@value
class Predicted:
    """The number of rows and the columns of a file of predictions."""

    rows: int
    columns: tuple[str, ...]
    incomplete: int  # rows with missing entries that the model does not take: their predictions are null


def predict_table(
    ask: Predictor,
    table: "TableFiles",
    copied: tuple[str, ...],
    output: Path,
    progress: Callable[[int], None],
) -> Predicted:
    """Write the predictions of every row, and the columns `copied`; `progress(n)` reports n rows."""
    needed = _needed_columns(ask.model, table)
    if table.types and not table.numbers.issuperset(needed) and not ask.takes_words:
        words = ", ".join(f"{n!r} ({table.types[n]})" for n in needed if n not in table.numbers)
        raise ValueError(
            f"DATA: {model_name(ask.model)} takes numbers, which these columns do not hold: {words}"
        )
    from tractable.cli.tables import check_csv_types, check_output, write_tables

    csv = check_output(output) == ".csv"
    if csv:
        check_csv_types({name: table.types[name] for name in copied}, "--keep")
    exact = None if csv or not copied else table.exact_types(copied)
    done: dict[str, Any] = {"rows": 0, "columns": (), "incomplete": 0}
    write_tables(_predicted_tables(ask, table, needed, copied, exact, done, progress), output)
    return Predicted(**done)


def _predicted_tables(
    ask: Predictor,
    table: "TableFiles",
    needed: tuple[str, ...],
    copied: tuple[str, ...],
    exact: Any,
    done: dict[str, Any],
    progress: Callable[[int], None],
) -> Iterator[Any]:
    """Yield the copied columns and the predictions, null for rows that the model does not take.

    What is `done` is counted before each table.
    """
    import pyarrow as pa

    for beside, X in _blocks(ask, table, needed, copied, exact):
        missing = None
        if table.types and not ask.takes_missing:
            missing = X.isna().any(axis=1).to_numpy()
            done["incomplete"] += int(missing.sum())
            X = X.fillna(0.0) if missing.any() else X  # noqa: PLW2901
        named = hasattr(ask.model, "feature_names_in_") or not table.types
        found = ask(X if named else X.to_numpy())
        taken = sorted(set(found) & set(beside))
        if taken:
            raise ValueError(f"--keep: {taken[0]!r} is also the name of a column of predictions")
        predictions = {name: pa.array(column, mask=missing) for name, column in found.items()}
        made = pa.table({**beside, **predictions})
        done["rows"] += made.num_rows
        done["columns"] = tuple(made.column_names)
        progress(done["rows"])
        yield made


def _blocks(
    ask: Predictor, table: "TableFiles", needed: tuple[str, ...], copied: tuple[str, ...], exact: Any
) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the copied columns and the features of blocks of rows.

    Text that goes to a file of types (Parquet) gets those that are `exact`.
    """
    if not table.types:
        from tractable.cli.tables import CountedRows
        from tractable.data.columns import Roles

        options = {"allow_missing": ask.takes_missing, "label": model_name(ask.model)}
        rows = CountedRows(table.source(Roles(features=())), drop=False, **options)
        yield from (({}, block.X) for block in rows.blocks())
        return
    for part, copies in table.blocks_and_copies(needed, copied):
        kept = copies if exact is None else exact.cast(copies)
        yield {name: kept.column(name) for name in copied}, part.to_pandas()


def _needed_columns(model: Any, table: "TableFiles") -> tuple[str, ...]:
    """Return the columns that the model was fitted on, each of which the table must have."""
    names = getattr(model, "feature_names_in_", None)
    needed = tuple(table.types) if names is None else tuple(names)
    table.check(needed, "DATA")
    width = getattr(model, "n_features_in_", len(needed))
    if table.types and len(needed) != width:
        raise ValueError(
            f"{table.name} has {len(needed)} columns, the model was fitted on {width} without names"
        )
    return needed
