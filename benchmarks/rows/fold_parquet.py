"""Mean and scatter of a Parquet file."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import tractable
from benchmarks.row import Row, within

ROW_GROUP = 1_048_576  # what pyarrow itself chooses


def setup(size, folder):
    n_rows, n_columns = size
    path = folder / f"{n_rows}x{n_columns}.parquet"
    if not path.exists():
        write(path, n_rows, n_columns)
    return path


def write(path, n_rows, n_columns):
    names = [f"x{j}" for j in range(n_columns)]
    rng = np.random.default_rng(0)
    with pq.ParquetWriter(path, pa.schema([(name, pa.float64()) for name in names])) as writer:
        for start in range(0, n_rows, ROW_GROUP):
            columns = rng.standard_normal((n_columns, min(ROW_GROUP, n_rows - start))) + 1.0
            writer.write_table(pa.table(list(columns), names=names), row_group_size=ROW_GROUP)


def ours(path):
    moments = tractable.fold(tractable.Moments.of, tractable.scan(path))
    return moments.scatter_about(np.zeros_like(moments.mean))


def read_then_multiply(path):
    table = pq.read_table(path)
    X = np.column_stack([column.to_numpy() for column in table.columns])
    return X.T @ X


def check(mine, theirs):
    """Relative to the largest entry, 1e-11."""
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-11 * np.abs(theirs).max())


ROW = Row(
    name="fold_parquet",
    shows="Mean and scatter from a Parquet file of 1 GB, 4,000,000 × 32, in bounded memory.",
    setup=setup,
    size=(4_000_000, 32),
    dry_size=(1_000, 4),
    ours=ours,
    peers={"read_table, X.T @ X": read_then_multiply},
    check=check,
    targets={"read_table, X.T @ X": within(1.5)},
    memory_limit_mb=400,
    limit="pyarrow's decoding of the columns, and turning columns into rows.",
)
