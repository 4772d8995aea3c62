"""Noise of linear regression as scale mixtures of normals: losses, weights of the rows, and their updates."""

from collections.abc import Callable
from math import exp, log, pi
from typing import Any

import numpy as np

from tractable.distributions import Laplace, Normal, StudentT
from tractable.value import replace, value

NOISES = ("laplace", "student", "gaussian")

#: Between these, degrees of freedom are estimated.
LEAST_DOF, GREATEST_DOF = 1.0, 1e6

#: Mean log-likelihood and its derivative by log dof, each (k,), at k degrees of freedom.
DofLikelihood = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@value
class Noise:
    """Noise of a scale: the distribution of the residuals r = y - ŷ.

    A model of noise supplies `log_prob(r)`; `irls_weights(r)`, scale² times the expected precision of each
    row given its residual, which is its weight in the next least squares; and `around(location)`, the
    distribution of new targets.
    """

    scale: float

    def rescaled(self, unit: float) -> Any:
        """Return the noise of residuals that are multiplied by a unit."""
        return replace(self, scale=self.scale * unit)

    def around(self, location: Any) -> Any:
        """Return the distribution of new targets about a location."""
        raise NotImplementedError(f"{type(self).__name__} must say how targets are distributed")

    @property
    def variance(self) -> float:
        """Variance of a residual; infinite, or NaN, where the noise has none."""
        return float(self.around(0.0).variance)

    @property
    def location_variance(self) -> float:
        """Variance of the linear predictor at a leverage of one: the inverse Fisher information."""
        return self.scale**2


@value
class GaussianNoise(Noise):
    """N(r | 0, scale²): squared errors, all rows have the same weight."""

    def log_prob(self, r: np.ndarray) -> np.ndarray:
        """Return the log density of residuals."""
        return -0.5 * (r / self.scale) ** 2 - log(self.scale) - 0.5 * log(2.0 * pi)

    def irls_weights(self, r: np.ndarray) -> np.ndarray:
        """Return ones."""
        return np.ones_like(r)

    def around(self, location: Any) -> Any:
        """Return the distribution of new targets about a location."""
        return Normal(mean=location, stddev=self.scale)


@value
class LaplaceNoise(Noise):
    """Lap(r | 0, scale): absolute errors, |r| smoothed to √(r² + smooth²) so that no weight is infinite."""

    smooth: float = 0.0

    def rescaled(self, unit: float) -> Any:
        """Return the noise of residuals that are multiplied by a unit."""
        return replace(self, scale=self.scale * unit, smooth=self.smooth * unit)

    def log_prob(self, r: np.ndarray) -> np.ndarray:
        """Return the log density of residuals."""
        return -self.distance(r) / self.scale - log(2.0 * self.scale)

    def distance(self, r: np.ndarray) -> np.ndarray:
        """Return √(r² + smooth²); its mean is the likeliest scale."""
        return np.hypot(r, self.smooth)

    def irls_weights(self, r: np.ndarray) -> np.ndarray:
        """Return scale / |r|, 1e16 at most."""
        return self.scale / np.maximum(self.distance(r), 1e-16 * self.scale)

    def around(self, location: Any) -> Any:
        """Return the distribution of new targets about a location."""
        return Laplace(location=location, scale=self.scale)


@value
class StudentNoise(Noise):
    """St(r | 0, scale, dof): a normal of unknown precision; `dof` is estimated where it is not `known`."""

    dof: float
    known: bool = True

    def log_prob(self, r: np.ndarray) -> np.ndarray:
        """Return the log density of residuals."""
        return student_log_prob(r / self.scale, self.dof) - log(self.scale)

    def irls_weights(self, r: np.ndarray) -> np.ndarray:
        """Return (ν + 1) / (ν + (r / scale)²)."""
        return (self.dof + 1.0) / (self.dof + (r / self.scale) ** 2)

    @property
    def location_variance(self) -> float:
        """The inverse Fisher information of the location."""
        return self.scale**2 * (self.dof + 3.0) / (self.dof + 1.0)

    def around(self, location: Any) -> Any:
        """Return the distribution of new targets about a location."""
        return StudentT(dof=self.dof, location=location, scale=self.scale)


def student_log_prob(z: np.ndarray, dof: Any) -> np.ndarray:
    """Return log St(z | 0, 1, dof)."""
    from scipy.special import betaln

    return -0.5 * np.log(dof) - betaln(0.5 * dof, 0.5) - 0.5 * (dof + 1.0) * np.log1p(z**2 / dof)


def student_dof_score(z: np.ndarray, dof: Any) -> np.ndarray:
    """Return ∂ log St(z | 0, 1, dof) / ∂ log dof."""
    from scipy.special import psi

    q = z**2 / dof
    constant = dof * (psi(0.5 * dof + 0.5) - psi(0.5 * dof)) - 1.0
    return 0.5 * (constant - dof * np.log1p(q) + (dof + 1.0) * q / (1.0 + q))


def likeliest_dof(likelihood: DofLikelihood, now: float) -> float:
    """Return the likeliest degrees of freedom, no less likely than those of now.

    The best of a grid, and between its neighbours the root of the derivative.
    """
    from scipy.optimize import brentq

    grid = np.linspace(log(LEAST_DOF), log(GREATEST_DOF), 15)
    values, slopes = likelihood(np.exp(grid))
    best = int(np.argmax(values))
    low, high = max(best - 1, 0), min(best + 1, len(grid) - 1)
    found = [grid[best], log(now)]
    if slopes[low] > 0.0 > slopes[high]:
        root = brentq(lambda u: float(likelihood(np.exp([u]))[1][0]), grid[low], grid[high], xtol=1e-10)
        found.append(float(root))
    return exp(found[int(np.argmax(likelihood(np.exp(found))[0]))])
