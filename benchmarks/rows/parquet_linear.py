"""Least squares from a Parquet file of 4 GB."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import tractable
from benchmarks.row import Row, within

ROW_GROUP = 250_000


def setup(size, folder):
    """Write rows about ten centres, without compression; the last column is linear in the others."""
    n_rows, n_columns = size
    path = folder / f"clusters-{n_rows}x{n_columns}.parquet"
    if not path.exists():
        write(path, n_rows, n_columns)
    return path


def write(path, n_rows, n_columns):
    rng = np.random.default_rng(0)
    centers = 3.0 * rng.standard_normal((10, n_columns - 1))
    names = [f"x{j}" for j in range(n_columns - 1)] + ["y"]
    schema = pa.schema([(name, pa.float64()) for name in names])
    with pq.ParquetWriter(path, schema, compression="NONE", use_dictionary=False) as writer:
        for start in range(0, n_rows, ROW_GROUP):
            n = min(ROW_GROUP, n_rows - start)
            X = centers[rng.integers(10, size=n)] + rng.standard_normal((n, n_columns - 1))
            y = X @ np.arange(1.0, n_columns) + rng.standard_normal(n)
            writer.write_table(pa.table([*np.ascontiguousarray(X.T), y], schema=schema))


def ours(path):
    return tractable.LinearRegression().fit(tractable.scan(path, target="y")).coef_


def read_and_fold(path):
    """Read the file once with pyarrow, and fold a table in memory as large."""
    file = pq.ParquetFile(path, pre_buffer=False)
    held = np.column_stack([column.to_numpy() for column in file.read_row_group(0).columns])
    for _ in file.iter_batches(batch_size=65_536):
        pass
    for _ in range(file.metadata.num_row_groups):
        fitted = tractable.LinearRegression().fit(held[:, :-1], held[:, -1])
    return fitted.coef_


def check(mine, theirs):
    """The coefficients of all rows and of some: the truth, to the noise of the smaller table."""
    np.testing.assert_allclose(mine, theirs, atol=1.0 if len(mine) < 10 else 0.1)


ROW = Row(
    name="parquet_linear",
    shows="LinearRegression from a Parquet file of 4 GB, 30,000,000 × 17.",
    setup=setup,
    size=(30_000_000, 17),
    dry_size=(2_000, 4),
    ours=ours,
    peers={"read and fold in memory, one after the other": read_and_fold},
    check=check,
    targets={"read and fold in memory, one after the other": within(1.5)},
    memory_limit_mb=400,
    limit="pyarrow's decoding of the columns, and turning columns into rows.",
)
