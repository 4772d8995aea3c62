"""Log density of new rows by inducing points of all rows, and by the exact process of some."""

from types import SimpleNamespace

import numpy as np

from benchmarks.row import Row
from tractable.gaussian_process import GaussianProcessRegressor, NystromGaussianProcess
from tractable.kernels import RBF, Scaled, White

#: Rows of the exact process, and new rows.
SOME, NEW = 2_000, 2_000


def setup(size, folder):  # noqa: ARG001  (no files)
    n_rows, n_columns, n_points = size
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows + NEW, n_columns))
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(len(X))
    kernel = Scaled(RBF(np.full(n_columns, 3.0)), 1.5) + White(0.09)
    return SimpleNamespace(
        X=X[NEW:], y=y[NEW:], new=X[:NEW], targets=y[:NEW], n_points=n_points, kernel=kernel
    )


def ours(data):
    model = NystromGaussianProcess(data.kernel, n_inducing=data.n_points, optimizer=None, random_state=0).fit(
        data.X, data.y
    )
    return float(np.mean(model.predict_dist(data.new).log_prob(data.targets)))


def exact(data):
    model = GaussianProcessRegressor(data.kernel, optimizer=None).fit(data.X[:SOME], data.y[:SOME])
    return float(np.mean(model.predict_dist(data.new).log_prob(data.targets)))


def check(mine, theirs):
    """At least the log density of the exact process of 2,000 random rows."""
    assert mine >= theirs


def note(results):
    said = ", ".join(f"{name} {mean:.4f}" for name, mean in results.items())
    return f"Mean log density of {NEW:,} new rows: {said}."


ROW = Row(
    name="gp_nystrom_density",
    shows="Fit at the same hyper-parameters, 50,000 × 8 rows, 500 inducing points, and 2,000 new rows.",
    setup=setup,
    size=(50_000, 8, 500),
    dry_size=(2_500, 3, 40),
    ours=ours,
    peers={"the exact process of 2,000 rows": exact},
    check=check,
    limit="k-means of 20,000 rows, and two products of 50,000 × 500 × 500.",
    note=note,
)
