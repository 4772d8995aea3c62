"""Local maxima of a log density, searched from many starting points at once.

`newton_ascent` is Newton's method from every row at once, `newton_modes` the modes that it finds;
`pattern_modes` needs no derivatives, and `grid_modes` is for numbers. Two ends are one mode where they nearly
coincide, or are near each other without a point of lower density between them.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from tractable.arrays.linalg import cholesky, solve_triangular, symmetrize
from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.engines.roots import bisect

#: The most steps that Newton's method tries.
N_STEPS = 500

#: Two ends within so many units of the metric are one mode; within NEAR where no valley is between them.
SAME, NEAR = 1e-4, 0.1

#: How far, in units of the metric, the curvature at a maximum may be on the wrong side of 0.
FLAT = 1e-6

_GOLDEN = (5.0**0.5 - 1.0) / 2.0

LogDensity = Callable[[Array], Array]


class Expansion(NamedTuple):
    """A log density and its derivatives at n points of d coordinates."""

    log_density: Array  # (n,)
    gradient: Array  # (n, d)
    curvature: Array  # (n, d, d), minus the Hessian
    metric: Array  # (n, d, d), positive definite: what a length of one is, as the inverse squared scale


class Ascent(NamedTuple):
    """A function, its gradient and the step of Newton's method at n rows of d coordinates."""

    value: Array  # (n,); zeros where it is concave, and the gradient is to vanish: that alone is looked at
    gradient: Array  # (n, d)
    step: Array  # (n, d), along which the function rises


def newton_ascent(
    expand: Callable[[Array, Array], Ascent], starts: Array, *, tol: float = 0.0, max_iter: int = N_STEPS
) -> tuple[Array, Array]:
    """Return where Newton's method leads from each start, (n, d), and whether it converged, (n,).

    Every row has a function of its own. Its step is cut to a quarter until the function rises or, where that
    is level up to rounding, the rise ∇f·step that the gradient predicts falls, by half for a whole step; the
    next may be twice as long, up to Newton's own. A row ends with a step that is no longer than `tol`, or
    when rounding hides all rises.

    Parameters
    ----------
    expand : callable
        ``expand(x, rows)`` returns the `Ascent` at points x (m, d): those of the rows (m,) that have not
        ended.
    starts : array (n, d)
        The points at which the ascents start.
    tol : float
        The length of a last step, which is taken.
    max_iter : int
        The most steps that are tried.

    Examples
    --------
    >>> import numpy as np
    >>> centers = np.array([[1.0], [2.0]])
    >>> def hyperbola(x, rows):  # f = -√(1 + (x - c)²): full steps diverge from farther than 1 away
    ...     away = x - centers[rows]
    ...     root = np.sqrt(1.0 + away**2)
    ...     return Ascent(-root[:, 0], -away / root, -away * root**2)
    >>> ends, converged = newton_ascent(hyperbola, np.array([[4.0], [1.5]]))
    >>> ends.round(12).tolist(), converged.tolist()
    ([[1.0], [2.0]], [True, True])
    """
    xp, x = namespace_of(starts), starts
    rows, size = xp.arange(x.shape[0], device=device(x)), xp.ones_like(x[:, 0])
    here, ended = expand(x, rows), []
    for _ in range(max_iter):
        tried = x + size[:, None] * here.step
        there = expand(tried, rows)
        level = 8.0 * float(xp.finfo(x.dtype).eps) * xp.clip(xp.abs(here.value), min=1.0)
        rise = xp.sum(here.gradient * here.step, axis=-1)
        flatter = xp.sum(there.gradient * there.step, axis=-1) < (1.0 - 0.5 * size) * rise
        better = (there.value > here.value + level) | ((there.value >= here.value - level) & flatter)
        hidden = ~better & (size * rise <= level)
        x = xp.where(better[:, None], tried, x)
        masks = better, better[:, None], better[:, None]
        here = Ascent(*(xp.where(mask, new, old) for mask, new, old in zip(masks, there, here, strict=True)))
        size = xp.where(better, xp.clip(2.0 * size, max=1.0), 0.25 * size)
        short = xp.sum(here.step * here.step, axis=-1) <= tol * tol
        done = short | hidden
        if not bool(xp.any(done)):
            continue
        state, last = (rows, x, size, *here), xp.where(short[:, None], x + here.step, x)
        ended.append([xp.take(a, xp.nonzero(done)[0], axis=0) for a in (rows, last, done)])
        rows, x, size, *parts = (xp.take(a, xp.nonzero(~done)[0], axis=0) for a in state)
        here = Ascent(*parts)
        if not rows.shape[0]:
            break
    joined = [xp.concat(parts) for parts in zip(*ended, (rows, x, rows < 0), strict=True)]
    order = xp.argsort(joined[0])
    return xp.take(joined[1], order, axis=0), xp.take(joined[2], order)


def newton_step(at: Expansion) -> tuple[Array, Array]:
    """Return the eigenvalues of -∇² log p in units of the metric, (n, d), and |∇²|⁻¹ ∇ log p, (n, d)."""
    xp = namespace_of(at.gradient)
    lower = cholesky(at.metric)
    scaled = solve_triangular(lower, xp.matrix_transpose(solve_triangular(lower, at.curvature)))
    values, vectors = xp.linalg.eigh(symmetrize(scaled))
    floor = float(xp.finfo(values.dtype).eps) ** 0.5
    sizes = xp.clip(xp.abs(values), min=floor)[..., None]
    white = solve_triangular(lower, at.gradient[..., None])
    white = vectors @ (xp.matrix_transpose(vectors) @ white / sizes)
    return values, xp.linalg.solve(xp.matrix_transpose(lower), white)[..., 0]


def newton_modes(
    expand: Callable[[Array], Expansion],
    starts: Array,
    *,
    shift: Callable[[Array], Array] | None = None,
    n_shifts: int = 100,
) -> Array:
    """Return the maxima that the starts lead to, (m, d), the highest first.

    First `n_shifts` steps x + M⁻¹ ∇ log p, with M the metric; of a mixture of normals, with their mean
    precision as metric, that is mean shift. Then Newton's method with the absolute values of the Hessian's
    eigenvalues, see `newton_ascent`. Ends at which the Hessian is not negative are left out; where rounding
    leaves none, the highest end is returned.

    Parameters
    ----------
    expand : callable
        ``expand(x)`` returns the `Expansion` of the log density at points (n, d).
    starts : array (n, d)
        The points at which the ascents start.
    shift : callable, optional
        ``shift(x)`` returns the points of the first steps, where they are cheaper than `expand`.
    n_shifts : int
        Number of steps before Newton's method.

    Examples
    --------
    >>> import numpy as np
    >>> def quartic(x):  # log p = 2 x² - x⁴
    ...     one = np.ones((*x.shape, 1))
    ...     slope = 4.0 * x - 4.0 * x**3
    ...     bend = (12.0 * x**2 - 4.0)[..., None]
    ...     return Expansion((2.0 * x**2 - x**4)[:, 0], slope, bend, 8.0 * one)
    >>> newton_modes(quartic, np.array([[-0.3], [0.5], [2.0]])).round(12)
    array([[-1.],
           [ 1.]])
    """
    xp, x = namespace_of(starts), starts
    for _ in range(n_shifts):
        x = _shifted(expand(x), x) if shift is None else shift(x)

    def ascent(x: Array, _: Array) -> Ascent:
        at = expand(x)
        return Ascent(at.log_density, at.gradient, newton_step(at)[1])

    x, _ = newton_ascent(ascent, x)
    at = expand(x)
    order = xp.argsort(-at.log_density, stable=True)
    least = xp.take(xp.min(newton_step(at)[0], axis=-1), order)
    maxima = xp.nonzero(least > -FLAT)[0]
    order = xp.take(order, maxima) if maxima.shape[0] else order[:1]
    x, metric = (xp.take(a, order, axis=0) for a in (x, at.metric))
    return distinct_modes(lambda x: expand(x).log_density, x, metric)


def pattern_modes(
    log_density: LogDensity,
    starts: Array,
    directions: Array,
    *,
    scale: Array | None = None,
    whole: Array | None = None,
    longest: float = 0.25,
    shortest: float = 1e-9,
) -> tuple[Array, Array]:
    """Return where pattern search ends, (n, d), and the log density there, (n,), in the order of the starts.

    From every point a step in every direction is tried and the best taken; where none is better, the step is
    halved. Long steps may pass over valleys, so `longest` is a part of the scale.

    Parameters
    ----------
    log_density : callable
        Of points (n, d), (n,); NaN is taken for -inf.
    starts : array (n, d)
        The points at which the searches start.
    directions : array (m, d)
        The steps that are tried from each point, in units of the scale.
    scale : array (d,), optional
        The unit of each coordinate; a direction is measured by the smallest of those it involves. One when
        not given.
    whole : array (d,) of bool, optional
        Which coordinates are whole numbers, and move by at least one.
    longest, shortest : float
        The first and the last step, in units of the scale.

    Examples
    --------
    >>> import numpy as np
    >>> ends, _ = pattern_modes(lambda x: -np.sum((x - 1.5) ** 2, axis=-1), np.zeros((1, 2)), 2 * np.eye(2))
    >>> ends.round(6)
    array([[1.5, 1.5]])
    """
    xp, x = namespace_of(starts), starts
    involved = directions != 0
    unit = xp.ones_like(directions[:, 0])
    if scale is not None:
        unit = xp.min(xp.where(involved, scale, xp.full_like(directions, xp.inf)), axis=-1)
    rounded = involved[:, 0] & ~involved[:, 0] if whole is None else xp.any(involved & whole, axis=-1)
    eps = float(xp.finfo(x.dtype).eps)
    height, length = _finite_heights(log_density, x), xp.full_like(x[:, 0], longest)
    first = xp.arange(x.shape[0], device=device(x)) * directions.shape[0]
    while bool(xp.any(length > shortest)):
        steps = length[:, None] * unit
        steps = xp.where(rounded, xp.where(steps > 1.0, xp.round(steps), xp.ones_like(steps)), steps)
        tried = xp.reshape(x[:, None, :] + steps[..., None] * directions, (-1, x.shape[-1]))
        heights = xp.reshape(_finite_heights(log_density, tried), tuple(steps.shape))
        best = xp.max(heights, axis=1)
        level = xp.where(xp.isfinite(height), 4.0 * eps * height, xp.zeros_like(height))
        better = best > height + xp.abs(level)
        x = xp.where(better[:, None], xp.take(tried, first + xp.argmax(heights, axis=1), axis=0), x)
        height, length = xp.where(better, best, height), xp.where(better, length, 0.5 * length)
    return x, height


def grid_modes(log_density: LogDensity, grid: Array, *, preferred: Array, whole: bool = False) -> Array:
    """Return the local maxima of the log density of numbers that stand out on a grid, (m,).

    Each maximum of the grid is refined between its neighbours: by golden section, or over the whole numbers.
    A plateau is one mode: the preferred point on it, or its middle.

    Parameters
    ----------
    log_density : callable
        Of numbers (n,); NaN is taken for -inf.
    grid : array (n,)
        Increasing, and fine enough that no maximum lies between two of its points unseen.
    preferred : array
        Numbers of the grid that are taken where several are equally high, as modes of components are.
    whole : bool
        Whether the numbers are whole.
    """
    xp = namespace_of(grid)
    heights = _finite_heights(log_density, grid)
    special = np.isin(to_numpy(grid), to_numpy(preferred))
    peaks = _peaks(to_numpy(heights), special, 64.0 * float(xp.finfo(grid.dtype).eps))
    best, left, right = (xp.asarray(i, device=device(grid)) for i in np.array(peaks).T)
    x, low, high = (xp.take(grid, i, axis=0) for i in (best, left, right))
    height = partial(_finite_heights, log_density)
    if whole:  # where the differences cease to be positive
        closer = bisect(lambda k: ~(height(k + 1.0) > height(k)), low - 1.0, high, whole=True)
    else:
        closer = golden_section(height, low, high)
    return xp.where(height(closer) > xp.take(heights, best, axis=0), closer, x)


def distinct_modes(log_density: LogDensity, x: Array, metric: Array) -> Array:
    """Return the first of the points (n, d) that are one mode each; the metric is (n, d, d) or (d, d)."""
    xp = namespace_of(x)
    metric = xp.broadcast_to(metric, (x.shape[0], x.shape[1], x.shape[1]))
    modes = x[:1, :]
    for i in range(1, x.shape[0]):
        step = modes - x[i, :]
        squared = xp.sum((step @ metric[i, ...]) * step, axis=-1)
        near = xp.nonzero(squared <= NEAR**2)[0]
        if bool(xp.any(squared <= SAME**2)):
            continue
        if all(_valley(log_density, modes[int(j), :], x[i, :]) for j in near):
            modes = xp.concat([modes, x[i : i + 1, :]])
    return modes


def _valley(log_density: LogDensity, a: Array, b: Array) -> bool:
    """Whether the density half-way between two points is lower than at both."""
    xp = namespace_of(a)
    ends, middle = log_density(xp.stack([a, b])), log_density((0.5 * (a + b))[None, :])[0]
    return bool(middle < xp.min(ends) - 8.0 * xp.finfo(a.dtype).eps * xp.abs(middle))


def _shifted(at: Expansion, x: Array) -> Array:
    return x + namespace_of(x).linalg.solve(at.metric, at.gradient[..., None])[..., 0]


def _finite_heights(log_density: LogDensity, x: Array) -> Array:
    found = log_density(x)
    xp = namespace_of(found)
    return xp.where(xp.isnan(found), xp.full_like(found, -xp.inf), found)


def _peaks(heights: np.ndarray, special: np.ndarray, rounding: float) -> list[tuple[int, int, int]]:
    """Return (top, left, right) of each maximum that exceeds its valleys by more than rounding.

    Left and right are the points next to the top, or next to its plateau.
    """
    peaks: list[tuple[int, int, int]] = []
    top, low, rising = -np.inf, np.inf, True
    for i, h in enumerate([*heights.tolist(), -np.inf]):
        if rising and h >= top - rounding * max(1.0, abs(top)) and h > -np.inf:
            top = max(top, h)
        elif rising and top > -np.inf:
            peaks.append(_plateau(heights, special, i, top))
            low, rising = h, False
        elif not rising and h > low + rounding * max(1.0, abs(h)):
            top, rising = h, True
        elif not rising:
            low = min(low, h)
    return peaks


def _plateau(heights: np.ndarray, special: np.ndarray, end: int, top: float) -> tuple[int, int, int]:
    """Return the top of the maximum before `end`, and the neighbours of its plateau."""
    first = last = end - 1 - int(np.argmax(heights[:end][::-1] == top))
    while first > 0 and heights[first - 1] == top:
        first -= 1
    chosen = np.flatnonzero(special[first : last + 1])
    best = first + (int(chosen[len(chosen) // 2]) if len(chosen) else (last - first) // 2)
    return best, max(first - 1, 0), min(last + 1, len(heights) - 1)


def golden_section(function: Callable[[Array], Array], low: Array, high: Array, n_steps: int = 60) -> Array:
    """Return about where a function with one maximum in each bracket is largest, entry by entry."""
    xp = namespace_of(low)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    below, above = function(left), function(right)
    for _ in range(n_steps):
        up = above > below
        low, high = xp.where(up, left, low), xp.where(up, high, right)
        new = xp.where(up, low + _GOLDEN * (high - low), high - _GOLDEN * (high - low))
        value = function(new)
        left, right = xp.where(up, right, new), xp.where(up, new, left)
        below, above = xp.where(up, above, value), xp.where(up, value, below)
    return xp.where(above > below, right, left)
