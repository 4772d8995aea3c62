"""First rows that are unlike the others do not decide that all rows get a QR, not products of columns."""

import numpy as np
import pytest

import tractable
from tractable.linear_model import rows as linear_rows

N = 60_000


def table(case, rng):
    X, w = rng.standard_normal((N, 12)), None
    if case == "weights":
        w = np.ones(N)
        w[:60], w[3] = 0.0, 1.0
    elif case == "sorted groups":
        X = np.column_stack([X[:, :5], np.eye(12)[np.sort(rng.integers(0, 12, N))][:, 1:]])
    else:
        X[:60, 1] = X[:60, 0]
    return X, X.sum(axis=1) + rng.standard_normal(N), w


@pytest.mark.parametrize("case", ["weights", "sorted groups", "equal columns"])
def test_products_of_columns_are_enough(case, rng, monkeypatch):
    X, y, w = table(case, rng)
    order = rng.permutation(N)
    known = tractable.LinearRegression().fit(
        X[order], y[order], sample_weight=None if w is None else w[order]
    )

    def refuse(rows):
        raise AssertionError("all rows get a QR")

    monkeypatch.setattr(linear_rows, "_factor_of_rows", refuse)
    found = tractable.LinearRegression().fit(X, y, sample_weight=w)
    np.testing.assert_allclose(found.coef_, known.coef_, rtol=0.0, atol=1e-12)


def test_few_rows_that_count_get_a_qr(rng):
    X, w = rng.standard_normal((N, 12)), np.zeros(N)
    w[-20:] = 1.0
    y = X.sum(axis=1) + rng.standard_normal(N)
    known = tractable.LinearRegression().fit(X[-20:], y[-20:])
    found = tractable.LinearRegression().fit(X, y, sample_weight=w)
    np.testing.assert_allclose(found.coef_, known.coef_, rtol=0.0, atol=1e-11)
