"""Sparse rows in naive Bayes: products with stored entries alone, equal to the dense rows."""

import numpy as np
import pytest
from scipy import sparse

from tractable import BernoulliNB, MultinomialNB
from tractable.data import SparseSource


@pytest.fixture
def counts(rng):
    X = np.where(rng.random((200, 30)) < 0.2, rng.integers(1, 5, (200, 30)), 0).astype(float)
    return X, rng.integers(0, 3, 200)


@pytest.fixture
def no_dense_blocks(monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("sparse rows were made dense")

    monkeypatch.setattr(SparseSource, "blocks", refuse)


MODELS = [MultinomialNB(), MultinomialNB(alpha=0.0), BernoulliNB(), BernoulliNB(binarize=1.5)]


@pytest.mark.usefixtures("no_dense_blocks")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array])
def test_they_are_the_dense_answers(model, weighted, kind, counts, rng):
    X, y = counts
    w = rng.integers(0, 3, 200).astype(float) if weighted else None
    want = model.fit(X, y, w)
    log_prob, p = want.feature_log_prob_, want.predict_proba(X)
    statistic, count = want.statistic_, want.feature_count_
    found = model.fit(kind(X), y, w)
    np.testing.assert_allclose(found.feature_log_prob_, log_prob, rtol=1e-12)
    np.testing.assert_allclose(found.feature_count_, count, rtol=1e-12)
    np.testing.assert_allclose(found.predict_proba(kind(X)), p, rtol=1e-9, atol=1e-12)
    assert statistic.labels.tolist() == found.statistic_.labels.tolist()
    both = found.statistic_ + statistic
    np.testing.assert_allclose(both.weight, 2.0 * statistic.weight)


@pytest.mark.parametrize(("model", "rows"), [(BernoulliNB(binarize=-1.0), None), (MultinomialNB(), np.nan)])
def test_where_zeros_are_no_zeros_blocks_are_read(model, rows, counts):
    X, y = counts
    X = X.copy()
    if rows is not None:
        X[0, :3] = rows
    want = model.fit(X, y).feature_log_prob_
    np.testing.assert_allclose(model.fit(sparse.csr_matrix(X), y).feature_log_prob_, want, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(sparse.csr_matrix(X)), model.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_entries_stored_in_parts_are_added(model, counts):
    X, y = counts
    coo = sparse.coo_matrix(X)
    where = (np.tile(coo.row, 2), np.tile(coo.col, 2))
    parts = sparse.csr_matrix(X.shape)
    whole = sparse.coo_matrix((np.concatenate([coo.data - 0.5, np.full(coo.nnz, 0.5)]), where), X.shape)
    order = np.argsort(where[0], kind="stable")
    parts.data, parts.indices = whole.data[order], where[1][order].astype(np.int32)
    parts.indptr = np.concatenate([[0], np.cumsum(np.bincount(where[0], minlength=len(X)))]).astype(np.int32)
    want = model.fit(X, y).feature_log_prob_
    np.testing.assert_allclose(model.fit(parts, y).feature_log_prob_, want, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(parts), model.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_bad_rows(counts):
    X, y = counts
    for bad in (-X, np.where(X > 3.0, np.inf, X)):
        with pytest.raises(ValueError, match="X"):
            MultinomialNB().fit(sparse.csr_matrix(bad), y)
    with pytest.raises(ValueError, match="rows"):
        MultinomialNB().fit(sparse.csr_matrix(X), y[:-1])
    fitted = MultinomialNB().fit(sparse.csr_matrix(X), y)
    with pytest.raises(ValueError, match="X"):
        fitted.predict(sparse.csr_matrix(X[:, :-1]))
