"""Laws of estimators over streams: pieces make the whole, in one pass or in several."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.testing.estimator_answers import (
    answers,
    assert_same_answers,
    cloned,
    example,
    learn,
    quiet,
    refused,
)

__all__ = ["ONE_PASS_LAWS", "SEVERAL_PASS_LAWS", "STREAMING_LAWS"]


def pieces_make_the_whole(estimator: Any, rng: np.random.Generator) -> None:
    """`partial_fit` over pieces, in any order, is `fit` on all rows."""
    X, y = example(estimator, rng)
    whole = learn(estimator, X, y)
    pieces = np.array_split(np.arange(len(X)), [1, 2, 9, 30])
    for order in (pieces, pieces[::-1]):
        streamed = cloned(estimator)
        with quiet():
            for piece in order:
                streamed.partial_fit(X[piece], None if y is None else y[piece])
        assert_same_answers(streamed, whole, X)


def merging_is_fitting_both(estimator: Any, rng: np.random.Generator) -> None:
    """`merge` makes a new model of both models' rows and leaves both alone."""
    X, y = example(estimator, rng)
    a, b = (
        learn(estimator, X[part], None if y is None else y[part]) for part in (slice(25), slice(25, None))
    )
    before = answers(a, X), answers(b, X)
    with quiet():
        both = a.merge(b)
    assert_same_answers(both, learn(estimator, X, y), X)
    assert both is not a
    np.testing.assert_array_equal(answers(a, X), before[0])
    np.testing.assert_array_equal(answers(b, X), before[1])
    with refused("", a):
        a.merge(object())


def statistics_are_values(estimator: Any, rng: np.random.Generator) -> None:
    """`summarize` changes nothing; `from_statistic` of a sum is `fit` on all rows."""
    X, y = example(estimator, rng)
    fresh = cloned(estimator)
    halves = [
        fresh.summarize(X[part], None if y is None else y[part]) for part in (slice(25), slice(25, None))
    ]
    assert vars(fresh).keys() == vars(cloned(estimator)).keys()
    with quiet():
        assert_same_answers(fresh.from_statistic(halves[0] + halves[1]), learn(estimator, X, y), X)


def batches_are_rows(estimator: Any, rng: np.random.Generator) -> None:
    """A re-iterable of batches is walked like the array it came from."""
    X, y = example(estimator, rng)
    if y is not None:
        batches: Any = [(X[:20], y[:20]), (X[20:], y[20:])]
    else:
        batches = [X[:20], X[20:]]
    with quiet():
        assert_same_answers(cloned(estimator).fit(batches), learn(estimator, X, y), X)


def steps_are_values(estimator: Any, rng: np.random.Generator) -> None:
    """`summarize` of pieces adds up to an E-step of the whole; `from_statistic` is an M-step that climbs."""
    X, y = example(estimator, rng)
    fitted = learn(estimator, X, y)
    if not hasattr(fitted, "summarize"):
        return
    before = answers(fitted, X)
    whole = fitted.summarize(X, y)
    halves = [
        fitted.summarize(X[part], None if y is None else y[part]) for part in (slice(25), slice(25, None))
    ]
    np.testing.assert_array_equal(answers(fitted, X), before)
    with quiet():
        one, other = (copy.copy(fitted).from_statistic(s) for s in (whole, halves[0] + halves[1]))
    assert_same_answers(other, one, X)
    rise = one.summarize(X, y).objective - whole.objective
    assert rise >= -1e-9 * abs(whole.objective), f"an iteration lowered the objective by {-rise}"


Law = Callable[[Any, np.random.Generator], None]

#: Laws of the estimators that are exact in one pass.
ONE_PASS_LAWS: tuple[Law, ...] = (
    pieces_make_the_whole,
    merging_is_fitting_both,
    statistics_are_values,
    batches_are_rows,
)

#: Laws of the estimators that are exact over several passes.
SEVERAL_PASS_LAWS: tuple[Law, ...] = (batches_are_rows, steps_are_values)

#: Laws that hold by how exact a model is over a stream.
STREAMING_LAWS: dict[str, tuple[Law, ...]] = {
    "exact in one pass": ONE_PASS_LAWS,
    "exact over several passes": SEVERAL_PASS_LAWS,
}
