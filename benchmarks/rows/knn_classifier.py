"""Classification by neighbours."""

from types import SimpleNamespace

import numpy as np
from sklearn import neighbors

import tractable
from benchmarks.row import Row, at_least

K = 15  # odd, so that two classes cannot tie


def problem(size, folder):  # noqa: ARG001  (no files)
    """Two classes parted by a parabola, with noise; the rows are kept beforehand, for prediction is timed."""
    n_rows, n_asked, dim = size
    rng = np.random.default_rng(3)
    X, asked = rng.standard_normal((n_rows, dim)), rng.standard_normal((n_asked, dim))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.standard_normal(n_rows) > 1.0).astype(int)
    return SimpleNamespace(X=X, y=y, asked=asked, fitted={})


def predicted(name, model):
    """Classes, by a model fitted at the first call."""

    def predict(data):
        if name not in data.fitted:
            data.fitted[name] = model().fit(data.X, data.y)
        found = data.fitted[name]
        return {"classes": found.predict(data.asked)}

    return predict


def check(mine, theirs):
    np.testing.assert_array_equal(mine["classes"], theirs["classes"])


def sklearns(algorithm):
    return predicted(algorithm, lambda: neighbors.KNeighborsClassifier(K, algorithm=algorithm, n_jobs=-1))


ROW = Row(
    name="knn_classifier",
    shows="KNeighborsClassifier(15).predict of 5,000 rows, 20,000 × 8 kept.",
    setup=problem,
    size=(20_000, 5_000, 8),
    dry_size=(300, 50, 8),
    ours=predicted("ours", lambda: tractable.KNeighborsClassifier(K)),
    peers={"scikit-learn kd_tree": sklearns("kd_tree"), "scikit-learn brute": sklearns("brute")},
    check=check,
    targets={"scikit-learn kd_tree": at_least(2.0), "scikit-learn brute": at_least(1.5)},
    limit="the search: nodes opened and points measured; votes are a twentieth.",
)
