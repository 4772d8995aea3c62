"""Parameters of other kinds than a model takes: narrow numbers are numbers, others are refused by name."""

import inspect

import numpy as np
import pytest

from catalogue import ESTIMATORS, some_of_each_family
from tractable.testing.estimator_laws import assert_same_predictions, example, learn

ROWS = [row for row in ESTIMATORS if not row.name.startswith("toy-")]
FIRST = list({type(row.make()): row for row in reversed(ROWS)}.values())


def whole_numbers(estimator):
    given = estimator.get_params(deep=False).items()
    return {name: x for name, x in given if type(x) is int and 0 <= x < 128}


@pytest.mark.parametrize("row", some_of_each_family([row for row in ROWS if whole_numbers(row.make())]))
def test_eight_bits_are_enough_for_a_small_number(row):
    model = row.make()
    X, y = example(model, np.random.default_rng(7))
    X = np.repeat(X, 4, axis=0)  # more rows than eight bits count
    y = None if y is None else np.repeat(y, 4)
    narrow = {name: np.int8(x) for name, x in whole_numbers(model).items()}
    fitted = learn(row.make().set_params(**narrow), X, y)
    assert {
        name: type(x) for name, x in fitted.get_params(deep=False).items() if name in narrow
    } == dict.fromkeys(narrow, np.int8)
    assert_same_predictions(fitted, learn(model, X, y), X)


class Odd:
    """Nothing that any parameter could be."""

    def __repr__(self):
        return "Odd()"


CASES = [(row, name) for row in FIRST for name in inspect.signature(type(row.make())).parameters]


@pytest.mark.parametrize(("row", "name"), CASES, ids=lambda x: x if isinstance(x, str) else x.name)
def test_odd_parameters_are_refused_by_name(row, name):
    X, y = example(row.make(), np.random.default_rng(7))
    for odd in (Odd(), "nonsense", -3, [Odd()], {"a": 1}):
        try:
            learn(row.make().set_params(**{name: odd}), X, y)
        except (ValueError, TypeError) as error:
            said = str(error)
        else:
            said = name  # another meaning of the parameter
        assert name in said, f"{name}={odd!r}: {said}"
