"""`tractable predict`: a saved model's answers for a table, in a file."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from tractable.cli.talk import FLAG, AsJson, Debug, Quiet, talking

__all__ = ["predict"]


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
        from tractable.cli.answers import answers_of
        from tractable.cli.names import names_in
        from tractable.cli.predicting import predict_rows
        from tractable.cli.steps import Steps
        from tractable.cli.table import open_table
        from tractable.cli.writing import check_output

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
