"""Modes of mixtures: mean-shift and Newton for normals, a grid for numbers, pattern search for the rest."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.linalg import cholesky, solve_triangular, symmetrize
from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.covariance import Diagonal
from tractable.distributions.distribution import Univariate
from tractable.distributions.mixture.mixture import Mixture
from tractable.distributions.multivariate_normal import MultivariateNormal
from tractable.distributions.normal import Normal

__all__ = ["find_modes", "line_modes", "normal_modes", "searched_modes"]


def find_modes(mixture: Mixture) -> Array:
    """Return the local maxima of one mixture's density, the highest first, (m, *event)."""
    xp = namespace_of(mixture.weights)
    if isinstance(mixture.components, Normal):
        return find_modes(_as_vectors(mixture))[:, 0]
    if isinstance(mixture.components, Univariate):
        found = line_modes(mixture)
    elif isinstance(mixture.components, MultivariateNormal):
        found = normal_modes(mixture, _starts(mixture))
    elif len(mixture.event_shape) == 1:
        found = searched_modes(mixture, _starts(mixture))
    else:
        found = _starts(mixture)
    order = xp.argsort(-mixture.log_prob(found), stable=True)
    return xp.take(found, order, axis=0)


def _starts(mixture: Mixture) -> Array:
    """Return the modes of the components that have any weight."""
    xp = namespace_of(mixture.weights)
    return xp.take(mixture.components.mode, xp.nonzero(mixture.weights > 0)[0], axis=0)


def _as_vectors(mixture: Mixture) -> Mixture:
    """Return a mixture of normal numbers as one of vectors of one entry."""
    mean, variance = mixture.components.mean[:, None], mixture.components.variance[:, None]
    components = MultivariateNormal(mean=mean, covariance=Diagonal(variances=variance))
    return Mixture(weights=mixture.weights, components=components)


#: Mean-shift steps before Newton's: enough to find the nearest hill.
N_SHIFTS = 100

#: The most steps of Newton's method, and the most halvings of one.
N_STEPS, N_HALVINGS = 100, 40

#: Two ends of a search within so many standard deviations are one mode.
SAME = 1e-4

#: Two ends within so many are one where there is no valley between them: a summit may be all but flat.
NEAR = 0.1

#: How far, in units of the components' precision, the curvature at a maximum may be on the wrong side of 0.
FLAT = 1e-6


def normal_modes(mixture: Any, x: Array) -> Array:
    """Ascend from every start (n, d); return the maxima, or the best point where rounding leaves none."""
    xp = namespace_of(x)
    hills = _Hills(mixture)
    for _ in range(N_SHIFTS):
        x = hills.shifted(x)
    x = _ascended(hills, x)
    x = xp.take(x, xp.argsort(-mixture.log_prob(x), stable=True), axis=0)
    least = xp.min(hills.curvatures(x)[0], axis=-1)
    maxima = xp.nonzero(least > -FLAT)[0]
    return _distinct(hills, xp.take(x, maxima, axis=0) if maxima.shape[0] else x[:1, :])


class _Hills:
    """log p and its derivatives: with v_k = Λ_k (μ_k - x), -∇² = Σ r_k (Λ_k - v_k v_kᵀ) + g gᵀ."""

    def __init__(self, mixture: Any) -> None:
        xp = namespace_of(mixture.weights)
        self.mixture = mixture
        self.precisions = mixture.components.precision
        self.flat = xp.reshape(self.precisions, (self.precisions.shape[0], -1))
        self.pulls = (self.precisions @ mixture.components.mean[..., None])[..., 0]

    def precision(self, r: Array) -> Array:
        """Return Σ r_k Λ_k, (n, d, d)."""
        d = self.precisions.shape[-1]
        return namespace_of(r).reshape(r @ self.flat, (-1, d, d))

    def shifted(self, x: Array) -> Array:
        """One step of mean-shift (of EM for x): the mean of the means, weighted by r_k Λ_k."""
        r = self.mixture.responsibilities(x)
        return namespace_of(x).linalg.solve(self.precision(r), (r @ self.pulls)[..., None])[..., 0]

    def expansion(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """Return log p (n,), its gradient (n, d), minus its Hessian and the mean precision (n, d, d)."""
        xp = namespace_of(x)
        r = self.mixture.responsibilities(x)
        steps = xp.permute_dims(self.mixture.components.mean[:, None, :] - x, (0, 2, 1))
        v = xp.permute_dims(self.precisions @ steps, (2, 0, 1))
        g = xp.sum(r[..., None] * v, axis=1)
        precision = self.precision(r)
        spread = xp.matrix_transpose(v) @ (r[..., None] * v)
        return self.mixture.log_prob(x), g, precision - spread + g[:, :, None] * g[:, None, :], precision

    def curvatures(self, x: Array) -> tuple[Array, Array]:
        """Return the eigenvalues of -∇² log p where the mean precision is 1, (n, d), and Newton's step."""
        xp = namespace_of(x)
        _, g, hessian, precision = self.expansion(x)
        lower = cholesky(precision)
        scaled = solve_triangular(lower, xp.matrix_transpose(solve_triangular(lower, hessian)))
        values, vectors = xp.linalg.eigh(symmetrize(scaled))
        sizes = xp.abs(values)
        floor = float(xp.finfo(x.dtype).eps) ** 0.5
        sizes = xp.where(sizes > floor, sizes, xp.full_like(sizes, floor))[..., None]
        white = vectors @ (xp.matrix_transpose(vectors) @ solve_triangular(lower, g[..., None]) / sizes)
        return values, xp.linalg.solve(xp.matrix_transpose(lower), white)[..., 0]


def _ascended(hills: _Hills, x: Array) -> Array:
    """Newton's method with |∇²|: each step halved until log p rises or, where level, the slope shrinks."""
    xp = namespace_of(x)
    for _ in range(N_STEPS):
        height, g, _, _ = hills.expansion(x)
        step = hills.curvatures(x)[1]
        level = 8.0 * float(xp.finfo(x.dtype).eps) * xp.abs(height)
        open_, length = xp.ones_like(height) > 0, 1.0
        moved = ~open_
        for _ in range(N_HALVINGS):
            tried = x + length * step
            there, slope, _, _ = hills.expansion(tried)
            flatter = xp.sum(slope * slope, axis=-1) < 0.25 * xp.sum(g * g, axis=-1)
            good = open_ & ((there > height + level) | ((there >= height - level) & flatter))
            x = xp.where(good[:, None], tried, x)
            moved, open_ = moved | good, open_ & ~good
            length *= 0.5
            open_ = open_ & (length * xp.sum(g * step, axis=-1) > level)
            if not bool(xp.any(open_)):
                break
        if not bool(xp.any(moved)):
            break
    return x


def _distinct(hills: _Hills, x: Array) -> Array:
    """Keep the first of the points that are one mode."""
    xp = namespace_of(x)
    precision = hills.precision(hills.mixture.responsibilities(x))
    kept = x[:1, :]
    for i in range(1, x.shape[0]):
        step = kept - x[i, :]
        squared = xp.sum((step @ precision[i, ...]) * step, axis=-1)
        near = xp.nonzero(squared <= NEAR**2)[0]
        if bool(xp.any(squared <= SAME**2)):
            continue
        if all(_valley(hills.mixture, kept[int(j), :], x[i, :]) for j in near):
            kept = xp.concat([kept, x[i : i + 1, :]])
    return kept


def _valley(mixture: Any, a: Array, b: Array) -> bool:
    """Whether the density half-way between two points is lower than at both."""
    middle, ends = mixture.log_prob(0.5 * (a + b)), (mixture.log_prob(a), mixture.log_prob(b))
    return bool(middle < min(ends) - 8.0 * namespace_of(a).finfo(a.dtype).eps * abs(middle))


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


#: The longest step, in units of the smallest component's scale: longer ones jump over valleys.
LONGEST = 0.25

#: The shortest.
SHORTEST = 1e-9

#: Two ends within so many scales are one mode; within NEAR where no valley is between them.
PATTERN_SAME, PATTERN_NEAR = 1e-4, 0.1


def searched_modes(mixture: Any, starts: Array) -> Array:
    """Return the local maxima of one mixture of vectors that its components' modes lead to, (m, d)."""
    xp = namespace_of(starts)
    scale = _least_scale(mixture)
    ends, heights = _climbed(mixture, starts, scale)
    ends = xp.take(ends, xp.argsort(-heights, stable=True), axis=0)
    kept = ends[:1, :]
    for i in range(1, ends.shape[0]):
        distance = xp.max(xp.abs(kept - ends[i, :]) / scale, axis=-1)
        near = xp.nonzero(distance <= PATTERN_NEAR)[0]
        same = bool(xp.any(distance <= PATTERN_SAME))
        if not (same or any(not _pattern_valley(mixture, kept[int(j), :], ends[i, :]) for j in near)):
            kept = xp.concat([kept, ends[i : i + 1, :]])
    return kept


def _climbed(mixture: Any, x: Array, scale: Array) -> tuple[Array, Array]:
    """Try steps in every direction from every point, take the best, halve them where none is better."""
    xp = namespace_of(x)
    counted = xp.asarray(_by_coordinate(lambda d: bool(d.discrete), mixture), device=device(x))
    directions = _directions(x, _by_coordinate(lambda d: d.support is not None, mixture))
    height, length = mixture.log_prob(x), xp.full_like(x[:, 0], LONGEST)
    eps = float(xp.finfo(x.dtype).eps)
    while bool(xp.any(length > SHORTEST)):
        steps = length[:, None] * scale
        steps = xp.where(counted, xp.where(steps > 1.0, xp.round(steps), xp.ones_like(steps)), steps)
        tried = x[:, None, :] + _stepped(directions, steps)
        scores = xp.reshape(mixture.log_prob(xp.reshape(tried, (-1, x.shape[-1]))), tried.shape[:2])
        scores = xp.where(xp.isnan(scores), xp.full_like(scores, -xp.inf), scores)
        k = xp.argmax(scores, axis=1)
        best = xp.max(scores, axis=1)
        better = best > height + 4.0 * eps * xp.abs(height)
        chosen = xp.stack([tried[i, int(k[i]), :] for i in range(x.shape[0])])
        x, height = xp.where(better[:, None], chosen, x), xp.where(better, best, height)
        length = xp.where(better, length, 0.5 * length)
    return x, height


def _directions(x: Array, free: list[bool]) -> Array:
    """Return ±e_i for entries that are free to move alone, and e_i - e_j, which keeps a sum, (m, d)."""
    xp = namespace_of(x)
    eye = np.eye(x.shape[-1])
    alone = eye[np.array(free)]
    pairs = [a - b for i, a in enumerate(eye) for j, b in enumerate(eye) if i != j]
    return xp.asarray(np.array([*alone, *-alone, *pairs]), dtype=x.dtype, device=device(x))


def _stepped(directions: Array, steps: Array) -> Array:
    """Return the moves (n, m, d): each direction times the shortest step of the axes it moves along."""
    xp = namespace_of(steps)
    involved = xp.where(directions != 0, steps[:, None, :], xp.full_like(directions, xp.inf))
    return directions * xp.min(involved, axis=-1)[..., None]


def _least_scale(mixture: Any) -> Array:
    """Return the least positive scale of the components in each coordinate, (d,)."""
    components = mixture.components
    scales = components.stddev
    xp = namespace_of(scales)
    if not bool(xp.all(xp.isfinite(scales))) and hasattr(components, "interval"):
        low, high = components.interval(0.5)
        scales = xp.where(xp.isfinite(scales), scales, 0.5 * (high - low))
    usable = xp.isfinite(scales) & (scales > 0) & (mixture.weights > 0)[:, None]
    least = xp.min(xp.where(usable, scales, xp.full_like(scales, xp.inf)), axis=0)
    return xp.where(xp.isfinite(least), least, xp.ones_like(least))


def _by_coordinate(says: Callable[[Any], bool], d: Any) -> list[bool]:
    """Return what is said of the distribution of each coordinate."""
    if hasattr(d, "components"):
        return _by_coordinate(says, d.components)
    if hasattr(d, "parts"):
        return [one for part in d.parts for one in _by_coordinate(says, part)]
    return [says(d)] * int(np.prod(d.event_shape))


def _pattern_valley(mixture: Any, a: Array, b: Array) -> bool:
    """Whether the density half-way between two points is lower than at both."""
    middle, ends = mixture.log_prob(0.5 * (a + b)), (mixture.log_prob(a), mixture.log_prob(b))
    return bool(middle < min(ends) - 8.0 * namespace_of(a).finfo(a.dtype).eps * abs(middle))
