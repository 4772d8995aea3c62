"""Lasso and elastic net: conventions, agreement, special cases, and where the answer comes from."""

import numpy as np
import pytest
from scipy import stats
from sklearn import linear_model as peers
from sklearn.exceptions import ConvergenceWarning

import tractable
from optimality import assert_lasso_optimal, objective
from quick import some
from tractable import ElasticNet, Lasso, LassoLars, LinearRegression, Ridge, lasso_path
from tractable.arrays.namespace import to_numpy
from tractable.testing.estimator_laws import ESTIMATOR_LAWS

MODELS = [Lasso, ElasticNet, LassoLars]


def table(rng, n=60, p=12, told=4):
    X = rng.standard_normal((n, p)) @ rng.standard_normal((p, p)) + 3.0
    return X, X[:, :told] @ rng.standard_normal(told) + rng.standard_normal(n) + 5.0


@pytest.mark.parametrize(("n", "p"), some([(60, 12), (25, 300), (300, 250), (12, 30)], several=True))
@pytest.mark.parametrize("weighted", [False, True])
def test_fits_are_optimal_and_agree_with_scikit_learn(rng, n, p, weighted):
    X, y = table(rng, n, p)
    weights = rng.integers(0, 4, n) if weighted else None
    for alpha in (2.0, 0.2):
        ours = Lasso(alpha).fit(X, y, weights)
        assert_lasso_optimal(X, y, ours.coef_, alpha, weights=weights)
        theirs = peers.Lasso(alpha, tol=1e-10, max_iter=200_000).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3 * np.abs(theirs.coef_).max())
        net = ElasticNet(alpha, l1_ratio=0.3).fit(X, y, weights)
        assert_lasso_optimal(X, y, net.coef_, alpha, l1_ratio=0.3, weights=weights)
        theirs = peers.ElasticNet(alpha, l1_ratio=0.3, tol=1e-10, max_iter=200_000)
        theirs.fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(net.coef_, theirs.coef_, atol=1e-6 * np.abs(theirs.coef_).max())
        np.testing.assert_allclose(net.predict(X), theirs.predict(X), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("options", [{"fit_intercept": False}, {"positive": True}])
def test_without_intercept_and_with_positive_coefficients(rng, options):
    X, y = table(rng)
    for model in (Lasso(0.3, **options), Lasso(0.3, precompute=False, **options), LassoLars(0.3, **options)):
        assert_lasso_optimal(X, y, model.fit(X, y).coef_, 0.3, **options)
        assert (model.intercept_ == 0.0) is (options.get("fit_intercept") is False)


@pytest.mark.spec("LIN-34")
def test_the_textbooks_penalty_is_two_n_times_ours(rng):
    """|y - Xw|² + λ|w|₁ with orthonormal columns: least squares, moved towards zero by λ/2."""
    X = np.linalg.qr(rng.standard_normal((30, 5)))[0]
    y, lam = X @ [3.0, -2.0, 0.4, 0.0, 1.0] + 0.1 * rng.standard_normal(30), 1.2
    model = Lasso(lam / (2 * 30), fit_intercept=False).fit(X, y)
    least_squares = X.T @ y
    expected = np.sign(least_squares) * np.maximum(np.abs(least_squares) - lam / 2, 0.0)
    np.testing.assert_allclose(model.coef_, expected, atol=1e-13)


@pytest.mark.spec("LIN-35")
def test_the_lasso_is_the_mode_under_a_laplace_prior(rng):
    X, y = table(rng, 40, 5)
    X, y = X - X.mean(axis=0), y - y.mean()
    variance, b, n = 0.7, 0.2, len(y)
    model = Lasso.from_prior(scale=b, noise_variance=variance, n_samples=n, fit_intercept=False).fit(X, y)
    assert model.alpha == pytest.approx((2 * variance / b) / (2 * n))

    def log_posterior(w):
        noise = stats.norm.logpdf(y, X @ w, np.sqrt(variance)).sum()
        return noise + stats.laplace.logpdf(w, scale=b).sum()

    others = [model.coef_ + scale * rng.standard_normal(5) for scale in (1.0, 0.1, 1e-3) for _ in range(20)]
    best = log_posterior(model.coef_)
    assert all(log_posterior(w) < best for w in others)
    gaps = [objective(X, y, w, model.alpha, fit_intercept=False) for w in (*others, model.coef_)]
    falls = [log_posterior(w) for w in (*others, model.coef_)]
    np.testing.assert_allclose(
        np.subtract(gaps, gaps[-1]), -np.subtract(falls, best) * variance / n, atol=1e-10
    )


@pytest.mark.spec("LIN-37")
def test_the_columns_that_tell_are_found(rng):
    X = rng.standard_normal((200, 500))
    y = X[:, [3, 70, 400]] @ [2.0, -3.0, 1.5] + 0.3 * rng.standard_normal(200)
    model = Lasso(0.15).fit(X, y)
    assert model.support_.tolist() == [3, 70, 400]
    assert np.count_nonzero(model.coef_) == 3
    assert model.sparse_coef_.nnz == 3
    assert np.count_nonzero(Ridge(alpha=1.0).fit(X, y).coef_) == 500


def test_where_the_answer_comes_from_is_said_and_makes_no_difference(rng):
    X, y = table(rng)
    folded, read = Lasso(0.3).fit(X, y), Lasso(0.3, precompute=False).fit(X, y)
    assert (folded.solver_, read.solver_) == ("statistic", "rows")
    assert Lasso(0.3).fit(*table(rng, 30, 80)).solver_ == "rows"
    np.testing.assert_allclose(read.coef_, folded.coef_, atol=1e-10)
    np.testing.assert_allclose(read.intercept_, folded.intercept_)
    with pytest.raises(ValueError, match="precompute must be True"):
        read.partial_fit(X, y)
    with pytest.raises(ValueError, match="precompute must be True"):
        folded.merge(read)


@pytest.mark.parametrize("law", ESTIMATOR_LAWS, ids=lambda law: law.__name__)
def test_laws_of_estimators_hold_for_fits_to_rows(law, rng):
    law(Lasso(alpha=0.1, precompute=False), rng)


@pytest.mark.parametrize("model", MODELS)
def test_streams_with_more_columns_than_rows_are_exact(rng, model):
    X, y = table(rng, 30, 80)
    streamed = model(0.5)
    for part in np.array_split(np.arange(30), 4):
        streamed.partial_fit(X[part], y[part])
    np.testing.assert_allclose(streamed.coef_, model(0.5, precompute=False).fit(X, y).coef_, atol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_several_targets_are_several_fits(rng, model):
    X, y = table(rng)
    Y = np.column_stack([y, -2.0 * y + X[:, 0], X[:, 5]])
    together = model(0.3).fit(X, Y)
    assert together.coef_.shape == (3, 12)
    assert together.predict(X).shape == (60, 3)
    for coef, target in zip(together.coef_, Y.T, strict=True):
        np.testing.assert_allclose(coef, model(0.3).fit(X, target).coef_, atol=1e-10)
    assert together.support_.tolist() == np.flatnonzero(together.coef_.any(axis=0)).tolist()


def test_no_penalty_is_least_squares(rng):
    X, y = table(rng)
    exact = LinearRegression().fit(X, y).coef_
    for model in (Lasso(0.0), Lasso(0.0, precompute=False), LassoLars(0.0), ElasticNet(0.0)):
        np.testing.assert_allclose(model.fit(X, y).coef_, exact, atol=1e-9)
    X, y = table(rng, 10, 30)
    shortest = np.linalg.pinv(X - X.mean(axis=0)) @ (y - y.mean())
    np.testing.assert_allclose(Lasso(0.0).fit(X, y).coef_, shortest, atol=1e-10)


def test_no_absolute_part_is_ridge_regression(rng):
    for n, p in ((60, 12), (10, 30)):
        X, y = table(rng, n, p)
        for precompute in ("auto", False):
            net = ElasticNet(0.5, l1_ratio=0.0, precompute=precompute).fit(X, y)
            np.testing.assert_allclose(net.coef_, Ridge(alpha=0.5 * n).fit(X, y).coef_, atol=1e-9)
    net = ElasticNet(0.5, l1_ratio=0.0, positive=True).fit(X, y)
    theirs = peers.Ridge(alpha=5.0, positive=True, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(net.coef_, theirs.coef_, atol=1e-5)


def test_equal_and_dependent_columns_have_one_optimal_answer(rng):
    X, y = table(rng, 40, 4)
    twice = np.column_stack([X, X[:, 0], X @ [1.0, -1.0, 0.5, 2.0]])
    for model in (Lasso(0.1), Lasso(0.1, precompute=False), LassoLars(0.1)):
        model.fit(twice, y)
        assert_lasso_optimal(twice, y, model.coef_, 0.1, tol=1e-8)
    same = Lasso(0.1).fit(np.column_stack([X[:, 0], X[:, 0]]), y)
    assert len(same.support_) == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("alpha", [1e-9, 1e-12])
@pytest.mark.parametrize("options", [{}, {"precompute": False}, {"positive": True}])
def test_columns_that_differ_by_rounding_are_as_good_as_one(options, alpha, rng):
    X = rng.standard_normal((100, 6))
    y = X @ [1.0, -1.0, 2.0, 0.5, -0.5, 1.5] + rng.standard_normal(100)
    one = Lasso(alpha, **options).fit(X, y)
    for apart in (1e-6, 1e-7, 1e-8):
        twice = np.hstack([X, X + apart * rng.standard_normal(X.shape)])
        model = Lasso(alpha, **options).fit(twice, y)
        least = objective(X, y, one.coef_, alpha)
        assert objective(twice, y, model.coef_, alpha) <= least * (1.0 + 1e-6)
        assert not options.get("positive") or (model.coef_ >= 0.0).all()


@pytest.mark.parametrize("model", [Lasso(1e-6), Lasso(1e-6, precompute=False), LassoLars(1e-6)])
def test_constant_columns_and_targets_get_nothing(rng, model):
    X, y = table(rng)
    X[:, 3] = 0.1
    model.fit(X, y)
    assert model.coef_[3] == 0.0
    assert np.all(np.isfinite(model.coef_))
    model.fit(X, np.full(60, 0.1))
    assert not model.coef_.any()
    np.testing.assert_allclose(model.predict(X), 0.1)


def test_far_from_the_origin_nothing_is_lost(rng):
    X, y = table(rng)
    for precompute in (True, False):
        near = Lasso(0.1, precompute=precompute).fit(X, y)
        far = Lasso(0.1, precompute=precompute).fit(X + 1e7, y - 1e7)
        np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6)
        # So near that rows are not copied, and one column a little too far for that.
        for shift in (2.0, np.where(np.arange(X.shape[1]) == 1, 1e3, 2.0)):
            moved = Lasso(0.1, precompute=precompute).fit(X + shift, y)
            np.testing.assert_allclose(moved.coef_, near.coef_, atol=1e-10)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, "much", None, [1.0, -1.0]])
def test_bad_penalties_are_one_clear_error(rng, model, bad):
    X, y = table(rng)
    with pytest.raises(ValueError, match="alpha must be"):
        model(alpha=bad).fit(X, y)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"l1_ratio": 1.5}, "l1_ratio"),
        ({"tol": 0.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"precompute": "gram"}, "precompute"),
    ],
)
def test_bad_parameters_are_one_clear_error(rng, options, named):
    with pytest.raises(ValueError, match=f"{named} must be"):
        ElasticNet(**options).fit(*table(rng))


@pytest.mark.parametrize("named", ["scale", "noise_variance", "n_samples"])
def test_bad_priors_are_one_clear_error(named):
    with pytest.raises(ValueError, match=f"{named} must be a number above 0"):
        Lasso.from_prior(**{"scale": 1.0, "noise_variance": 1.0, "n_samples": 5, named: -1.0})


def test_too_few_steps_are_warned_about(rng):
    X, y = table(rng)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model = Lasso(1e-4, max_iter=1, tol=1e-14).fit(X, y)
    assert not model.converged_
    with pytest.warns(ConvergenceWarning, match="raise max_iter") as told:
        lasso_path(X, y, alphas=[1e-4], max_iter=1, tol=1e-14)
    assert told[0].filename == __file__


def test_other_array_libraries_give_the_same_answer(rng, backend):
    X, y = table(rng, 40, 5)
    there = Lasso(0.3, tol=1e-12, max_iter=5000).fit(backend.asarray(X), backend.asarray(y))
    here = Lasso(0.3).fit(X, y)
    assert backend.owns(there.coef_)
    np.testing.assert_allclose(to_numpy(there.coef_), here.coef_, atol=1e-5)
    assert there.support_.tolist() == here.support_.tolist()


def test_a_path_is_a_fit_at_every_penalty(rng):
    X, y = table(rng)
    weights = rng.integers(1, 3, 60)
    path = lasso_path(X, y, sample_weight=weights, n_alphas=7, eps=0.01)
    assert path.alphas[0] > path.alphas[-1] == pytest.approx(0.01 * path.alphas[0])
    assert path.n_nonzero[0] == 0
    assert path.predict(X).shape == (60, 7)
    for i, alpha in enumerate(path.alphas):
        model = Lasso(alpha).fit(X, y, weights)
        np.testing.assert_allclose(path.coefs[:, i], model.coef_, atol=1e-8)
        np.testing.assert_allclose(path.predict(X)[:, i], model.predict(X), atol=1e-8)
    assert np.all(path.dual_gaps <= 1e-8 * np.average((y - y.mean()) ** 2))


def test_a_path_from_a_stream_of_batches(rng):
    X, y = table(rng)
    streamed = lasso_path([(X[:20], y[:20]), (X[20:], y[20:])], alphas=[1.0, 0.1, 0.0])
    np.testing.assert_allclose(streamed.coefs, lasso_path(X, y, alphas=[0.1, 1.0, 0.0]).coefs, atol=1e-9)
    np.testing.assert_allclose(streamed.coefs[:, 2], LinearRegression().fit(X, y).coef_, atol=1e-8)


def test_paths_know_their_columns(rng):
    pd = pytest.importorskip("pandas")
    X, y = table(rng, 30, 3, told=2)
    path = lasso_path(pd.DataFrame(X, columns=["a", "b", "c"]), y, n_alphas=3)
    assert path.names == ("a", "b", "c")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"eps": 2.0}, "eps"),
        ({"n_alphas": 0}, "n_alphas"),
        ({"alphas": [-1.0]}, "alphas"),
        ({"l1_ratio": 0.0}, "l1_ratio"),
        ({"l1_ratio": -1.0}, "l1_ratio"),
    ],
)
def test_bad_grids_are_one_clear_error(rng, options, named):
    with pytest.raises(ValueError, match=f"{named} must be"):
        lasso_path(*table(rng), **options)


def test_a_path_has_one_target(rng):
    X, y = table(rng)
    with pytest.raises(ValueError, match="y must be one target"):
        lasso_path(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="requires y"):
        tractable.lars_path(X)


@pytest.mark.parametrize("share", [1e-11, 1e-13, 1e-14, 1e-16, 1e-30])
@pytest.mark.parametrize("options", [{}, {"precompute": False}, {"positive": True}])
def test_a_penalty_below_rounding_is_certified_too(rng, share, options):
    X, y = table(rng, 60, 6)
    top = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)
    model = Lasso(share * top, **options).fit(X, y)
    assert model.converged_
    assert model.dual_gap_ <= 1e-9 * np.var(y)
    np.testing.assert_allclose(model.coef_, Lasso(0.0, **options).fit(X, y).coef_, atol=1e-8)


@pytest.mark.parametrize("model", [Lasso, LassoLars])
@pytest.mark.parametrize("precompute", [True, False])
@pytest.mark.parametrize(
    "units", [(1e-200, 1.0, 1.0), (1.0, 1e148, 1.0), (1e100, 1e-160, 1.0), (1.0, 1.0, 1e150)]
)
def test_units_whose_squares_are_no_numbers(rng, model, precompute, units):
    X, y = table(rng, 60, 6)
    x_unit, y_unit, weight = units
    plain = model(0.1, precompute=precompute).fit(X, y)
    found = model(0.1 * x_unit * y_unit, precompute=precompute)
    found.fit(X * x_unit, y * y_unit, np.full(len(y), weight))
    np.testing.assert_allclose(found.coef_ * x_unit / y_unit, plain.coef_, atol=1e-9)


def test_large_weights_are_not_taken_for_constant_columns(rng):
    X, y = table(rng, 60, 6)
    plain = Lasso(0.1, precompute=False).fit(X, y)
    for weight in (1e-30, 1e30):
        model = Lasso(0.1, precompute=False).fit(X, y, np.full(60, weight))
        np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-9)
        assert model.dual_gap_ <= 1e-8 * np.var(y)


def test_inputs_are_left_alone(rng):
    X, y = table(rng, 20, 50)
    X = np.asfortranarray(X)
    for given in (X, y):
        given.setflags(write=False)
    before = X.copy()
    for options in ({"fit_intercept": False}, {}):
        lasso_path(X, y, n_alphas=5, **options)
    np.testing.assert_array_equal(X, before)
