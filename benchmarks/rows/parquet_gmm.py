"""A mixture fitted to a Parquet file of 4 GB."""

import warnings

import numpy as np
import pyarrow.parquet as pq
from sklearn.exceptions import ConvergenceWarning

import tractable
from benchmarks.row import Row, within
from benchmarks.rows.parquet_linear import setup

ITERATIONS = 10


def fitted(rows):
    """Return the mixture after so many iterations, converged or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model(10).fit(rows)


def model(n_components):
    return tractable.GaussianMixture(
        n_components=n_components,
        max_iter=ITERATIONS,
        tol=0.0,
        random_state=0,
        init_params="random_from_data",
    )


def ours(path):
    return fitted(tractable.scan(path)).lower_bound_


def read_and_fold(path):
    """Read the file in every pass with pyarrow, and fold a table in memory as large, once for each."""
    file = pq.ParquetFile(path, pre_buffer=False)
    held = np.column_stack([column.to_numpy() for column in file.read_row_group(0).columns])
    start = fitted(held)
    for _ in range(ITERATIONS + 2):
        for _ in file.iter_batches(batch_size=65_536):
            pass
        for _ in range(file.metadata.num_row_groups):
            start.summarize(held)
    return start.lower_bound_


def check(mine, theirs):
    """The answers are of different tables: the log likelihood of a row, to 1."""
    assert abs(mine - theirs) < 1.0


ROW = Row(
    name="parquet_gmm",
    shows="GaussianMixture, K = 10, 10 iterations, from a Parquet file of 4 GB, 30,000,000 × 17.",
    setup=setup,
    size=(30_000_000, 17),
    dry_size=(2_000, 4),
    ours=ours,
    peers={"read and fold in memory, one after the other": read_and_fold},
    check=check,
    targets={"read and fold in memory, one after the other": within(1.5)},
    memory_limit_mb=400,
    limit="the E-steps; the file is read meanwhile.",
)
