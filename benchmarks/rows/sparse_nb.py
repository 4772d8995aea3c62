"""Naive Bayes of sparse counts: fit and prediction."""

from types import SimpleNamespace

import numpy as np
from scipy.sparse import csr_array
from sklearn import naive_bayes

import tractable
from benchmarks.row import Row, at_least


def setup(size, folder):  # noqa: ARG001  (no files)
    """Rows of counts with so many entries each, and their classes."""
    n_rows, dim, entries = size
    rng = np.random.default_rng(8)
    columns = np.arange(entries) * (dim // entries) + rng.integers(0, dim // entries, (n_rows, entries))
    counts = rng.integers(1, 5, n_rows * entries).astype(np.float64)
    X = csr_array((counts, columns.ravel(), np.arange(n_rows + 1) * entries), shape=(n_rows, dim))
    return SimpleNamespace(X=X, y=rng.integers(0, 3, n_rows))


def fitted(library):
    def run(data):
        found = []
        for make in (library.MultinomialNB, library.BernoulliNB):
            model = make().fit(data.X, data.y)
            found.append((model.feature_log_prob_, model.predict(data.X)))
        return found

    return run


def check(mine, theirs):
    for (log_prob, labels), (wanted, wanted_labels) in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(log_prob, wanted, rtol=1e-10)
        np.testing.assert_array_equal(labels, wanted_labels)


ROW = Row(
    name="sparse_nb",
    shows="MultinomialNB and BernoulliNB, fit and predict, sparse rows, 20,000 × 50,000, 100 entries each.",
    setup=setup,
    size=(20_000, 50_000, 100),
    dry_size=(200, 300, 10),
    ours=fitted(tractable),
    peers={"scikit-learn": fitted(naive_bayes)},
    check=check,
    targets={"scikit-learn": at_least(1.0)},
    limit="one walk over the stored entries a fit, and SciPy's product of them with the log-probabilities.",
)
