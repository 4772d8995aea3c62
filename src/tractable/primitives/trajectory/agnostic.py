"""The leaves of all trajectories together, in NumPy: see `tractable.primitives.trajectory`."""

from typing import Any

import numpy as np

from tractable.primitives.trajectory import (
    ACCEPTED,
    BRANCH_DRAW,
    BRANCH_LOG_P,
    BRANCH_SUM,
    BRANCH_WEIGHT,
    DIVERGENCE,
    DRAW,
    ENERGY,
    FIRST,
    KINETIC,
    LEAVES,
    LEFT,
    LOG_P,
    RIGHT,
    SUM,
    WEIGHT,
    P,
    U,
)


def _turns(first: np.ndarray, last: np.ndarray, total: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Whether parts of trajectories turn back at one of their ends; momenta sum to total - before + first.

    The sum less half of both ends is the way between them, by the trapezoidal rule.
    """
    way = total - before + 0.5 * (first - last)
    return ~((np.vecdot(first, way) > 0.0) & (np.vecdot(last, way) > 0.0))


def add_leaves(
    m: int,
    level: int,
    leaf: int,
    size: float,
    x: np.ndarray,
    log_p: np.ndarray,
    slope: np.ndarray,
    force: np.ndarray,
    uniforms: np.ndarray,
    forwards: np.ndarray,
    vectors: np.ndarray,
    numbers: np.ndarray,
    depth: np.ndarray,
    diverged: np.ndarray,
    going: np.ndarray,
    points: np.ndarray,
) -> tuple[int, int]:
    """Add a leaf to m trajectories; return how many go on, and how many diverged."""
    c = going[:m].copy()
    step = np.where(forwards[level, c], size, -size)[:, None]
    if leaf == 0:
        depth[c], vectors[BRANCH_SUM, c], numbers[BRANCH_WEIGHT, c] = level + 1, 0.0, -np.inf
    p = vectors[P, c] + 0.5 * step * force
    branch_sum = vectors[BRANCH_SUM, c] + p
    numbers[KINETIC, :m] = kinetic = np.vecdot(p, p)
    gain = log_p - 0.5 * kinetic - numbers[ENERGY, c]
    numbers[LEAVES, c] += 1.0
    alive = gain > -DIVERGENCE
    diverged[c] = lost = ~alive
    gain = np.where(alive, gain, -np.inf)
    numbers[ACCEPTED, c] += np.exp(np.minimum(gain, 0.0))
    numbers[BRANCH_WEIGHT, c] = weight = np.logaddexp(numbers[BRANCH_WEIGHT, c], gain)
    taken = alive & (uniforms[0, c] < np.exp(gain - np.where(alive, weight, 0.0)))
    vectors[BRANCH_DRAW, c[taken]], vectors[BRANCH_DRAW + 1, c[taken]] = x[taken], slope[taken]
    numbers[BRANCH_LOG_P, c[taken]] = log_p[taken]
    vectors[P, c], vectors[BRANCH_SUM, c] = p, branch_sum
    inner = (leaf >> 1).bit_count()
    if leaf % 2 == 0:
        vectors[FIRST + 2 * inner, c], vectors[FIRST + 2 * inner + 1, c] = p, branch_sum
    else:
        # The subtrees that this leaf completes: as many as the number of the leaf ends in ones.
        n_ones = ((leaf + 1) & -(leaf + 1)).bit_length() - 1
        for at in range(inner, inner - n_ones, -1):
            alive &= ~_turns(vectors[FIRST + 2 * at, c], p, branch_sum, vectors[FIRST + 2 * at + 1, c])
    c, force, step = c[alive], force[alive], step[alive]
    if leaf + 1 == 1 << level:
        c = _joined(c, level, force, uniforms, forwards, vectors, numbers)
        if len(c):
            _begun(c, np.where(forwards[level + 1, c], size, -size)[:, None], forwards[level + 1], vectors)
    else:
        p = p[alive] + 0.5 * step * force
        vectors[P, c], vectors[U, c] = p, vectors[U, c] + step * p
    going[: len(c)], points[: len(c)] = c, vectors[U, c]
    return len(c), int(lost.sum())


def _joined(
    c: np.ndarray, level: int, force: np.ndarray, uniforms: Any, forwards: Any, vectors: Any, numbers: Any
) -> np.ndarray:
    """Join whole branches to their trajectories, and return the chains that go on."""
    weight = numbers[BRANCH_WEIGHT, c]
    # A whole branch replaces the draw with the probability of its weight over that of the tree.
    taken = c[uniforms[1, c] < np.exp(np.minimum(weight - numbers[WEIGHT, c], 0.0))]
    vectors[DRAW : DRAW + 2, taken] = vectors[BRANCH_DRAW : BRANCH_DRAW + 2, taken]
    numbers[LOG_P, taken] = numbers[BRANCH_LOG_P, taken]
    numbers[WEIGHT, c] = np.logaddexp(numbers[WEIGHT, c], weight)
    end = np.where(forwards[level, c], RIGHT, LEFT)
    vectors[end, c], vectors[end + 1, c], vectors[end + 2, c] = vectors[U, c], vectors[P, c], force
    vectors[SUM, c] += vectors[BRANCH_SUM, c]
    if level + 1 == len(forwards):
        return c[:0]
    left = vectors[LEFT + 1, c]
    return c[~_turns(left, vectors[RIGHT + 1, c], vectors[SUM, c], left)]


def _begun(c: np.ndarray, step: np.ndarray, forwards: np.ndarray, vectors: np.ndarray) -> None:
    """Begin branches at one end of trajectories."""
    end = np.where(forwards[c], RIGHT, LEFT)
    p = vectors[end + 1, c] + 0.5 * step * vectors[end + 2, c]
    vectors[P, c], vectors[U, c] = p, vectors[end, c] + step * p
