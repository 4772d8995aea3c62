"""`tractable report`: a report on a table."""

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
) -> None:
    """Write a report on a table: one HTML page that needs nothing else.

    It describes the columns, their dependence, clusters and outliers of the rows, and with a target which
    models predict it and how well.

    Some examples:

      tractable report

      tractable report penguins.csv --target species -o penguins.html
    """
    with StepProgress(console) as step:
        step("starting", 0.0)
        summary = _make(data, target, output, step)
    for note in summary.notes:
        console.progress(f"note: {note}")
    console.result(summary.as_dict(), _lines(summary, output))


def _make(data: str | None, target: str | None, output: Path, step: Any) -> Any:
    """Make the report; errors name the options of the command."""
    from tractable.cli.tables import bundled_hint, check_not_stdin
    from tractable.report import TableError, make_report

    if data is not None:
        check_not_stdin(data)
    try:
        return make_report(data, target=target, path=output, progress=step)
    except TableError as error:
        option = "--" if str(error).startswith("target: ") else ""
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
