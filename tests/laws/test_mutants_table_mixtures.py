"""The laws reject the classic bugs of mixtures over tables, and of heavy tails."""

import numpy as np
import pytest

from rows import discrete_mixtures, student_t_mixture
from tractable.mixture import CategoricalMixture, StudentTMixture, TableMixture
from tractable.mixture.table.steps import TableProblem
from tractable.testing import em_laws, estimator_laws
from tractable.value import replace


def with_part(expected, i, **changes):
    """Return a statistic with another part."""
    parts = list(expected.parts)
    parts[i] = replace(parts[i], **changes)
    return replace(expected, parts=tuple(parts))


def counts_missing_as_the_first_category(problem):
    """Forgets whether an entry was observed: holes count for what comes first."""

    def maximize(expected):
        filled = expected.parts[3].counts.copy()
        filled[:, 0] += 0.5 * expected.weight
        return problem.maximize(with_part(expected, 3, counts=filled))

    return replace(problem, maximize=maximize)


def smooths_without_saying(problem):
    """Adds pseudo-counts that the objective knows nothing of."""

    def maximize(expected):
        return problem.maximize(with_part(expected, 3, counts=expected.parts[3].counts + 20.0))

    return replace(problem, maximize=maximize)


def divides_by_all_rows(problem):
    """Takes means over all rows, observed or not."""

    def maximize(expected):
        moments, all_rows = expected.parts[0], expected.weight[:, None]
        mean = expected.params.means + (moments.mean - expected.params.means) * moments.weight / all_rows
        return problem.maximize(with_part(expected, 0, weight=all_rows, mean=mean))

    return replace(problem, maximize=maximize)


def forgets_what_is_uncertain(problem):
    """Fills missing numbers with their means, as if these had been observed."""

    def maximize(expected):
        scatter = expected.parts[0].scatter
        certain = 0.5 * np.eye(scatter.shape[1]) * expected.weight[:, None, None]
        return problem.maximize(with_part(expected, 0, scatter=scatter - certain))

    return replace(problem, maximize=maximize)


def test_a_step_that_forgets_conditional_covariances_is_found(rng):
    problem = discrete_mixtures.table_problem(holes=0.3, joint=True)
    em_laws.the_objective_never_decreases(problem, rng)
    with pytest.raises((AssertionError, ValueError)):
        em_laws.the_objective_never_decreases(forgets_what_is_uncertain(problem), rng)


@pytest.mark.parametrize(
    "break_it", [counts_missing_as_the_first_category, smooths_without_saying, divides_by_all_rows]
)
def test_a_step_that_does_not_climb_is_found(break_it, rng):
    em_laws.the_objective_never_decreases(discrete_mixtures.table_problem(holes=0.3), rng)
    with pytest.raises(AssertionError):
        em_laws.the_objective_never_decreases(break_it(discrete_mixtures.table_problem(holes=0.3)), rng)


def test_a_step_that_forgets_precisions_is_found(rng):
    def maximize(expected):
        unweighted = replace(expected, second=2.0 * expected.second, squared=2.0 * expected.squared)
        return problem.maximize(unweighted)

    problem = student_t_mixture.student_t_problem()
    em_laws.the_objective_never_decreases(problem, rng)
    with pytest.raises(AssertionError):
        em_laws.the_objective_never_decreases(replace(problem, maximize=maximize), rng)


class ForgetsWeights(TableMixture):
    """Folds rows without their weights."""

    def _em_problem(self, rows, *, fitted):
        return super()._em_problem(replace(rows, weights=None), fitted=fitted)


class ScoresHolesAsZero(StudentTMixture):
    """Believes that it may be asked for incomplete rows."""

    def _events(self, X):
        return np.nan_to_num(np.asarray(X, dtype=float))


class RelearnsCategories(CategoricalMixture):
    """Learns categories anew where it is asked."""

    def _events(self, X):
        self._columns_ = None
        return super()._events(X)


@pytest.mark.parametrize(
    ("law", "good", "bad"),
    [
        ("weights_are_repetitions", TableMixture, ForgetsWeights),
        ("bad_rows_are_one_clear_error", StudentTMixture, ScoresHolesAsZero),
        ("predicting_changes_nothing", CategoricalMixture, RelearnsCategories),
    ],
)
def test_a_bug_of_the_shell_is_found(law, good, bad, rng):
    check = getattr(estimator_laws, law)
    check(good(2, random_state=0), rng)
    with pytest.raises(AssertionError):
        check(bad(2, random_state=0), rng)


def test_the_steps_are_those_of_the_models():
    assert isinstance(discrete_mixtures.table_steps(discrete_mixtures.table()), TableProblem)
