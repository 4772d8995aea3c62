"""Where planes part classes: against linear programming, at the limits of rounding, and of many columns."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import expit

import tractable
from tractable.classification import SeparableClassesWarning
from tractable.engines.glm.problem import MOST_PARAMETERS, Curvature


def likelihood(X, y, **options):
    return tractable.LogisticRegression(C=np.inf, **options).fit(X, y)


def parted(X, y, *, fit_intercept=True):
    """Say whether planes exist with no row's class below another and some above, by linear programming."""
    z = np.column_stack([np.ones(len(X)), X]) if fit_intercept else X
    k, apart = y.max() + 1, []
    for row, own in zip(z, y, strict=True):
        for other in set(range(k)) - {own}:
            planes = np.zeros((k, z.shape[1]))
            planes[own], planes[other] = row, -row
            apart.append(planes.ravel())
    apart = np.array(apart)
    best = linprog(-apart.sum(axis=0), A_ub=-apart, b_ub=np.zeros(len(apart)), bounds=(-1.0, 1.0))
    return -best.fun > 1e-6


def dummy_of_all_but_one(rng, k):
    y = rng.integers(0, k, 40)
    X = rng.standard_normal((40, 3))
    X[:, 0] = (rng.random(40) < 0.5) & (y != 0)
    return X, y


def coarse(rng, k):
    return rng.integers(0, 3, (20, 3)).astype(float), rng.integers(0, k, 20)


def few(rng, k):
    return rng.standard_normal((12, 4)), np.where(np.arange(12) < k, np.arange(12), rng.integers(0, k, 12))


def touching(rng, k):
    X, y = rng.standard_normal((30, 2)), np.arange(30) % k
    X[:, 0] = np.where(y == 1, 1.0, -1.0) * np.abs(X[:, 0])
    X[:4, 0] = 0.0
    return X, y


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("rows", [dummy_of_all_but_one, coarse, few, touching])
@pytest.mark.spec("CLS-18")
def test_linear_programming_agrees(rows, k):
    """Albert and Anderson's condition, of each class against each other, met and not met."""
    for seed in range(8):
        X, y = rows(np.random.default_rng(seed), k)
        y = np.unique(y, return_inverse=True)[1]
        for fit_intercept in (True, False):
            model = likelihood(X, y, fit_intercept=fit_intercept)
            assert model.separable_ == parted(X, y, fit_intercept=fit_intercept), (seed, fit_intercept)


def parted_counts(X, y):
    """Say whether a plane exists with all positive counts on it, no zero above it, and some below."""
    z = np.column_stack([np.ones(len(X)), X])
    zeros, others = z[y == 0], z[y > 0]
    best = linprog(
        zeros.sum(axis=0),
        A_ub=zeros,
        b_ub=np.zeros(len(zeros)),
        A_eq=others,
        b_eq=np.zeros(len(others)),
        bounds=(-1.0, 1.0),
    )
    return -best.fun > 1e-6


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("dependent", [False, True])
def test_linear_programming_agrees_on_counts(dependent):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((14, 3))
        X[:, 0] = np.maximum(X[:, 0], 0.0)
        if dependent:
            X = np.column_stack([X, X[:, 1] + X[:, 2]])
        y = np.where(X[:, 0] > 0.0, 0, 1 + rng.poisson(1.5, 14))
        if seed % 3 == 0:
            y[0] = 3
        model = tractable.PoissonRegression(alpha=0.0).fit(X, y)
        assert model.separable_ == parted_counts(X, y), seed


@pytest.mark.parametrize("least", [1e-6, 1e-13, 1e-15, 1e-18])
def test_a_step_goes_on_where_curvature_is_lost(least):
    """The slope along a direction in which a loss falls for ever is as small as the curvature."""
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    hessian = (axes * [1.0, 0.5, least]) @ axes.T
    step = Curvature(hessian=hessian).unbounded_step(axes @ [1e-9, 1e-9, -1e-12])
    along = axes.T @ step
    assert along[2] < -1e-7
    np.testing.assert_allclose(along[:2], [1e-9, 2e-9], rtol=0.1)


def test_a_column_that_never_occurs_with_a_class_parts_it(rng):
    X, y = dummy_of_all_but_one(rng, 4)
    with pytest.warns(SeparableClassesWarning):
        model = likelihood(X, y)
    scores = X @ model.separating_coef_.T + model.separating_intercept_
    above = scores[np.arange(40), y][:, None] - scores
    assert above.min() > -1e-12
    assert above.max() > 0.1


def test_one_far_row_does_not_hide_an_overlap(rng):
    X = np.vstack([rng.standard_normal((200, 1)), [[1e8]]])
    y = np.append(rng.random(200) < expit(X[:200, 0]), True)
    model = likelihood(X, y)
    assert model.separable_ is False
    np.testing.assert_allclose(model.coef_, likelihood(X[:200], y[:200]).coef_, rtol=1e-6)


@pytest.mark.parametrize("far", [0.0, 2.0**20])
def test_an_overlap_is_one_however_narrow(far):
    y = np.array([0, 0, 0, 1, 1, 1])
    for step, expected in [(-(2.0**-24), False), (0.0, True), (2.0**-24, True)]:
        X = far + np.array([1.0, 2.0, 3.0, 3.0 + step, 4.0, 5.0])[:, None]
        if expected:
            with pytest.warns(SeparableClassesWarning):
                model = likelihood(X, y)
        else:
            model = likelihood(X, y)
        assert model.separable_ is expected


def test_of_many_columns_only_planes_that_were_met_count(rng):
    X, y = rng.standard_normal((200, MOST_PARAMETERS + 100)), rng.integers(0, 2, 200)
    with pytest.warns(SeparableClassesWarning):
        model = likelihood(X, y)
    assert model.separable_
    sides = X @ model.separating_coef_[0] + model.separating_intercept_[0]
    assert np.all((sides > 0) == (y == 1))
    X[:, 3:] = 0.0
    assert likelihood(X, y).separable_ is None


def test_a_search_cut_short_does_not_know(rng):
    X, y = rng.standard_normal((50, 2)), rng.integers(0, 2, 50)
    with pytest.warns(UserWarning, match="converge"):
        assert likelihood(X, y, max_iter=1).separable_ is None


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.spec("CLS-18", "E004-21")
def test_classes_that_a_plane_parts_are_said_to_be_so(link):
    X, y = np.arange(8.0)[:, None], np.array(["a"] * 4 + ["b"] * 4)
    with pytest.warns(SeparableClassesWarning, match="no maximum"):
        model = tractable.LogisticRegression(C=np.inf, link=link).fit(X, y)
    assert model.separable_
    sides = X @ model.separating_coef_[0] + model.separating_intercept_[0]
    assert np.all((sides > 0) == (y == "b"))
    assert model.predict(X).tolist() == y.tolist()
    touching = np.where(np.arange(8) == 4, 3.0, np.arange(8.0))[:, None]  # a row of each class at 3
    with pytest.warns(SeparableClassesWarning):
        model = tractable.LogisticRegression(C=np.inf, link=link).fit(touching, y)
    sides = touching @ model.separating_coef_[0] + model.separating_intercept_[0]
    np.testing.assert_allclose(sides[3:5], 0.0, atol=1e-6 * sides.max())
    penalised = tractable.LogisticRegression(link=link).fit(X, y)
    assert penalised.separable_ is None
    assert penalised.converged_
    mixed = tractable.LogisticRegression(C=np.inf, link=link).fit(X, ["a", "b", "a", "b"] * 2)
    assert mixed.separable_ is False


@pytest.mark.parametrize("n", [80, 30_000])
def test_one_class_of_three_may_be_parted_from_the_others(n, rng):
    X = rng.standard_normal((n, 3))
    y = np.where(X[:, 0] > 0.5, 2, rng.integers(0, 2, n))
    with pytest.warns(SeparableClassesWarning):
        model = tractable.LogisticRegression(C=np.inf).fit(X, y)
    scores = X @ model.separating_coef_.T + model.separating_intercept_
    own = scores[np.arange(n), y]
    assert np.all(own[:, None] >= scores - 1e-5)
    assert np.max(own - scores.min(axis=1)) > 0.1


def test_the_last_step_keeps_what_the_search_has_found(rng):
    """Along a separating direction no curvature is left: an unseen step went a thousand times too far."""
    X, y = few(np.random.default_rng(2), 4)
    y = np.unique(y, return_inverse=True)[1]
    for _ in range(60):
        rows = X * (1.0 + 1e-15 * rng.standard_normal(X.shape))
        with pytest.warns(SeparableClassesWarning):
            model = likelihood(rows, y)
        assert model.separable_
        own = model.predict_log_proba(rows)[np.arange(len(y)), y]
        assert own.sum() > -1e-6
