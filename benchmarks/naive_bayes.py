"""The rows of classes on which naive Bayes is timed."""

from types import SimpleNamespace

import numpy as np
from sklearn import naive_bayes

import tractable


def classes(size, folder):  # noqa: ARG001  (no files)
    """Columns of different means and variances in every class; models are fitted once, for probabilities."""
    n_rows, dim, n_classes = size
    rng = np.random.default_rng(5)
    y = rng.integers(0, n_classes, n_rows)
    spread = rng.uniform(0.5, 2.0, (n_classes, dim))
    X = rng.standard_normal((n_rows, dim)) * spread[y] + rng.standard_normal((n_classes, dim))[y]
    ours, peer = tractable.GaussianNB().fit(X, y), naive_bayes.GaussianNB().fit(X, y)
    return SimpleNamespace(X=X, y=y, ours=ours, peer=peer)
