"""Trajectories by compiled code and by NumPy are the same, and end where the definition says."""

import numpy as np
import pytest

from tractable.primitives.trajectory import ACCEPTED, DRAW, LEAVES, Trajectories
from tractable.sampling import State, nuts

PRECISION = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]])


def both(x):
    slope = -(x @ PRECISION)
    return 0.5 * np.sum(x * slope, axis=-1), slope


def walled(x):
    """No density beyond a wall: trajectories that reach it diverge."""
    value, slope = both(x)
    return np.where(x[..., 0] > 1.5, -np.inf, value), slope


def trajectories(log_prob, *, compiled, size, max_depth=6, seed=0, n=7):
    rng = np.random.default_rng(seed)
    x = np.minimum(rng.standard_normal((n, 3)), 1.0)
    log_p, slope = log_prob(x)
    forwards = rng.random((max_depth, n)) < 0.5
    found = Trajectories.begin(x, log_p, slope, slope, rng.standard_normal((n, 3)), forwards, size)
    going, counts = n, []
    for level in range(max_depth):
        uniforms = rng.random((2**level, 2, n))
        for leaf in range(2**level):
            at = x[found.going[:going]] + found.points[:going]
            log_p, slope = log_prob(at)
            going, _ = found.add_leaves(
                going, level, leaf, (at, log_p, slope, slope), uniforms[leaf], compiled=compiled
            )
            counts.append(going)
            if not going:
                return found, counts
    return found, counts


@pytest.mark.parametrize("log_prob", [both, walled])
@pytest.mark.parametrize("size", [0.05, 0.3, 1.2])
def test_twins(log_prob, size):
    fast, fast_counts = trajectories(log_prob, compiled=True, size=size)
    plain, plain_counts = trajectories(log_prob, compiled=False, size=size)
    assert fast_counts == plain_counts
    np.testing.assert_array_equal(fast.depth, plain.depth)
    np.testing.assert_array_equal(fast.diverged, plain.diverged)
    assert fast.diverged.any() == (log_prob is walled)
    for of in (ACCEPTED, LEAVES):
        np.testing.assert_allclose(fast.numbers[of], plain.numbers[of], rtol=1e-10)
    np.testing.assert_allclose(fast.vectors[DRAW], plain.vectors[DRAW], rtol=1e-10)


def has_turned(path):
    """Whether any of the complete binary subtrees of a path of momenta turns back, by the definition."""
    if len(path) == 1:
        return False
    way = path.sum(axis=0) - 0.5 * (path[0] + path[-1])
    half = len(path) // 2
    return (
        not (path[0] @ way > 0 and path[-1] @ way > 0) or has_turned(path[:half]) or has_turned(path[half:])
    )


def by_recursion(log_prob, x, p, forwards, uniforms, size):
    """Grow one trajectory by the definition, and return its depth, draw, acceptances and divergence.

    A branch of leapfrog steps joins the trajectory unless a leaf diverges or a subtree turns back. Its draw
    is one of its leaves by their weights, and replaces that of the trajectory with the probability of the
    ratio of the weights of the two.
    """
    energy = log_prob(x)[0] - 0.5 * p @ p
    path, ends = [p], {True: (x, p), False: (x, p)}
    draw, weight, accepted = x, 1.0, []
    for depth, ahead in enumerate(forwards, start=1):
        step, branch, of_branch = (size if ahead else -size), [], 0.0
        q, p = ends[ahead]
        for leaf in range(len(path)):
            p = p + 0.5 * step * log_prob(q)[1]
            q = q + step * p
            p = p + 0.5 * step * log_prob(q)[1]
            gain = log_prob(q)[0] - 0.5 * p @ p - energy
            accepted.append(min(1.0, np.exp(gain)))
            branch.append(p)
            if not gain > -1000.0:
                return depth, draw, accepted, True
            of_branch += np.exp(gain)
            if uniforms[depth - 1][leaf, 0] < np.exp(gain) / of_branch:
                of_leaf = q
            # The subtrees that end at this leaf.
            sizes = [2**k for k in range(1, depth) if (leaf + 1) % 2**k == 0]
            if any(has_turned(np.array(branch[-n:])) for n in sizes):
                return depth, draw, accepted, False
        if uniforms[depth - 1][leaf, 1] < of_branch / weight:
            draw = of_leaf
        ends[ahead], weight = (q, p), weight + of_branch
        path = path + branch if ahead else branch[::-1] + path
        way = np.sum(path, axis=0) - 0.5 * (path[0] + path[-1])
        if not (path[0] @ way > 0 and path[-1] @ way > 0):
            break
    return depth, draw, accepted, False


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("log_prob", [both, walled])
@pytest.mark.parametrize("size", [0.1, 0.7])
def test_trajectories_are_those_of_the_recursive_definition(log_prob, size, compiled):
    most, diverged = 6, []
    for seed in range(12):
        found, _ = trajectories(log_prob, compiled=compiled, size=size, max_depth=most, seed=seed, n=1)
        rng = np.random.default_rng(seed)
        x = np.minimum(rng.standard_normal((1, 3)), 1.0)[0]
        forwards = (rng.random((most, 1)) < 0.5)[:, 0]
        p = rng.standard_normal((1, 3))[0]
        uniforms = [rng.random((2**level, 2, 1))[..., 0] for level in range(most)]
        depth, draw, accepted, lost = by_recursion(log_prob, x, p, forwards, uniforms, size)
        assert (found.depth[0], found.diverged[0]) == (depth, lost)
        assert found.numbers[LEAVES, 0] == len(accepted)
        np.testing.assert_allclose(found.numbers[ACCEPTED, 0], np.sum(accepted), rtol=1e-10)
        np.testing.assert_allclose(found.vectors[DRAW, 0], draw, rtol=1e-9, atol=1e-12)
        diverged.append(lost)
    assert any(diverged) == (log_prob is walled)


def test_long_and_short_runs_take_the_same_step(rng):
    """The same draws from the same numbers, with a dense mass."""
    root = np.linalg.cholesky(np.linalg.inv(PRECISION))
    step, state = nuts(both, True, step_size=0.9).begin(rng, rng.standard_normal((5, 3)))
    step = type(step)(**{**vars(step), "root": root})
    ends = [step.for_steps(n)(np.random.default_rng(3), state)[0] for n in (10, 10**6)]
    for part, other in zip(*ends, strict=True):
        np.testing.assert_allclose(part, other, rtol=1e-9)
    assert isinstance(ends[0], State)
