"""The data of classes on which naive Bayes is timed, and its rows of the benchmark."""

from types import SimpleNamespace

import numpy as np
from sklearn import naive_bayes

import tractable
from benchmarks.row import Row, at_least


def row(name, call, *, times, **options):
    """Return a row: a call of GaussianNB beside scikit-learn's, `times` as fast."""
    return Row(
        name=name,
        shows=f"GaussianNB.{call}, 200,000 × 30, 10 classes.",
        setup=classes,
        size=(200_000, 30, 10),
        dry_size=(300, 4, 3),
        targets={"scikit-learn": at_least(times)},
        **options,
    )


def classes(size, folder):  # noqa: ARG001  (no files)
    """Columns of different means and variances in every class; models are fitted once, for probabilities."""
    n_rows, dim, n_classes = size
    rng = np.random.default_rng(5)
    y = rng.integers(0, n_classes, n_rows)
    spread = rng.uniform(0.5, 2.0, (n_classes, dim))
    X = rng.standard_normal((n_rows, dim)) * spread[y] + rng.standard_normal((n_classes, dim))[y]
    ours, peer = tractable.GaussianNB().fit(X, y), naive_bayes.GaussianNB().fit(X, y)
    return SimpleNamespace(X=X, y=y, ours=ours, peer=peer)
