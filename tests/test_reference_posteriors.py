"""Samplers against posteriors of which moments are known, with their errors."""

import numpy as np
import pytest

from tractable.arrays import check_gradient
from tractable.sampling import RandomWalk, metropolis_hastings, nuts, slice  # noqa: A004
from tractable.testing import REFERENCE_POSTERIORS, check_reference

STEPS = {
    "nuts": lambda of: nuts(of.both, True, target_acceptance=0.95, vectorized=True),
    "nuts-dense": lambda of: nuts(of.both, True, mass="dense", target_acceptance=0.95, vectorized=True),
    "slice": lambda of: slice(of.log_prob, vectorized=True),
    "metropolis": lambda of: metropolis_hastings(of.log_prob, vectorized=True),
}
#: Eight schools and a logistic regression are compared with quadrature in `test_nuts`.
QUICK = {("nuts", "banana"), ("slice", "banana")}
#: A random walk has too few effective draws of a funnel to say anything.
PAIRS = [
    pytest.param(step, name, marks=() if (step, name) in QUICK else pytest.mark.slow)
    for step in STEPS
    for name in REFERENCE_POSTERIORS
    if (step, name) != ("metropolis", "funnel")
]


@pytest.mark.parametrize(("step", "name"), PAIRS)
def test_known_moments(step, name):
    check_reference(STEPS[step], REFERENCE_POSTERIORS[name], rng=0, n_samples=1000, n_warm_up=600)


@pytest.mark.parametrize("name", REFERENCE_POSTERIORS)
def test_gradients(name, rng):
    reference = REFERENCE_POSTERIORS[name]
    x = 0.5 * rng.standard_normal(reference.dim)
    check_gradient(reference.log_prob, reference.both(x)[1], x)


@pytest.mark.parametrize("name", ["banana", pytest.param("eight schools", marks=pytest.mark.slow)])
def test_a_wrong_sampler_is_rejected(name):
    """A density raised to the power 0.5: its draws are too wide."""

    def too_wide(of):
        half = lambda x: tuple(0.5 * part for part in of.both(x))  # noqa: E731
        return nuts(half, True, target_acceptance=0.95, vectorized=True)

    with pytest.raises(AssertionError, match=name):
        check_reference(too_wide, REFERENCE_POSTERIORS[name], rng=0, n_samples=2000)


def test_a_walk_that_does_not_move_is_rejected():
    with pytest.raises(AssertionError, match="banana"):
        check_reference(
            lambda of: metropolis_hastings(of.log_prob, RandomWalk(scale=1e-5), vectorized=True),
            REFERENCE_POSTERIORS["banana"],
            rng=0,
            n_samples=50,
            n_warm_up=0,
        )


def test_banana_and_funnel_by_exact_draws(rng):
    """The closed forms, against a million exact draws."""
    a = rng.standard_normal(1_000_000)
    b = a * a + 0.5 * rng.standard_normal(len(a))
    np.testing.assert_allclose([b.mean(), b.std()], [1.0, 1.5], atol=0.015)
    x = np.exp(0.5 * a) * rng.standard_normal(len(a))
    assert x.std() == pytest.approx(REFERENCE_POSTERIORS["funnel"].sd[1], abs=0.02)
