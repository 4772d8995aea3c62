"""Least squares on two workers of Dask."""

import numpy as np

import tractable
from benchmarks.cluster import held_by_workers
from benchmarks.row import Row, at_least


def setup(size, folder):  # noqa: ARG001
    from distributed import wait

    X = held_by_workers(*size)
    y = (X @ np.arange(1.0, size[1] + 1) + X[:, 0] ** 2).persist()
    wait(y)
    return X, y


def ours(data):
    return tractable.LinearRegression(fit_intercept=False).fit(*data).coef_


def lstsq(data):
    import dask.array as da

    return da.linalg.lstsq(*data)[0].compute()


def check(mine, theirs):
    """The coefficients, to 1e-9."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-9)


ROW = Row(
    name="dask_linear",
    shows="LinearRegression, 10,000,000 × 20, rows in the memory of two workers of Dask.",
    setup=setup,
    size=(10_000_000, 20),
    dry_size=(2_000, 4),
    ours=ours,
    peers={"dask.array.linalg.lstsq": lstsq},
    check=check,
    targets={"dask.array.linalg.lstsq": at_least(2)},
    memory=False,
    limit="the triangular factors of the blocks; lstsq makes an orthogonal factor of all rows as well.",
)
