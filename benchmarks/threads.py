"""Speed-ups of threads: `python -m benchmarks.threads [--only NAME …] [--rows 1000000] [--turns 5] [--keep]`.

Every job runs on 1, 2, 4, … and all threads that this process may use, in turns, short ones several times in
a row. A figure is the least wall time of its turns, and the speed-up the time of one thread over it. Where
the CPU seconds of all threads grow with their number, they wait for each other. `read` is a plain sum of the
array in blocks, at the speed of memory: nothing that looks at every row is faster. With --keep the figures go
to benchmarks/threads.json, from which `make bench-page` draws a table for each machine.
"""

import argparse
import json
import math
import os
import sys
import warnings
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import numpy as np

import tractable
from benchmarks.clock import measure
from benchmarks.machine import machine, machine_line
from tractable.data.blocks import reduce_blocks
from tractable.engines import fold
from tractable.primitives.threads import default_threads, even_blocks
from tractable.statistics import (
    Bins,
    ByClass,
    ColumnSummary,
    Counts,
    DiagonalMoments,
    Directions,
    Extremes,
    FourthMoments,
    IncompleteMoments,
    LinearFactor,
    LogMoments,
    Moments,
    ScatterFactor,
    Totals,
)

KEPT = Path(__file__).parent / "threads.json"
COLUMNS = 16
MISSING = 0.02  # of the entries
LEAST_SECONDS = 0.1  # a turn repeats short calls until it is about as long as this


class Table(NamedTuple):
    """Rows with a target and with classes, the same with missing entries, and rows of whole numbers."""

    X: np.ndarray
    y: np.ndarray
    classes: np.ndarray
    incomplete: np.ndarray
    whole: np.ndarray


def table(n_rows):
    """Draw rows whose target, and the log odds of whose classes, are linear in the columns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, COLUMNS))
    predictor = X @ rng.standard_normal(COLUMNS)
    classes = (predictor + rng.logistic(size=n_rows) > 0).astype(int)
    y = predictor + rng.standard_normal(n_rows)
    incomplete = np.where(rng.random(X.shape) < MISSING, np.nan, X)
    return Table(X=X, y=y, classes=classes, incomplete=incomplete, whole=rng.integers(1, 6, X.shape))


def read(data):
    """Sum all entries, in blocks."""
    return reduce_blocks(lambda part: data.X[part].sum(), even_blocks(len(data.X), 2**14))


def kmeans(data):
    """Ten iterations from the same centres."""
    return tractable.KMeans(50, init=data.X[:50], n_init=1, max_iter=10, tol=0.0).fit(data.X)


def mixture(data):
    """Three iterations of EM from the same means."""
    return tractable.GaussianMixture(10, means_init=data.X[:10], max_iter=3, tol=0.0).fit(data.X)


def bins(data):
    """Ten bins of each of three columns."""
    return fold(Bins(edges=[np.linspace(-3.0, 3.0, 11)] * 3).of, data.X[:, :3])


JOBS = {
    "read": read,
    "moments": lambda data: fold(Moments.of, data.X),
    "DiagonalMoments": lambda data: fold(DiagonalMoments.of, data.X),
    "IncompleteMoments": lambda data: fold(IncompleteMoments.of, data.incomplete),
    "FourthMoments": lambda data: fold(FourthMoments.of, data.X),
    "LogMoments": lambda data: fold(LogMoments.of, data.whole),
    "ByClass": lambda data: fold(ByClass.of, data.X, data.classes),
    "ScatterFactor": lambda data: fold(ScatterFactor.of, data.X),
    "LinearFactor": lambda data: fold(LinearFactor.of, data.X, data.y),
    "ColumnSummary": lambda data: fold(ColumnSummary.of, data.incomplete),
    "Extremes": lambda data: fold(Extremes.of, data.X),
    "Directions": lambda data: fold(Directions.of, data.X),
    "Counts": lambda data: fold(Counts.of, data.whole),
    "Totals": lambda data: fold(Totals.of, data.whole),
    "BinCounts": bins,
    "LinearRegression": lambda data: tractable.LinearRegression().fit(data.X, data.y),
    "Ridge": lambda data: tractable.Ridge().fit(data.X, data.y),
    "BayesianRidge": lambda data: tractable.BayesianRidge().fit(data.X, data.y),
    "Lasso": lambda data: tractable.Lasso(alpha=0.1).fit(data.X, data.y),
    "LogisticRegression": lambda data: tractable.LogisticRegression().fit(data.X, data.classes),
    "GaussianNB": lambda data: tractable.GaussianNB().fit(data.X, data.classes),
    "LinearDiscriminant": lambda data: tractable.LinearDiscriminant().fit(data.X, data.classes),
    "KMeans, 50 clusters": kmeans,
    "GaussianMixture, 10 components": mixture,
}


#: Times as fast as on one thread that the project asks for, by job and number of threads; and how many times
#: as long as a plain read the moments may take.
TARGETS = {
    "moments": {2: 1.7, 16: 6.0},
    "LinearRegression": {2: 1.7, 16: 6.0},
    "LogisticRegression": {2: 1.7, 16: 6.0},
    "KMeans, 50 clusters": {16: 8.0},
}
READS = 2.0


def thread_counts():
    """1, 2, 4, … and all."""
    most = default_threads()
    return sorted({*(2**i for i in range(most.bit_length()) if 2**i <= most), most})


def main(arguments=None):
    """Print a line a job and a number of threads."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", default=["*"], help="names of jobs, or patterns")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--keep", action="store_true", help="write the figures to benchmarks/threads.json")
    options = parser.parse_args(arguments)
    print(machine_line(machine()))
    warnings.simplefilter("ignore")  # a few iterations do not converge
    data, counts = table(options.rows), thread_counts()
    kept = {"machine": machine_line(machine()), "rows": options.rows, "seconds": {}}
    for name, job in JOBS.items():
        if any(fnmatch(name, pattern) for pattern in options.only):
            found = scaled(job, data, counts, options.turns)
            alone = found[1][0]
            for threads, (wall, cpu) in found.items():
                print(
                    f"{name:32s}{threads:4d} threads{wall:9.4f} s{cpu:9.4f} CPU s{alone / wall:7.2f} ×",
                    flush=True,
                )
            kept["seconds"][name] = {
                str(threads): float(f"{wall:.3g}") for threads, (wall, _) in found.items()
            }
    if options.keep:
        others = [each for each in known() if each["machine"] != kept["machine"]]
        text = json.dumps([*others, kept], indent=1, ensure_ascii=False) + "\n"
        KEPT.write_text(text, encoding="utf-8")
    return 0


def known():
    """Return the figures that are kept, of each machine."""
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else []


def scaled(job, data, counts, turns):
    """Return the least wall seconds, and the CPU seconds of that turn, by number of threads."""
    before, found = os.environ.get("TRACTABLE_NUM_THREADS"), {threads: [] for threads in counts}
    try:
        job(data)  # imports and compiling
        repeats = max(1, math.ceil(LEAST_SECONDS / measure(job, data).wall))
        for _ in range(turns):
            for threads in counts:
                os.environ["TRACTABLE_NUM_THREADS"] = str(threads)
                taken = measure(job, data, repeats)
                found[threads].append((taken.wall, taken.cpu))
    finally:
        os.environ.pop("TRACTABLE_NUM_THREADS", None)
        if before is not None:
            os.environ["TRACTABLE_NUM_THREADS"] = before
    return {threads: min(samples) for threads, samples in found.items()}


def section():
    """Return the section of the page of results, from what was kept."""
    tables = "\n".join(machine_table(each) for each in known()) or "Not measured.\n"
    return f"{INTRODUCTION}\n{tables}\n{BOUND}\n"


def machine_table(kept):
    """Return the figures of one machine, and which targets they meet."""
    counts = list(next(iter(kept["seconds"].values())))
    lines = [
        f"{kept['rows']:,} × {COLUMNS} rows. {kept['machine']}",
        "",
        f"| job | one thread | {' | '.join(f'{threads} threads' for threads in counts[1:])} |",
        f"|---|---|{'---|' * len(counts[1:])}",
    ]
    for name, seconds in kept["seconds"].items():
        ups = (f"{seconds['1'] / seconds[threads]:.1f} ×" for threads in counts[1:])
        alone = float(f"{1e3 * seconds['1']:.3g}")
        lines.append(f"| {name} | {alone:,g} ms | {' | '.join(ups)} |")
    return "\n".join([*lines, "", judged(kept["seconds"]), ""])


def judged(seconds):
    """Return a sentence on the targets that were met, and on those that were missed."""
    met, missed = [], []
    for name, targets in TARGETS.items():
        for threads, least in targets.items():
            if str(threads) in seconds.get(name, {}):
                found = seconds[name]["1"] / seconds[name][str(threads)]
                sentence = f"{name} on {threads} threads {found:.3g} × ({least:g})"
                (met if found >= least else missed).append(sentence)
    last = max(seconds["read"], key=int)
    reads = seconds["moments"][last] / seconds["read"][last]
    sentence = f"moments on {last} threads {reads:.3g} times the time to read ({READS:g} at most)"
    (met if reads <= READS else missed).append(sentence)
    return (
        f"Asked for, in brackets, and met: {'; '.join(met) or 'none'}. Missed: {'; '.join(missed) or 'none'}."
    )


INTRODUCTION = """\
## Threads

How many times sooner fits end on several threads than on one, each the least of its turns. `read` is a plain
sum of the array, at the speed of memory, which bounds what reads the rows once: the moments, and the linear
models. `python -m benchmarks.threads --keep` measures your machine.
"""

BOUND = (
    "What bounds them on many threads: each thread begins some 0.1 ms after the one before, as it takes "
    "the lock of the interpreter, so the last of sixteen begins a pass of 2 to 4 ms after 1.5; and "
    "sixteen cores at work are each a quarter slower than one alone."
)


if __name__ == "__main__":
    sys.exit(main())
