"""Laws of expectation-maximisation: the objective never decreases, and a fixed point stays."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.engines.em import em
from tractable.testing.assertions import check_laws, laws_above
from tractable.value import value


@value
class EMCase:
    """A model's two steps, its data, initial parameters, and how to read parameters as numbers."""

    expect: Callable[[Any], Any]
    maximize: Callable[[Any], Any]
    start: Any
    numbers: Callable[[Any], np.ndarray]
    data: Any

    def run(self, tol: float, max_iter: int) -> Any:
        """Return the result of EM from the initial parameters."""
        return em(self.expect, self.maximize, self.start, self.data, tol=tol, max_iter=max_iter)

    def statistic(self, params: Any) -> Any:
        """Return the expected statistic of the data: one E-step."""
        return self.data.reduce(self.expect(params))


def the_objective_never_decreases(problem: EMCase, rng: np.random.Generator) -> None:
    """Each iteration keeps or raises the (penalised) objective, to rounding."""
    result = problem.run(tol=0.0, max_iter=60)
    trace = np.asarray(result.trace)
    assert np.all(np.isfinite(trace)), "the objective is not finite"
    falls = np.diff(trace) < -1e-9 * np.abs(trace[:-1])
    assert not falls.any(), f"the objective fell at iterations {np.flatnonzero(falls) + 1}"


def the_trace_is_the_objective(problem: EMCase, rng: np.random.Generator) -> None:
    """The trace begins at the start and ends at the parameters returned."""
    result = problem.run(tol=1e-6, max_iter=50)
    assert result.n_iter == len(result.trace) - 1
    np.testing.assert_allclose(result.trace[0], problem.statistic(problem.start).objective)
    np.testing.assert_allclose(result.trace[-1], problem.statistic(result.params).objective)


def a_fixed_point_is_fixed(problem: EMCase, rng: np.random.Generator) -> None:
    """Where the search has settled, one more step changes nothing."""
    settled = problem.run(tol=1e-16, max_iter=20_000).params
    again = problem.maximize(problem.statistic(settled))
    before, after = problem.numbers(settled), problem.numbers(again)
    np.testing.assert_allclose(after, before, rtol=1e-5, atol=1e-5 * float(np.abs(before).max()))


def steps_are_pure(problem: EMCase, rng: np.random.Generator) -> None:
    """The same parameters give the same statistics, and are left as they were."""
    before = problem.numbers(problem.start).copy()
    first, second = (problem.maximize(problem.statistic(problem.start)) for _ in range(2))
    np.testing.assert_array_equal(problem.numbers(first), problem.numbers(second))
    np.testing.assert_array_equal(problem.numbers(problem.start), before)


EM_LAWS = laws_above(globals())


def check_em(problem: EMCase, rng: Any = 0) -> None:
    """Run every law of expectation-maximisation on a pair of steps."""
    check_laws(EM_LAWS, problem, rng)
