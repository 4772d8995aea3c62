"""Logistic regression: optima, oracles, errors, penalties, links, weights, and where it does not exist."""

import warnings
from functools import partial

import mpmath
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, log_ndtr
from scipy.stats import norm
from sklearn import linear_model as peers
from sklearn.exceptions import ConvergenceWarning

import tractable
from logistic_optimality import assert_logistic_optimal
from quick import some
from tractable.classification import SeparableClassesWarning
from tractable.engines.glm import problem as linear_predictors
from tractable.engines.glm import search as linear_search
from tractable.engines.glm.problem import LinearPredictorProblem


def problem(rng, n=200, d=3, k=2, scale=1.0):
    X = rng.standard_normal((n, d)) * scale + 1.0
    y = (X @ rng.standard_normal((d, k)) / np.mean(scale) + rng.gumbel(size=(n, k))).argmax(axis=1)
    return X, y


def peer(C=1.0, **options):
    return peers.LogisticRegression(C=C, solver="newton-cholesky", tol=1e-13, max_iter=10_000, **options)


def log_likelihood(X, y, coef, intercept):
    """Σ log p(y | x) of the planes, from the formula."""
    scores = X @ coef.T + intercept
    scores = np.column_stack([np.zeros(len(X)), scores]) if len(coef) == 1 else scores
    return float(np.sum(scores[np.arange(len(X)), y] - np.logaddexp.reduce(scores, axis=1)))


@pytest.mark.spec("CLS-18", "E004-21")
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("k", "C"), [(2, 1.0), (2, 1e-3), (3, 1.0), (5, 30.0)])
def test_is_scikit_learns_model(k, C, fit_intercept, rng):
    X, y = problem(rng, k=k, scale=np.array([0.1, 1.0, 30.0]))
    w = rng.uniform(0.5, 3.0, len(X))
    ours = tractable.LogisticRegression(C, fit_intercept=fit_intercept, tol=1e-14).fit(X, y, w)
    theirs = peer(C, fit_intercept=fit_intercept).fit(X, y, w)
    assert ours.coef_.shape == theirs.coef_.shape
    assert ours.intercept_.shape == theirs.intercept_.shape
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-8)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-7, atol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.converged_
    assert ours.kkt_ < 1e-12


def test_all_digits_of_the_maximum(rng):
    """Against Newton's method in fifty digits."""
    X, y = problem(rng, n=25, d=2)
    mpmath.mp.dps = 50
    rows = [[mpmath.mpf(1), *map(mpmath.mpf, row)] for row in X.tolist()]
    w = mpmath.zeros(3, 1)
    for _ in range(15):
        slope, hessian = mpmath.zeros(3, 1), mpmath.zeros(3, 3)
        for row, t in zip(rows, y.tolist(), strict=True):
            p = 1 / (1 + mpmath.exp(-sum(a * b for a, b in zip(row, w, strict=True))))
            for i in range(3):
                slope[i] += (t - p) * row[i]
                for j in range(3):
                    hessian[i, j] += p * (1 - p) * row[i] * row[j]
        w = w + mpmath.lu_solve(hessian, slope)
    model = tractable.LogisticRegression(C=np.inf, tol=0.0, max_iter=30).fit(X, y)
    exact = [float(v) for v in w]
    np.testing.assert_allclose([*model.intercept_, *model.coef_[0]], exact, rtol=1e-13)
    errors = [float(mpmath.sqrt((hessian**-1)[i, i])) for i in range(3)]
    np.testing.assert_allclose([*model.intercept_std_error_, *model.coef_std_errors_[0]], errors, rtol=1e-12)


@pytest.mark.parametrize("k", [2, 3])
def test_covariance_is_the_inverse_of_the_information(k, rng):
    """The information, from the formula: for more classes, of planes that sum to zero."""
    X, y = problem(rng, k=k, scale=np.array([0.01, 1.0, 10.0]))
    model = tractable.LogisticRegression(C=np.inf).fit(X, y)
    rows, p = np.column_stack([np.ones(len(X)), X]), model.predict_proba(X)
    if k == 2:
        information = (rows * (p[:, 0] * p[:, 1])[:, None]).T @ rows
        np.testing.assert_allclose(model.parameter_covariance_, np.linalg.inv(information), rtol=1e-9)
    else:
        whole = sum(
            np.kron(np.diag(q) - np.outer(q, q), np.outer(r, r)) for q, r in zip(p, rows, strict=True)
        )
        contrasts = np.linalg.qr(np.eye(k)[:, :-1] - 1.0 / k)[0]
        free = np.kron(contrasts, np.eye(4))
        expected = free @ np.linalg.inv(free.T @ whole @ free) @ free.T
        np.testing.assert_allclose(model.parameter_covariance_, expected, rtol=1e-8, atol=1e-12)
    errors = np.sqrt(np.diag(model.parameter_covariance_)).reshape(-1, 4)
    np.testing.assert_allclose(model.coef_std_errors_, errors[:, 1:])
    np.testing.assert_allclose(model.intercept_std_error_, errors[:, 0])


def test_the_information_is_the_curvature_of_the_log_likelihood(rng):
    """Against central differences, and its slope against zero."""
    X, y = problem(rng)
    model = tractable.LogisticRegression(C=np.inf).fit(X, y)
    at, step = np.concatenate([model.intercept_, model.coef_[0]]), 1e-4

    def value(v):
        return log_likelihood(X, y, v[None, 1:], v[:1])

    units = step * np.eye(4)
    slope = [(value(at + u) - value(at - u)) / (2 * step) for u in units]
    np.testing.assert_allclose(slope, 0.0, atol=1e-5)
    second = [
        [(value(at + u + v) - value(at + u - v) - value(at - u + v) + value(at - u - v)) for u in units]
        for v in units
    ]
    found = -np.array(second) / (4 * step**2)
    np.testing.assert_allclose(np.linalg.inv(model.parameter_covariance_), found, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(model.log_likelihood_, value(at), rtol=1e-12)
    np.testing.assert_allclose(model.loss_, -value(at) / len(X), rtol=1e-12)


@pytest.mark.slow
def test_walds_intervals_cover_as_they_say(rng):
    """Of 300 fits, within five standard deviations of the binomial; z and p are of the same errors."""
    inside, truth = 0, np.array([0.7, -0.4])
    for _ in range(300):
        X = rng.standard_normal((250, 2))
        y = rng.random(250) < expit(0.3 + X @ truth)
        model = tractable.LogisticRegression(C=np.inf).fit(X, y)
        low, high = model.coef_interval(0.9)[0, 0]
        inside += low <= truth[0] <= high
    assert abs(inside - 270) < 5 * np.sqrt(300 * 0.9 * 0.1)
    np.testing.assert_allclose(model.z_values_, model.coef_ / model.coef_std_errors_)
    np.testing.assert_allclose(model.p_values_, 2 * norm.sf(np.abs(model.z_values_)))
    middle, reach = np.mean(model.intercept_interval(0.5)), np.ptp(model.intercept_interval(0.5)) / 2
    np.testing.assert_allclose(middle, model.intercept_[0])
    np.testing.assert_allclose(reach, norm.ppf(0.75) * model.intercept_std_error_[0])
    with pytest.raises(ValueError, match="coverage"):
        model.coef_interval(1.0)


@pytest.mark.parametrize(("k", "link"), [(2, "logit"), (2, "probit"), (3, "logit"), (4, "logit")])
def test_intervals_of_probabilities_are_walds_intervals_of_their_odds(k, link, rng):
    """The error of the odds, by differences along a factor of the covariance."""
    X, y = problem(rng, k=k)
    model = tractable.LogisticRegression(C=np.inf, link=link).fit(X, y)
    asked, step = X[:5], 1e-5
    planes = np.column_stack([model.intercept_, model.coef_])

    def odds(planes):
        moved = tractable.LogisticRegression(link=link)
        moved.__dict__.update(vars(model), intercept_=planes[:, 0], coef_=planes[:, 1:])
        p = moved.predict_proba(asked)
        return norm.ppf(p) if link == "probit" else np.log(p / (1.0 - p))

    values, vectors = np.linalg.eigh(model.parameter_covariance_)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    moves = [root[:, i].reshape(planes.shape) for i in range(len(root))]
    slopes = [(odds(planes + step * m) - odds(planes - step * m)) / (2 * step) for m in moves]
    error = np.sqrt(np.sum(np.square(slopes), axis=0))
    found = model.proba_interval(asked, 0.8)
    into = norm.ppf(found) if link == "probit" else np.log(found / (1.0 - found))
    np.testing.assert_allclose(into[..., 0], odds(planes) - norm.ppf(0.9) * error, rtol=1e-5)
    np.testing.assert_allclose(into[..., 1], odds(planes) + norm.ppf(0.9) * error, rtol=1e-5)


@pytest.mark.spec("E004-21")
def test_more_classes_need_a_softmax(rng):
    """Sigmoids of each class against the rest do not sum to one; a softmax does, and of two is a sigmoid."""
    X, y = problem(rng, k=3)
    alone = [tractable.LogisticRegression(C=np.inf).fit(X, y == k).predict_proba(X)[:, 1] for k in range(3)]
    assert np.abs(np.sum(alone, axis=0) - 1.0).max() > 1e-3
    model = tractable.LogisticRegression(C=np.inf).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(model.intercept_.sum(), 0.0, atol=1e-12)
    two = tractable.LogisticRegression().fit(X, y > 0)
    np.testing.assert_allclose(two.predict_proba(X)[:, 1], expit(X @ two.coef_[0] + two.intercept_[0]))


def test_probit_is_the_maximum_of_its_likelihood(rng):
    X, _ = problem(rng)
    y = X @ [1.0, -0.5, 0.2] + rng.standard_normal(len(X)) > 0.7
    sign, rows = 2.0 * y - 1.0, np.column_stack([np.ones(len(X)), X])
    model = tractable.LogisticRegression(C=np.inf, link="probit").fit(X, y)

    def loss(v):
        margin = sign * (rows @ v)
        ratio = np.exp(norm.logpdf(margin) - log_ndtr(margin))
        return -log_ndtr(margin).sum(), -(sign * ratio) @ rows

    best = minimize(loss, np.zeros(4), jac=True, method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose([*model.intercept_, *model.coef_[0]], best.x, atol=1e-7)
    z = X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], norm.cdf(z), rtol=1e-12)
    assert np.abs(loss(np.concatenate([model.intercept_, model.coef_[0]]))[1]).max() < 1e-9
    margin = sign * z
    ratio = np.exp(norm.logpdf(margin) - log_ndtr(margin))
    information = (rows * (ratio * (ratio + margin))[:, None]).T @ rows
    np.testing.assert_allclose(model.parameter_covariance_, np.linalg.inv(information), rtol=1e-8)
    with pytest.raises(ValueError, match="probit"):
        tractable.LogisticRegression(link="probit").fit(X, np.arange(len(X)) % 3)


@pytest.mark.parametrize(("k", "l1_ratio"), [(2, 1.0), (2, 0.4), (3, 1.0), (4, 0.7)])
def test_sparse_planes_satisfy_karush_kuhn_and_tucker(k, l1_ratio, rng):
    """In the units of the columns: the slope is as large as the price, or less where a coefficient is 0."""
    X, y = problem(rng, d=6, k=k, scale=np.array([0.2, 1.0, 5.0, 1.0, 1.0, 0.5]))
    X[:, 3] = X[:, 2] + 0.01 * X[:, 3]
    C = 0.15
    model = tractable.LogisticRegression(C, l1_ratio=l1_ratio, tol=1e-14).fit(X, y)
    assert_logistic_optimal(X, y, model.coef_, model.intercept_, C, l1_ratio=l1_ratio)
    used = model.coef_ != 0.0
    assert 0 < used.sum() < used.size
    assert model.kkt_ < 1e-12
    assert np.isnan(model.coef_std_errors_[~used]).all()
    assert np.isfinite(model.coef_std_errors_[used]).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_sample_that_lacks_the_rows_that_count_slows_no_sparse_search(seed, monkeypatch):
    """Most rows are well classified; which of the others a sample has is chance."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((90, 3))
    y = (X @ [6.0, 12.0, 9.0] + 2.0 * rng.standard_normal(90) > 0.0).astype(int)
    whole = tractable.LogisticRegression(2.0, l1_ratio=0.5, tol=1e-10).fit(X, y)
    for name in ("LEAST_SAMPLE", "MOST_SAMPLE"):
        monkeypatch.setattr(linear_predictors, name, 40)
    sampled = tractable.LogisticRegression(2.0, l1_ratio=0.5, tol=1e-10).fit(X, y)
    assert sampled.converged_
    assert sampled.n_iter_ <= 30
    np.testing.assert_allclose(sampled.coef_, whole.coef_, rtol=1e-6)


@pytest.mark.parametrize("k", [3, *(pytest.param(k, marks=pytest.mark.slow) for k in (4, 5))])
@pytest.mark.parametrize("C", some([0.1, 1.0, 10.0, 100.0]))
def test_a_price_chooses_among_planes_that_give_the_same_probabilities(k, C):
    """Adding a number to a column's coefficients changes the price alone: at its least, one of them is 0."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((150, 6))
        y = np.argmax(X @ rng.standard_normal((6, k)) + rng.gumbel(size=(150, k)), axis=1)
        model = tractable.LogisticRegression(C, l1_ratio=1.0).fit(X, y)
        assert model.converged_
        assert model.kkt_ < 1e-6
        assert_logistic_optimal(X, y, model.coef_, model.intercept_, C, l1_ratio=1.0, tol=1e-6)
        assert np.all(model.coef_.min(axis=0) <= 0.0)
        assert np.all(model.coef_.max(axis=0) >= 0.0)


def test_a_dear_price_leaves_the_shares_alone(rng):
    X, y = problem(rng, k=3)
    model = tractable.LogisticRegression(1e-6, l1_ratio=1.0).fit(X, y)
    assert not model.coef_.any()
    shares = np.bincount(y) / len(y)
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], shares, rtol=1e-9)


def test_fewer_rows_than_columns(rng):
    X, y = rng.standard_normal((6, 20)), np.array([0, 1, 0, 1, 1, 0])
    with pytest.warns(SeparableClassesWarning):
        tractable.LogisticRegression(C=np.inf).fit(X, y)
    ours, theirs = tractable.LogisticRegression(tol=1e-14).fit(X, y), peer().fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
    one_each = tractable.LogisticRegression(tol=1e-14).fit(X[:3], ["a", "b", "c"])
    np.testing.assert_allclose(one_each.coef_, peer().fit(X[:3], ["a", "b", "c"]).coef_, atol=1e-9)


def test_columns_that_repeat_or_never_vary(rng):
    X, y = problem(rng)
    wide = np.column_stack([X, X[:, 0] - 2.0 * X[:, 1], np.full(len(X), 7.0)])
    plain, more = (tractable.LogisticRegression(C=np.inf).fit(rows, y) for rows in (X, wide))
    np.testing.assert_allclose(more.predict_proba(wide), plain.predict_proba(X), rtol=1e-9)
    assert more.coef_[0, 4] == 0.0
    assert np.isinf(more.coef_std_errors_[0, [0, 1, 3, 4]]).all()
    np.testing.assert_allclose(more.coef_std_errors_[0, 2], plain.coef_std_errors_[0, 2], rtol=1e-6)
    penalised = tractable.LogisticRegression(C=4.0, tol=1e-14).fit(wide, y)
    np.testing.assert_allclose(penalised.coef_, peer(4.0).fit(wide, y).coef_, atol=1e-8)
    np.testing.assert_allclose(penalised.coef_std_errors_[0, 4], 2.0)  # what the penalty alone believes


def test_rows_far_from_the_origin(rng):
    X, y = problem(rng)
    far = np.round(X * 2**20) / 2**20 + 2.0**28  # exactly as far
    near, moved = (tractable.LogisticRegression().fit(rows, y) for rows in (far - 2.0**28, far))
    np.testing.assert_allclose(moved.coef_, near.coef_, rtol=1e-9)


def test_class_weights_are_weights(rng):
    X, y = problem(rng, k=3)
    words, w = np.array(["x", "y", "z"])[y], rng.uniform(0.5, 2.0, len(X))
    for given in ({"x": 2.0, "z": 0.5}, "balanced"):
        ours = tractable.LogisticRegression(class_weight=given, tol=1e-14).fit(X, words, w)
        worth = {"x": 2.0, "z": 0.5}
        if given == "balanced":
            totals = {word: w[words == word].sum() for word in "xyz"}
            worth = {word: w.sum() / (3 * total) for word, total in totals.items()}
        each = np.array([worth.get(word, 1.0) for word in words])
        same = tractable.LogisticRegression(tol=1e-14).fit(X, words, w * each)
        np.testing.assert_allclose(ours.coef_, same.coef_, rtol=1e-9)
    for bad in ({"q": 1.0}, {"x": -1.0}, {"x": np.nan}, "even", 3):
        with pytest.raises(ValueError, match="class_weight"):
            tractable.LogisticRegression(class_weight=bad).fit(X, words)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"C": 0.0}, "C"),
        ({"C": np.nan}, "C"),
        ({"C": -np.inf}, "C"),
        ({"C": "1"}, "C"),
        ({"l1_ratio": 1.5}, "l1_ratio"),
        ({"fit_intercept": "no"}, "fit_intercept"),
        ({"fit_intercept": 1}, "fit_intercept"),
        ({"link": "cauchit"}, "link"),
        ({"tol": -1.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_bad_parameters(options, name, rng):
    X, y = problem(rng)
    with pytest.raises(ValueError, match=name):
        tractable.LogisticRegression(**options).fit(X, y)


@pytest.mark.parametrize("kind", [float, np.float32, np.float64])
def test_no_penalty_in_any_float(kind, rng):
    X, y = problem(rng)
    expected = tractable.LogisticRegression(np.inf).fit(X, y)
    given = tractable.LogisticRegression(kind("inf"), fit_intercept=np.True_).fit(X, y)
    np.testing.assert_array_equal(given.coef_, expected.coef_)
    assert given.separable_ is False


def test_bad_classes(rng):
    X, y = problem(rng)
    with pytest.raises(ValueError, match="1 class"):
        tractable.LogisticRegression().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="y"):
        tractable.LogisticRegression().fit(X, np.where(y == 0, np.nan, 1.0))


def test_a_warm_start_goes_on(rng):
    X, y = problem(rng, n=500, k=3)
    for options in ({}, {"l1_ratio": 1.0, "C": 0.1}):
        model = tractable.LogisticRegression(warm_start=True, **options).fit(X, y)
        cold, coef = model.n_iter_, model.coef_
        model.fit(X, y)
        assert model.n_iter_ < cold
        np.testing.assert_allclose(model.coef_, coef, atol=1e-9)
    with pytest.raises(ValueError, match="warm_start"):
        model.fit(X[:, :2], y)
    with pytest.raises(ValueError, match="warm_start"):
        model.fit(X, y > 0)


def test_an_interrupted_fit_keeps_the_best_so_far(rng, monkeypatch):
    X, y = problem(rng)
    calls, whole = [], LinearPredictorProblem.expansion

    def interrupted(self, coef, **options):
        calls.append(coef)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return whole(self, coef, **options)

    for options, steps in (({}, 2), ({"l1_ratio": 1.0}, 1)):
        calls.clear()
        monkeypatch.setattr(LinearPredictorProblem, "expansion", interrupted)
        model = tractable.LogisticRegression(**options)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        assert model.n_iter_ == steps
        assert not model.converged_
        assert model.predict_proba(X).shape == (200, 2)


def test_too_few_steps_are_said(rng):
    X, y = problem(rng)
    with pytest.warns(UserWarning, match="did not converge in 2 steps"):
        model = tractable.LogisticRegression(max_iter=2).fit(X, y)
    assert not model.converged_


@pytest.mark.parametrize(
    ("n", "d", "k", "options"),
    [
        (150, 3, 2, {}),
        (150, 3, 2, {"link": "probit"}),
        (150, 3, 4, {"C": np.inf}),
        (150, 3, 4, {"class_weight": "balanced"}),
        (150, 90, 2, {}),
        (150, 30, 4, {}),
    ],
)
def test_blocks_of_rows_change_nothing(n, d, k, options, rng, monkeypatch):
    """Coefficients and covariances are the same however many blocks the rows are cut into."""
    X = rng.standard_normal((n, d)) * np.geomspace(1e-3, 1e3, d) + 5.0
    scores = (X - 5.0) / np.geomspace(1e-3, 1e3, d) @ rng.standard_normal((d, k)) / np.sqrt(d)
    y = (scores + rng.gumbel(size=(n, k))).argmax(axis=1)
    weights = rng.integers(0, 3, n).astype(float)
    make = partial(tractable.LogisticRegression, tol=1e-14, **options)
    whole = make().fit(X, y, weights)
    monkeypatch.setattr(linear_predictors, "BLOCK", 37)
    parts = make().fit(X, y, weights)
    assert len(X) > linear_predictors.BLOCK
    np.testing.assert_allclose(parts.coef_ * X.std(axis=0), whole.coef_ * X.std(axis=0), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(parts.log_likelihood_, whole.log_likelihood_, rtol=1e-12)
    np.testing.assert_allclose(parts.coef_std_errors_, whole.coef_std_errors_, rtol=1e-6)


@pytest.mark.parametrize("apart", [0.1, 1e-3, 1e-5])
@pytest.mark.parametrize("weight", [1.0, 1e-90, 1e90])
def test_nearly_dependent_columns_of_a_small_table(apart, weight, rng):
    """Where curvatures are ill-conditioned, steps are as long as they should be, in any units of weights."""
    X = rng.standard_normal((400, 3))
    X[:, 1] = X[:, 0] + apart * X[:, 1]
    y = (X[:, 2] + rng.logistic(size=400) > 0).astype(int)
    make = partial(tractable.LogisticRegression, C=np.inf, tol=1e-6)
    found = make().fit(X, y, np.full(400, weight))
    turned = X @ np.array([[1.0, -1.0 / apart, 0.0], [0.0, 1.0 / apart, 0.0], [0.0, 0.0, 1.0]])
    exact = make().fit(turned, y)
    assert found.converged_
    assert found.n_iter_ <= exact.n_iter_ + 1
    np.testing.assert_allclose(found.loss_, exact.loss_, rtol=1e-12)
    np.testing.assert_allclose(found.predict_proba(X), exact.predict_proba(turned), atol=1e-9)


@pytest.mark.parametrize(
    ("n", "d", "k", "options"),
    [
        (40, 90, 2, {}),
        (40, 90, 3, {"class_weight": "balanced"}),
        (60, 200, 12, {"C": 0.3}),
        (60, 200, 12, {"fit_intercept": False}),
        (200, 80, 2, {"link": "probit"}),
        (300, 30, 8, {}),
        (5000, 70, 2, {}),
    ],
)
def test_many_coefficients_are_those_of_newtons_method(n, d, k, options, rng, monkeypatch):
    """They are found by differences of gradients; of wide tables they are combinations of the rows."""
    X = rng.standard_normal((n, d)) * np.geomspace(0.1, 10.0, d) + 2.0
    X[:, -1], X[1] = 0.0, X[0]
    scores = rng.standard_normal((n, k)) * 2.0 + X[:, :k] / X[:, :k].std(axis=0)
    y, weights = scores.argmax(axis=1), rng.integers(1, 3, n).astype(float)
    y[:k] = np.arange(k)
    make = partial(tractable.LogisticRegression, **options)
    found = make().fit(X, y, weights)
    assert found.converged_
    assert found.n_iter_ < 50
    monkeypatch.setattr(linear_predictors, "NEWTON_PRODUCTS", 10**18)
    monkeypatch.setattr(linear_search, "MOST_ROWS_A_PREDICTOR", 0)
    exact = make(tol=1e-11).fit(X, y, weights)
    assert found.loss_ <= exact.loss_ + 1e-8
    np.testing.assert_allclose(found.predict_proba(X), exact.predict_proba(X), atol=1e-5)
    np.testing.assert_array_equal(found.coef_[:, -1], 0.0)


@pytest.mark.parametrize(("n", "d", "k"), [(3000, 40, 60), (3000, 1500, 2)])
def test_threads_that_share_the_rows_change_nothing(n, d, k, rng, monkeypatch):
    """Sums are in the order of the rows, whichever thread comes first."""
    X, y = rng.standard_normal((n, d)), rng.integers(0, k, n)
    y[:k] = np.arange(k)

    def coef(threads):
        monkeypatch.setenv("TRACTABLE_NUM_THREADS", threads)
        return tractable.LogisticRegression(tol=1e-6, max_iter=25).fit(X, y).coef_

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        alone = coef("1")
        for threads in ("2", "4", "4"):
            np.testing.assert_array_equal(coef(threads), alone)


@pytest.mark.parametrize("case", ["outliers", "powers"])
def test_many_columns_with_outliers_or_nearly_dependent(case, rng, monkeypatch):
    """The sizes of the columns are a poor curvature then; the search does not end before its minimum."""
    X, options = rng.standard_normal((300, 70)), {}
    if case == "outliers":
        X[rng.integers(300, size=5), rng.integers(70, size=5)] = 1e10
    else:
        X, options = rng.uniform(-1.0, 1.0, (300, 1)) ** np.arange(1, 71), {"C": 1e6}
    y = (X[:, 0] > rng.logistic(size=300)).astype(int)
    found = tractable.LogisticRegression(**options).fit(X, y)
    assert found.converged_
    assert np.all(np.diff(found.objective_trace_) >= 0.0)
    assert len(found.objective_trace_) == found.n_iter_ + 1
    monkeypatch.setattr(linear_predictors, "NEWTON_PRODUCTS", 10**18)
    exact = tractable.LogisticRegression(tol=1e-12, **options).fit(X, y)
    assert found.loss_ <= exact.loss_ + 1e-8


def test_a_search_that_is_cut_short_keeps_the_best(rng):
    X = rng.uniform(-1.0, 1.0, (300, 1)) ** np.arange(1, 71)
    y = (X[:, 0] > rng.logistic(size=300)).astype(int)
    losses = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for steps in range(20, 60):
            model = tractable.LogisticRegression(C=1e6, max_iter=steps).fit(X, y)
            losses.append(model.loss_)
            assert model.n_iter_ <= steps
            assert model.loss_ == -model.objective_trace_[-1]
            assert np.all(np.diff(model.objective_trace_) >= 0.0)
    assert np.all(np.diff(losses) <= 1e-6)


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6, 1e-8])
def test_the_objective_is_as_near_to_its_minimum_as_the_tolerance_says(tol, rng):
    for n, d, k in ((400, 90, 2), (300, 40, 5), (60, 150, 3)):
        X = rng.standard_normal((n, d)) + rng.standard_normal((n, 1))
        y = (X[:, :k] + rng.gumbel(size=(n, k))).argmax(axis=1)
        least = tractable.LogisticRegression(tol=1e-13).fit(X, y).loss_
        assert tractable.LogisticRegression(tol=tol).fit(X, y).loss_ <= least + tol * np.log(k)


@pytest.mark.parametrize("case", ["powers", "far from the origin"])
def test_directions_in_which_rows_hardly_vary_are_searched_too(case, rng, monkeypatch):
    """Where the penalty is weak, the gradient alone would stop the search far above the minimum."""
    n, d = 100, 70
    X = rng.standard_normal((n, d)) + 1e7
    if case == "powers":
        X = rng.uniform(-1.0, 1.0, (n, 1)) ** np.arange(1, d + 1)
    centred = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (centred[:, :3] + rng.gumbel(size=(n, 3))).argmax(axis=1)
    options = {"C": 1e6} if case == "powers" else {"fit_intercept": False}
    found = tractable.LogisticRegression(**options).fit(X, y)
    monkeypatch.setattr(linear_predictors, "NEWTON_PRODUCTS", 10**18)
    exact = tractable.LogisticRegression(**options).fit(X, y)
    assert found.converged_
    assert found.loss_ <= exact.loss_ + 1e-8


def test_a_model_with_too_many_coefficients_for_a_covariance_lists_its_attributes(rng):
    """Of 2,000 coefficients: `dir` reads every property, so that they must raise errors of attributes."""
    X = rng.standard_normal((60, 500))
    found = tractable.LogisticRegression().fit(X, np.arange(60) % 4)
    assert "coef_" in dir(found)
    assert not hasattr(found, "coef_std_errors_")
    with pytest.raises(ValueError, match="too many for their covariance"):
        _ = found.coef_std_errors_


@pytest.mark.parametrize("weighted", [False, True])
def test_many_sparse_rows_are_sampled_as_dense_ones_are(weighted, rng):
    X = sparse.random(21_000, 4, 0.3, format="csr", random_state=0)
    y = (X[:, [0]].toarray()[:, 0] + rng.standard_normal(21_000) > 0.3).astype(int)
    w = rng.integers(1, 3, 21_000).astype(float) if weighted else None
    ours, dense = (tractable.LogisticRegression().fit(rows, y, w) for rows in (X, X.toarray()))
    np.testing.assert_allclose(ours.coef_, dense.coef_, rtol=1e-5)
