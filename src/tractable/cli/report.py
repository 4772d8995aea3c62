"""`tractable report`: a page about a table."""

from pathlib import Path
from typing import Annotated, Any

import typer

from tractable.cli.talk import AsJson, Debug, Quiet, talking

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
        from tractable.cli.steps import Steps

        _check(data, output)
        with Steps(say) as step:
            step("starting", 0.0)
            from tractable.report import make_report

            made = make_report(data, target=target, path=output, progress=step)
        for note in made.notes:
            say.progress(f"note: {note}")
        say.answer(made.as_dict(), _lines(made, output))


def _check(data: str | None, output: Path) -> None:
    """Refuse what cannot be read or written before any work."""
    from tractable.cli.table import bundled_hint, check_not_stdin

    if output.is_dir():
        raise ValueError(f"--output: {output} is a folder")
    if not output.parent.is_dir():
        raise ValueError(f"--output: no such folder: {output.parent}")
    if data is None:
        return
    check_not_stdin(data)
    if not Path(data).exists():
        raise ValueError(f"no such file: {data}{bundled_hint(data)}")
    if output.resolve() == Path(data).resolve():
        raise ValueError(f"--output: {output} is the file that is being read")


def _lines(made: Any, output: Path) -> list[str]:
    return [
        made.title,
        f"rows      {made.rows:,}",
        f"columns   {made.columns:,}",
        *([] if made.target is None else [f"target    {made.target}"]),
        f"sections  {', '.join(made.sections)}",
        f"saved     {output} ({output.stat().st_size / 1e6:.1f} MB in {made.seconds:.1f} s)",
    ]
