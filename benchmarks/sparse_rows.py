"""Models of sparse rows, 20,000 × 50,000 with 100 entries each: the data, and how objectives are compared."""

from types import SimpleNamespace

import numpy as np
from scipy.sparse import csr_array

SIZE, DRY_SIZE = (20_000, 50_000, 100), (300, 600, 10)
LIMIT = "products with the stored entries, at the speed at which memory is read."


def rows(size, *, groups=10):
    """Counts with so many entries a row; rows of a group have a third of their columns in common."""
    n, dim, entries = size
    rng, width = np.random.default_rng(8), dim // entries
    group = rng.integers(0, groups, n)
    usual = rng.integers(0, width, (groups, entries))
    column = np.where(rng.random((n, entries)) < 0.3, usual[group], rng.integers(0, width, (n, entries)))
    column += np.arange(entries) * width
    counts = rng.integers(1, 5, n * entries).astype(np.float64)
    start = np.arange(n + 1, dtype=np.int32) * entries
    X = csr_array((counts, column.ravel().astype(np.int32), start), shape=(n, dim))  # scikit-learn's indices
    return X, rng


def regression(size, folder):  # noqa: ARG001  (no files)
    """Rows, and a target that a hundredth of the columns explains, with noise."""
    X, rng = rows(size)
    signal = X @ (rng.standard_normal(X.shape[1]) * (rng.random(X.shape[1]) < 0.01))
    y = signal + 0.5 * signal.std() * rng.standard_normal(len(signal)) + 3.0
    largest = float(np.max(np.abs(X.T @ (y - y.mean())))) / len(y)
    return SimpleNamespace(X=X, y=y, alpha=0.1 * largest)


def classes(size, folder):
    """Rows, and classes of which the signal of `regression` is the log odds."""
    data = regression(size, folder)
    odds = 2.0 * (data.y - data.y.mean()) / data.y.std()
    chance = np.random.default_rng(9).logistic(size=len(odds))
    return SimpleNamespace(X=data.X, y=(odds + chance > 0.0).astype(int))


def squared_error(data, model, *, absolute=0.0, squared=0.0):
    """The objective of a linear model: mean squared error, halved, and penalties."""
    residuals = data.y - model.predict(data.X)
    penalty = absolute * np.abs(model.coef_).sum() + 0.5 * squared * np.sum(model.coef_**2)
    return 0.5 * float(np.mean(residuals**2)) + float(penalty)


def no_worse(rtol):
    """Check that our objective is no larger than the peer's, but for so much."""

    def check(mine, theirs):
        assert mine <= theirs * (1.0 + rtol), f"our objective is {mine!r}, the peer's {theirs!r}"
        np.testing.assert_allclose(mine, theirs, rtol=1e-4)

    return check
