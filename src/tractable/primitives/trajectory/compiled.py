"""Leaves of trajectories, one chain after the other: see `tractable.primitives.trajectory`."""

import numpy as np

from tractable.primitives.compiled_options import FAST, compiled, entry
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


@compiled(fastmath=FAST)
def _turns(first, last, total, before):  # type: ignore[no-untyped-def]
    """Whether a part of a trajectory turns back at one of its ends; momenta sum to total - before + first.

    The sum less half of both ends is the way between them, by the trapezoidal rule.
    """
    at_first = at_last = 0.0
    for j in range(len(first)):
        way = total[j] - before[j] + 0.5 * (first[j] - last[j])
        at_first += first[j] * way
        at_last += last[j] * way
    return not (at_first > 0.0 and at_last > 0.0)


@compiled()
def _log_add(a, b):  # type: ignore[no-untyped-def]
    """Return log(exp(a) + exp(b))."""
    high, low = max(a, b), min(a, b)
    return high if low == -np.inf else high + np.log1p(np.exp(low - high))


@entry(
    "INT INT INT FLOAT MATRIX DENSE_VECTOR MATRIX MATRIX MATRIX MASKS OUT_MATRICES OUT_MATRIX OUT_INDICES"
    " OUT_MASK OUT_INDICES OUT_MATRIX"
)
def add_leaves(  # type: ignore[no-untyped-def]
    m, level, leaf, size, x, log_p, slope, force, uniforms, forwards, vectors, numbers, depth, diverged,
    going, points,
):  # fmt: skip
    """Add a leaf to m trajectories; return how many go on, and how many diverged."""
    d, kept, n_diverged = x.shape[1], 0, 0
    is_last = leaf + 1 == 1 << level
    # The depth of the subtree that begins at this leaf, or that of the smallest one that it completes.
    inner = 0
    bits = leaf >> 1
    while bits:
        inner += bits & 1
        bits >>= 1
    for i in range(m):
        c = going[i]
        step = size if forwards[level, c] else -size
        u, p, branch_sum = vectors[U, c], vectors[P, c], vectors[BRANCH_SUM, c]
        if leaf == 0:
            depth[c] = level + 1
            branch_sum[:] = 0.0
            numbers[BRANCH_WEIGHT, c] = -np.inf
        kinetic = 0.0
        for j in range(d):
            p[j] += 0.5 * step * force[i, j]
            branch_sum[j] += p[j]
            kinetic += p[j] * p[j]
        numbers[KINETIC, i] = kinetic
        gain = log_p[i] - 0.5 * kinetic - numbers[ENERGY, c]
        numbers[LEAVES, c] += 1.0
        if not gain > -DIVERGENCE:
            diverged[c] = True
            n_diverged += 1
            continue
        numbers[ACCEPTED, c] += np.exp(min(gain, 0.0))
        weight = _log_add(numbers[BRANCH_WEIGHT, c], gain)
        numbers[BRANCH_WEIGHT, c] = weight
        if uniforms[0, c] < np.exp(gain - weight):
            for j in range(d):
                vectors[BRANCH_DRAW, c, j] = x[i, j]
                vectors[BRANCH_DRAW + 1, c, j] = slope[i, j]
            numbers[BRANCH_LOG_P, c] = log_p[i]
        turned = False
        if leaf % 2 == 0:
            for j in range(d):
                vectors[FIRST + 2 * inner, c, j] = p[j]
                vectors[FIRST + 2 * inner + 1, c, j] = branch_sum[j]
        else:
            # The subtrees that this leaf completes: as many as the number of the leaf ends in ones.
            at, ends = inner, leaf
            while ends & 1 and not turned:
                turned = _turns(vectors[FIRST + 2 * at, c], p, branch_sum, vectors[FIRST + 2 * at + 1, c])
                at -= 1
                ends >>= 1
        if turned:
            continue
        if is_last:
            # A whole branch replaces the draw with the probability of its weight over that of the tree.
            if uniforms[1, c] < np.exp(min(weight - numbers[WEIGHT, c], 0.0)):
                for j in range(d):
                    vectors[DRAW, c, j] = vectors[BRANCH_DRAW, c, j]
                    vectors[DRAW + 1, c, j] = vectors[BRANCH_DRAW + 1, c, j]
                numbers[LOG_P, c] = numbers[BRANCH_LOG_P, c]
            numbers[WEIGHT, c] = _log_add(numbers[WEIGHT, c], weight)
            end = RIGHT if forwards[level, c] else LEFT
            total, left, right = vectors[SUM, c], vectors[LEFT + 1, c], vectors[RIGHT + 1, c]
            for j in range(d):
                vectors[end, c, j] = u[j]
                vectors[end + 1, c, j] = p[j]
                vectors[end + 2, c, j] = force[i, j]
                total[j] += branch_sum[j]
            if level + 1 == len(forwards) or _turns(left, right, total, left):
                continue
            end = RIGHT if forwards[level + 1, c] else LEFT
            step = size if forwards[level + 1, c] else -size
            for j in range(d):
                p[j] = vectors[end + 1, c, j] + 0.5 * step * vectors[end + 2, c, j]
                u[j] = vectors[end, c, j] + step * p[j]
        else:
            for j in range(d):
                p[j] += 0.5 * step * force[i, j]
                u[j] += step * p[j]
        going[kept] = c
        for j in range(d):
            points[kept, j] = u[j]
        kept += 1
    return kept, n_diverged
