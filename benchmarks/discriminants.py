"""Gaussian classes, for the rows of the discriminants."""

from types import SimpleNamespace

import numpy as np


def classes(size):
    """Rows of classes that overlap, each with a mean and a covariance of its own."""
    n_rows, dim, n_classes = size
    rng = np.random.default_rng(7)
    y = rng.integers(0, n_classes, n_rows)
    means = rng.standard_normal((n_classes, dim))
    mixing = np.eye(dim) + 0.1 * rng.standard_normal((n_classes, dim, dim)) / np.sqrt(dim)
    X = rng.standard_normal((n_rows, dim))
    for k in range(n_classes):
        X[y == k] = X[y == k] @ mixing[k] + means[k]
    return SimpleNamespace(X=X, y=y, asked=X[:: max(1, n_rows // 1000)], fitted={})


def fitted(model):
    """Fit, and the probabilities of a thousand rows to compare."""

    def learn(data):
        return {"probabilities": model().fit(data.X, data.y).predict_proba(data.asked)}

    return learn


def check(mine, theirs):
    """The same model: probabilities to 1e-8."""
    np.testing.assert_allclose(mine["probabilities"], theirs["probabilities"], atol=1e-8)
