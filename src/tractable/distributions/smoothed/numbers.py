"""Distribution function, quantiles and corners of a smoothed sample of numbers."""

# ruff: noqa: SLF001  (the functions are of smoothed samples)

import math
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.engines.quadrature import gauss_legendre
from tractable.engines.roots import increasing_root, put_back
from tractable.smoothing import WINDOWS, Window

#: The most nodes of the table in which quantiles are looked up; few where each is a sum over all points.
_MOST_NODES, _FEW_NODES = 1024, 64

#: The most corners, and the most panels, that quadrature begins with.
_MOST = 4000

#: How many panels lie about those that hold points: nearly all mass of any window that has a rule for it.
_BESIDE = np.array([-32, -16, -8, -4, -3, -2, -1, 0, 1, 2, 3, 4, 8, 16, 32])

#: Where known windows have corners, or jumps, in units of the bandwidth.
_CORNERS = {"gaussian": (), "laplace": (0.0,), "triangular": (-1.0, 0.0, 1.0)}


def mass_below(d: Any, x: Array, *, upper: bool = False) -> Array:
    """Return the mass below doubles (m,), or above, from whichever side holds less."""
    xp, own = namespace_of(x), _tail(d, x, upper=upper)
    more = own > 0.5
    others = _tail(d, xp.take(x, xp.nonzero(more)[0]), upper=not upper)
    return put_back(more, 1.0 - others, own)


def quantiles(d: Any, levels: Array) -> Array:
    """Return the quantiles of levels (m,) in double precision, by Newton's method inside a bracket."""
    xp = namespace_of(levels)
    least, most = (float(end) for end in d.support)
    inner = (levels > 0) & (levels < 1)
    safe = xp.where(inner, levels, xp.full_like(levels, 0.5))

    def excess(x: Array, q: Array) -> tuple[Array, Array]:
        return mass_below(d, x) - q, xp.exp(d._density(x[:, None]))

    found = increasing_root(excess, *_bracket(d, safe), safe)
    found = xp.where(levels <= 0, xp.full_like(found, least), found)
    return xp.where(levels >= 1, xp.full_like(found, most), found)


def _tail(d: Any, x: Array, *, upper: bool) -> Array:
    """Return the mass on one side of doubles (m,), accurate where it is small."""
    return _open(d, x, upper=upper) if d._domain is None else _folded(d, x, upper=upper)


def _open(d: Any, x: Array, *, upper: bool) -> Array:
    """The mass on one side, without a domain."""
    xp = namespace_of(x)
    found = d._tail_sums(xp.where(xp.isinf(x), xp.zeros_like(x), x), upper=upper)
    none, whole = (xp.inf, -xp.inf) if upper else (-xp.inf, xp.inf)
    found = xp.where(x == none, xp.zeros_like(found), found)
    return xp.where(x == whole, xp.ones_like(found), found)


def _folded(d: Any, x: Array, *, upper: bool) -> Array:
    """Return the mass folded onto what lies between a bound and x, the masses of all images of it."""
    xp = namespace_of(x)
    domain = d._domain
    assert domain is not None
    low, high = domain.low[0], domain.high[0]
    bound, other = (high, low) if upper else (low, high)
    x = xp.clip(x, min=low, max=high)
    found = xp.zeros_like(x)
    for sign, offset in domain.maps():
        a, b = xp.full_like(x, sign * bound + offset), sign * x + offset
        found = found + _between(d, xp.minimum(a, b), xp.maximum(a, b))
    if math.isfinite(bound):
        near = xp.abs(x - bound) < _smooth_beside(d, bound)
        found = xp.where(near, _near_bound(d, bound, xp.where(near, x, xp.full_like(x, bound))), found)
    found = xp.where(x == bound, xp.zeros_like(found), found)
    return xp.where(x == other, xp.ones_like(found), found)


def _smooth_beside(d: Any, bound: float) -> float:
    """Up to where, from a bound, the density has no corner and is nearly a polynomial."""
    if WINDOWS.get(d._window.name) is not d._window:
        return 0.0
    away = np.abs(d._corners - bound)
    return float(np.min(away[away > 0.0], initial=0.5 * float(d.bandwidth)))


def _near_bound(d: Any, bound: float, x: Array) -> Array:
    """The mass between a bound and x by quadrature, which does not cancel."""
    xp = namespace_of(x)
    inner, weights = gauss_legendre(xp.full_like(x, bound), x, 16)
    p = xp.exp(xp.reshape(d._density(xp.reshape(inner, (-1, 1))), tuple(inner.shape)))
    return xp.abs(xp.sum(p * weights, axis=-1))


def _between(d: Any, a: Array, b: Array) -> Array:
    """The mass between, without a domain, from the side that does not cancel."""
    xp = namespace_of(b)
    below = _open(d, a, upper=False)
    above = _open(d, a, upper=True) - _open(d, b, upper=True)
    return xp.where(below > 0.5, above, _open(d, b, upper=False) - below)


def _bracket(d: Any, q: Array) -> tuple[Array, Array]:
    """Return ends between which the quantiles lie: neighbours in a table, or moved outwards."""
    xp = namespace_of(q)
    nodes = _nodes(d, q.shape[0])
    levels = np.maximum.accumulate(to_numpy(mass_below(d, nodes)))
    at, last = np.searchsorted(levels, to_numpy(q)), len(levels) - 1
    low, high = (xp.take(nodes, xp.asarray(np.clip(i, 0, last), device=device(q))) for i in (at - 1, at))
    if bool(np.any((at == 0) | (at > last))):
        low, high = _widened(d, q, low, high)
    return _beside_bound(d, q, low, high)


def _nodes(d: Any, n_levels: int) -> Array:
    """Some of the points, in order, and ends ten bandwidths beyond them."""
    xp = namespace_of(d.points)
    rows, far = xp.sort(d._rows[:, 0]), 10.0 * float(d.bandwidth)
    limit = _FEW_NODES if d._sums.tails is None else _MOST_NODES
    n = min(rows.shape[0], limit, 8 + 4 * n_levels)
    ranks = np.linspace(0, rows.shape[0] - 1, n).astype(np.int64)
    inner = xp.take(rows, xp.asarray(ranks, device=device(rows)))
    least, most = (float(end) for end in d.support)
    return xp.clip(xp.concat([rows[:1] - far, inner, rows[-1:] + far]), min=least, max=most)


def _widened(d: Any, q: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Move ends outwards, each time twice as far, until the quantiles lie between them."""
    xp = namespace_of(q)
    least, most = (float(end) for end in d.support)
    step = float(d.bandwidth)
    for _ in range(1100):
        short = (mass_below(d, low) > q) & (low > least), (mass_below(d, high) < q) & (high < most)
        if not bool(xp.any(short[0] | short[1])):
            break
        low = xp.where(short[0], xp.clip(low - step, min=least, max=most), low)
        high = xp.where(short[1], xp.clip(high + step, min=least, max=most), high)
        step *= 2.0
    return low, high


def _beside_bound(d: Any, q: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Close in on levels so small that a bound is nearly reached, where x - bound = q / p(bound)."""
    xp = namespace_of(q)
    least = float(d.support[0])
    height = float(xp.exp(d._density(xp.asarray([[least]], dtype=xp.float64, device=device(q))))[0])
    if d._domain is None or math.isinf(least) or not height > 0.0:
        return low, high
    near, far = (least + xp.clip(factor * q / height, max=1e300) for factor in (0.5, 2.0))
    near, far = (xp.clip(end, min=least, max=float(d.support[1])) for end in (near, far))
    low = xp.where(mass_below(d, near) <= q, xp.maximum(low, near), low)
    return low, xp.where(mass_below(d, far) >= q, xp.minimum(high, far), high)


def corners(d: Any) -> np.ndarray:
    """Return where a density of numbers has a corner or jumps, in order; of users' windows, what is known."""
    window: Window = d._window
    if WINDOWS.get(window.name) is window:
        positions = _CORNERS.get(window.name, (-1.0, 1.0))
    else:
        positions = (0.0,) if math.isinf(window.support) else (-window.support, 0.0, window.support)
    steps = np.asarray(positions) * float(d._widths[0])
    return _into_domain(d, (to_numpy(d._rows)[:, :1] + steps).ravel())


def panels(d: Any) -> np.ndarray:
    """Return the ends of panels, two bandwidths wide about the points, and the corners where they are few."""
    x, width = to_numpy(d._rows)[:, 0], 2.0 * float(d._widths[0])
    start = float(x.min())
    held = np.unique(np.floor((x - start) / width))
    ends = np.unique(held[:, None] + np.append(_BESIDE, 5))
    ends = ends[:: math.ceil(len(ends) / _MOST)]
    found, known = start + width * ends, corners(d)
    found = _into_domain(d, np.append(found, [start, float(x.max())]))
    return np.unique(np.append(found, known)) if len(known) <= _MOST else found


def _into_domain(d: Any, x: np.ndarray) -> np.ndarray:
    """Bring positions into the domain, with the bounds that they reach."""
    if d._domain is None:
        low, high = (to_numpy(end).reshape(()) for end in d.support)
        return np.unique(np.clip(x, low, high))
    inside = np.unique(to_numpy(d._domain.fold(x[:, None]))[:, 0])
    ends = np.array([d._domain.low[0], d._domain.high[0]])
    reached = [d._domain.wraps[0] or np.any(x <= ends[0]), d._domain.wraps[0] or np.any(x >= ends[1])]
    return np.unique(np.append(inside, ends[np.array(reached)]))
