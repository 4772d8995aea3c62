"""Draws in blocks, on all cores."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from tractable.primitives.threads import ordered_map

#: Numbers in a block: enough that the seeding of its generator costs nothing.
BLOCK_DRAWS = 2**16


def map_draws(
    fill: Callable[[np.random.Generator, np.ndarray], None],
    shape: tuple[int, ...],
    rng: np.random.Generator,
    **options: Any,
) -> np.ndarray:
    """Fill an array with independent draws, in blocks of the first axis, on all cores.

    Every block has a generator of its own, seeded by the one given, so that the draws depend on that alone,
    not on the number of threads. A single block takes the given generator itself.

    Parameters
    ----------
    fill : callable
        ``fill(generator, out)`` writes draws to a block of the answer, which is contiguous.
    shape : tuple of int
    rng : Generator

    Examples
    --------
    >>> draws = map_draws(lambda g, out: g.random(out=out), (100_000, 2), np.random.default_rng(0))
    >>> draws.shape, bool(abs(draws.mean() - 0.5) < 0.01)
    ((100000, 2), True)
    """
    out = np.empty(shape)
    step = max(1, BLOCK_DRAWS // max(1, prod(shape[1:])))
    if shape[0] <= step:
        fill(rng, out)
        return out
    starts = range(0, shape[0], step)
    seeds = rng.integers(2**63, size=(len(starts), 4))

    def one(i: int) -> None:
        fill(np.random.default_rng(seeds[i]), out[starts[i] : starts[i] + step])

    for _ in ordered_map(one, range(len(starts)), **options):
        pass
    return out
