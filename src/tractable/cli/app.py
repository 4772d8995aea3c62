"""The command and its sub-commands; heavy modules are imported when a sub-command runs."""

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from tractable import __version__
from tractable.cli.console import FLAG
from tractable.cli.datasets import datasets
from tractable.cli.fit import fit
from tractable.cli.models import models
from tractable.cli.predict import predict
from tractable.cli.report import report
from tractable.cli.warmup import warmup

app = typer.Typer(
    name="tractable",
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tractable {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def tractable(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001  (used by its callback)
        bool,
        typer.Option(
            "--version", metavar=FLAG, callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Probabilistic models of tables: report on a table, fit a model, and predict with uncertainty.

    Some examples:

      tractable datasets penguins -o penguins.csv

      tractable report penguins.csv --target species

      tractable fit NaiveBayes penguins.csv -t species -s species.tractable

      tractable predict species.tractable penguins.csv -o species.csv --proba

    Exit codes: 0 done, 1 an error in the data or the question, 2 a wrong option, 130 interrupted.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for command in (report, fit, predict, models, datasets, warmup):
    app.command()(command)


def main() -> None:
    """Run the command; characters that the terminal cannot encode are replaced."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="tractable")
