"""Bayes' rule on a grid: likelihood times prior over evidence, for one parameter or a few."""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.log_space import log_sum_exp
from tractable.arrays.namespace import Array, device, freeze, namespace_of
from tractable.distributions.checks import check_coverage
from tractable.value import set_fields, value

#: The first weights of Gregory's rule of the fourth order; the others are 1.
_GREGORY = (3.0 / 8.0, 7.0 / 6.0, 23.0 / 24.0)


def grid_posterior(
    log_likelihood: Callable[..., Any], log_prior: Callable[..., Any] | Any, grid: Any
) -> "GridPosterior":
    """Return p(θ | data) = p(data | θ) p(θ) / ∫ p(data | θ) p(θ) dθ on a grid.

    No conjugacy is needed, so it is the oracle of the closed forms. Evenly spaced axes are integrated by
    Gregory's rule of the fourth order (the trapezoid rule with corrected ends: its error is h⁴, and far less
    where the density vanishes at both ends), others by the trapezoid rule.

    Parameters
    ----------
    log_likelihood : callable
        ``log_likelihood(θ)``, or ``log_likelihood(a, b)`` for two parameters: each argument is an array over
        the whole grid, and so is the result. It need not be normalised, but the evidence then is not either.
    log_prior : callable or distribution
        The same of the prior; a distribution of numbers, or of vectors for several parameters.
    grid : array (n,) or a tuple of one such array for each parameter
        Increasing points.

    Examples
    --------
    Three heads in four tosses of a coin of which nothing is known:

    >>> import numpy as np
    >>> posterior = grid_posterior(
    ...     lambda p: 3 * np.log(p) + np.log1p(-p), np.zeros_like, np.linspace(0.001, 0.999, 999)
    ... )
    >>> float(posterior.mean.round(4)), float(posterior.mode)
    (0.6667, 0.75)
    >>> round(float(np.exp(-posterior.log_evidence)), 2)
    20.0
    """
    axes = _as_axes(grid)
    points = namespace_of(*axes).meshgrid(*axes, indexing="ij")
    log_joint = _on_grid("log_likelihood", log_likelihood, points) + _on_grid("log_prior", log_prior, points)
    log_mass = log_joint + _log_cells(axes)
    xp = namespace_of(log_mass)
    log_evidence = log_sum_exp(xp.reshape(log_mass, (-1,)))
    if not bool(xp.isfinite(log_evidence)):
        raise ValueError("log_likelihood and log_prior must have a point of the grid where both are finite")
    return GridPosterior(grid=axes, log_density=log_joint - log_evidence, log_evidence=log_evidence)


@value
class GridPosterior:
    """A posterior known at the points of a grid.

    Parameters
    ----------
    grid : tuple of arrays
        The points of each parameter.
    log_density : array (n,) or (n, m)
        Log of the normalised posterior density at each point.
    log_evidence : number
        Log of the normalising constant, log p(data).
    """

    grid: tuple[Array, ...]
    log_density: Array
    log_evidence: Array

    def __post_init__(self) -> None:
        set_fields(self, grid=tuple(freeze(axis) for axis in self.grid), log_density=freeze(self.log_density))

    @property
    def density(self) -> Array:
        """Posterior density at each point."""
        return namespace_of(self.log_density).exp(self.log_density)

    @property
    def mass(self) -> Array:
        """Posterior probability of each point's cell; it adds up to one."""
        return namespace_of(self.log_density).exp(self.log_density + _log_cells(self.grid))

    @property
    def mean(self) -> Array:
        """Posterior mean: a number, or one for each parameter."""
        return self._by_parameter(self.grid)

    @property
    def variance(self) -> Array:
        """Posterior variance: a number, or one for each parameter."""
        mean = self.mean if len(self.grid) > 1 else self.mean[None]
        return self._by_parameter([(axis - mean[i]) ** 2 for i, axis in enumerate(self.grid)])

    @property
    def mode(self) -> Array:
        """The point of the grid with the greatest density."""
        xp = namespace_of(self.log_density)
        flat = int(xp.argmax(xp.reshape(self.log_density, (-1,))))
        where = np.unravel_index(flat, tuple(self.log_density.shape))
        best = xp.stack([axis[int(i)] for axis, i in zip(self.grid, where, strict=True)])
        return best if len(self.grid) > 1 else best[0]

    def expectation(self, f: Callable[..., Any]) -> Array:
        """Return E[f(θ)], or E[f(a, b)], with f as `log_likelihood`; of p(x' | θ) it is the predictive."""
        xp = namespace_of(self.log_density)
        found = f(*xp.meshgrid(*self.grid, indexing="ij"))
        return xp.sum(found * self.mass)

    def marginal(self, axis: int) -> "GridPosterior":
        """Return the posterior of one parameter: the others are summed out."""
        xp = namespace_of(self.log_density)
        if not -len(self.grid) <= axis < len(self.grid):
            raise ValueError(f"axis must be one of the {len(self.grid)} parameters, got {axis!r}")
        axis %= len(self.grid)
        if len(self.grid) == 1:
            return self
        own = (self.grid[axis],)
        log_mass = xp.moveaxis(self.log_density + _log_cells(self.grid), axis, 0)
        log_density = log_sum_exp(xp.reshape(log_mass, (own[0].shape[0], -1))) - _log_cells(own)
        return GridPosterior(grid=own, log_density=log_density, log_evidence=self.log_evidence)

    def interval(self, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return the equal-tailed interval of one parameter, by linear interpolation of the mass."""
        if len(self.grid) > 1:
            raise ValueError("interval needs one parameter: take the marginal of one first")
        tail = 0.5 * (1.0 - check_coverage(coverage))
        return self._quantile(tail), self._quantile(1.0 - tail)

    def _quantile(self, q: float) -> Array:
        xp = namespace_of(self.log_density)
        axis, mass = self.grid[0], self.mass
        below = xp.cumulative_sum(mass) - 0.5 * mass
        right = min(max(int(xp.sum(xp.astype(below < q, xp.int64))), 1), axis.shape[0] - 1)
        fraction = (q - below[right - 1]) / (below[right] - below[right - 1])
        step = axis[right] - axis[right - 1]
        return axis[right - 1] + xp.clip(fraction, 0.0, 1.0) * step

    def _by_parameter(self, functions: Sequence[Array]) -> Array:
        """Return the expectation of one function of each parameter, given on its axis."""
        xp = namespace_of(self.log_density)
        mass = self.mass
        n = len(self.grid)
        alone = [xp.sum(mass, axis=tuple(j for j in range(n) if j != i)) for i in range(n)]
        found = [xp.sum(p * f) for p, f in zip(alone, functions, strict=True)]
        return xp.stack(found) if n > 1 else found[0]


def _as_axes(grid: Any) -> tuple[Array, ...]:
    axes = tuple(as_reals("grid", axis) for axis in (grid if isinstance(grid, tuple) else (grid,)))
    for axis in axes:
        xp = namespace_of(axis)
        if axis.ndim != 1 or axis.shape[0] < 2 or not bool(xp.all(axis[1:] > axis[:-1])):
            raise ValueError("grid must be increasing points on one axis, or a tuple of such arrays")
        if not bool(xp.all(xp.isfinite(axis))):
            raise ValueError("grid must be finite")
    return axes


def _on_grid(name: str, function: Any, points: Sequence[Array]) -> Array:
    """Return the values of a log density over the whole grid; refuse NaN and +inf."""
    xp = namespace_of(*points)
    if hasattr(function, "log_prob"):
        found = function.log_prob(xp.stack(points, axis=-1) if len(points) > 1 else points[0])
    elif callable(function):
        found = as_reals(name, function(*points), points[0])
    else:
        raise ValueError(f"{name} must be a function or a distribution, got {type(function).__name__}")
    if tuple(found.shape) != tuple(points[0].shape):
        raise ValueError(f"{name} must give one number for each point of the grid, got {tuple(found.shape)}")
    if not bool(xp.all(found < xp.inf)):
        raise ValueError(f"{name} must not be NaN or infinite on the grid")
    return found


def _log_cells(axes: Sequence[Array]) -> Array:
    """Return the log of the weight of each point: a sum of one term for each axis, over the whole grid."""
    n = len(axes)
    terms = [
        namespace_of(axis).log(_cells(axis))[(None,) * i + (slice(None),) + (None,) * (n - 1 - i)]
        for i, axis in enumerate(axes)
    ]
    return reduce(lambda a, b: a + b, terms)


def _cells(axis: Array) -> Array:
    xp = namespace_of(axis)
    gap = axis[1:] - axis[:-1]
    even = bool(xp.max(gap) - xp.min(gap) <= 1e-6 * xp.max(gap))
    if even and axis.shape[0] >= 2 * len(_GREGORY):
        ends = xp.asarray(_GREGORY, dtype=axis.dtype, device=device(axis))
        inner = xp.ones_like(axis[: axis.shape[0] - 2 * len(_GREGORY)])
        return (axis[-1] - axis[0]) / (axis.shape[0] - 1) * xp.concat([ends, inner, xp.flip(ends)])
    none = xp.zeros_like(axis[:1])
    return 0.5 * (xp.concat([none, gap]) + xp.concat([gap, none]))
