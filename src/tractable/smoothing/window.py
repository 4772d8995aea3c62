"""What a window is: a bump that a density estimate puts on every point."""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, namespace_of, to_numpy
from tractable.arrays.random import moved
from tractable.engines.quadrature import integrate
from tractable.value import value

__all__ = ["Window", "log_sphere"]

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
    """K(u) = k(|u|²) / ∫ k(|v|²) dv: a density about zero that depends on the distance alone.

    In one dimension it is the K of p(x) = (1/Nh) Σ K((x - x_n)/h); in d dimensions the same profile turned
    about the origin, with the normaliser of that dimension.

    Parameters
    ----------
    name : str
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

    def roughness(self, dim: int = 1) -> float:
        """Return R(K) = ∫ K(u)² du."""
        return math.exp(log_sphere(dim) + self._log_moment(dim - 1.0, 2) - 2.0 * self.log_normaliser(dim))

    def canonical(self, dim: int = 1) -> float:
        """Return δ = (R(K)/κ₂²)^(1/(d+4)): windows smooth alike where their bandwidths are as their δ."""
        spread = self.variance(dim)
        if not math.isfinite(spread):
            raise ValueError(f"the window {self.name!r} has no variance, so no rule gives it a bandwidth")
        return float((self.roughness(dim) / spread**2) ** (1.0 / (dim + 4.0)))

    def density(self, u: Any) -> np.ndarray:
        """Return K(u) of numbers (n,) or of vectors (n, d)."""
        u = np.asarray(u, dtype=np.float64)
        squared, dim = (u * u, 1) if u.ndim < 2 else (np.sum(u * u, axis=-1), u.shape[-1])
        return np.exp(self.log_profile(squared) - self.log_normaliser(dim))

    def sample(self, n: int, dim: int, rng: np.random.Generator) -> np.ndarray:
        """Draw n displacements, (n, dim): a direction, and a distance from the origin."""
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

        def mass(t: np.ndarray) -> np.ndarray:
            with np.errstate(over="ignore", under="ignore"):
                return np.exp(times * self.log_profile(np.exp(2.0 * t)) + (power + 1.0) * t)

        breaks = self._breaks()
        whole = integrate(mass, breaks)
        if math.isinf(self.support):
            last = float(integrate(mass, breaks[-2:]).value)
            if not last <= _LAST * float(whole.value):
                return math.inf
        return math.log(float(whole.value)) if float(whole.value) > 0 else -math.inf

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
        fine = np.linspace(max(low, inner[0] - 1.0), min(high, inner[1] + 1.0), _TABLE + 1)
        return fine, np.concatenate([[0.0], np.cumsum(self._panel_masses(fine, dim))])

    def _panel_masses(self, edges: np.ndarray, dim: int) -> np.ndarray:
        node, weight = np.polynomial.legendre.leggauss(8)
        half = 0.5 * np.diff(edges)
        t = 0.5 * (edges[1:] + edges[:-1])[:, None] + half[:, None] * node
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(self.log_profile(np.exp(2.0 * t)) + dim * t) @ weight * half

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
        node, weight = np.polynomial.legendre.leggauss(8)
        half = 0.5 * (edges[panel] - t)
        inner = t[..., None] + half[..., None] * (1.0 + node)
        with np.errstate(under="ignore"):
            rest = np.exp(self.log_profile(np.exp(2.0 * inner)) + inner - self.log_normaliser(1)) @ weight
        return moved(above[panel] + rest * half, u)


def log_sphere(dim: int) -> float:
    """Return the log of the surface of the unit sphere in d dimensions, 2 π^(d/2) / Γ(d/2)."""
    return math.log(2.0) + 0.5 * dim * math.log(math.pi) - math.lgamma(0.5 * dim)
