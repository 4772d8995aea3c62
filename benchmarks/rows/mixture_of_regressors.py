"""Ten EM iterations of a mixture of three regressions, from the same planes."""

import warnings
from types import SimpleNamespace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import tractable
from benchmarks.row import Row, at_least

N_PLANES, N_ITER = 3, 10


def setup(size, folder):  # noqa: ARG001  (no files)
    n_rows, dim = size
    rng = np.random.default_rng(0)
    X, coef = rng.standard_normal((n_rows, dim)), rng.standard_normal((N_PLANES, dim))
    y = np.sum(X * coef[rng.integers(N_PLANES, size=n_rows)], axis=1) + 0.5 * rng.standard_normal(n_rows)
    return SimpleNamespace(X=X, y=y, coef=coef + 0.1)


def ours(data):
    model = tractable.MixtureOfRegressors(N_PLANES, coef_init=data.coef, tol=0.0, max_iter=N_ITER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # ten iterations, settled or not
        model.fit(data.X, data.y)
    return np.column_stack([model.intercept_, model.coef_])


def straightforward(data):
    """The formulas as they are written: responsibilities, weighted least squares, noise and shares.

    No kept library has this model, so the peer is NumPy's own least squares in a loop.
    """
    phi, y = np.column_stack([np.ones(len(data.y)), data.X]), data.y
    planes, shares = np.column_stack([np.zeros(N_PLANES), data.coef]), np.full(N_PLANES, 1.0 / N_PLANES)
    alone = np.linalg.lstsq(phi, y, rcond=None)[0]
    noise = np.mean((y - phi @ alone) ** 2)
    for _ in range(N_ITER):
        log_joint = np.log(shares) - 0.5 * (y[:, None] - phi @ planes.T) ** 2 / noise
        joint = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
        gamma = joint / joint.sum(axis=1, keepdims=True)
        roots = np.sqrt(gamma)
        planes = np.stack(
            [np.linalg.lstsq(r[:, None] * phi, r * y, rcond=None)[0] for r in roots.T],
        )
        noise = np.sum(gamma * (y[:, None] - phi @ planes.T) ** 2) / len(y)
        shares = gamma.mean(axis=0)
    return planes


def check(mine, theirs):
    """The same iterations: relative 1e-8."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-8)


ROW = Row(
    name="mixture_of_regressors",
    shows="Ten EM iterations of three planes over 200,000 × 8 rows: weighted moments in cache-sized blocks.",
    setup=setup,
    size=(200_000, 8),
    dry_size=(4_000, 2),
    ours=ours,
    peers={"NumPy": straightforward},
    check=check,
    targets={"NumPy": at_least(3.0)},
    limit="moments of each component, K n d² operations an iteration, and K n exponentials, in cache.",
)
