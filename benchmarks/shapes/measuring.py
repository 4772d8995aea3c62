"""Cells of the sweep, measured one after the other, or several at a time on cores of their own."""

import math
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

from benchmarks.clock import measure
from benchmarks.contest import Duel, play_round, same_answers
from benchmarks.shapes.cases import CASES, PEER
from benchmarks.shapes.cells import Cell

LEAST_SECONDS = 0.03  # a measurement repeats short calls until it is as long as this
SHORT, MORE_TURNS = 0.1, 4  # a cell whose calls are this short has so many times the turns
CORES = 2  # of each cell that is measured beside others


def measured_cells(asked, pairs, jobs, minutes):
    """Yield cells as they are measured; none begins after the last minute."""
    end = time.monotonic() + 60.0 * minutes
    if jobs == 1:
        for name, shape in asked:
            if time.monotonic() > end:
                return
            yield measured(name, shape, pairs)
        return
    context = multiprocessing.get_context("spawn")  # BLAS reads the number of its threads when it is loaded
    os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), str(CORES)))
    cores = context.Queue()
    for job in range(jobs):
        cores.put(set(range(CORES * job, CORES * (job + 1))))
    with ProcessPoolExecutor(jobs, context, initializer=take_cores, initargs=(cores,)) as pool:
        waiting = [pool.submit(measured, name, shape, pairs) for name, shape in asked]
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
