"""The optimality of sparse paths, at every penalty and every knot, with working sets of any size."""

import numpy as np
import pytest

from optimality import assert_lasso_optimal, awkward
from tractable.engines.sparse import lars as lars_module
from tractable.engines.sparse import working_set
from tractable.engines.sparse.lars import lars
from tractable.engines.sparse.problem import ColumnProblem, GramProblem
from tractable.engines.sparse.working_set import sparse_path


def by_columns(X, y):
    return ColumnProblem(X=np.asfortranarray(X), y=y)


def by_gram(X, y):
    return GramProblem(
        gram=np.ascontiguousarray(X.T @ X), moment=X.T @ y, square=float(y @ y), rank=min(X.shape)
    )


@pytest.fixture(params=["everything", "little by little"])
def _working_sets(request, monkeypatch):
    """All columns at once, or so few that columns are missed, blamed and mended."""
    if request.param == "little by little":
        monkeypatch.setattr(working_set, "FEW", 0)
        monkeypatch.setattr(lars_module, "FEW", 0)
        monkeypatch.setattr(lars_module, "FIRST", 2)
        monkeypatch.setattr(lars_module, "KNOTS_BETWEEN_CHECKS", 4)


def wide(rng):
    X = rng.standard_normal((30, 90)) + 0.5 * rng.standard_normal((30, 1))
    return X, X[:, :6] @ rng.standard_normal(6) + 0.5 * rng.standard_normal(30)


@pytest.mark.usefixtures("_working_sets")
@pytest.mark.parametrize("as_problem", [by_columns, by_gram])
@pytest.mark.parametrize(("l1_ratio", "positive"), [(1.0, False), (1.0, True), (0.5, False), (0.1, True)])
def test_every_penalty_of_a_path_is_optimal(rng, as_problem, l1_ratio, positive):
    X, y = wide(rng)
    top = np.abs(X.T @ y).max() / len(y) / l1_ratio
    alphas = np.geomspace(top, 0.005 * top, 25)
    scale = len(y) * alphas
    path = sparse_path(
        as_problem(X, y), scale * l1_ratio, scale * (1.0 - l1_ratio), tol=1e-12, positive=positive
    )
    assert np.all(path.gaps <= 1e-12 * (y @ y))
    for alpha, coef in zip(alphas, path.coefs.T, strict=True):
        assert_lasso_optimal(
            X, y, coef, alpha, l1_ratio=l1_ratio, positive=positive, fit_intercept=False, tol=1e-6
        )


@pytest.mark.usefixtures("_working_sets")
def test_a_single_small_penalty_is_reached(rng):
    X, y = wide(rng)
    alpha = 1e-3 * np.abs(X.T @ y).max() / len(y)
    path = sparse_path(by_columns(X, y), [alpha * len(y)], tol=1e-12)
    assert path.coefs.shape == (90, 1)
    assert_lasso_optimal(X, y, path.coefs[:, 0], alpha, fit_intercept=False, tol=1e-6)


def test_gaps_bound_how_far_an_answer_is_from_the_minimum(rng):
    X, y = wide(rng)
    penalty = 0.05 * np.abs(X.T @ y).max()
    problem = by_columns(X, y)
    rough, exact = (sparse_path(problem, [penalty], tol=tol) for tol in (1e-2, 1e-13))

    def value(w):
        return 0.5 * np.sum((y - X @ w) ** 2) + penalty * np.abs(w).sum()

    short = value(rough.coefs[:, 0]) - value(exact.coefs[:, 0])
    assert -1e-12 * (y @ y) <= short <= rough.gaps[0] <= 1e-2 * (y @ y)


def test_what_rounding_cannot_certify_is_kept_with_its_gap(rng):
    X, y = wide(rng)
    path = sparse_path(by_columns(X, y), np.abs(X.T @ y).max() * np.array([0.5, 0.1]), tol=1e-30)
    assert np.all(path.gaps <= 1e-13 * (y @ y))


@pytest.mark.usefixtures("_working_sets")
@pytest.mark.parametrize("as_problem", [by_columns, by_gram])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.spec("LIN-36", "E001-18")
def test_every_knot_is_optimal(rng, as_problem, positive):
    X, y = wide(rng)
    knots = lars(as_problem(X, y), positive=positive)
    assert knots.penalties[-1] == 0.0
    assert np.all(np.diff(knots.penalties) < 0)
    between = 0.5 * (knots.penalties[1:] + knots.penalties[:-1])
    middles = 0.5 * (knots.coefs[:, 1:] + knots.coefs[:, :-1])
    for penalties, coefs in ((knots.penalties, knots.coefs), (between, middles)):
        for penalty, coef in zip(penalties, coefs.T, strict=True):
            assert_lasso_optimal(X, y, coef, penalty / len(y), fit_intercept=False, positive=positive)


@pytest.mark.usefixtures("_working_sets")
def test_ties_and_dependent_columns_leave_the_path_optimal(rng):
    for trial in range(60):
        X, y = awkward(rng)
        positive = trial % 5 == 0
        knots = lars(by_columns(X, y), positive=positive)
        assert knots.penalties[-1] == 0.0
        for penalty, coef in zip(knots.penalties, knots.coefs.T, strict=True):
            assert_lasso_optimal(
                X, y, coef, penalty / len(y), fit_intercept=False, positive=positive, tol=1e-7
            )


def test_columns_leave_where_their_coefficient_comes_to_zero(rng):
    for _ in range(20):
        X, y = wide(rng)
        knots = lars(by_columns(X, y))
        for i, (above, below) in enumerate(zip(knots.active[:-1], knots.active[1:], strict=True)):
            changed = set(above) ^ set(below)
            if i + 2 < len(knots.active):
                assert len(changed) == 1
                assert knots.coefs[changed.pop(), i + 1] == 0.0


def test_without_the_drop_step_columns_stay(rng):
    X, y = wide(rng)
    knots = lars(by_columns(X, y), drop=False)
    assert [len(used) for used in knots.active[:-1]] == list(range(1, len(knots.active)))
    assert len(knots.penalties) <= 31


def test_a_path_may_stop_early(rng):
    X, y = wide(rng)
    whole = lars(by_columns(X, y))
    few = lars(by_columns(X, y), max_knots=3)
    np.testing.assert_allclose(few.penalties, whole.penalties[:4])
    least = 0.5 * (whole.penalties[4] + whole.penalties[5])
    some = lars(by_columns(X, y), least=least)
    assert some.penalties[-1] == least
    np.testing.assert_allclose(some.coefs[:, :5], whole.coefs[:, :5], atol=1e-12)


def test_nothing_to_explain_is_a_path_of_one_knot():
    knots = lars(by_columns(np.eye(3), np.zeros(3)))
    assert knots.penalties.tolist() == [0.0]
    assert knots.coefs.tolist() == [[0.0]] * 3


@pytest.mark.parametrize(
    "options", [{}, {"positive": True}, {"drop": False}, {"max_knots": 20}, {"least": 9.0}]
)
@pytest.mark.parametrize("shape", [(40, 60), (90, 60)])
def test_compiled_knots_are_those_of_steps_one_by_one(rng, monkeypatch, shape, options):
    X = rng.standard_normal(shape)
    X[:, 1:] += 0.9 * X[:, :-1]  # so that columns leave, too
    y = X[:, ::7].sum(axis=1) + rng.standard_normal(len(X))
    found = lars(by_columns(X, y), **options)
    if options.get("drop", True):
        for penalty, coef in zip(found.penalties, found.coefs.T, strict=True):
            positive = options.get("positive", False)
            alpha = penalty / len(y)
            assert_lasso_optimal(X, y, coef, alpha, positive=positive, fit_intercept=False, tol=1e-8)
    monkeypatch.setattr(lars_module.LarsState, "_go_on", lambda *_: False)
    expected = lars(by_columns(X, y), **options)
    assert found.active == expected.active
    np.testing.assert_allclose(found.penalties, expected.penalties, atol=1e-9 * expected.penalties[0])
    np.testing.assert_allclose(found.coefs, expected.coefs, atol=1e-7)


def test_columns_of_few_digits_are_left_to_steps_one_by_one(rng):
    X = rng.standard_normal((80, 50))
    X[:, 25:] = X[:, :25] + 1e-6 * X[:, 25:]
    y = X[:, :3].sum(axis=1) + X[:, 25:28].sum(axis=1) + 0.1 * rng.standard_normal(80)
    knots = lars(by_columns(X, y))
    for penalty, coef in zip(knots.penalties, knots.coefs.T, strict=True):
        assert_lasso_optimal(X, y, coef, penalty / len(y), fit_intercept=False, tol=1e-8)
