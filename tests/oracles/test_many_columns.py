"""Linear models of more than 512 columns: products of blocks, and ridge regression, against a QR."""

import pickle

import numpy as np
import pytest

import tractable
from quick import some
from tractable.statistics import LinearFactor

N_COLUMNS = 520


def table(n_rows, kind):
    """Return rows, targets and weights, or None for these."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, N_COLUMNS))
    X[:, 1:] += 0.5 * X[:, :-1]
    weights = None
    if kind == "unlike units":
        X *= 10.0 ** rng.uniform(-3.0, 3.0, N_COLUMNS)
    if kind == "far":
        X += 1e7
    if kind == "constant":
        X[:, [3, 200]] = 0.1
    if kind == "nearly dependent":
        X[:, 7] = X[:, 5] + 1e-6 * X[:, 7]
    if kind == "weights":
        weights = rng.uniform(0.0, 3.0, n_rows) * (rng.random(n_rows) < 0.8)
    y = (X - X.mean(axis=0)) @ (rng.standard_normal(N_COLUMNS) / X.std(axis=0).clip(1e-9))
    return X, y + rng.standard_normal(n_rows), weights


def stacked(X, y, weights, alpha):
    """Return centred rows and targets with √α I below, in extended precision."""
    X, y = np.asarray(X, dtype=np.longdouble), np.asarray(y, dtype=np.longdouble)
    w = np.ones(len(y), dtype=np.longdouble) if weights is None else np.asarray(weights, dtype=np.longdouble)
    X, y = X - w @ X / w.sum(), y - w @ y / w.sum()
    X, y = X * np.sqrt(w)[:, None], y * np.sqrt(w)
    root = np.sqrt(np.longdouble(alpha)) * np.eye(N_COLUMNS, dtype=np.longdouble)
    return np.vstack([X, root]), np.append(y, np.zeros(N_COLUMNS, dtype=np.longdouble))


def solved(A, z):
    """Return the coefficients of a QR in double precision, and refined by residuals in extended precision."""
    lengths = np.sqrt((A * A).sum(axis=0))
    Q, R = np.linalg.qr((A / lengths).astype(np.float64))
    plain = np.linalg.solve(R, Q.T @ z.astype(np.float64))
    w = plain / lengths
    for _ in range(6):
        gradient = (A.T @ (z - A @ w)) / lengths
        w = w + np.linalg.solve(R, np.linalg.solve(R.T, gradient.astype(np.float64))) / lengths
    return plain / lengths, w, lengths


def distance(w, exact, lengths):
    return float(np.linalg.norm(lengths * (w - exact)) / np.linalg.norm(lengths * exact))


KINDS = ["plain", "unlike units", "far", "constant", "nearly dependent", "weights"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("alpha", "rows_a_column"), [(1.0, 8), *some([(1e-3, 17), (30.0, 3.01)], 0, several=True)]
)
def test_ridge_has_the_digits_of_a_qr(kind, alpha, rows_a_column):
    X, y, weights = table(int(rows_a_column * N_COLUMNS), kind)
    model = tractable.Ridge(alpha=alpha).fit(X, y, sample_weight=weights)
    plain, exact, lengths = solved(*stacked(X, y, weights, alpha))
    assert distance(model.coef_, exact, lengths) <= 5.0 * distance(plain, exact, lengths) + 1e-14


@pytest.mark.parametrize("kind", ["far", "weights"])
def test_least_squares_has_the_digits_of_a_qr(kind):
    X, y, weights = table(8 * N_COLUMNS, kind)
    model = tractable.LinearRegression().fit(X, y, sample_weight=weights)
    plain, exact, lengths = solved(*stacked(X, y, weights, 0.0))
    assert distance(model.coef_, exact, lengths) <= 5.0 * distance(plain, exact, lengths) + 1e-14


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_many_columns_do_not_depend_on_threads(monkeypatch, weighted):
    X, y, weights = table(3 * N_COLUMNS, "weights" if weighted else "far")
    found = []
    for n_threads in ("1", "3"):
        monkeypatch.setenv("TRACTABLE_NUM_THREADS", n_threads)
        found.append(LinearFactor.moments_of(X, y, weights))
    np.testing.assert_array_equal(found[0].scatter, found[1].scatter)
    np.testing.assert_array_equal(found[0].mean, found[1].mean)
    A, z = stacked(X, y, weights, 0.0)
    both = np.column_stack([A, z])[: len(X)]
    lengths = np.sqrt((both * both).sum(axis=0))
    correlations = (both.T @ (both[:, ::100] / lengths[::100])) / lengths[:, None]
    own = found[0].scatter[:, ::100] / lengths[::100] / lengths[:, None]
    np.testing.assert_allclose(own, correlations, atol=2e-15)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_entries_that_are_not_finite_are_refused_without_warnings(bad):
    X, y, _ = table(4 * N_COLUMNS, "plain")
    X[-1, 4] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        tractable.Ridge().fit(X, y)


def test_leverages_and_errors_of_many_columns_are_those_of_the_inverse():
    X, y, _ = table(8 * N_COLUMNS, "plain")
    model = tractable.Ridge().fit(X, y)
    columns = model.statistic_.factor[:, :N_COLUMNS]
    inverse = np.linalg.inv(columns.T @ columns + np.eye(N_COLUMNS))
    some_rows = X[:5]
    centred = some_rows - X.mean(axis=0)
    expected = 1.0 / len(X) + np.einsum("ij,jk,ik->i", centred, inverse, centred)
    for each in (model, pickle.loads(pickle.dumps(model))):
        np.testing.assert_allclose(each.leverage(some_rows), expected, rtol=1e-12)
        assert each.effective_dof_ == pytest.approx(1.0 + N_COLUMNS - np.trace(inverse), rel=1e-13)
    np.testing.assert_allclose(
        model.coef_std_errors_, np.sqrt(model.noise_variance_ * inverse.diagonal()), rtol=1e-12
    )
