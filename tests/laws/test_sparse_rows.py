"""Sparse rows: the law on every estimator of the catalogue, and the planted bugs that it rejects."""

import numpy as np
import pytest

from catalogue import ESTIMATORS, cross
from tractable import PCA, KMeans, Lasso, LogisticRegression
from tractable.primitives.sparse_rows import StandardizedSparse
from tractable.testing.sparse_laws import (
    SPARSE_LAWS,
    sparse_rows_are_the_dense_rows,
    wide_sparse_rows_are_the_dense_rows,
)

TAKERS = [row for row in ESTIMATORS if row.make().__sklearn_tags__().input_tags.sparse]
OTHERS = [row for row in ESTIMATORS if row not in TAKERS]
KINDS = [type(row.make()) for row in TAKERS]
FIRST = [row for i, row in enumerate(TAKERS) if KINDS.index(KINDS[i]) == i]


def test_the_models_of_large_tables_of_words_take_them():
    named = {type(row.make()).__name__ for row in TAKERS}
    assert named >= {
        *("MultinomialNB", "BernoulliNB", "LinearRegression", "Ridge", "RidgeCV", "Lasso", "ElasticNet"),
        *("LassoCV", "ElasticNetCV", "LogisticRegression", "LogisticRegressionCV", "KMeans", "PCA"),
    }


@pytest.mark.parametrize(("law", "make"), cross(SPARSE_LAWS[:1], TAKERS + OTHERS))
def test_sparse_law(law, make, rng):
    law(make(), rng)


@pytest.mark.parametrize(("law", "make"), cross(SPARSE_LAWS[1:], FIRST))
def test_wide_sparse_law(law, make, rng):
    law(make(), rng)


def times_without_centring(self, v):
    """Products of the rows as they are stored: the shift is forgotten."""
    first, v = (v[0], v[1:]) if self.intercept else (0.0, v)
    v = v if self.scale is None else (v.T * self.scale).T
    return self.X @ v + first


def gram_without_centring(self, other):
    """The same mistake in products of columns with each other."""
    return (self.X.T @ other.X).toarray()


def sums_of_stored_entries(self, of, r):
    """Entries that are not stored taken for nothing, where they are minus the mean."""
    stored = of(self.X.data - self.shift[self.X.indices])
    total = r.sum(axis=-1)[..., None]
    found = (type(self.X)((stored, self.X.indices, self.X.indptr), shape=self.X.shape).T @ r.T).T
    return np.concatenate([total, found], axis=-1) if self.intercept else found


@pytest.mark.parametrize(
    ("law", "model", "method", "planted"),
    [
        (
            sparse_rows_are_the_dense_rows,
            LogisticRegression(l1_ratio=0.5, max_iter=9),
            "__matmul__",
            times_without_centring,
        ),
        (sparse_rows_are_the_dense_rows, PCA(2), "gram", gram_without_centring),
        (wide_sparse_rows_are_the_dense_rows, PCA(2), "__matmul__", times_without_centring),
        (wide_sparse_rows_are_the_dense_rows, Lasso(0.05), "gram", gram_without_centring),
        (wide_sparse_rows_are_the_dense_rows, PCA(2), "column_sums", sums_of_stored_entries),
    ],
)
def test_forgotten_centring_is_rejected(law, model, method, planted, rng, monkeypatch):
    monkeypatch.setattr(StandardizedSparse, method, planted)
    with pytest.raises(AssertionError):
        law(model, rng)


class DenseAlone(KMeans):
    """Sparse rows made dense, and their weights forgotten on the way."""

    def fit(self, X, y=None, sample_weight=None):
        held = X.toarray() if hasattr(X, "toarray") else X
        return super().fit(held, sample_weight=None if hasattr(X, "toarray") else sample_weight)


class Silent(Lasso):
    """A model that says it takes dense rows alone, and takes sparse ones."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X.toarray() if hasattr(X, "toarray") else X, y, sample_weight)


@pytest.mark.parametrize("planted", [DenseAlone(3, random_state=0), Silent(0.1)])
def test_planted_models_are_rejected(planted, rng):
    with pytest.raises(AssertionError):
        sparse_rows_are_the_dense_rows(planted, rng)
