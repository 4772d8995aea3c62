"""How a command speaks: answers on standard output, all else on standard error, errors in one line."""

import csv
import io
import json
import os
import re
import shlex
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Self

import typer

__all__ = [
    "FLAG",
    "AsJson",
    "Debug",
    "Quiet",
    "Steps",
    "Talk",
    "names_in",
    "one_line",
    "printable",
    "shell_list",
    "spelled",
    "talking",
]

#: What help shows beside an option that takes no value.
FLAG = " "


#: What a shell calls the end of a command by Ctrl-C.
INTERRUPTED = 130


#: What decides whether a fit shows its progress.
BARS = "TRACTABLE_PROGRESS"


#: Control signs, escape codes among them, and those that turn the direction of what follows.
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


#: Seconds between lines of one step where nobody watches.
PATIENCE = 5.0


AsJson = Annotated[
    bool,
    typer.Option(
        "--json", metavar=FLAG, help='Print one JSON object, and nothing else; errors as {"error": …}.'
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", metavar=FLAG, help="Print errors and nothing else.")]
Debug = Annotated[bool, typer.Option("--debug", metavar=FLAG, help="Show where an error came from.")]


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
            from tractable.data.json_values import as_json

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


def printable(text: str) -> str:
    r"""Return text in which signs that steer a terminal are replaced: names come from files of others.

    Examples
    --------
    >>> print(printable("a name \x1b[31min red"))
    a name �[31min red
    """
    return STEERING.sub("\ufffd", text)


def spelled(text: str) -> str:
    r"""Return JSON in which such signs are spelled out, so that programs get them as they are.

    Examples
    --------
    >>> print(spelled('"\x9b31m"'))
    "\u009b31m"
    """
    return STEERING.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


class Steps:
    """What to call as work goes on: with what is being done, and how much of all is (0 to 1, or None).

    Examples
    --------
    >>> from tractable.cli.console import talking
    >>> with talking(quiet=True) as say, Steps(say) as step:
    ...     step("reading", 0.5)
    """

    def __init__(self, say: Talk) -> None:
        self.say = say
        self.bar: Any = None
        self.said, self.when = "", 0.0

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and not (self.say.quiet or self.say.as_json):
            self.bar, self.task = _bar()
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, text: str, done: float | None = None) -> None:
        if self.bar is not None:
            self.bar.update(
                self.task,
                description=printable(text),
                completed=done or 0.0,
                total=None if done is None else 1.0,
            )
            return
        step, now = text.partition(": ")[0], time.monotonic()
        if step != self.said or now - self.when > PATIENCE:
            self.say.progress(f"{text} …")
            self.said, self.when = step, now


def _bar() -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.start()
    return bar, bar.add_task("starting", total=1.0)


def names_in(text: str) -> tuple[str, ...]:
    """Return the names in a list that is separated by commas; a name that has one is put in quotes.

    Examples
    --------
    >>> names_in('km, minutes, "day, hour"')
    ('km', 'minutes', 'day, hour')
    """
    fields = next(csv.reader([text], skipinitialspace=True), [])
    return tuple(name.strip() for name in fields if name.strip())


def shell_list(names: Iterable[str]) -> str:
    """Return the list of names as a shell takes it.

    Examples
    --------
    >>> print(shell_list(["km", "minutes"]), shell_list(["km", "day, hour"]))
    km,minutes 'km,"day, hour"'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return shlex.quote(text.getvalue())
