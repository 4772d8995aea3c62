"""Randomness may be given as `rng` or as `random_state` wherever a function takes either."""

import inspect

import numpy as np
import pytest

import tractable
from tractable.mixture import GaussianMixture

X = np.random.default_rng(0).standard_normal((40, 2))


def test_distributions_and_estimators_take_both_names():
    d = tractable.Normal(mean=0.0, variance=1.0)
    np.testing.assert_array_equal(d.sample(5, rng=3), d.sample(5, random_state=3))
    fitted = GaussianMixture(2, random_state=0).fit(X)
    np.testing.assert_array_equal(fitted.sample(5, rng=3)[0], fitted.sample(5, random_state=3)[0])
    assert float(tractable.expectation(lambda x: x, d, n_samples=9, random_state=1).value) == float(
        tractable.expectation(lambda x: x, d, n_samples=9, rng=1).value
    )


def test_both_names_at_once_are_refused():
    with pytest.raises(ValueError, match="give one of them"):
        tractable.Normal(mean=0.0, variance=1.0).sample(2, rng=1, random_state=2)


def test_every_public_function_that_draws_takes_both_names():
    one_name = []
    for name in tractable.__all__:
        member = getattr(tractable, name)
        if inspect.ismodule(member):
            continue
        members = [member] if inspect.isfunction(member) else []
        members += [m for n, m in inspect.getmembers(member, inspect.isfunction) if not n.startswith("_")]
        for function in members:
            takes = {"rng", "random_state"} & set(inspect.signature(function).parameters)
            foreign = not function.__module__.startswith("tractable.") or function.__module__.startswith(
                FENCED
            )
            if len(takes) == 1 and not hasattr(function, "__wrapped__") and not foreign:
                one_name.append(f"{name}: {function.__qualname__}")
    assert not one_name


#: Pure steps of Markov chains take a Generator first, by position.
FENCED = ("tractable.sampling", "tractable.gaussian_process")
