"""Columns of unlike scales sent the path in circles, and where it gave up was called its end."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tractable import Lasso, LassoLars, LinearRegression, lars_path
from tractable.engines.sparse.lars import LarsState, lars
from tractable.engines.sparse.problem import ColumnProblem


def unlike(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, 8)) * 10.0 ** rng.integers(-4, 5, 8)
    return X, X / X.std(axis=0) @ rng.standard_normal(8) + rng.standard_normal(50)


def test_the_path_goes_on_to_least_squares():
    X, y = unlike(4)
    model, plane = LassoLars(0.0).fit(X, y), LinearRegression().fit(X, y)
    assert model.alphas_[-1] == 0.0
    np.testing.assert_allclose(model.coef_, plane.coef_, rtol=1e-9)
    np.testing.assert_allclose(LassoLars(1e-4).fit(X, y).coef_, Lasso(1e-4).fit(X, y).coef_, rtol=1e-8)


@pytest.mark.parametrize("seed", range(60))
def test_every_knot_is_optimal_in_the_units_of_each_column(seed):
    X, y = unlike(seed)
    X, y = X - X.mean(axis=0), y - y.mean()
    knots = lars(ColumnProblem(X=np.asfortranarray(X), y=y))
    assert knots.complete
    assert knots.penalties[-1] == 0.0
    assert np.all(np.diff(knots.penalties) < 0.0)
    known = 1e-10 * np.linalg.norm(X, axis=0) * np.linalg.norm(y)
    for penalty, coef in zip(knots.penalties, knots.coefs.T, strict=True):
        slope, used = X.T @ (y - X @ coef), coef != 0.0
        assert np.all(np.abs(slope - penalty * np.sign(coef))[used] <= known[used])
        assert np.all(np.abs(slope) <= penalty + known)


def test_a_path_that_gives_up_says_so(monkeypatch):
    X, y = unlike(4)
    monkeypatch.setattr(LarsState, "_step", lambda *_: None)
    with pytest.warns(ConvergenceWarning, match="rounding stopped the path at alpha"):
        path = lars_path(X, y)
    assert not path.complete
    with pytest.warns(ConvergenceWarning, match="rounding stopped the path at alpha") as caught:
        LassoLars(0.0).fit(X, np.column_stack([y, -y]))
    assert caught[0].filename == __file__
