"""Two workers of Dask and two threads of this process, with the same rows in the memory of each."""

import atexit
import os
import warnings
from contextlib import contextmanager
from functools import cache

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import tractable

PARTITIONS = 20


@cache
def client():
    """Return the client of two workers of one thread each, which end with this process."""
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    cluster = LocalCluster(**options)
    found = Client(cluster)
    atexit.register(cluster.close)
    atexit.register(found.close)
    return found


@contextmanager
def two_threads():
    """Let folds of this process use two threads, however many cores there are."""
    before = os.environ.get("TRACTABLE_NUM_THREADS")
    os.environ["TRACTABLE_NUM_THREADS"] = "2"
    try:
        yield
    finally:
        os.environ.pop("TRACTABLE_NUM_THREADS")
        if before is not None:
            os.environ["TRACTABLE_NUM_THREADS"] = before


def partition(number, n_rows, n_columns):
    """Return the rows of one partition: drawn about ten centres."""
    rng = np.random.default_rng(number)
    centers = 3.0 * np.random.default_rng(99).standard_normal((10, n_columns))
    return centers[rng.integers(10, size=n_rows)] + rng.standard_normal((n_rows, n_columns))


def held_by_workers(n_rows, n_columns):
    """Return an array of Dask whose partitions the workers made and hold."""
    import dask
    import dask.array as da
    from distributed import wait

    client()
    n = n_rows // PARTITIONS
    parts = [dask.delayed(partition)(i, n, n_columns) for i in range(PARTITIONS)]
    rows = da.concatenate([da.from_delayed(part, (n, n_columns), float) for part in parts]).persist()
    wait(rows)
    return rows


def held_here(n_rows, n_columns):
    """Return the same rows in the memory of this process."""
    n = n_rows // PARTITIONS
    return np.concatenate([partition(i, n, n_columns) for i in range(PARTITIONS)])


def mixture_of(rows, n_components, n_iterations):
    """Return a mixture after so many iterations, converged or not."""
    model = tractable.GaussianMixture(n_components, max_iter=n_iterations, tol=0.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(rows)
