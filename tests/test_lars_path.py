"""The exact path: knots, drops, agreement, and the model read off it."""

import numpy as np
import pytest
from sklearn import linear_model as peers
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import PolynomialFeatures

from optimality import assert_lasso_optimal, objective
from quick import some
from tractable import Lasso, LassoLars, LinearRegression, datasets, lars_path, lasso_path
from tractable.engines.sparse.lars import LarsState, solve_rows


def table(rng, n=40, p=10):
    X = rng.standard_normal((n, p)) @ rng.standard_normal((p, p)) + 2.0
    return X, X[:, :4] @ rng.standard_normal(4) + rng.standard_normal(n)


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"positive": True}])
@pytest.mark.parametrize("shape", [(40, 10), (15, 60)])
@pytest.mark.spec("LIN-36", "E001-18")
def test_every_knot_and_every_point_between_is_the_lasso(rng, options, shape):
    X, y = table(rng, *shape)
    weights = rng.integers(1, 4, len(y))
    path = lars_path(X, y, sample_weight=weights, **options)
    between = np.sort(rng.uniform(0, path.alphas[0], 30))[::-1]
    for alphas, coefs in ((path.alphas, path.coefs), (between, path.at(between))):
        for alpha, coef in zip(alphas, coefs.T, strict=True):
            assert_lasso_optimal(X, y, coef, alpha, weights=weights, tol=1e-8, **options)


def test_knots_agree_with_scikit_learn(rng):
    X = rng.standard_normal((40, 10))
    y = X @ rng.standard_normal(10) + rng.standard_normal(40)
    for method in ("lasso", "lar"):
        ours = lars_path(X, y, method=method, fit_intercept=False)
        alphas, active, coefs = peers.lars_path(X, y, method=method)
        np.testing.assert_allclose(ours.alphas, alphas, atol=1e-10)
        np.testing.assert_allclose(ours.coefs, coefs, atol=1e-9)
        assert list(ours.active[-1]) == list(active)


def test_the_grid_lies_on_the_path(rng):
    X, y = table(rng)
    grid = lasso_path(X, y, n_alphas=20, tol=1e-12)
    np.testing.assert_allclose(lars_path(X, y).at(grid.alphas), grid.coefs, atol=1e-8)


def every_knot_is_optimal(path, X, y, tol=1e-8):
    for alpha, coef in zip(path.alphas, path.coefs.T, strict=True):
        assert_lasso_optimal(X, y, coef, alpha, tol=tol)


def test_columns_leave_and_come_back():
    """A column that is useful until a better combination comes: the drop step keeps the path optimal."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20, 12))
    X[:, 0] = X[:, 1:4].sum(axis=1) + 0.3 * rng.standard_normal(20)
    y = X[:, 1:4].sum(axis=1) + 0.1 * rng.standard_normal(20)
    path = lars_path(X, y)
    left = [set(a) - set(b) for a, b in zip(path.active[:-1], path.active[1:], strict=True)]
    assert {0} in left
    without = lars_path(X, y, method="lar")
    with pytest.raises(AssertionError):
        every_knot_is_optimal(without, X, y)


def test_equal_columns_are_passed_over(rng):
    X, y = table(rng, 30, 4)
    twice = np.column_stack([X, X[:, 1], X[:, 0] + X[:, 2]])
    path = lars_path(twice, y)
    used = path.coefs[[1, 4]].any(axis=1)
    assert used.sum() == 1
    every_knot_is_optimal(path, twice, y)
    np.testing.assert_allclose(twice @ path.coefs[:, -1], X @ lars_path(X, y).coefs[:, -1], atol=1e-8)


def monomials(degree, seed):
    t = np.linspace(0, 1, 40)
    return t[:, None] ** np.arange(1, degree + 1), np.sin(6 * t) + 0.1 * np.random.default_rng(seed).normal(
        size=40
    )


def cubic():
    rows = load_diabetes()
    return PolynomialFeatures(3, include_bias=False).fit_transform(rows.data), rows.target


def like_duplicates(seed, apart=1e-5):
    rng = np.random.default_rng(seed)
    X, y = table(rng, 30, 6)
    return np.hstack([X, X[:, :3], X[:, :3] + X[:, 3:], X + apart * rng.standard_normal(X.shape)]), y


ILL_CONDITIONED = [
    *((f"monomials to {degree}", [monomials(degree, seed) for seed in range(20)]) for degree in range(4, 11)),
    ("cubic", [cubic()]),
    ("like duplicates", [like_duplicates(seed) for seed in range(20)]),
]


@pytest.mark.filterwarnings("ignore:the duality gap")  # of the grid beside it, whose tolerance is 1e-12
@pytest.mark.parametrize(
    "tables", some([row[1] for row in ILL_CONDITIONED], 3), ids=[row[0] for row in ILL_CONDITIONED]
)
@pytest.mark.spec("LIN-36")
def test_every_knot_is_the_lasso_where_columns_are_nearly_dependent(tables):
    """Rounding moves coefficients where the fit is flat: never away from the minimum."""
    for X, y in tables:
        path = lars_path(X, y)
        assert path.complete
        every_knot_is_optimal(path, X, y)
        some = np.linspace(0, len(path.alphas) - 2, 12).astype(int)
        grid = lasso_path(X, y, alphas=path.alphas[some], tol=1e-12)
        total = objective(X, y, np.zeros(X.shape[1]), 0.0)
        for i, coef in zip(some, grid.coefs.T, strict=True):
            alpha = path.alphas[i]
            here, there = (objective(X, y, w, alpha) for w in (path.coefs[:, i], coef))
            # What a column explains that lies within 1e-5 of those in use is of the order of the square.
            assert here <= there + 1e-9 * total


def test_an_ill_conditioned_model_is_as_good_as_coordinate_descent():
    X, y = monomials(8, 14)
    alpha = 3.775987252148695e-08
    fits = [model(alpha).fit(X, y).score(X, y) for model in (LassoLars, Lasso)]
    assert fits[0] == pytest.approx(fits[1], abs=1e-6)


def test_a_path_that_violates_its_conditions_is_cut_off_and_said(monkeypatch):
    def clipped(self, w, leaving):
        del leaving
        sign = self.sign[self.active]
        w = solve_rows(self.factor, self.problem.moment[self.active] - self.penalty * sign, len(w))
        return np.where(w * sign > 0.0, w, 0.0)

    X, y = monomials(8, 14)
    whole = lars_path(X, y)
    monkeypatch.setattr(LarsState, "_landing", clipped)
    with pytest.warns(ConvergenceWarning, match="rounding stopped the path at alpha"):
        path = lars_path(X, y)
    assert not path.complete
    assert 1 < len(path.alphas) < len(whole.alphas)
    every_knot_is_optimal(path, X, y)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.spec("LIN-36")
def test_a_statistic_is_as_good_as_its_rows(rng, fit_intercept):
    X, y = table(rng)
    weights = rng.integers(1, 4, len(y))
    model = LinearRegression()
    halves = [model.summarize(X[part], y[part], weights[part]) for part in (slice(0, 15), slice(15, 40))]
    statistic = halves[0] + halves[1]
    of_rows = lars_path(X, y, sample_weight=weights, fit_intercept=fit_intercept)
    path = lars_path(statistic, fit_intercept=fit_intercept)
    np.testing.assert_allclose(path.alphas, of_rows.alphas, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(path.coefs, of_rows.coefs, atol=1e-9)
    np.testing.assert_allclose(path.intercepts, of_rows.intercepts, atol=1e-9)
    assert path.active == of_rows.active
    grid = lasso_path(statistic, fit_intercept=fit_intercept, n_alphas=9, tol=1e-12)
    whole = lasso_path(X, y, sample_weight=weights, fit_intercept=fit_intercept, n_alphas=9, tol=1e-12)
    np.testing.assert_allclose(grid.alphas, whole.alphas)
    np.testing.assert_allclose(grid.coefs, whole.coefs, atol=1e-8)


def test_a_statistic_has_its_targets_and_weights_in_it(rng):
    X, y = table(rng)
    statistic = LinearRegression().summarize(X, y)
    for follow in (lars_path, lasso_path):
        for options in ({"y": y}, {"sample_weight": np.ones(len(y))}):
            with pytest.raises(ValueError, match="must be None where X is a statistic"):
                follow(statistic, **options)
        with pytest.raises(ValueError, match="y must be one target for a path, got 2"):
            follow(LinearRegression().summarize(X, np.stack([y, y], axis=1)))
        with pytest.raises(ValueError, match="sample_weight must have a positive entry"):
            follow(type(statistic).empty(3))


@pytest.mark.parametrize("precompute", [True, False])
def test_the_model_is_the_end_of_the_path(rng, precompute):
    X, y = table(rng)
    model = LassoLars(0.2, precompute=precompute).fit(X, y)
    np.testing.assert_allclose(model.coef_, Lasso(0.2).fit(X, y).coef_, atol=1e-8)
    assert model.alphas_[-1] == pytest.approx(0.2)
    assert model.n_iter_ == len(model.alphas_) == model.coef_path_.shape[1]
    assert set(model.active_) == set(model.support_)
    np.testing.assert_allclose(model.path_.at(0.2), model.coef_)


def test_a_large_penalty_leaves_nothing(rng):
    X, y = table(rng)
    model = LassoLars(1e6).fit(X, y)
    assert not model.coef_.any()
    np.testing.assert_allclose(model.predict(X), y.mean())
    assert not lars_path(X, y).at(1e6).any()
    assert not lars_path(X, np.ones(len(y))).at([1.0, 2.0]).any()


def test_a_path_of_a_real_table_uses_names(rng):
    frame = datasets.load("old_faithful").frame
    path = lars_path(frame[["eruptions"]], frame["waiting"])
    assert path.names == ("eruptions",)
    assert path.n_nonzero.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"method": "stepwise"}, "method"),
        ({"method": ["lar"]}, "method"),
        ({"alpha_min": -1.0}, "alpha_min"),
        ({"alpha_min": "0.1"}, "alpha_min"),
        ({"alpha_min": None}, "alpha_min"),
        ({"max_iter": 0}, "max_iter"),
        ({"max_iter": "5"}, "max_iter"),
        ({"max_iter": 2.5}, "max_iter"),
    ],
)
def test_bad_parameters_are_one_clear_error(rng, options, named):
    with pytest.raises(ValueError, match=f"{named} must be"):
        lars_path(*table(rng), **options)


def test_the_path_is_not_known_beyond_its_end(rng):
    path = lars_path(*table(rng), alpha_min=0.5)
    with pytest.raises(ValueError, match=r"alpha must not be below the end of the path, 0\.5"):
        path.at([1.0, 0.4])
    assert len(lars_path(*table(rng), max_iter=2).alphas) == 3


def test_other_array_libraries_are_told_where_to_go(rng, backend):
    X, y = table(rng)
    if backend.name.startswith("numpy"):
        lars_path(backend.asarray(X), backend.asarray(y))
    else:
        with pytest.raises(ValueError, match="X must be a NumPy array"):
            lars_path(backend.asarray(X), backend.asarray(y))
