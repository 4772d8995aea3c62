"""Smoothing kernels: the common ones by name, and checks of kernels given as functions."""

import math
from collections.abc import Callable
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np

from tractable.arrays.error_function import erfc
from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.arrays.random import moved
from tractable.engines.quadrature import gauss_legendre, integrate
from tractable.engines.roots import bisect
from tractable.value import value

#: Integrals over radii without a bound go from exp(-40) to exp(40), in the logarithm of the radius.
_LOG_RADII = np.arange(-40.0, 41.0)

#: What the outermost panel may hold of an integral that converges.
_LAST = 1e-9

#: Radii at which the distribution of a user's window is tabulated for drawing.
_TABLE = 4096

#: Panels of its distribution function: so many that far tails hardly fall within one.
_PANELS = 16_384


@value
class Window:
    """A smoothing kernel (Parzen window): a density about zero that depends on the distance alone.

    K(u) = k(|u|²) / ∫ k(|v|²) dv.

    In one dimension it is the K of p(x) = (1/Nh) Σ K((x - x_n)/h); in d dimensions the same radial profile,
    with the normaliser of that dimension.

    Parameters
    ----------
    name : str
        Name of the kernel.
    log_profile : callable
        log k(s) of squared radii s, an array to an array; -inf where there is no mass. Its scale is free.
    support : float
        The radius beyond which there is none, or infinity.
    radial_moment : callable, optional
        ``radial_moment(power, times)`` is log ∫ k(r²)^times r^power dr; by quadrature when not given.
    radii : callable, optional
        ``radii(rng, n, dim)`` draws distances from the origin in d dimensions; by a table when not given.
    lower : callable, optional
        ``lower(u)`` is the probability below u in one dimension, for u ≤ 0; by quadrature when not given.

    Examples
    --------
    >>> from tractable.smoothing import WINDOWS
    >>> disc = WINDOWS["tophat"]
    >>> round(disc.variance(1), 4), round(disc.variance(2), 4)
    (0.3333, 0.25)
    >>> disc.density([[0.5, 0.5], [0.9, 0.9]]).round(4)
    array([0.3183, 0.    ])
    """

    name: str
    log_profile: Callable[[Array], Array]
    support: float = math.inf
    radial_moment: Callable[[float, int], float] | None = None
    radii: Callable[[np.random.Generator, int, int], np.ndarray] | None = None
    lower: Callable[[Array], Array] | None = None

    def log_normaliser(self, dim: int) -> float:
        """Return log ∫ k(|u|²) du over d dimensions: the sphere's surface times the radial integral."""
        return log_sphere(dim) + self._log_moment(dim - 1.0)

    def variance(self, dim: int = 1) -> float:
        """Return κ₂, the variance of one coordinate: E |u|² / d; infinite where it does not exist."""
        return math.exp(self._log_moment(dim + 1.0) - self._log_moment(dim - 1.0)) / dim

    def log_roughness(self, dim: int = 1) -> float:
        """Return log R(K), R(K) = ∫ K(u)² du, which in hundreds of dimensions is beyond any double itself."""
        return log_sphere(dim) + self._log_moment(dim - 1.0, 2) - 2.0 * self.log_normaliser(dim)

    def roughness(self, dim: int = 1) -> float:
        """Return R(K) = ∫ K(u)² du; zero or infinity where it is beyond doubles."""
        with np.errstate(over="ignore", under="ignore"):
            return float(np.exp(self.log_roughness(dim)))

    def canonical(self, dim: int = 1) -> float:
        """Return δ = (R(K)/κ₂²)^(1/(d+4)): windows smooth alike where their bandwidths are as their δ."""
        spread = self.variance(dim)
        if not math.isfinite(spread):
            raise ValueError(f"the window {self.name!r} has no variance, so no rule gives it a bandwidth")
        return math.exp((self.log_roughness(dim) - 2.0 * math.log(spread)) / (dim + 4.0))

    def density(self, u: Any) -> np.ndarray:
        """Return K(u) of numbers (n,) or of vectors (n, d)."""
        u = np.asarray(u, dtype=np.float64)
        squared, dim = (u * u, 1) if u.ndim < 2 else (np.sum(u * u, axis=-1), u.shape[-1])
        return np.exp(self.log_profile(squared) - self.log_normaliser(dim))

    def sample(self, n: int, dim: int, rng: np.random.Generator) -> np.ndarray:
        """Draw n displacements, (n, dim): a direction, and a distance from the origin.

        Parameters
        ----------
        n, dim : int
            Numbers of draws, and of dimensions.
        rng : Generator
            Where randomness comes from.
        """
        direction = rng.standard_normal((n, dim))
        direction /= np.sqrt(np.sum(direction * direction, axis=1, keepdims=True))
        draw = self._tabulated if self.radii is None else self.radii
        return direction * draw(rng, n, dim)[:, None]

    def cdf(self, u: Array) -> Array:
        """Return the probability below u in one dimension, with the digits of the lower tail."""
        xp = namespace_of(u)
        below = (self._integrated if self.lower is None else self.lower)(-xp.abs(u))
        return xp.where(u > 0, 1.0 - below, below)

    def _log_moment(self, power: float, times: int = 1) -> float:
        if self.radial_moment is not None:
            return self.radial_moment(power, times)
        return self._integral(power, times)

    def _integral(self, power: float, times: int = 1) -> float:
        """Return log ∫ k(r²)^times r^power dr; infinite where the outermost panel still counts."""
        log_mass = partial(self._log_mass, power=power, times=times)
        breaks, largest = self._panels_of(log_mass)

        def mass(t: np.ndarray) -> np.ndarray:
            with np.errstate(under="ignore"):
                return np.exp(log_mass(t) - largest)

        if largest == -math.inf:
            return -math.inf
        whole = float(integrate(mass, breaks).value)
        if math.isinf(self.support):
            last = float(integrate(mass, breaks[-2:]).value)
            if not last <= _LAST * whole:
                return math.inf
        return math.log(whole) + largest

    def _log_mass(self, t: np.ndarray, power: float, times: int = 1) -> np.ndarray:
        """Return log k(r²)^times r^(power+1) at r = exp(t): the integrand, in the logarithm of the radius."""
        return times * self.log_profile(np.exp(2.0 * t)) + (power + 1.0) * t

    def _panels_of(self, log_mass: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, float]:
        """Return panels of an integral with one break at the largest integrand, and the log of that.

        In d dimensions the mass is in a shell of relative width 1/√d: panels that do not begin at it could
        miss it.
        """
        breaks = self._breaks()
        t = np.linspace(breaks[0], breaks[-1], _PANELS + 1)[1:-1]
        height = log_mass(t)
        top = int(np.argmax(height))
        self._check_tail(height, top)
        return np.union1d(breaks, t[top]), float(height[top])

    def _check_tail(self, height: np.ndarray, top: int) -> None:
        """Refuse a window without an end whose formula underflows to zero where it still has mass."""
        some = np.flatnonzero(np.isfinite(height))
        cut = math.isinf(self.support) and len(some) and some[-1] < len(height) - 1
        if cut and height[some[-1]] > height[top] + math.log(_LAST):
            raise ValueError(
                f"kernel {self.name!r} underflows to zero before its mass ends in so many dimensions; "
                "give a Window, whose log_profile does not, or use fewer columns"
            )

    def _breaks(self) -> np.ndarray:
        if math.isinf(self.support):
            return _LOG_RADII
        return np.append(_LOG_RADII[_LOG_RADII < 0], 0.0) + math.log(self.support)

    def _tabulated(self, rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
        """Draw radii by the inverse of a tabulated distribution function."""
        edges, total = self._table(dim)
        return np.exp(np.interp(rng.random(n) * total[-1], total, edges))

    def _table(self, dim: int) -> tuple[np.ndarray, np.ndarray]:
        low, high = (self._breaks()[i] for i in (0, -1))
        coarse = np.linspace(low, high, _TABLE + 1)
        mass = self._panel_masses(coarse, dim)
        total = np.concatenate([[0.0], np.cumsum(mass)])
        # Most of the radii have no mass worth a node: tabulate again between those that have.
        inner = np.interp([1e-12 * total[-1], (1 - 1e-12) * total[-1]], total, coarse)
        margin = max(inner[1] - inner[0], coarse[1] - coarse[0])
        fine = np.linspace(max(low, inner[0] - margin), min(high, inner[1] + margin), _TABLE + 1)
        return fine, np.concatenate([[0.0], np.cumsum(self._panel_masses(fine, dim))])

    def _panel_masses(self, edges: np.ndarray, dim: int) -> np.ndarray:
        t, weights = gauss_legendre(edges[:-1], edges[1:], 8)
        log_mass = self._log_mass(t, dim - 1.0)
        with np.errstate(under="ignore"):
            return np.sum(np.exp(log_mass - np.max(log_mass)) * weights, axis=-1)

    @cached_property
    def _line(self) -> tuple[np.ndarray, np.ndarray]:
        edges = np.linspace(self._breaks()[0], self._breaks()[-1], _PANELS + 1)
        mass = self._panel_masses(edges, 1)
        return edges, 0.5 * np.append(np.cumsum(mass[::-1])[::-1], 0.0) / mass.sum()

    def _integrated(self, u: Array) -> Array:
        """Return the probability below u ≤ 0 of a window without a formula: a table and part of a panel."""
        edges, above = self._line
        with np.errstate(divide="ignore"):
            t = np.clip(np.log(-to_numpy(u).astype(np.float64)), edges[0], edges[-1])
        panel = np.minimum(np.searchsorted(edges, t, side="right"), len(edges) - 1)
        inner, weights = gauss_legendre(t, edges[panel], 8)
        with np.errstate(under="ignore"):
            p = np.exp(self.log_profile(np.exp(2.0 * inner)) + inner - self.log_normaliser(1))
        return moved(above[panel] + np.sum(p * weights, axis=-1), u)


def log_sphere(dim: int) -> float:
    """Return the log of the surface of the unit sphere in d dimensions, 2 π^(d/2) / Γ(d/2)."""
    return math.log(2.0) + 0.5 * dim * math.log(math.pi) - math.lgamma(0.5 * dim)


#: How far a user's window may be from the integral of one, and from symmetry.
TOLERANCE = 1e-6

#: A window that is as low as this before its last number has no end: its formula underflows.
_UNDERFLOW = 1e-290


def _gaussian(s: Array) -> Array:
    return -0.5 * s


def _laplace(s: Array) -> Array:
    return -namespace_of(s).sqrt(s)


def _inside(shape: Callable[[Any, Array], Array], s: Array) -> Array:
    """Return the log of a shape of squared radii from 0 to 1; -inf beyond."""
    xp = namespace_of(s)
    inside = s <= 1.0
    height = shape(xp, xp.where(inside, s, xp.zeros_like(s)))
    some = inside & (height > 0.0)
    return xp.where(some, xp.log(xp.where(some, height, xp.ones_like(s))), xp.full_like(s, -xp.inf))


def _powered(_: Any, s: Array, power: int) -> Array:
    return (1.0 - s) ** power


def _triangle(xp: Any, s: Array) -> Array:
    return 1.0 - xp.sqrt(s)


def _cosine(xp: Any, s: Array) -> Array:
    return xp.sin(0.5 * math.pi * (1.0 - xp.sqrt(s)))  # cos(πr/2), with its digits near the edge


def _gaussian_moment(power: float, times: int) -> float:
    half = 0.5 * (power + 1.0)
    return math.lgamma(half) + (half - 1.0) * math.log(2.0) - half * math.log(times)


def _laplace_moment(power: float, times: int) -> float:
    return math.lgamma(power + 1.0) - (power + 1.0) * math.log(times)


def _powered_moment(degree: float, times: int, *, power: int) -> float:
    """∫₀¹ (1 - r²)^(power·times) r^degree dr = B((degree + 1)/2, power·times + 1)/2."""
    return _log_beta(0.5 * (degree + 1.0), power * times + 1.0) - math.log(2.0)


def _triangle_moment(power: float, times: int) -> float:
    return _log_beta(power + 1.0, times + 1.0)


def _log_beta(a: float, n: float) -> float:
    """Return log B(a, n) for whole n, of few factors: log Γ(a) would lose digits as a grows."""
    return math.lgamma(n) - math.fsum(math.log(a + i) for i in range(int(n)))


def _cosine_moment(power: float, times: int) -> float:
    """∫₀¹ cos(πr/2)^times r^power dr by Gauss and Legendre, from where r^power is not below rounding."""
    r, weights = gauss_legendre(np.exp(-45.0 / (power + 1.0)), np.ones(()), 64)
    return math.log(float(weights @ (np.sin(0.5 * math.pi * (1.0 - r)) ** times * r**power)))


def _gaussian_radii(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    return np.sqrt(rng.chisquare(dim, n))


def _laplace_radii(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    return rng.standard_gamma(dim, n)


def _powered_radii(rng: np.random.Generator, n: int, dim: int, *, power: int) -> np.ndarray:
    return np.sqrt(rng.beta(0.5 * dim, power + 1.0, n))


def _triangle_radii(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    return rng.beta(dim, 2.0, n)


def _cosine_radii(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    """Draw from the triangle and accept: cos(πr/2) ≤ (π/2)(1 - r), two draws in three at least."""
    found: list[np.ndarray] = []
    while n:
        r = _triangle_radii(rng, n, dim)
        kept = r[rng.random(n) * 0.5 * math.pi * (1.0 - r) <= np.cos(0.5 * math.pi * r)]
        found.append(kept)
        n -= len(kept)
    return np.concatenate([np.empty(0), *found])


def _gaussian_below(u: Array) -> Array:
    return 0.5 * erfc(-math.sqrt(0.5) * u)


def _laplace_below(u: Array) -> Array:
    return 0.5 * namespace_of(u).exp(u)


def _from_end(u: Array) -> Array:
    """Return u + 1, the distance from the lower end of the support, for u ≤ 0."""
    return namespace_of(u).where(u > -1.0, u + 1.0, namespace_of(u).zeros_like(u))


def _polynomial_below(u: Array, coefficients: tuple[float, ...]) -> Array:
    """Return a polynomial in the distance from the lower end, its highest power first."""
    t = _from_end(u)
    return reduce(lambda below, c: below * t + c, coefficients, namespace_of(t).zeros_like(t))


def _cosine_below(u: Array) -> Array:
    return namespace_of(u).sin(0.25 * math.pi * _from_end(u)) ** 2


def _disc(name: str, shape: Callable[..., Array], moment: Any, radii: Any, lower: Any) -> Window:
    if isinstance(lower, tuple):
        lower = partial(_polynomial_below, coefficients=lower)
    return Window(
        name=name,
        log_profile=partial(_inside, shape),
        support=1.0,
        radial_moment=moment,
        radii=radii,
        lower=lower,
    )


def _power(name: str, power: int, lower: tuple[float, ...]) -> Window:
    shape, moment, radii = (partial(f, power=power) for f in (_powered, _powered_moment, _powered_radii))
    return _disc(name, shape, moment, radii, lower)


#: The windows that go by a name: "gaussian", "epanechnikov", "tophat", "triangular", "biweight", "cosine" and
#: "laplace".
WINDOWS: dict[str, Window] = {
    window.name: window
    for window in (
        Window(
            name="gaussian",
            log_profile=_gaussian,
            radial_moment=_gaussian_moment,
            radii=_gaussian_radii,
            lower=_gaussian_below,
        ),
        _power("epanechnikov", 1, (-0.25, 0.75, 0.0, 0.0)),
        _power("tophat", 0, (0.5, 0.0)),
        _disc("triangular", _triangle, _triangle_moment, _triangle_radii, (0.5, 0.0, 0.0)),
        _power("biweight", 2, (0.1875, -0.9375, 1.25, 0.0, 0.0, 0.0)),
        _disc("cosine", _cosine, _cosine_moment, _cosine_radii, _cosine_below),
        Window(
            name="laplace",
            log_profile=_laplace,
            radial_moment=_laplace_moment,
            radii=_laplace_radii,
            lower=_laplace_below,
        ),
    )
}


def check_window(kernel: Any) -> Window:
    """Return a window, if it is one: K(u) ≥ 0, K(-u) = K(u) and ∫ K(u) du = 1.

    Without the first condition a density estimate may be negative.

    Parameters
    ----------
    kernel : str, Window or callable
        A name of `WINDOWS`; a window; or a function from a NumPy array of numbers u to K(u).
        In more than one dimension it is a function of the distance, and normalised for that dimension.

    Examples
    --------
    >>> import numpy as np
    >>> from tractable.smoothing import check_window
    >>> logistic = check_window(lambda u: 0.25 / np.cosh(0.5 * u) ** 2)
    >>> round(logistic.variance(), 4)  # π²/3
    3.2899
    >>> check_window(lambda u: np.where(np.abs(u) < 1, 1.0, 0.0))
    Traceback (most recent call last):
    ValueError: kernel must have the integral 1, and has 2
    """
    if isinstance(kernel, Window):
        return kernel
    if isinstance(kernel, str) and kernel in WINDOWS:
        return WINDOWS[kernel]
    if not callable(kernel):
        raise ValueError(f"kernel must be one of {[*WINDOWS]}, a Window or a function, got {kernel!r}")
    _check_heights(kernel)
    _check_mass(kernel)
    return Window(
        name=getattr(kernel, "__name__", "kernel"),
        log_profile=partial(_log_of, kernel),
        support=_end_of(kernel),
    )


def _log_of(kernel: Callable[[Array], Array], s: Array) -> Array:
    xp = namespace_of(s)
    with np.errstate(all="ignore"):
        # A user's function takes NumPy arrays, whatever the rows are. A window of whole numbers, or of truth
        # values, has a height all the same.
        height = np.asarray(kernel(to_numpy(xp.sqrt(s))), dtype=np.float64)
    height = xp.astype(xp.asarray(height, device=device(s)), s.dtype)
    some = height > 0.0
    return xp.where(some, xp.log(xp.where(some, height, xp.ones_like(height))), xp.full_like(height, -xp.inf))


def _end_of(kernel: Callable[[Any], Any]) -> float:
    """Return the radius beyond which a window is zero, by bisection; infinity where it only underflows."""
    u = np.geomspace(1e-4, 1e8, 2401)
    with np.errstate(all="ignore"):
        some = np.flatnonzero(np.asarray(kernel(u), dtype=np.float64) > 0.0)
        if not len(some) or some[-1] == len(u) - 1:
            return math.inf
        (end,) = bisect(lambda x: ~(np.asarray(kernel(x)) > 0.0), u[some[-1:]], u[some[-1:] + 1])
        before = float(np.asarray(kernel(np.array([0.999 * end])), dtype=np.float64)[0])
    return float(end) if before > _UNDERFLOW else math.inf


def _check_heights(kernel: Callable[[Any], Any]) -> None:
    u = np.concatenate([np.linspace(0.0, 6.0, 2401), np.geomspace(6.0, 1e4, 200)])
    try:
        with np.errstate(all="ignore"):
            right, left = (np.asarray(kernel(side * u), dtype=np.float64) for side in (1.0, -1.0))
    except (TypeError, ValueError) as error:
        raise ValueError(f"kernel must take an array of numbers and return one: {error}") from None
    if right.shape != u.shape or left.shape != u.shape:
        raise ValueError(f"kernel must return one number for each of {u.shape}, got shape {right.shape}")
    if not np.all(np.isfinite(right)):
        raise ValueError(f"kernel must be finite, and is {right[~np.isfinite(right)][0]} somewhere")
    least = min(right.min(), left.min())
    if least < 0.0:
        raise ValueError(f"kernel must not be negative, and is {least:.6g} somewhere")
    if np.any(np.abs(right - left) > TOLERANCE * right.max()):
        worst = u[np.argmax(np.abs(right - left))]
        raise ValueError(f"kernel must be symmetric: K({worst:.4g}) and K({-worst:.4g}) differ")


def _check_mass(kernel: Callable[[Any], Any]) -> None:
    def both_sides(t: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):  # far out a formula may overflow on its way to zero
            return 2.0 * np.asarray(kernel(np.exp(t)), dtype=np.float64) * np.exp(t)

    mass = float(integrate(both_sides, np.arange(-40.0, 41.0), rtol=1e-10).value)
    if not abs(mass - 1.0) <= TOLERANCE:
        raise ValueError(f"kernel must have the integral 1, and has {mass:.6g}")
