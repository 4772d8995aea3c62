"""The triangular factor of tall data."""

from types import SimpleNamespace

import numpy as np

import tractable
from benchmarks.row import Row, at_least
from tractable.statistics import LinearFactor


def setup(size, folder):  # noqa: ARG001  (no files)
    n_rows, dim = size
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, dim)) @ (np.eye(dim) + 0.2 * rng.standard_normal((dim, dim)))
    # The statistic is of centred columns, with their target; numpy is given them, and need not make them.
    X -= X.mean(axis=0)
    y = X @ rng.standard_normal(dim) + rng.standard_normal(n_rows)
    y -= y.mean()
    return SimpleNamespace(X=X, y=y, both=np.column_stack([X, y]))


def ours(data):
    return tractable.fold(LinearFactor.of, data.X, data.y).factor


def numpys(data):
    return np.linalg.qr(data.both, mode="r")


def check(mine, theirs):
    """Up to the signs of rows, 1e-11 of the largest entry."""
    theirs = theirs * np.sign(np.diagonal(theirs))[:, None]
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-11 * np.abs(theirs).max())


ROW = Row(
    name="tsqr",
    shows="Triangular factor of 200,000 × 50 and a target, centred, in one pass.",
    setup=setup,
    size=(200_000, 50),
    dry_size=(1_000, 4),
    ours=ours,
    peers={"numpy.linalg.qr": numpys},
    check=check,
    targets={"numpy.linalg.qr": at_least(3.0)},
    limit="Householder reflections, 2 n d² operations, in cache.",
)
