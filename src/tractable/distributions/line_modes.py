"""Modes of mixtures of numbers: bracketed on a grid of the components' quantiles, then closed in on."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of, to_numpy

__all__ = ["line_modes"]

#: Levels of the quantiles in the tails of each component; between them the levels are even.
_TAIL = (0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 3e-4, 1e-3)

#: About how many points of the grid there are in all, and the fewest and most even levels of a component.
N_POINTS, FEWEST, MOST = 2**15, 32, 255

#: The most integers to try one by one.
WIDEST = 2**16

_GOLDEN = (5.0**0.5 - 1.0) / 2.0


def line_modes(mixture: Any) -> Array:
    """Return the local maxima of one mixture of numbers, (m,).

    Every component brings a grid as fine as its own scale, with its ends and its mode, so that narrow hills,
    cusps and poles are on it. A plateau is one mode: a component's, or its middle.
    """
    xp = namespace_of(mixture.weights)
    present = xp.nonzero(mixture.weights > 0)[0]
    centres = xp.take(mixture.components.mode, present, axis=0)
    grid = _grid(mixture, present, centres)
    heights = _heights(mixture, grid)
    special = np.isin(to_numpy(grid), to_numpy(centres))
    peaks = _peaks(to_numpy(heights), special, 64.0 * float(xp.finfo(grid.dtype).eps))
    best, left, right = (xp.asarray(i, device=device(grid)) for i in np.array(peaks).T)
    x, low, high = (xp.take(grid, i, axis=0) for i in (best, left, right))
    closer = (_closed_in_whole if mixture.discrete else _closed_in)(mixture, low, high)
    return xp.where(_heights(mixture, closer) > xp.take(heights, best, axis=0), closer, x)


def _grid(mixture: Any, present: Array, centres: Array) -> Array:
    xp = namespace_of(centres)
    n = min(max(N_POINTS // centres.shape[0], FEWEST), MOST)
    levels = np.concatenate([_TAIL, np.arange(1, n + 1) / (n + 1), 1.0 - np.array(_TAIL)])
    q = xp.asarray(levels, dtype=centres.dtype, device=device(centres))
    quantiles = xp.take(mixture.components.icdf(q[:, None]), present, axis=1)
    points = xp.concat([xp.reshape(quantiles, (-1,)), centres])
    points = xp.sort(xp.unique_values(xp.take(points, xp.nonzero(xp.isfinite(points))[0], axis=0)))
    if mixture.discrete and float(points[-1] - points[0]) <= WIDEST:
        return xp.arange(float(points[0]), float(points[-1]) + 1.0, dtype=points.dtype, device=device(points))
    # Half-ways too: where supports leave a gap, the valley is on none of the quantiles.
    half = 0.5 * (points[:-1] + points[1:])
    half = xp.floor(half) if mixture.discrete else half
    return xp.sort(xp.unique_values(xp.concat([points, half])))


def _heights(mixture: Any, x: Array) -> Array:
    found = mixture.log_prob(x)
    xp = namespace_of(found)
    return xp.where(xp.isnan(found), xp.full_like(found, -xp.inf), found)


def _peaks(heights: np.ndarray, special: np.ndarray, rounding: float) -> list[tuple[int, int, int]]:
    """Return (top, left, right) of each hill that stands out by more than rounding from its valleys.

    Left and right are the points next to the top, or next to its plateau.
    """
    peaks: list[tuple[int, int, int]] = []
    top, low, rising = -np.inf, np.inf, True
    for i, h in enumerate([*heights.tolist(), -np.inf]):
        if rising and h >= top - rounding * max(1.0, abs(top)) and h > -np.inf:
            top = max(top, h)
        elif rising and top > -np.inf:
            peaks.append(_summit(heights, special, i, top))
            low, rising = h, False
        elif not rising and h > low + rounding * max(1.0, abs(h)):
            top, rising = h, True
        elif not rising:
            low = min(low, h)
    return peaks


def _summit(heights: np.ndarray, special: np.ndarray, end: int, top: float) -> tuple[int, int, int]:
    """Return the top of the hill that the point before `end` is on, and its neighbours."""
    first = last = end - 1 - int(np.argmax(heights[:end][::-1] == top))
    while first > 0 and heights[first - 1] == top:
        first -= 1
    chosen = np.flatnonzero(special[first : last + 1])
    best = first + (int(chosen[len(chosen) // 2]) if len(chosen) else (last - first) // 2)
    return best, max(first - 1, 0), min(last + 1, len(heights) - 1)


def _closed_in(mixture: Any, low: Array, high: Array) -> Array:
    """Golden section, all brackets at once."""
    xp = namespace_of(low)
    for _ in range(60):
        a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        up = _heights(mixture, b) > _heights(mixture, a)
        low, high = xp.where(up, a, low), xp.where(up, high, b)
    return 0.5 * (low + high)


def _closed_in_whole(mixture: Any, low: Array, high: Array) -> Array:
    """Bisection on whole numbers: towards the higher of two neighbours."""
    xp = namespace_of(low)
    while bool(xp.any(low < high)):
        middle = xp.floor(0.5 * (low + high))
        up = (_heights(mixture, middle + 1.0) > _heights(mixture, middle)) & (low < high)
        moved = xp.any((low < high) & (xp.where(up, middle + 1.0, middle) != xp.where(up, low, high)))
        low, high = xp.where(up, middle + 1.0, low), xp.where(up, high, middle)
        if not bool(moved):  # counts so great that neighbours are one number
            break
    return high
