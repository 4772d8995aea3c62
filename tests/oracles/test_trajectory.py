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


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_a_trajectory_ends_by_the_recursive_definition(seed, compiled):
    size, most = 0.25, 6
    found, _ = trajectories(both, compiled=compiled, size=size, max_depth=most, seed=seed, n=1)
    rng = np.random.default_rng(seed)
    x = np.minimum(rng.standard_normal((1, 3)), 1.0)[0]
    forwards = (rng.random((most, 1)) < 0.5)[:, 0]
    start = np.array([x, rng.standard_normal((1, 3))[0]])
    path, ends = [start[1]], {True: start, False: start}
    for depth, ahead in enumerate(forwards, start=1):  # noqa: B007
        step, branch = size if ahead else -size, []
        q, p = ends[ahead]
        for _ in range(len(path)):
            p = p + 0.5 * step * both(q)[1]
            q = q + step * p
            p = p + 0.5 * step * both(q)[1]
            branch.append(p)
        ends[ahead] = np.array([q, p])
        if has_turned(np.array(branch)):
            break
        path = path + branch if ahead else branch[::-1] + path
        way = np.sum(path, axis=0) - 0.5 * (path[0] + path[-1])
        if not (path[0] @ way > 0 and path[-1] @ way > 0):
            break
    assert found.depth[0] == depth


def test_long_and_short_runs_take_the_same_step(rng):
    """The same draws from the same numbers, with a dense mass."""
    root = np.linalg.cholesky(np.linalg.inv(PRECISION))
    step, state = nuts(both, True, step_size=0.9).begin(rng, rng.standard_normal((5, 3)))
    step = type(step)(**{**vars(step), "root": root})
    ends = [step.for_steps(n)(np.random.default_rng(3), state)[0] for n in (10, 10**6)]
    for part, other in zip(*ends, strict=True):
        np.testing.assert_allclose(part, other, rtol=1e-9)
    assert isinstance(ends[0], State)
