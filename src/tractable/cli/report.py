"""`tractable report`: a report on a table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tractable.cli.console import Console, StepProgress, Target, with_console
from tractable.cli.streams import check_outputs, input_path, output_path
from tractable.value import replace


@with_console
def report(
    console: Console,
    data: Annotated[
        str | None,
        typer.Argument(metavar="DATA", help="A CSV or Parquet file, or -; a bundled table when not given."),
    ] = None,
    target: Target = None,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write the page; - is standard output."),
    ] = Path("report.html"),
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="COLUMN=KIND",
            help="The kind of a column (number, category, date, text, identifier); may be repeated.",
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", metavar="COLUMN", help="A column to leave out; may be repeated."),
    ] = None,
    rows: Annotated[
        str, typer.Option("--rows", metavar="N", help='Rows held in memory, or "all"; more are sampled.')
    ] = "20000",
    save: Annotated[
        Path | None,
        typer.Option("--save", "-s", metavar="FILE", help="Keep the model that predicts the target best."),
    ] = None,
) -> None:
    """Write a report on a table: one HTML page that needs nothing else.

    It describes the columns, their dependence, clusters and outliers of the rows, and with a target which
    models predict it and how well. The best of them, saved, predicts the rows of new tables.

    Some examples:

      tractable report

      tractable report penguins.csv --target species -o penguins.html

      tractable report survey.csv --target income --kind education=number --ignore id --rows all

      tractable report penguins.csv -t species --save best.tractable

      tractable predict best.tractable new.csv -o out.csv --proba
    """
    from tractable.data.names import number_of

    console.leave_stdout_to("--output", output)
    if save is not None and target is None:
        raise ValueError("--save keeps a model of a column: name it by --target")
    console.leave_stdout_to("--save", save)
    check_outputs({"--output": output, "--save": save}, [] if data is None else [data])
    options = {"target": target, "kinds": _kinds(kind or ()), "ignore": ignore or (), "max_rows": _rows(rows)}
    with StepProgress(console) as step:
        step("starting", 0.0)
        found = _make(data, output, step, options)
        best = None if save is None else _save_best(found, save, step)
    summary = replace(found.summary, path=str(output))
    for note in summary.notes:
        console.say(f"note: {note}")
    kept = {} if best is None else {"saved": str(save), "model": best.name, "model_rows": best.n_rows}
    lines = [] if best is None else [f"model     {save}: {best.name} from {number_of(best.n_rows, 'row')}"]
    console.result(summary.as_dict() | kept, [*_lines(summary, output, len(found.html)), *lines])


def _save_best(found: Any, path: Path, step: Any) -> Any:
    from tractable.persistence import save

    step("fitting the best model to all rows", 0.99)
    model = found.predictor()
    with output_path(path) as file:
        save(model, file)
    return model


def _kinds(given: Sequence[str]) -> dict[str, str]:
    """Return kinds by column, of options such as education=number."""
    found = {}
    for text in given:
        name, equals, kind = text.rpartition("=")
        if not equals or not name:
            raise ValueError(f"--kind must be COLUMN=KIND, such as education=number, got {text!r}")
        found[name] = kind
    return found


def _rows(text: str) -> int | None:
    """Return the number of rows to hold in memory, None for all."""
    if text == "all":
        return None
    digits = text.replace(",", "").replace("_", "")
    if not digits.isdecimal() or int(digits) < 1:
        raise ValueError(f'--rows must be "all" or a whole number of at least 1, got {text!r}')
    return int(digits)


def _make(data: str | None, output: Path, step: Any, options: dict[str, Any]) -> Any:
    """Make the report and write its page; errors name the options of the command."""
    from tractable.cli.tables import bundled_hint
    from tractable.report import TableError, report_on

    try:
        found = report_on(None if data is None else input_path(data), progress=step, **options)
        with output_path(output, ".html") as path:
            found.save(path)
    except TableError as error:
        option = "--" if str(error).startswith(("target: ", "kind: ", "ignore: ")) else ""
        hint = bundled_hint(data) if data is not None and not Path(data).exists() else ""
        raise ValueError(f"{option}{error}{hint}") from error
    return found


def _lines(summary: Any, output: Path, size: int) -> list[str]:
    return [
        summary.title,
        f"rows      {summary.rows:,}",
        f"columns   {summary.columns:,}",
        *([] if summary.target is None else [f"target    {summary.target}"]),
        f"sections  {', '.join(summary.sections)}",
        f"saved     {output} ({size / 1e6:.1f} MB in {summary.seconds:.1f} s)",
    ]
