"""Randomness may be given as `rng` or as `random_state` wherever a function takes either."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import all_estimators

import tractable
from catalogue import ESTIMATORS
from tractable.interop.adopt import RENAMED
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


def public_functions():
    """Yield the functions and methods of every public name, with their names."""
    packages = [getattr(tractable, name) for name in tractable.PACKAGES if name not in ("cli", "testing")]
    for module in (tractable, *packages):
        for name in getattr(module, "__all__", ()):
            member = getattr(module, name)
            yield from [(name, member)] if inspect.isfunction(member) else []
            if inspect.isclass(member):
                yield from (
                    (f"{name}.{method}", function)
                    for method, function in inspect.getmembers(member, inspect.isroutine)
                    if not method.startswith("_")
                )


def optional_seed(function):
    """Whether a function of ours takes a seed that need not be given; steps of chains are given theirs."""
    if not (getattr(function, "__module__", None) or "").startswith("tractable."):
        return False
    try:
        found = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    seeds = [found[name] for name in ("rng", "random_state") if name in found]
    return len(seeds) == 1 and seeds[0].default is not inspect.Parameter.empty


def test_every_public_function_that_draws_takes_both_names():
    drawing = {name: f for name, f in public_functions() if optional_seed(f) and name != "as_generator"}
    assert len(drawing) > 60
    assert not [name for name, function in drawing.items() if not hasattr(function, "seed_names")]


SEEDED = sorted(
    name
    for name, theirs in all_estimators()
    if RENAMED.get(name, name) in tractable.PUBLIC and "random_state" in inspect.signature(theirs).parameters
)


@pytest.mark.parametrize("name", SEEDED)
def test_constructors_take_a_seed_by_both_names_wherever_scikit_learn_does(name):
    cls = getattr(tractable, RENAMED.get(name, name))
    by_state, by_rng = cls(random_state=3), cls(rng=3)
    assert by_state.get_params() == by_rng.get_params()
    assert by_state.get_params().get("random_state", 3) == 3
    with pytest.raises(ValueError, match="give one of them"):
        cls(random_state=3, rng=3)


WITH_SEEDS = {type(row.make()): row for row in ESTIMATORS if "random_state" in row.make().get_params()}


@pytest.mark.parametrize("row", WITH_SEEDS.values(), ids=lambda row: row.name)
def test_every_estimator_with_a_seed_takes_it_by_both_names(row):
    given = {name: x for name, x in row.make().get_params(deep=False).items() if name != "random_state"}
    assert type(row.make())(**given, rng=5).random_state == 5
    assert clone(row.make()).set_params(rng=5).random_state == 5
