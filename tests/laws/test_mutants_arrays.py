"""The laws of arrays must reject planted bugs."""

import array_api_strict
import numpy as np
import pytest

from tractable.arrays.namespace import namespace_of, to_numpy
from tractable.testing.array_laws import (
    ARRAY_LAWS,
    ArrayFunction,
    arguments_are_left_alone,
    batch_is_a_loop,
    check_array_function,
    precision_is_preserved,
    results_are_of_the_same_library,
    results_are_those_of_numpy,
)


def through_the_host(x):
    return np.exp(to_numpy(x))


def always_double(x):
    xp = namespace_of(x)
    return xp.astype(x, xp.float64)


def scribbles(x):
    x[0] = 0.0
    return x * 1.0


def depends_on_the_library(x):
    return x if isinstance(x, np.ndarray) else x + 1e-6


def sums_the_batch_too(x):
    return namespace_of(x).sum(x)


MUTANTS = [
    (results_are_of_the_same_library, through_the_host),
    (precision_is_preserved, always_double),
    (arguments_are_left_alone, scribbles),
    (results_are_those_of_numpy, depends_on_the_library),
    (batch_is_a_loop, sums_the_batch_too),
]


@pytest.mark.parametrize(("law", "broken"), MUTANTS, ids=[law.__name__ for law, _ in MUTANTS])
def test_laws_have_power(law, broken, rng):
    instance = ArrayFunction(
        function=broken,
        draw=lambda rng: (rng.random(4) + 1.0,),
        asarray=lambda x: array_api_strict.asarray(np.array(x)),
    )
    with pytest.raises(AssertionError):
        law(instance, rng)
    with pytest.raises(AssertionError):
        check_array_function(instance)


def test_every_law_has_a_mutant():
    assert {law for law, _ in MUTANTS} == set(ARRAY_LAWS)
