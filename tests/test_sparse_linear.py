"""Sparse rows in linear and ridge regression: the dense answers, from stored entries alone."""

import numpy as np
import pytest
from scipy import sparse

import tractable
from tractable import LinearRegression, Ridge
from tractable.data import SparseSource
from tractable.linear_model.sparse_rows import GRAM_COLUMNS

WIDE = GRAM_COLUMNS + 100
MODELS = [LinearRegression(), Ridge(0.5), Ridge(2.0, fit_intercept=False)]


def rows(rng, n, d, density):
    X = sparse.random(n, d, density, format="csr", rng=rng)
    return X, X @ rng.standard_normal(d) + rng.standard_normal(n) + 3.0


@pytest.fixture
def no_dense_rows(monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("sparse rows were made dense")

    monkeypatch.setattr(SparseSource, "blocks", refuse)
    square = sparse.csr_matrix.toarray

    def products_alone(self, *args, **options):
        assert self.shape[0] == self.shape[1] <= GRAM_COLUMNS, "sparse rows were made dense"
        return square(self, *args, **options)

    for kind in (sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array):
        monkeypatch.setattr(kind, "toarray", products_alone)
        monkeypatch.setattr(kind, "todense", refuse)


@pytest.mark.usefixtures("no_dense_rows")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(200, 12, 0.3), (60, WIDE, 0.02)])
@pytest.mark.parametrize("weighted", [False, True])
def test_they_are_the_dense_answers(model, shape, weighted, rng):
    X, y = rows(rng, *shape)
    dense = np.zeros(X.shape)
    dense[np.repeat(np.arange(len(y)), np.diff(X.indptr)), X.indices] = X.data
    w = rng.integers(0, 3, len(y)).astype(float) if weighted else None
    want = model.fit(dense, y, w)
    coef, intercept, fitted = want.coef_, want.intercept_, want.predict(dense)
    for made in (X, sparse.csc_array(X)):
        found = model.fit(made, y, w)
        np.testing.assert_allclose(found.coef_, coef, rtol=1e-8, atol=1e-8 * np.abs(coef).max())
        np.testing.assert_allclose(found.intercept_, intercept, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(found.predict(made), fitted, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(found.predict(dense), fitted, rtol=1e-8, atol=1e-8)


def test_narrow_rows_have_all_that_dense_ones_have(rng):
    X, y = rows(rng, 300, 8, 0.4)
    want, found = LinearRegression().fit(X.toarray(), y), LinearRegression().fit(X, y)
    np.testing.assert_allclose(found.coef_std_errors_, want.coef_std_errors_, rtol=1e-9)
    np.testing.assert_allclose(found.noise_variance_, want.noise_variance_, rtol=1e-9)
    np.testing.assert_allclose(
        found.predict(X, return_std=True)[1], want.predict(X.toarray(), True)[1], rtol=1e-9
    )
    np.testing.assert_allclose(found.summary().p_values, want.summary().p_values, rtol=1e-6, atol=1e-12)
    halves = LinearRegression().partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    np.testing.assert_allclose(halves.coef_, want.coef_, rtol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_nearly_dependent_and_empty_columns_keep_their_digits(model, rng):
    X, y = rows(rng, 200, 6, 0.5)
    nearly = X[:, [0]] + 1e-6 * sparse.random(200, 1, 0.5, format="csr", rng=rng)
    X = sparse.hstack([X, nearly, sparse.csr_matrix((200, 1))], format="csr")
    want = model.fit(X.toarray(), y).coef_
    np.testing.assert_allclose(model.fit(X, y).coef_, want, rtol=1e-8, atol=1e-8 * np.abs(want).max())


def test_several_targets_and_entries_stored_in_parts(rng):
    X, y = rows(rng, 50, WIDE, 0.02)
    targets = np.stack([y, rng.standard_normal(50)], axis=1)
    coo = X.tocoo()
    parts = sparse.coo_matrix((np.tile(coo.data / 2, 2), (np.tile(coo.row, 2), np.tile(coo.col, 2))), X.shape)
    want, found = Ridge(1.0).fit(X.toarray(), targets), Ridge(1.0).fit(parts, targets)
    np.testing.assert_allclose(found.coef_, want.coef_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.score(X, targets), want.score(X.toarray(), targets), rtol=1e-8)


def test_wide_rows_say_what_they_have_not(rng):
    X, y = rows(rng, 30, WIDE, 0.02)
    model = Ridge().fit(X, y)
    for ask in (lambda: model.coef_std_errors_, model.coef_interval, lambda: model.predict_var(X)):
        with pytest.raises(AttributeError, match="sparse with more than"):
            ask()
    with pytest.raises(ValueError, match="fit all rows at once"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="iteration"):
        Ridge().partial_fit(X, y)
    with pytest.raises(ValueError, match="noise_variance"):
        Ridge().fit(X, y, noise_variance=np.ones(30))
    with pytest.raises(ValueError, match="penalize_intercept"):
        Ridge(penalize_intercept=True).fit(X, y)


@pytest.mark.parametrize("width", [5, WIDE])
def test_bad_rows(width, rng):
    X, y = rows(rng, 30, width, 0.2)
    bad = X.copy()
    bad.data[0] = np.nan
    with pytest.raises(ValueError, match="X contains NaN"):
        Ridge().fit(bad, y)
    with pytest.raises(ValueError, match="y"):
        Ridge().fit(X, y[:-1])
    with pytest.raises(ValueError, match="y"):
        Ridge().fit(X, np.where(y > 3.0, np.nan, y))
    with pytest.raises(ValueError, match="sample_weight"):
        Ridge().fit(X, y, np.zeros(30))
    with pytest.raises(ValueError, match="X"):
        Ridge().fit(X, y).predict(X[:, :-1])


@pytest.mark.parametrize(
    "model", [tractable.GaussianMixture(2), tractable.LassoLars(), tractable.GaussianNB()]
)
def test_other_models_refuse_them_and_say_what_to_do(model, rng):
    X = sparse.random(40, 5, 0.5, format="csr", rng=rng)
    with pytest.raises(ValueError, match="toarray"):
        model.fit(X, rng.integers(0, 2, 40))
