"""The command: `python -m benchmarks [--only NAME …] [--dry-run] [--json PATH] [--pairs 7]`."""

import argparse
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

from benchmarks.contest import contest
from benchmarks.memory import peak_above_baseline
from benchmarks.report import show, write
from benchmarks.rows import all_rows


def main(arguments=None):
    """Run the rows that were asked for; 1 where two contenders disagree on the answer."""
    options = parse(arguments)
    rows = chosen(options.only)
    with tempfile.TemporaryDirectory(prefix="tractable-bench-") as folder:
        outcomes = [run(row, Path(folder), options) for row in rows]
    show(outcomes)
    if options.json or not options.dry_run:
        print(f"written: {write(outcomes, options.json)}")
    return int(any(outcome.problem for outcome in outcomes))


def run(row, folder, options):
    """Run one row: the contest, then memory, with the row's own part of the temporary folder."""
    print(f"{row.name} …", file=sys.stderr, flush=True)
    place = folder / row.name
    place.mkdir()
    outcome = contest(row, place, pairs=options.pairs, dry=options.dry_run)
    if row.memory and not outcome.problem:
        names = ["ours"] if options.dry_run else row.contenders
        outcome.memory = {name: peak_above_baseline(row, name, place, dry=options.dry_run) for name in names}
    return outcome


def chosen(patterns):
    """Return the rows whose names match; all of them without a pattern."""
    rows = all_rows()
    found = [row for name, row in rows.items() if not patterns or any(fnmatch(name, p) for p in patterns)]
    if not found:
        raise SystemExit(f"no row is called {' or '.join(patterns)}; there are {', '.join(rows)}")
    return found


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="names of rows; * matches anything"
    )
    parser.add_argument("--dry-run", action="store_true", help="small data, one pair: do the rows still run?")
    parser.add_argument(
        "--json", type=Path, metavar="PATH", help="where the figures go; benchmarks/results/ if not given"
    )
    parser.add_argument(
        "--pairs", type=_positive, default=7, help="undisturbed pairs to collect for each peer"
    )
    return parser.parse_args(arguments)


def _positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least one pair is needed")
    return number


if __name__ == "__main__":
    sys.exit(main())
