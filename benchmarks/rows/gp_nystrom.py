"""The bound of a Gaussian process through inducing points, with its gradient."""

from types import SimpleNamespace

import numpy as np

from benchmarks.row import Row, within
from tractable.data import as_source
from tractable.gaussian_process.posteriors.inducing_points import lower_bound
from tractable.kernels import RBF, Scaled

NOISE = 0.1
BLOCK = 2_000


def setup(size, folder):  # noqa: ARG001  (no files)
    n_rows, n_columns, n_points = size
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns))
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n_rows)
    kernel = Scaled(RBF(np.full(n_columns, 2.0)), 1.5)
    return SimpleNamespace(X=X, y=y, points=X[:n_points], kernel=kernel, source=as_source(X, y, None))


def ours(data):
    found, _, _ = lower_bound(data.kernel, NOISE, data.points, data.source, 0.0)
    return found.lower_bound


def products(data):
    """The kernel between all rows and the points, and the product K_MN K_NM, and nothing else."""
    total = np.zeros((len(data.points), len(data.points)))
    for a in range(0, len(data.X), BLOCK):
        cross = data.kernel(data.X[a : a + BLOCK], data.points)
        total += cross.T @ cross
    return total


def check(mine, theirs):
    """The product alone has no bound to compare."""
    assert np.isfinite(mine)
    assert np.all(np.isfinite(theirs))


ROW = Row(
    name="gp_nystrom",
    shows="The variational bound with its gradient: 50,000 × 8 rows, 500 inducing points.",
    setup=setup,
    size=(50_000, 8, 500),
    dry_size=(200, 3, 10),
    ours=ours,
    peers={"the matrix products alone": products},
    check=check,
    targets={"the matrix products alone": within(6.0)},
    limit="three products of 50,000 × 500 × 500, a triangular system, and the kernel twice.",
    reason="Measured while the interpreter's lock made threads solve triangular systems one after the other: "
    "the work itself is five times the processor time of the products.",
)
