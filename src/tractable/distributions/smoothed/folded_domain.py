"""Domains with ends: what falls beyond a wall is reflected, what falls beyond a period begins again."""

import itertools
import math
from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.value import value

__all__ = ["FoldedDomain", "as_domain", "as_ends", "in_first_period"]

#: The most times that a window may reach across its domain, on either side.
MOST_FOLDS = 32


@value
class FoldedDomain:
    """Where each coordinate may be, and how an unbounded variable is folded into it.

    A density p of unbounded x becomes Σ p(image of x) over the images that are folded onto x, so that its
    total mass stays one whatever the window.

    Examples
    --------
    >>> FoldedDomain(low=(0.0,), high=(1.0,), wraps=(False,)).fold(np.array([[-0.25], [1.5]]))
    array([[0.25],
           [0.5 ]])
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    wraps: tuple[bool, ...]
    reach: tuple[float, ...] = ()

    @cached_property
    def images(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Signs and offsets (d,) of the maps x → sign x + offset from the domain to what folds onto it."""
        each = [self.maps(j) for j in range(len(self.low))]
        return [
            (np.array([s for s, _ in choice]), np.array([o for _, o in choice]))
            for choice in itertools.product(*each)
        ]

    def folds(self, j: int = 0) -> int:
        """Return across how many copies of the domain a window reaches, on either side."""
        width = self.high[j] - self.low[j]
        return 1 if not self.reach else max(1, math.ceil(min(self.reach[j] / width, 1e6)))

    def fold(self, x: Array) -> Array:
        """Bring unbounded rows (..., d) into the domain."""
        xp = namespace_of(x)
        return xp.stack([self._folded(xp, x[..., j], j) for j in range(len(self.low))], axis=-1)

    def inside(self, x: Array) -> Array:
        """Whether rows (..., d) are in the domain; a coordinate that wraps is, wherever it is."""
        xp = namespace_of(x)
        return xp.all(
            (x >= self._like(x, self._walls(self.low))) & (x <= self._like(x, self._walls(self.high, 1))),
            axis=-1,
        )

    def wrapped(self, x: Array) -> Array:
        """Bring the coordinates that wrap into their first period, and leave the others."""
        xp = namespace_of(x)
        if not any(self.wraps):
            return x
        columns = [
            self._folded(xp, x[..., j], j) if wraps else x[..., j] for j, wraps in enumerate(self.wraps)
        ]
        return xp.stack(columns, axis=-1)

    def taken(self, dims: Any) -> "FoldedDomain":
        """Return the domain of some of the coordinates."""
        parts = [tuple(part[j] for j in dims) for part in (self.low, self.high, self.wraps, self.reach)]
        return FoldedDomain(low=parts[0], high=parts[1], wraps=parts[2], reach=parts[3])

    def _walls(self, ends: tuple[float, ...], upper: int = 0) -> list[float]:
        free = math.inf if upper else -math.inf
        return [free if wraps else end for end, wraps in zip(ends, self.wraps, strict=True)]

    def _like(self, x: Array, ends: list[float]) -> Array:
        return namespace_of(x).asarray(ends, dtype=x.dtype, device=device(x))

    def _folded(self, xp: Any, x: Array, j: int) -> Array:
        low, high = self.low[j], self.high[j]
        if self.wraps[j]:
            return _turned(x, low, high)
        # About the nearer wall first: a wall far away must not cost the digits of what is near the other.
        x = xp.where(x < low, low + (low - x), x) if math.isfinite(low) else x
        if math.isinf(high):
            return x
        x = xp.where(x > high, high - (x - high), x)
        if math.isinf(low):
            return x
        width = high - low
        turned = xp.remainder(x - low, xp.full_like(x, 2.0 * width))
        turned = low + xp.where(turned > width, 2.0 * width - turned, turned)
        return xp.where((x >= low) & (x <= high), x, turned)

    def maps(self, j: int = 0) -> list[tuple[float, float]]:
        """Return the signs and offsets of one coordinate, the coordinate itself first."""
        low, high = self.low[j], self.high[j]
        if math.isinf(low) and math.isinf(high):
            return [(1.0, 0.0)]
        if math.isinf(low) or math.isinf(high):
            return [(1.0, 0.0), (-1.0, 2.0 * (high if math.isinf(low) else low))]
        turns = sorted(range(-self.folds(j), self.folds(j) + 1), key=abs)
        if self.wraps[j]:
            return [(1.0, k * (high - low)) for k in turns]
        return [self._reflected(low, high, k) for k in turns]

    def _reflected(self, low: float, high: float, k: int) -> tuple[float, float]:
        """Return the k-th image: the offset of the first beyond a wall is twice that wall, to the digit."""
        width = high - low
        if k % 2 == 0:
            return 1.0, k * width
        return (-1.0, 2.0 * low + (k + 1) * width) if k < 0 else (-1.0, 2.0 * high + (k - 1) * width)


def _turned(x: Array, low: float, high: float) -> Array:
    """Bring numbers into [low, high) by whole periods; what is there stays as it is, to the digit."""
    xp = namespace_of(x)
    turned = low + xp.remainder(x - low, xp.full_like(x, high - low))
    turned = xp.where(turned >= high, xp.full_like(x, low), turned)
    return xp.where((x >= low) & (x < high), x, turned)


def in_first_period(x: Array, period: Any) -> Array:
    """Return rows (n, d), or numbers (n,), with the coordinates of a period brought into the first.

    Parameters
    ----------
    x : array (n, d) or (n,)
    period : number or pair, or one (or None) a coordinate, or None
        As `SmoothedEmpirical` takes it.

    Examples
    --------
    >>> in_first_period(np.array([[25.0, 25.0], [-1.0, 3.0]]), (24, None))
    array([[ 1., 25.],
           [23.,  3.]])
    """
    ends = as_ends("period", period, x.shape[1] if x.ndim == 2 else None)
    if ends is None:
        return x
    xp = namespace_of(x)
    if x.ndim == 1:
        return _turned(x, *ends)
    columns = [x[:, j] if end is None else _turned(x[:, j], *end) for j, end in enumerate(ends)]
    return xp.stack(columns, axis=1)


def as_ends(name: str, given: Any, dim: int | None) -> tuple[Any, ...] | None:
    """Return (low, high) of a number, or one pair (or None) for each of `dim` coordinates, as floats.

    An end that is None is open. One pair of walls, or the length of one period, is that of every coordinate.
    """
    if given is None:
        return None
    given = given.tolist() if isinstance(given, np.ndarray) else given
    if dim is None:
        return _as_pair(name, given)
    if _is_one(name, given, dim):
        given = [given] * dim
    if not hasattr(given, "__len__") or len(given) != dim:
        raise ValueError(
            f"{name} must be a pair (low, high) for each of {dim} coordinates, or None, got {given!r}"
        )
    found = tuple(None if pair is None else _as_pair(name, pair) for pair in given)
    return None if all(pair is None for pair in found) else found


def _is_one(name: str, given: Any, dim: int) -> bool:
    """Whether walls or a period are given once for all coordinates."""
    if not hasattr(given, "__len__"):
        return name == "period"
    pair = len(given) == 2 and all(end is None or np.ndim(end) == 0 for end in given)
    if not pair or all(end is None for end in given):
        return False
    # Two lengths are the periods of two coordinates; a length is positive, and an end need not be.
    return name == "bounds" or dim != 2 or (given[0] is not None and given[0] <= 0)


def _as_pair(name: str, pair: Any) -> tuple[float, float]:
    if name == "period" and np.ndim(pair) == 0:
        pair = (0.0, pair)
    try:
        low, high = pair
        low, high = -math.inf if low is None else float(low), math.inf if high is None else float(high)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a pair (low, high), got {pair!r}") from None
    if not low < high or (name == "period" and math.isinf(high - low)):
        raise ValueError(f"{name} must have its low below its high, got {(low, high)!r}")
    return low, high


def as_domain(bounds: Any, period: Any, dim: int, reach: list[float]) -> FoldedDomain | None:
    """Return the domain of `dim` coordinates, or None where none has an end."""
    if bounds is None and period is None:
        return None
    walls, turns = ([None] * dim if given is None else list(given) for given in (bounds, period))
    for j, (wall, turn) in enumerate(zip(walls, turns, strict=True)):
        if wall is not None and turn is not None:
            raise ValueError(f"period and bounds must not both be given for coordinate {j}")
    ends = [wall or turn or (-math.inf, math.inf) for wall, turn in zip(walls, turns, strict=True)]
    domain = FoldedDomain(
        low=tuple(end[0] for end in ends),
        high=tuple(end[1] for end in ends),
        wraps=tuple(turn is not None for turn in turns),
        reach=tuple(reach),
    )
    if any(domain.folds(j) > MOST_FOLDS for j in range(dim) if math.isfinite(ends[j][1] - ends[j][0])):
        raise ValueError("bandwidth must not be many times wider than bounds or period")
    return domain
