"""`tractable report`: a page about a table."""

from pathlib import Path
from typing import Annotated, Any

import typer

from tractable.cli.console import AsJson, Debug, Quiet, talking

__all__ = ["report"]


def report(
    data: Annotated[
        str | None,
        typer.Argument(metavar="DATA", help="A CSV or Parquet file; a bundled table when not given."),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write the page.")
    ] = Path("report.html"),
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a report on a table: one HTML page that needs nothing else.

    It says what is in the table, which columns depend on each other, which rows belong together, which are
    strange, and with a target which models predict it and how well.

    Some examples:

      tractable report

      tractable report penguins.csv --target species -o penguins.html
    """
    with talking(as_json=as_json, quiet=quiet, debug=debug) as say:
        from tractable.cli.console import Steps

        with Steps(say) as step:
            step("starting", 0.0)
            made = _made(data, target, output, step)
        for note in made.notes:
            say.progress(f"note: {note}")
        say.answer(made.as_dict(), _lines(made, output))


def _made(data: str | None, target: str | None, output: Path, step: Any) -> Any:
    """Make the report; what it refuses is said in the words of the command."""
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


def _lines(made: Any, output: Path) -> list[str]:
    return [
        made.title,
        f"rows      {made.rows:,}",
        f"columns   {made.columns:,}",
        *([] if made.target is None else [f"target    {made.target}"]),
        f"sections  {', '.join(made.sections)}",
        f"saved     {output} ({output.stat().st_size / 1e6:.1f} MB in {made.seconds:.1f} s)",
    ]
