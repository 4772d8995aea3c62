"""Every law of expectation-maximisation on every pair of steps, and the mutants they must reject."""

from itertools import cycle
from types import SimpleNamespace
from weakref import WeakSet

import numpy as np
import pytest

from catalogue import cross
from rows import em as rows
from tractable.engines import EMResult, best_of, em
from tractable.statistics import IncompleteMoments, Moments, Standardizer
from tractable.testing import em_laws
from tractable.testing.em_laws import EM_LAWS
from tractable.testing.statistic_laws import assert_same_statistic
from tractable.value import replace, value


@pytest.mark.parametrize(("law", "make"), cross(EM_LAWS, rows.ROWS, most=1))
def test_em_law(law, make, rng):
    law(make(), rng)


def overshoot(problem):
    """An M-step that goes too far."""

    def maximize(expected):
        good = problem.maximize(expected)
        return replace(good, means=good.means + 0.5)

    return replace(problem, maximize=maximize)


def forgets_the_conditional_covariance(problem):
    """Believes filled-in values as if they had been seen: a covariance too small."""

    def maximize(expected):
        good = problem.maximize(expected)
        return replace(good, covariance=0.7 * good.covariance)

    return replace(problem, maximize=maximize)


def reports_another_objective(problem):
    calls = iter(range(10**9))

    def expect(params):
        step, more = problem.expect(params), next(calls)

        def wrong(block):
            good = step(block)
            return replace(good, objective=good.objective + more)

        return wrong

    return replace(problem, expect=expect)


def never_rests(problem):
    side = cycle([-0.01, 0.01])

    def maximize(expected):
        good = problem.maximize(expected)
        return replace(good, means=good.means + next(side))

    return replace(problem, maximize=maximize)


def changes_its_start(problem):
    def expect(params):
        params.means[...] += 1.0
        return problem.expect(params)

    return replace(problem, expect=expect)


@pytest.mark.parametrize(
    ("law", "break_it"),
    [
        ("the_objective_never_decreases", overshoot),
        ("the_objective_never_decreases", forgets_the_conditional_covariance),
        ("the_trace_is_the_objective", reports_another_objective),
        ("a_fixed_point_is_fixed", never_rests),
        ("steps_are_pure", changes_its_start),
    ],
)
def test_em_laws_have_power(law, break_it, rng):
    getattr(em_laws, law)(rows.incomplete_gaussian(), rng)
    with pytest.raises(AssertionError):
        getattr(em_laws, law)(break_it(rows.incomplete_gaussian()), rng)


def test_completed_moments_do_not_care_how_rows_were_cut(rng):
    from tractable.engines.incomplete_gaussian import CompletionStep, PatternMoments, SharedGaussians

    x = rng.standard_normal((50, 3))
    x[rng.random(x.shape) < 0.3] = np.nan
    expect = CompletionStep(params=SharedGaussians(means=np.zeros((1, 3)), covariance=np.eye(3) + 0.5))
    as_they_are = Standardizer.identity(3)
    whole = expect([PatternMoments.of(IncompleteMoments.of(x), as_they_are)])
    pieces = [IncompleteMoments.of(piece) for piece in np.array_split(x, 7)]
    cut = expect([PatternMoments.of(sum(pieces[1:], pieces[0]), as_they_are)])
    assert_same_statistic(cut.moments[0], whole.moments[0])
    assert cut.objective == pytest.approx(whole.objective)


def test_a_search_that_falls_has_not_converged():
    problem = overshoot(rows.incomplete_gaussian())
    fallen = em(problem.expect, problem.maximize, problem.start, problem.data, tol=1e-6, max_iter=50)
    assert not fallen.converged


def test_stopping_is_reported():
    problem = rows.incomplete_gaussian()
    short = em(problem.expect, problem.maximize, problem.start, problem.data, tol=1e-14, max_iter=2)
    assert (short.converged, short.n_iter) == (False, 2)
    long = em(problem.expect, problem.maximize, problem.start, problem.data, tol=1e-6, max_iter=500)
    assert long.converged
    assert isinstance(long.params.covariance, np.ndarray)
    assert isinstance(problem.statistic(problem.start).moments[0], Moments)


def test_a_search_that_ends_at_no_number_is_never_the_best():
    ends = [float("nan"), -2.0, float("nan"), -1.0]
    found = best_of(lambda i: EMResult(params=i, trace=(ends[i],), converged=True), 4)
    assert found.params == 3


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_of_searches_that_end_at_one_optimum_the_first_is_the_best(size):
    ends = [-2.0 * size, -size, -size * (1.0 - 1e-15), -size * (1.0 + 1e-15)]
    assert best_of(lambda i: EMResult(params=i, trace=(ends[i],), converged=True), 4).params == 1
    ends[3] = -size * (1.0 - 1e-9)
    assert best_of(lambda i: EMResult(params=i, trace=(ends[i],), converged=True), 4).params == 3


def test_parameters_of_earlier_steps_are_let_go():
    """Parameters may be as large as the rows: of all but the last steps none is held."""
    made, most = WeakSet(), 0

    @value
    class Params:
        """Parameters that can be counted."""

    class Rows:
        """Data whose statistic is the number of the step."""

        def reduce(self, step, **_):
            return step(None)

    def maximize(_):
        nonlocal most
        found = Params()
        made.add(found)
        most = max(most, len(made))
        return found

    def expect(_):
        return lambda _: SimpleNamespace(objective=float(next(steps)))

    steps = iter(range(100))
    assert em(expect, maximize, Params(), Rows(), tol=0.0, max_iter=20).n_iter == 20
    assert most <= 3
