"""The command and its sub-commands; heavy modules are imported when a sub-command runs."""

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from tractable.cli.ask import ask
from tractable.cli.compare import compare
from tractable.cli.complete import complete
from tractable.cli.console import FAILED, FLAG, INTERRUPTED, first_line
from tractable.cli.datasets import datasets
from tractable.cli.fit import fit
from tractable.cli.models import models
from tractable.cli.predict import predict
from tractable.cli.report import report
from tractable.cli.streams import open_closed_streams
from tractable.cli.warmup import warmup

#: What is raised for unknown options and wrong values: a class that typer brings along under no public name.
WRONG_USE: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

app = typer.Typer(
    name="tractable",
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from tractable.primitives.versions import versions

        typer.echo("\n".join(f"{name} {text}" for name, text in versions().items()))
        raise typer.Exit


@app.callback(invoke_without_command=True)
def tractable(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001  (used by its callback)
        bool,
        typer.Option(
            "--version",
            metavar=FLAG,
            callback=_print_version,
            is_eager=True,
            help="Print the versions of tractable and its libraries, and how it runs.",
        ),
    ] = False,
) -> None:
    """Probabilistic models of tables: report on a table, fit a model, and predict with uncertainty.

    Some examples:

      tractable datasets penguins -o penguins.csv

      tractable report penguins.csv --target species

      tractable fit NaiveBayes penguins.csv -t species -s species.tractable

      tractable predict species.tractable penguins.csv -o species.csv --proba

      tractable ask penguins.csv "body_mass_g | species=Gentoo, sex=male"

      tractable compare last_year.csv this_year.csv

      tractable complete penguins.csv --draws 5 -o completed.csv

    A table is a CSV or Parquet file, or - for standard input; - as output is standard output. Exit codes: 0
    done, 2 an error, 130 interrupted.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for command in (report, fit, predict, ask, compare, complete, models, datasets, warmup):
    app.command()(command)


def run_program(words: list[str]) -> int:
    """Run the command as a program; characters that the terminal cannot encode are replaced."""
    open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    return run(words)


def run(words: list[str]) -> int:
    """Run the command with some words and return its exit code; a wrong option is one line too."""
    try:
        return app(words, prog_name="tractable", standalone_mode=False) or 0
    except WRONG_USE as error:
        where = getattr(getattr(error, "ctx", None), "command_path", "tractable")
        typer.secho(f"error: {first_line(error.format_message())} ({where} --help)", fg="red", err=True)
        return FAILED
    except (typer.Abort, KeyboardInterrupt):
        typer.echo("interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as head, has seen enough
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
