"""The sweep: `python -m benchmarks.shapes [--only NAME …] [--most 2e7] [--jobs 8] [--minutes 30]`.

Every case of `benchmarks.shapes.cases` on a grid of rows and columns, ours and scikit-learn in turns, small
tables first. Ratios are of CPU seconds of all threads; those of wall seconds stand beside them. Each side
counts by the least of its turns, which other users of the machine disturb least. A cell below 0.9 in both is
lost. On a machine of many cores, `--jobs` cells are measured at a time, each on two cores of its own.
`--rows` and `--columns` sweep other tables than those of the grid. With --keep the cells go to
benchmarks/shapes.json, from which `make bench-page` draws the heat map.
"""

import argparse
import math
import sys
from fnmatch import fnmatch
from statistics import median

from benchmarks.machine import machine, machine_line
from benchmarks.shapes.cases import CASES
from benchmarks.shapes.cells import read, write
from benchmarks.shapes.measuring import CORES, measured_cells

#: Rows and columns of the grid.
ROWS, COLUMNS = (300, 3000, 10_000, 30_000, 300_000, 1_000_000), (2, 20, 200, 2000)


def main(arguments=None):
    """Print a line a cell; 1 where one is lost, differs or breaks."""
    options = parse(arguments)
    asked, found = cells(options), []
    for cell in measured_cells(asked, options.pairs, options.jobs, options.minutes):
        found.append(cell)
        print(cell.line, flush=True)
        if options.keep:
            known = {**read()["cells"], **{each.key: each.row for each in found}}
            beside = f" · {options.jobs} cells at a time on {CORES} cores each" if options.jobs > 1 else ""
            write({"machine": machine_line(machine()) + beside, "cells": known})
    if len(found) < len(asked):
        print(f"out of time: {len(asked) - len(found)} cells were not measured")
    told = [cell for cell in found if cell.ratio is not None]
    bad = [cell for cell in found if cell.problem or cell.lost]
    if told:
        middle = median(cell.ratio for cell in told)
        print(f"{len(told)} cells, median {middle:.2f}; lost, different or broken: {len(bad)}")
    return int(bool(bad))


def cells(options):
    """Return the names and shapes that were asked for, the smallest tables first."""
    asked = [
        (name, shape)
        for name, case in CASES.items()
        if any(fnmatch(name, pattern) for pattern in options.only)
        for shape in case.shapes(options.rows, options.columns)
    ]
    work = {(n, d, k): n * d * max(k, 1) ** 0.5 for _, (n, d, k) in asked}
    return sorted((cell for cell in asked if work[cell[1]] <= options.most), key=lambda cell: work[cell[1]])


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shapes", description=__doc__)
    parser.add_argument("--only", nargs="+", default=["*"], metavar="NAME", help="cases; * matches anything")
    parser.add_argument(
        "--most", type=float, default=2e7, help="entries of a table, times the root of groups"
    )
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help="of the tables")
    parser.add_argument("--columns", type=int, nargs="+", default=COLUMNS, help="of the tables")
    parser.add_argument("--jobs", type=int, default=1, help="cells at a time, each on two cores of its own")
    parser.add_argument("--pairs", type=int, default=3, help="turns of each cell")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no cell after so many minutes")
    parser.add_argument("--keep", action="store_true", help="write the cells to benchmarks/shapes.json")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
