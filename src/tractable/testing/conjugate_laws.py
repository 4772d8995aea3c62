"""Laws of conjugate models: statistics act on beliefs, and the closed forms are what Bayes' rule says.

The data of a law are drawn from the model itself: a parameter from the belief, rows given the parameter.
"""

import copy
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tractable.arrays.random import as_generator
from tractable.testing.conjugate_density_laws import CONJUGATE_DENSITY_LAWS, each, rows_of
from tractable.testing.refusals import refused
from tractable.value import parameters, replace

__all__ = ["CONJUGATE_LAWS", "assert_same_belief", "check_conjugate_model"]


def assert_same_belief(a: Any, b: Any, rng: np.random.Generator) -> None:
    """Raise unless two models are of one type and believe the same."""
    assert type(a) is type(b), f"{type(a).__name__} is not {type(b).__name__}"
    assert type(a.prior) is type(b.prior)
    x = a.prior.sample(20, rng=rng)
    np.testing.assert_allclose(a.prior.log_prob(x), b.prior.log_prob(x), rtol=1e-9, atol=1e-9)
    each(partial(np.testing.assert_allclose, rtol=1e-10, atol=1e-12), a.mean(), b.mean())


def updating_with_nothing_changes_nothing(model: Any, rng: np.random.Generator) -> None:
    """The empty statistic is neutral: the same belief, and evidence 1."""
    rows, _ = rows_of(model, 3, rng)
    nothing = model.summarize(rows[:0])
    assert_same_belief(model.update(nothing), model, rng)
    np.testing.assert_allclose(model.log_evidence(nothing), 0.0, atol=1e-12)


def updates_merge(model: Any, rng: np.random.Generator) -> None:
    """In one batch, in two parts, in either order, or row by row: one posterior."""
    rows, _ = rows_of(model, 12, rng)
    a, b = model.summarize(rows[:5]), model.summarize(rows[5:])
    at_once = model.update_rows(rows)
    for other in (model.update(a + b), model.update(a).update(b), model.update(b).update(a)):
        assert_same_belief(at_once, other, rng)
    one_by_one = model
    for i in range(len(rows)):
        one_by_one = one_by_one.update_rows(rows[i : i + 1])
    assert_same_belief(at_once, one_by_one, rng)


def weights_are_repetitions(model: Any, rng: np.random.Generator) -> None:
    """An integer weight counts a row so many times, in the posterior and in the evidence, by either name."""
    rows, _ = rows_of(model, 4, rng)
    times = np.array([2, 0, 1, 3])
    weights = times.astype(float)
    weighted, repeated = model.summarize(rows, weights), model.summarize(np.repeat(rows, times, 0))
    named = model.summarize(rows, sample_weight=weights), model.summarize(rows, weights=weights)
    for statistic in (weighted, *named):
        assert_same_belief(model.update(statistic), model.update(repeated), rng)
    np.testing.assert_allclose(model.log_evidence(weighted), model.log_evidence(repeated), rtol=1e-10)


def discounting_forgets(model: Any, rng: np.random.Generator) -> None:
    """Half of what was seen twice counts as seen once."""
    statistic = model.summarize(rows_of(model, 5, rng)[0])
    assert_same_belief(model.update((statistic + statistic).discount(0.5)), model.update(statistic), rng)


def updating_changes_nothing_else(model: Any, rng: np.random.Generator) -> None:
    """An update returns a new value: the old belief, the rows and everything known stay as they were."""
    rows, _ = rows_of(model, 4, rng)
    kept, x = np.array(rows), model.prior.sample(3, rng=rng)
    before = model.prior.log_prob(x)
    updated = model.update_rows(rows)
    np.testing.assert_array_equal(rows, kept)
    np.testing.assert_array_equal(model.prior.log_prob(x), before)
    assert parameters(updated).keys() == parameters(model).keys()
    try:
        model.prior = updated.prior
    except AttributeError:
        return
    raise AssertionError("prior can be set")


def models_survive_pickling_and_copying(model: Any, rng: np.random.Generator) -> None:
    """A copy, a pickle and a rebuilt value are the same model."""
    statistic = model.summarize(rows_of(model, 4, rng)[0])
    pickled = pickle.loads(pickle.dumps(model))  # noqa: S301
    for other in (pickled, copy.copy(model), copy.deepcopy(model), replace(model)):
        assert_same_belief(other.update(statistic), model.update(statistic), rng)
        assert other.log_evidence(statistic) == model.log_evidence(statistic)


def trace_is_the_sequence_of_updates(model: Any, rng: np.random.Generator) -> None:
    """A trace starts at the model itself and ends with everything seen."""
    rows, _ = rows_of(model, 6, rng)
    parts = [model.summarize(rows[:2]), model.summarize(rows[2:])]
    trace = model.trace(parts)
    assert len(trace) == len(parts) + 1
    assert trace[0] is model
    assert_same_belief(trace[-1], model.update_rows(rows), rng)


def bad_rows_are_refused(model: Any, rng: np.random.Generator) -> None:
    """Missing and infinite numbers, other widths, other statistics and other beliefs are one clear error."""
    rows = np.array(rows_of(model, 4, rng)[0], dtype=float)
    for bad in (np.nan, np.inf):
        spoilt = np.array(rows)
        spoilt.flat[-1] = bad
        refused(partial(model.summarize, spoilt), "X")
    refused(partial(model.summarize, np.zeros((3, 97))), "X")
    refused(partial(model.summarize, rows, -np.ones(len(rows))), "weight")
    for call in (model.update, model.log_evidence, partial(replace, model, prior=None)):
        try:
            call(*() if isinstance(call, partial) else (rows,))
        except TypeError as error:
            assert "statistic" in str(error) or "prior" in str(error)
        else:
            raise AssertionError("rows were taken for a statistic, or nothing for a belief")


CONJUGATE_LAWS: tuple[Callable[[Any, np.random.Generator], None], ...] = (
    updating_with_nothing_changes_nothing,
    updates_merge,
    weights_are_repetitions,
    discounting_forgets,
    updating_changes_nothing_else,
    models_survive_pickling_and_copying,
    trace_is_the_sequence_of_updates,
    bad_rows_are_refused,
    *CONJUGATE_DENSITY_LAWS,
)


def check_conjugate_model(model: Any, rng: Any = 0) -> None:
    """Run every law of conjugate models on one; AssertionError says which it breaks and how.

    Examples
    --------
    >>> from tractable.conjugate import NormalMeanModel
    >>> from tractable.distributions import Normal
    >>> check_conjugate_model(NormalMeanModel(prior=Normal(mean=0.0, variance=1.0), variance=4.0))
    """
    for law in CONJUGATE_LAWS:
        law(model, as_generator(rng))
