"""See `tractable.primitives.bayesian_blocks`: every beginning of every block, none dropped."""

from tractable.arrays.namespace import Array, device, namespace_of

__all__ = ["best_blocks"]


def best_blocks(mass: Array, places: Array, penalty: float) -> Array:
    """See `tractable.primitives.bayesian_blocks.best_blocks`."""
    xp = namespace_of(mass)
    total = xp.concat([xp.zeros_like(mass[:1]), xp.cumulative_sum(mass)])
    best, last = total[:1] * 0.0, [0]
    for end in range(1, int(mass.shape[0]) + 1):
        weight, length = total[end] - total[:end], places[end] - places[:end]
        some = weight > 0
        fitness = weight * xp.log(xp.where(some, weight, xp.ones_like(weight)) / length)
        found = best + xp.where(some, fitness, xp.zeros_like(fitness))
        start = int(xp.argmax(found))
        best = xp.concat([best, (found[start] - penalty)[None]])
        last.append(start)
    ends = [int(mass.shape[0])]
    while ends[-1] > 0:
        ends.append(last[ends[-1]])
    return xp.asarray(ends[::-1], dtype=xp.int64, device=device(mass))
