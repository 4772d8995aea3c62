"""What the rows of the lasso share: data, contenders, and the certificate of their answers."""

import warnings
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
from sklearn.linear_model import lasso_path

import tractable
from benchmarks.row import Row

TOL = 1e-6
N_ALPHAS = 100


def problem(size, folder):  # noqa: ARG001  (no files)
    """Gaussian columns, some of which tell; `size` is rows, columns, those that tell and smallest penalty."""
    n_rows, n_columns, told, eps = size
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.standard_normal((n_rows, n_columns)))
    y = X[:, :told] @ rng.standard_normal(told)
    y += 0.3 * y.std() * rng.standard_normal(n_rows)
    top = np.abs(X.T @ y).max() / n_rows
    return SimpleNamespace(X=X, y=y, alphas=np.geomspace(top, eps * top, N_ALPHAS))


def ours(data):
    path = tractable.lasso_path(data.X, data.y, alphas=data.alphas, fit_intercept=False, tol=TOL)
    return data, path.coefs


def scikit_learns(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of penalties it gives up on: the certificate tells
        return data, lasso_path(data.X, data.y, alphas=data.alphas, tol=TOL, max_iter=10_000)[1]


def celers(data):
    from celer import celer_path

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return data, celer_path(data.X, data.y, "lasso", alphas=data.alphas, tol=TOL, max_iter=50)[1]


def largest_gap(data, coefs):
    """Largest duality gap along the path, relative to |y|²: an independent certificate."""
    penalties = data.alphas * len(data.y)
    left = data.y[:, None] - data.X @ coefs
    share = np.minimum(1.0, penalties / np.abs(data.X.T @ left).max(axis=0))
    rest = np.einsum("ij,ij->j", left, left)
    primal = 0.5 * rest + penalties * np.abs(coefs).sum(axis=0)
    return ((primal + 0.5 * share**2 * rest - share * (data.y @ left)) / (data.y @ data.y)).max()


def check(mine, theirs):
    """Ours has a gap of 1e-6 at most. The peer is asked for as much, and forgiven up to 1e-4."""
    assert largest_gap(*mine) <= TOL * 1.001
    assert largest_gap(*theirs) <= 100 * TOL


def row(*, name, shows, size, targets, limit, peers=("scikit-learn", "celer")):
    """Return a row; celer is a peer where it is installed."""
    contenders = {"scikit-learn": scikit_learns, "celer": celers}
    here = [peer for peer in peers if peer != "celer" or find_spec("celer")]
    return Row(
        name=name,
        shows=shows,
        setup=problem,
        size=size,
        dry_size=(40, 60, 5, 0.1),
        ours=ours,
        peers={peer: contenders[peer] for peer in here},
        check=check,
        targets=targets,
        limit=limit,
        absent=[peer for peer in peers if peer not in here],
    )
