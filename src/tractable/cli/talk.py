"""How a command speaks: answers on standard output, all else on standard error, errors in one line."""

import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from tractable.cli.printable import printable, spelled

__all__ = ["FLAG", "AsJson", "Debug", "Quiet", "Talk", "one_line", "talking"]

#: What help shows beside an option that takes no value.
FLAG = " "

AsJson = Annotated[
    bool,
    typer.Option(
        "--json", metavar=FLAG, help='Print one JSON object, and nothing else; errors as {"error": …}.'
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", metavar=FLAG, help="Print errors and nothing else.")]
Debug = Annotated[bool, typer.Option("--debug", metavar=FLAG, help="Show where an error came from.")]

#: What a shell calls the end of a command by Ctrl-C.
INTERRUPTED = 130

#: What decides whether a fit shows its progress.
BARS = "TRACTABLE_PROGRESS"


class Talk:
    """What a command says, and to whom."""

    def __init__(self, *, as_json: bool, quiet: bool) -> None:
        self.as_json, self.quiet = as_json, quiet
        self.warnings: list[str] = []
        self.notes: list[str] = []

    def progress(self, text: str) -> None:
        """Say what is being done."""
        if not (self.quiet or self.as_json):
            typer.echo(printable(text), err=True)

    def note(self, texts: Iterable[str]) -> None:
        """Say how something was taken."""
        for text in texts:
            self.notes.append(text)
            self.progress(f"note: {text}")

    def warn(self, text: str) -> None:
        """Say what a user should know, once."""
        if text in self.warnings:
            return
        self.warnings.append(text)
        if not (self.quiet or self.as_json):
            typer.secho(f"warning: {printable(text)}", fg="yellow", err=True)

    def answer(self, found: dict[str, Any], lines: Sequence[str] = ()) -> None:
        """Give the answer: as JSON, or in lines for people."""
        if self.as_json:
            from tractable.data.output import as_json

            told = {"notes": self.notes, "warnings": self.warnings}
            found = {**found, **{name: texts for name, texts in told.items() if texts}}
            typer.echo(spelled(json.dumps(as_json(found), ensure_ascii=False, allow_nan=False)))
        elif not self.quiet:
            for line in lines:
                typer.echo(printable(line))

    def error(self, text: str) -> None:
        """Say why there is no answer: to people always, to programs in the place of the answer."""
        if self.as_json:
            self.answer({"error": text})
        typer.secho(f"error: {printable(text)}", fg="red", err=True)

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Show rows of text: a table in a terminal, one line a row elsewhere."""
        if self.quiet or self.as_json:
            return
        rows = [[printable(cell) for cell in row] for row in rows]
        if not sys.stdout.isatty():
            widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
            for row in (heads, *rows):
                typer.echo("  ".join(map(str.ljust, row, widths)).rstrip())
            return
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(*heads, box=SIMPLE_HEAD, pad_edge=False)
        for row in rows:
            table.add_row(Text(row[0], style="bold"), *map(Text, row[1:]))
        Console().print(table)


@contextmanager
def talking(*, as_json: bool = False, quiet: bool = False, debug: bool = False) -> Iterator[Talk]:
    """Run a command: warnings become lines, and whatever goes wrong one line and an exit code.

    Examples
    --------
    >>> with talking() as say:
    ...     say.answer({"rows": 3}, ["3 rows"])
    3 rows
    """
    say = Talk(as_json=as_json, quiet=quiet)
    try:
        with warnings.catch_warnings(), _bars(shown=not (quiet or as_json)):
            warnings.simplefilter("default")
            warnings.showwarning = lambda message, *_, **__: say.warn(one_line(message))
            yield say
    except (typer.Exit, typer.Abort, BrokenPipeError):
        raise
    except KeyboardInterrupt:
        if as_json:
            say.answer({"error": "interrupted"})
        typer.echo("interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        if debug:
            raise
        say.error(_reason(error))
        raise typer.Exit(1) from None


def one_line(text: Any, limit: int = 1000) -> str:
    """Return what is said first, in one line."""
    paragraph = next((line for line in str(text).splitlines() if line.strip()), "")
    line = " ".join(paragraph.split())
    return line if len(line) <= limit else f"{line[:limit]} …"


def _reason(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory for this table"
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename else ""
        return f"{error.strerror.lower()}{where}"
    said = one_line(error)
    if isinstance(error, ValueError | OSError) and said:
        return said
    return f"{type(error).__name__}: {said} (--debug shows where it came from)"


@contextmanager
def _bars(*, shown: bool) -> Iterator[None]:
    """Keep the library's own progress bars from the terminal where nobody asked for them."""
    before = os.environ.get(BARS)
    if not shown:
        os.environ[BARS] = "0"
    try:
        yield
    finally:
        if not shown:
            os.environ.pop(BARS)
            os.environ.update({} if before is None else {BARS: before})
