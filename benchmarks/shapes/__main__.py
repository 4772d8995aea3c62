"""The sweep: `python -m benchmarks.shapes [--only NAME …] [--most 2e7] [--jobs 8] [--minutes 30]`.

Every case of `benchmarks.shapes.cases` on a grid of rows and columns, ours and scikit-learn in turns, small
tables first. Ratios are of CPU seconds of all threads; those of wall seconds stand beside them. Each side
counts by the least of its turns, which other users of the machine disturb least. A cell below 0.9 in both is
lost. On a machine of many cores, `--jobs` cells are measured at a time, each on two cores of its own. With
--keep the cells go to benchmarks/shapes.json, from which `make bench-page` draws the heat map.
"""

import argparse
import math
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from fnmatch import fnmatch
from statistics import median

from benchmarks.clock import measure
from benchmarks.contest import Duel, play_round, same_answers
from benchmarks.machine import machine, machine_line
from benchmarks.shapes.cases import CASES, PEER
from benchmarks.shapes.cells import Cell, read, write

#: Rows and columns of the grid.
ROWS, COLUMNS = (300, 3000, 30_000, 300_000, 1_000_000), (2, 20, 200, 2000)

LEAST_SECONDS = 0.03  # a measurement repeats short calls until it is as long as this
SHORT, MORE_TURNS = 0.1, 4  # a cell whose calls are this short has so many times the turns
CORES = 2  # of each cell that is measured beside others


def main(arguments=None):
    """Print a line a cell; 1 where one is lost, differs or breaks."""
    options = parse(arguments)
    asked, found = cells(options), []
    for cell in measured_cells(asked, options):
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
        for shape in case.shapes(ROWS, COLUMNS)
    ]
    work = {(n, d, k): n * d * max(k, 1) ** 0.5 for _, (n, d, k) in asked}
    return sorted((cell for cell in asked if work[cell[1]] <= options.most), key=lambda cell: work[cell[1]])


def measured_cells(asked, options):
    """Yield cells as they are measured; none begins after the last minute."""
    end = time.monotonic() + 60.0 * options.minutes
    if options.jobs == 1:
        for name, shape in asked:
            if time.monotonic() > end:
                return
            yield measured(name, shape, options.pairs)
        return
    context = multiprocessing.get_context("spawn")  # BLAS reads the number of its threads when it is loaded
    os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), str(CORES)))
    cores = context.Queue()
    for job in range(options.jobs):
        cores.put(set(range(CORES * job, CORES * (job + 1))))
    with ProcessPoolExecutor(options.jobs, context, initializer=take_cores, initargs=(cores,)) as pool:
        waiting = [pool.submit(measured, name, shape, options.pairs) for name, shape in asked]
        for ended in as_completed(waiting):
            yield ended.result()
            if time.monotonic() > end:
                pool.shutdown(cancel_futures=True)  # those that have begun end
                return


def take_cores(cores):
    """Keep this process to two cores of its own."""
    os.sched_setaffinity(0, cores.get())


def measured(name, shape, pairs):
    """Return the cell of a case and a shape: answers first, then times in turns."""
    row, problem = CASES[name].row(shape), ""
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
        return Cell(case=name, shape=shape, problem=problem)
    return Cell(
        case=name,
        shape=shape,
        ratio=duel.least("peer", "cpu") / duel.least("ours", "cpu"),
        wall_ratio=duel.least("peer", "wall") / duel.least("ours", "wall"),
        ours=duel.least("ours", "cpu"),
        peer=duel.least("peer", "cpu"),
    )


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shapes", description=__doc__)
    parser.add_argument("--only", nargs="+", default=["*"], metavar="NAME", help="cases; * matches anything")
    parser.add_argument(
        "--most", type=float, default=2e7, help="entries of a table, times the root of groups"
    )
    parser.add_argument("--jobs", type=int, default=1, help="cells at a time, each on two cores of its own")
    parser.add_argument("--pairs", type=int, default=3, help="turns of each cell")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no cell after so many minutes")
    parser.add_argument("--keep", action="store_true", help="write the cells to benchmarks/shapes.json")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
