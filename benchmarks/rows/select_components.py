"""The choice of a mixture among 36."""

import warnings
from types import SimpleNamespace

import numpy as np
from sklearn.mixture import GaussianMixture

import tractable
from benchmarks.row import Row, no_slower

KINDS = ("full", "tied", "diag", "spherical")


def setup(size, folder):  # noqa: ARG001  (no files)
    n, dim, most = size
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(3.0 * k, 1.0, (n // 4, dim)) for k in range(4)])
    return SimpleNamespace(X=X, numbers=range(1, most + 1))


def quietly(fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit()


def ours(data):
    found = quietly(lambda: tractable.select_components(data.X, data.numbers))
    return SimpleNamespace(best=found.best, bic=float(found.scores["bic"].min()))


def sklearns(data):
    """Three starts of every mixture (we have six), to the same tolerance."""
    given = {"n_init": 3, "random_state": 0, "tol": 1e-4}
    fits = {
        (number, kind): quietly(
            lambda number=number, kind=kind: (
                GaussianMixture(number, covariance_type=kind, **given).fit(data.X).bic(data.X)
            )
        )
        for kind in KINDS
        for number in data.numbers
    }
    best = min(fits, key=fits.get)
    return SimpleNamespace(best=best, bic=fits[best])


def check(mine, theirs):
    """The same choice, with a criterion no worse by 1e-4 of itself."""
    assert mine.best == theirs.best
    assert mine.bic <= theirs.bic + 1e-4 * abs(theirs.bic)


ROW = Row(
    name="select_components",
    shows="Components of a Gaussian mixture by BIC: 1 to 9 of four shapes, 2,000 × 5 rows.",
    setup=setup,
    size=(2000, 5, 9),
    dry_size=(120, 2, 2),
    ours=ours,
    peers={"scikit-learn": sklearns},
    check=check,
    targets={"scikit-learn": no_slower()},
    limit="exponentials and products of the E-steps, of all mixtures of a shape side by side.",
)
