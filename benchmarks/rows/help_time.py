"""The price of asking the command what it can do."""

from benchmarks.fresh import both_ended_well, nothing, statement
from benchmarks.row import Row, under

HELP = (
    "import os, sys; sys.stdout = open(os.devnull, 'w'); sys.argv = ['tractable', '--help']; "
    "from tractable.cli import main; main()"
)

ROW = Row(
    name="help_time",
    shows="`tractable --help` in a fresh process, interpreter start included.",
    setup=nothing,
    size=None,
    dry_size=None,
    ours=statement(HELP),
    peers={"python -c pass": statement("pass")},
    check=both_ended_well,
    targets={"python -c pass": under(0.5)},
    memory=False,
    limit="the imports of Typer and Rich, which draw the help.",
)
