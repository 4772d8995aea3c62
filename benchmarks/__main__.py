"""The command: `python -m benchmarks [--only NAME …] [--skip NAME …] [--pairs 7] [--minutes 60]`."""

import argparse
import sys
import tempfile
import time
import traceback
from fnmatch import fnmatch
from pathlib import Path

from benchmarks.contest import Outcome, contest
from benchmarks.memory import peak_above_baseline
from benchmarks.report import named_after_now, show, write
from benchmarks.rows import all_rows

LONG = 120.0  # seconds: rows that take longer are named at the end


def main(arguments=None):
    """Run the rows that were asked for; 1 where answers differ, a row breaks, or some were not run."""
    options = parse(arguments)
    rows = chosen(options.only, options.skip)
    path = options.json or (None if options.dry_run else named_after_now())
    outcomes, left = play(rows, options, path)
    show(outcomes)
    for words in remarks(outcomes, left):
        print(words)
    if path and outcomes:
        print(f"written: {path}")
    return int(bool(left) or any(outcome.problem for outcome in outcomes))


def play(rows, options, path):
    """Run row after row, saving after each; return what was found, and the rows there was no time for."""
    outcomes, end = [], time.monotonic() + 60.0 * options.minutes
    with tempfile.TemporaryDirectory(prefix="tractable-bench-") as folder:
        try:
            for number, row in enumerate(rows, 1):
                if time.monotonic() > end:
                    break
                print(f"{number} of {len(rows)}: {row.name} …", file=sys.stderr, flush=True)
                outcomes.append(run(row, Path(folder), options))
                if path:
                    write(outcomes, path)
        except KeyboardInterrupt:
            print("broken off: rows that were finished are kept", file=sys.stderr)
    return outcomes, rows[len(outcomes) :]


def run(row, folder, options):
    """Run one row: the contest, then memory, with the row's own part of the temporary folder."""
    place = folder / row.name
    place.mkdir()
    outcome, start = Outcome(row=row), time.perf_counter()
    try:
        outcome = contest(row, place, pairs=options.pairs, dry=options.dry_run)
        if row.memory and not outcome.problem:
            names = ["ours"] if options.dry_run else row.contenders
            outcome.memory = {
                name: peak_above_baseline(row, name, place, dry=options.dry_run) for name in names
            }
    except Exception as error:  # noqa: BLE001  (one broken row does not end a run of an hour)
        traceback.print_exc()
        outcome.problem = f"broken: {type(error).__name__}: {str(error).strip()[:300]}"
    outcome.seconds = time.perf_counter() - start
    return outcome


def remarks(outcomes, left):
    """Say which rows took long, and which there was no time for."""
    long = {found.row.name: found.seconds for found in outcomes if found.seconds > LONG}
    if long:
        yield f"more than two minutes: {', '.join(f'{name} {s / 60:.1f} min' for name, s in long.items())}"
    if left:
        yield f"not run: {', '.join(row.name for row in left)}"


def chosen(only, skip=()):
    """Return the rows whose names match, less those to skip; all of them without a pattern."""
    rows = all_rows()
    strange = [p for p in (*only, *skip) if not any(fnmatch(name, p) for name in rows)]
    if strange:
        raise SystemExit(f"no row is called {' or '.join(strange)}; there are {', '.join(rows)}")

    def wanted(name):
        asked = not only or any(fnmatch(name, p) for p in only)
        return asked and not any(fnmatch(name, p) for p in skip)

    return [row for name, row in rows.items() if wanted(name)]


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = {"nargs": "+", "default": [], "metavar": "NAME"}
    parser.add_argument("--only", **names, help="names of rows; * matches anything")
    parser.add_argument("--skip", **names, help="names of rows to leave out")
    parser.add_argument("--dry-run", action="store_true", help="small data, one pair: do the rows still run?")
    parser.add_argument(
        "--json", type=Path, metavar="PATH", help="where the figures go; benchmarks/results/ if not given"
    )
    parser.add_argument(
        "--pairs", type=_positive, default=7, help="undisturbed pairs to collect for each peer"
    )
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="begin no row after so many minutes"
    )
    return parser.parse_args(arguments)


def _positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least one pair is needed")
    return number


if __name__ == "__main__":
    sys.exit(main())
