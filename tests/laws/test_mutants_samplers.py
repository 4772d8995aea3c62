"""The laws of samplers must reject planted bugs."""

from unittest import mock

import numpy as np
import pytest

from rows.samplers import (
    NORMAL,
    both_of_normal,
    draw_normal,
    draw_one_sided,
    far,
    log_normal,
    log_one_sided,
    shrinking,
)
from tractable.primitives.trajectory import P, agnostic
from tractable.sampling import RandomWalk, gaussian_gibbs, metropolis_hastings, nuts, slice  # noqa: A004
from tractable.sampling.driver import State
from tractable.sampling.gibbs import GaussianGibbs
from tractable.sampling.metropolis import MetropolisHastings
from tractable.sampling.nuts import Nuts
from tractable.sampling.slices import Slice
from tractable.testing import SampledTarget, sampler_laws, simulation_based_calibration
from tractable.testing.sampler_laws import geweke_joint_test
from tractable.value import parameters


def of(cls, made):
    return cls(**parameters(made))


class KeepsOnlyMoves(MetropolisHastings):
    """A rejected proposal is replaced by another one until a chain has moved."""

    def __call__(self, rng, state):
        after, info = super().__call__(rng, state)
        for _ in range(20):
            stuck = np.all(after.position == state.position, axis=-1)
            again, _ = super().__call__(rng, state)
            position = np.where(stuck[:, None], again.position, after.position)
            after = State(position, np.where(stuck, again.log_prob, after.log_prob))
        return after, info


class AcceptsTooOften(MetropolisHastings):
    """By the square root of the ratio."""

    def __call__(self, rng, state):
        proposed, _ = self._propose(rng, state.position)
        log_p = self.target(proposed)
        accepted = -rng.standard_exponential(len(log_p)) < 0.5 * (log_p - state.log_prob)
        position = np.where(accepted[:, None], proposed, state.position)
        info = {"acceptance": np.ones(len(log_p))}
        return State(position, np.where(accepted, log_p, state.log_prob)), info


class AllAtOnce(GaussianGibbs):
    """Coordinates given the old values of the others."""

    def __call__(self, rng, state):
        z = state.position - self.mean
        new = z @ self.coef.T + self.stddev * rng.standard_normal(z.shape)
        return State(new + self.mean), {"acceptance": np.ones(len(z))}


class InPlace(GaussianGibbs):
    def __call__(self, rng, state):
        after, info = super().__call__(rng, state)
        state.position[:] = after.position
        return after, info


class OneNoiseForAll(GaussianGibbs):
    def __call__(self, rng, state):
        z = state.position - self.mean
        noise = self.stddev * rng.standard_normal((1, z.shape[1]))
        for d, row in enumerate(self.coef):
            z[:, d] = z @ row + noise[:, d]
        return State(z + self.mean), {"acceptance": np.ones(len(z))}


class OwnSeed(GaussianGibbs):
    def __call__(self, rng, state):
        return super().__call__(np.random.default_rng(0), state)


class OldDensity(MetropolisHastings):
    def __call__(self, rng, state):
        after, info = super().__call__(rng, state)
        return State(after.position, state.log_prob), info


class NeverMoves(MetropolisHastings):
    def __call__(self, rng, state):
        return state, {"acceptance": np.zeros(len(state.position))}


class OddsOfAcceptance(MetropolisHastings):
    def __call__(self, rng, state):
        after, info = super().__call__(rng, state)
        return after, {"acceptance": info["acceptance"] * 3.0}


class LevelAtHalf(Slice):
    """The level is half the density, and not uniform below it."""

    def __call__(self, rng, state):
        class Half(np.random.Generator):
            def standard_exponential(self, n):
                return np.full(n, np.log(2.0))

        return super().__call__(Half(rng.bit_generator), state)


class LastLeaf(Nuts):
    """The draw of a branch is its last leaf, whatever the weights."""

    def __call__(self, rng, state):
        class Zero(np.random.Generator):
            def random(self, shape):
                found = super().random(shape)
                return found * np.array([[0.0], [1.0]]) if len(shape) == 3 else found

        return super().__call__(Zero(rng.bit_generator), state)


class LosesMomentum(Nuts):
    """The integrator does not keep volumes: a little of the momentum is lost at every leaf."""

    def __call__(self, rng, state):
        def add_leaves(*given):
            found = as_it_is(*given)
            given[10][P] *= 0.9
            return found

        as_it_is = agnostic.add_leaves
        with mock.patch.object(agnostic, "add_leaves", add_leaves):
            return super().__call__(rng, state)


class TurnsAreNotSeenWithin(Nuts):
    """A branch that turned back within itself is drawn from nevertheless."""

    def __call__(self, rng, state):
        def turns(first, last, total, before):
            whole = as_it_is(first, last, total, before)
            return whole if before is first else np.zeros_like(whole)

        as_it_is = agnostic._turns
        with mock.patch.object(agnostic, "_turns", turns):
            return super().__call__(rng, state)


WALK, GIBBS = metropolis_hastings(log_normal), gaussian_gibbs(NORMAL)
MUTANTS = [
    (of(KeepsOnlyMoves, metropolis_hastings(log_normal, RandomWalk(scale=5.0))), "target_is_invariant"),
    (of(AcceptsTooOften, WALK), "target_is_invariant"),
    (of(AllAtOnce, GIBBS), "target_is_invariant"),
    (of(LevelAtHalf, slice(log_normal)), "target_is_invariant"),
    (of(LastLeaf, nuts(both_of_normal, True, step_size=0.3)), "target_is_invariant"),
    (of(LosesMomentum, nuts(both_of_normal, True, step_size=0.3)), "target_is_invariant"),
    (of(TurnsAreNotSeenWithin, nuts(both_of_normal, True, step_size=0.9)), "target_is_invariant"),
    (of(InPlace, GIBBS), "steps_are_pure"),
    (of(OneNoiseForAll, GIBBS), "chains_are_independent"),
    (of(OwnSeed, GIBBS), "seeds_repeat_runs"),
    (of(OldDensity, WALK), "what_a_step_tells_is_true"),
    (of(OddsOfAcceptance, WALK), "what_a_step_tells_is_true"),
    (of(NeverMoves, WALK), "chains_forget_their_start"),
]


@pytest.mark.parametrize(
    ("step", "law"), MUTANTS, ids=lambda x: x if isinstance(x, str) else type(x).__name__
)
def test_mutant_is_rejected(step, law, rng):
    with pytest.raises(AssertionError):  # noqa: PT012
        case = SampledTarget(step=step, draw=draw_normal, far=far, n_chains=10_000, n_steps=10)
        getattr(sampler_laws, law)(case, rng)


def test_an_asymmetric_proposal_must_be_corrected(rng):
    step = metropolis_hastings(log_one_sided, shrinking, symmetric=True)
    with pytest.raises(AssertionError):
        sampler_laws.target_is_invariant(SampledTarget(step=step, draw=draw_one_sided), rng)


def prior(rng, n):
    return rng.standard_normal((n, 1))


def simulate(rng, x):
    return x + 0.5 * rng.standard_normal((len(x), 3))


def posterior(rng, y, wrong=1.0):
    precision = 1.0 + 3 / 0.25
    mean = y.sum(axis=1, keepdims=True) / 0.25 / precision
    return mean + wrong / np.sqrt(precision) * rng.standard_normal((len(y), 1))


@pytest.mark.parametrize("wrong", [1.0, 1.2, 0.8])
def test_posteriors_of_a_wrong_width_are_not_calibrated(wrong):
    def draws(rng, y):
        return np.stack([posterior(rng, y, wrong) for _ in range(99)], axis=1)

    found = simulation_based_calibration(prior, simulate, draws, n_simulations=4000, rng=0)
    assert bool(found.p_values[0] > 1e-3) is (wrong == 1.0)


@pytest.mark.parametrize("wrong", [1.0, 1.2, 0.8])
def test_the_joint_test_sees_a_wrong_width(wrong):
    z = geweke_joint_test(prior, simulate, lambda rng, x, y: posterior(rng, y, wrong), n_chains=20_000, rng=0)
    assert bool(np.all(np.abs(z) < 5.0)) is (wrong == 1.0)
