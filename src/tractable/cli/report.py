"""`tractable report`: a report on a table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tractable.cli.console import Console, StepProgress, Target, with_console


@with_console
def report(
    console: Console,
    data: Annotated[
        str | None,
        typer.Argument(metavar="DATA", help="A CSV or Parquet file; a bundled table when not given."),
    ] = None,
    target: Target = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write the page.")
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
) -> None:
    """Write a report on a table: one HTML page that needs nothing else.

    It describes the columns, their dependence, clusters and outliers of the rows, and with a target which
    models predict it and how well.

    Some examples:

      tractable report

      tractable report penguins.csv --target species -o penguins.html

      tractable report survey.csv --target income --kind education=number --ignore id --rows all
    """
    options = {"target": target, "kinds": _kinds(kind or ()), "ignore": ignore or (), "max_rows": _rows(rows)}
    with StepProgress(console) as step:
        step("starting", 0.0)
        summary = _make(data, output, step, options)
    for note in summary.notes:
        console.progress(f"note: {note}")
    console.result(summary.as_dict(), _lines(summary, output))


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
    """Make the report; errors name the options of the command."""
    from tractable.cli.tables import bundled_hint, check_not_stdin
    from tractable.report import TableError, make_report

    if data is not None:
        check_not_stdin(data)
    try:
        return make_report(data, path=output, progress=step, **options)
    except TableError as error:
        option = "--" if str(error).startswith(("target: ", "kind: ", "ignore: ")) else ""
        hint = bundled_hint(data) if data is not None and not Path(data).exists() else ""
        raise ValueError(f"{option}{error}{hint}") from error


def _lines(summary: Any, output: Path) -> list[str]:
    return [
        summary.title,
        f"rows      {summary.rows:,}",
        f"columns   {summary.columns:,}",
        *([] if summary.target is None else [f"target    {summary.target}"]),
        f"sections  {', '.join(summary.sections)}",
        f"saved     {output} ({output.stat().st_size / 1e6:.1f} MB in {summary.seconds:.1f} s)",
    ]
