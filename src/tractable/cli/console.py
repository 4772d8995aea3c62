"""Console output of the commands: results on standard output, progress and errors on standard error."""

import csv
import io
import json
import os
import re
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, Self

import typer

from tractable.cli.streams import forget_input, without_copies

#: What help shows beside an option that takes no value.
FLAG = " "

Data = Annotated[
    str, typer.Argument(metavar="DATA", help="A CSV or Parquet file, a folder, a quoted pattern, or -.")
]
Target = Annotated[
    str | None, typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict.")
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json", metavar=FLAG, help='Print one JSON object, and nothing else; errors as {"error": …}.'
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", metavar=FLAG, help="Print errors and nothing else.")]
Debug = Annotated[bool, typer.Option("--debug", metavar=FLAG, help="Show where an error came from.")]

#: The exit codes of a command that found an error, and of one that was stopped by Ctrl-C.
FAILED, INTERRUPTED = 2, 130

#: The environment variable that turns the progress bars of fits on and off.
PROGRESS = "TRACTABLE_PROGRESS"

#: Control characters, escape codes among them, and those that change the direction of text.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


class Console:
    """The output of one command: progress, notes, warnings, and a result as text or as JSON."""

    def __init__(self, *, as_json: bool, quiet: bool) -> None:
        self.as_json, self.quiet = as_json, quiet
        self.err = False  # whether results go to standard error, for a file goes to standard output
        self.warnings: list[str] = []
        self.notes: list[str] = []

    def leave_stdout_to(self, option: str, path: Any) -> None:
        """Print results on standard error if an option writes a file to standard output."""
        if str(path) == "-":
            if self.err:
                raise ValueError(f"{option} - is the second output that goes to standard output: name a file")
            if self.as_json:
                raise ValueError(f"{option} - and --json both write to standard output: name a file")
            self.err = True

    def progress(self, text: str) -> None:
        """Print what is being done, on a terminal."""
        if sys.stderr.isatty():
            self.say(text)

    def say(self, text: str) -> None:
        """Print a line on standard error."""
        if not (self.quiet or self.as_json):
            typer.echo(printable(text), err=True)

    def note(self, texts: Iterable[str]) -> None:
        """Print how the input was interpreted."""
        for text in texts:
            self.notes.append(text)
            self.say(f"note: {text}")

    def warn(self, text: str) -> None:
        """Print a warning, each text once."""
        if text in self.warnings:
            return
        self.warnings.append(text)
        if not (self.quiet or self.as_json):
            typer.secho(f"warning: {printable(text)}", fg="yellow", err=True)

    def result(self, found: dict[str, Any], lines: Sequence[str] = ()) -> None:
        """Print the result: as JSON, or as lines of text."""
        if self.as_json:
            from tractable.data.output import as_json

            extra = {"notes": self.notes, "warnings": self.warnings}
            found = {**found, **{name: texts for name, texts in extra.items() if texts}}
            text = json.dumps(as_json(found), ensure_ascii=False, allow_nan=False)
            typer.echo(CONTROL.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text))
        elif not self.quiet:
            for line in lines:
                typer.echo(printable(line), err=self.err)

    def error(self, text: str) -> None:
        """Print why there is no result, as JSON too where that was asked for."""
        if self.as_json:
            with suppress(OSError):  # a full disk, as the text says
                self.result({"error": text})
        typer.secho(f"error: {printable(text)}", fg="red", err=True)

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print rows of text: a table in a terminal, one line a row elsewhere."""
        if self.quiet or self.as_json:
            return
        rows = [[printable(cell) for cell in row] for row in rows]
        if not sys.stdout.isatty():
            widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
            for row in (heads, *rows):
                typer.echo("  ".join(map(str.ljust, row, widths)).rstrip())
            return
        from rich import console, table, text
        from rich.box import SIMPLE_HEAD

        drawn = table.Table(*heads, box=SIMPLE_HEAD, pad_edge=False)
        for row in rows:
            drawn.add_row(text.Text(row[0], style="bold"), *map(text.Text, row[1:]))
        console.Console().print(drawn)


@contextmanager
def open_console(*, as_json: bool = False, quiet: bool = False, debug: bool = False) -> Iterator[Console]:
    """Run a command with a console: warnings become lines, an exception one line and an exit code.

    Examples
    --------
    >>> with open_console() as console:
    ...     console.result({"rows": 3}, ["3 rows"])
    3 rows
    """
    console = Console(as_json=as_json, quiet=quiet)
    try:
        with warnings.catch_warnings(), _progress_bars(shown=not (quiet or as_json)):
            warnings.simplefilter("default")
            warnings.showwarning = lambda message, *_, **__: console.warn(first_line(message))
            yield console
    except (typer.Exit, typer.Abort, BrokenPipeError):
        raise
    except KeyboardInterrupt:
        if as_json:
            console.result({"error": "interrupted"})
        typer.echo("interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:  # noqa: BLE001  (of whatever went wrong a user reads one line)
        if debug:
            traceback.print_exc()
        console.error(without_copies(_reason(error)))
        raise typer.Exit(FAILED) from None
    finally:
        forget_input()


def with_console(run: Callable[..., None]) -> Callable[..., None]:
    """Return a command that runs with a console, and has the options --json, --quiet and --debug too."""

    def command(*, as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
        with open_console(as_json=as_json, quiet=quiet, debug=debug) as console:
            run(console, **options)

    _, *own = signature(run).parameters.values()
    output = {"as_json": AsJson, "quiet": Quiet, "debug": Debug}
    added = (
        Parameter(n, Parameter.KEYWORD_ONLY, default=False, annotation=kind) for n, kind in output.items()
    )
    whole = Signature([*own, *added])
    made: Any = command
    made.__name__, made.__doc__, made.__signature__ = run.__name__, run.__doc__, whole
    made.__annotations__ = {name: parameter.annotation for name, parameter in whole.parameters.items()}
    return command


def _reason(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory for this table"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower() + (f": {error.filename}" if error.filename else "")
    message = first_line(error)
    if isinstance(error, ValueError | OSError) and message:
        return message
    return f"{type(error).__name__}: {message} (--debug shows where it came from)"


@contextmanager
def _progress_bars(*, shown: bool) -> Iterator[None]:
    """Turn off the progress bars of fits unless they are to be shown."""
    before = os.environ.get(PROGRESS)
    if not shown:
        os.environ[PROGRESS] = "0"
    try:
        yield
    finally:
        if not shown:
            os.environ.pop(PROGRESS)
            os.environ.update({} if before is None else {PROGRESS: before})


class StepProgress:
    """Progress of long work: a bar that names what is being done, on a terminal alone.

    It is called with a text and the fraction that is done (0 to 1, or None where that is unknown).

    Examples
    --------
    >>> with open_console(quiet=True) as console, StepProgress(console) as step:
    ...     step("reading", 0.5)
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self.bar: Any = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and not (self.console.quiet or self.console.as_json):
            from rich import progress
            from rich.console import Console as Terminal

            text = progress.TextColumn("{task.description}", markup=False)
            columns = (progress.SpinnerColumn(), text, progress.BarColumn(), progress.TimeElapsedColumn())
            self.bar = progress.Progress(*columns, console=Terminal(stderr=True), transient=True)
            self.bar.start()
            self.task = self.bar.add_task("starting", total=1.0)
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, text: str, done: float | None = None) -> None:
        if self.bar is not None:
            total = None if done is None else 1.0
            self.bar.update(self.task, description=printable(text), completed=done or 0.0, total=total)


def printable(text: str) -> str:
    r"""Return text with control characters replaced: names of columns come from untrusted files.

    Examples
    --------
    >>> print(printable("a name \x1b[31min red"))
    a name �[31min red
    """
    return CONTROL.sub("\ufffd", text)


def first_line(text: Any, limit: int = 1000) -> str:
    """Return the first line that is not blank, with single spaces and at most `limit` characters."""
    paragraph = next((line for line in str(text).splitlines() if line.strip()), "")
    line = " ".join(paragraph.split())
    return line if len(line) <= limit else f"{line[:limit]} …"


def abbreviated(names: Iterable[Any], most: int = 12) -> str:
    """Return names separated by commas, with an ellipsis after the first `most`."""
    names = list(map(str, names))
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def split_names(text: str) -> tuple[str, ...]:
    """Return the names in a comma-separated list; a name with a comma is put in quotes.

    Examples
    --------
    >>> split_names('km, minutes, "day, hour"')
    ('km', 'minutes', 'day, hour')
    """
    fields = next(csv.reader([text], skipinitialspace=True), [])
    return tuple(name.strip() for name in fields if name.strip())


def shell_list(names: Iterable[str]) -> str:
    """Return a list of names as one word of a shell command.

    Examples
    --------
    >>> print(shell_list(["km", "minutes"]), shell_list(["km", "day, hour"]))
    km,minutes 'km,"day, hour"'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return shlex.quote(text.getvalue())
