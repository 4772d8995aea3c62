"""Speed-ups of threads: `python -m benchmarks.threads [--only NAME …] [--rows 1000000] [--turns 5]`.

Every job runs on 1, 2, 4, … and all threads that this process may use, in turns. A figure is the least wall
time of its turns, and the speed-up the time of one thread over it. Where the CPU seconds of all threads grow
with their number, they wait for each other. `read` is a plain sum of the array in blocks, at the speed of
memory: nothing that looks at every row is faster.
"""

import argparse
import os
import sys
import warnings
from fnmatch import fnmatch
from typing import NamedTuple

import numpy as np

import tractable
from benchmarks.clock import measure
from benchmarks.machine import machine, machine_line
from tractable.data.blocks import reduce_blocks
from tractable.engines import fold
from tractable.primitives.threads import default_threads, even_blocks
from tractable.statistics import Moments

COLUMNS = 16


class Table(NamedTuple):
    """Rows with a target and with classes."""

    X: np.ndarray
    y: np.ndarray
    classes: np.ndarray


def table(n_rows):
    """Draw rows whose target, and the log odds of whose classes, are linear in the columns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, COLUMNS))
    predictor = X @ rng.standard_normal(COLUMNS)
    classes = (predictor + rng.logistic(size=n_rows) > 0).astype(int)
    return Table(X=X, y=predictor + rng.standard_normal(n_rows), classes=classes)


def read(data):
    """Sum all entries, in blocks."""
    return reduce_blocks(lambda part: data.X[part].sum(), even_blocks(len(data.X), 2**14))


def kmeans(data):
    """Ten iterations from the same centres."""
    return tractable.KMeans(50, init=data.X[:50], n_init=1, max_iter=10, tol=0.0).fit(data.X)


def mixture(data):
    """Three iterations of EM from the same means."""
    return tractable.GaussianMixture(10, means_init=data.X[:10], max_iter=3, tol=0.0).fit(data.X)


JOBS = {
    "read": read,
    "moments": lambda data: fold(Moments.of, data.X),
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
    options = parser.parse_args(arguments)
    print(machine_line(machine()))
    warnings.simplefilter("ignore")  # a few iterations do not converge
    data, counts = table(options.rows), thread_counts()
    for name, job in JOBS.items():
        if any(fnmatch(name, pattern) for pattern in options.only):
            found = scaled(job, data, counts, options.turns)
            alone = found[1][0]
            for threads, (wall, cpu) in found.items():
                print(
                    f"{name:32s}{threads:4d} threads{wall:9.4f} s{cpu:9.4f} CPU s{alone / wall:7.2f} ×",
                    flush=True,
                )
    return 0


def scaled(job, data, counts, turns):
    """Return the least wall seconds, and the CPU seconds of that turn, by number of threads."""
    before, found = os.environ.get("TRACTABLE_NUM_THREADS"), {threads: [] for threads in counts}
    try:
        job(data)  # imports and compiling
        for _ in range(turns):
            for threads in counts:
                os.environ["TRACTABLE_NUM_THREADS"] = str(threads)
                taken = measure(job, data)
                found[threads].append((taken.wall, taken.cpu))
    finally:
        os.environ.pop("TRACTABLE_NUM_THREADS") if before is None else os.environ.update(
            TRACTABLE_NUM_THREADS=before
        )
    return {threads: min(samples) for threads, samples in found.items()}


if __name__ == "__main__":
    sys.exit(main())
