"""The sweep: `python -m benchmarks.shapes [--full] [--only NAME …] [--minutes 30]`.

Every case of `benchmarks.shapes.cases` on a grid of rows and columns, ours and scikit-learn in turns. Ratios
are of CPU seconds of all threads; those of wall seconds stand beside them. Each side counts by the least of
its turns, which other users of the machine disturb least. A cell below 0.9 in both is lost. With --keep the
cells go to benchmarks/shapes.json, from which `make bench-page` draws the heat map.
"""

import argparse
import math
import sys
import time
from fnmatch import fnmatch
from statistics import median

from benchmarks.clock import measure
from benchmarks.contest import Duel, play_round, same_answers
from benchmarks.machine import machine, machine_line
from benchmarks.shapes.cases import CASES, PEER
from benchmarks.shapes.cells import Cell, read, write

#: Rows and columns of the grids, and the most entries of a table in the quick one.
QUICK = ((300, 3000, 30_000), (3, 30, 300))
FULL = ((300, 3000, 30_000, 300_000, 1_000_000), (2, 5, 20, 100, 500, 2000))
QUICK_ENTRIES, QUICK_GROUPS = 3e6, 10

LEAST_SECONDS = 0.03  # a measurement repeats short calls until it is as long as this
SHORT, MORE_TURNS = 0.1, 4  # a cell whose calls are this short has so many times the turns


def main(arguments=None):
    """Print a line a cell; 1 where one is lost, differs or breaks."""
    options = parse(arguments)
    end = time.monotonic() + 60.0 * options.minutes
    found = []
    for case, shape in cells(options):
        if time.monotonic() > end:
            print("out of time: the cells that follow were not measured")
            break
        cell = measured(case, shape, options.pairs)
        found.append(cell)
        print(cell.line, flush=True)
        if options.keep:
            known = {**read()["cells"], **{each.key: each.row for each in found}}
            write({"machine": machine_line(machine()), "cells": known})
    told = [cell for cell in found if cell.ratio is not None]
    bad = [cell for cell in found if cell.problem or cell.lost]
    if told:
        middle = median(cell.ratio for cell in told)
        print(f"{len(told)} cells, median {middle:.2f}; lost, different or broken: {len(bad)}")
    return int(bool(bad))


def cells(options):
    """Yield the cases and shapes that were asked for."""
    rows, columns = FULL if options.full else QUICK
    for name, case in CASES.items():
        if not any(fnmatch(name, pattern) for pattern in options.only):
            continue
        for shape in case.shapes(rows, columns):
            n, d, k = shape
            if options.full or (n * d <= QUICK_ENTRIES and k <= QUICK_GROUPS):
                yield case, shape


def measured(case, shape, pairs):
    """Return the cell of a case and a shape: answers first, then times in turns."""
    row, problem = case.row(shape), ""
    try:
        data = row.setup(shape, None)
        same_answers(row, row.setup(row.dry_size, None))  # imports and compiling
        same_answers(row, data)
        seconds = {name: measure(contender, data).wall for name, contender in row.contenders.items()}
        repeats = {name: max(1, math.ceil(LEAST_SECONDS / taken)) for name, taken in seconds.items()}
        duel = Duel(peer=PEER)
        for turn in range(pairs * MORE_TURNS if max(seconds.values()) < SHORT else pairs):
            play_round(row, data, repeats, [duel], turn, clock=measure, max_foreign=math.inf)
    except AssertionError as error:
        problem = f"the answers differ: {' '.join(str(error).split())[:100]}"
    except Exception as error:  # noqa: BLE001  (one broken cell does not end the sweep)
        problem = f"broken: {type(error).__name__}: {str(error).strip()[:200]}"
    if problem:
        return Cell(case=case.name, shape=shape, problem=problem)
    return Cell(
        case=case.name,
        shape=shape,
        ratio=duel.least("peer", "cpu") / duel.least("ours", "cpu"),
        wall_ratio=duel.least("peer", "wall") / duel.least("ours", "wall"),
        ours=duel.least("ours", "cpu"),
        peer=duel.least("peer", "cpu"),
    )


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shapes", description=__doc__)
    parser.add_argument("--full", action="store_true", help="up to 1,000,000 rows and 2,000 columns: hours")
    parser.add_argument("--only", nargs="+", default=["*"], metavar="NAME", help="cases; * matches anything")
    parser.add_argument("--pairs", type=int, default=3, help="turns of each cell")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no cell after so many minutes")
    parser.add_argument("--keep", action="store_true", help="write the cells to benchmarks/shapes.json")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
