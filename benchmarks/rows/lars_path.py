"""The exact path of the lasso, every knot."""

import numpy as np
from sklearn.linear_model import lars_path

import tractable
from benchmarks.lasso import problem
from benchmarks.row import Row, within


def ours(data):
    path = tractable.lars_path(data.X, data.y, alpha_min=data.alphas[-1], fit_intercept=False)
    return path.alphas, path.coefs


def scikit_learns(data):
    alphas, _, coefs = lars_path(
        data.X, data.y, method="lasso", alpha_min=data.alphas[-1], max_iter=100_000, copy_X=True
    )
    return alphas, coefs


def check(mine, theirs):
    """The same knots; coefficients to 1e-9 of the largest."""
    np.testing.assert_allclose(mine[0], theirs[0], rtol=1e-9)
    np.testing.assert_allclose(mine[1], theirs[1], rtol=0, atol=1e-9 * np.abs(theirs[1]).max())


ROW = Row(
    name="lars_path",
    shows="Every knot of the lasso down to 0.03 of the largest penalty on 1,000 × 5,000.",
    setup=problem,
    size=(1_000, 5_000, 50, 0.03),
    dry_size=(40, 60, 5, 0.1),
    ours=ours,
    peers={"scikit-learn": scikit_learns},
    check=check,
    targets={"scikit-learn": within(1.0)},
    limit="reading all columns once a knot.",
)
