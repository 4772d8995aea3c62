"""Noise of linear regression as scale mixtures of normals: losses, weights of the rows, and their updates."""

from math import log, pi
from typing import Any

import numpy as np

from tractable.distributions import Laplace, Normal, StudentT
from tractable.engines.student_t import PrecisionSums, ScaleMixture
from tractable.value import replace, value

NOISES = ("laplace", "student", "gaussian")

#: The least degrees of freedom that are looked for.
LEAST_DOF = 1.0


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

    @property
    def mixture(self) -> ScaleMixture:
        """The noise as a mixture of normals over their precision."""
        return ScaleMixture(dof=np.asarray([self.dof]), dim=1)

    def log_prob(self, r: np.ndarray) -> np.ndarray:
        """Return the log density of residuals."""
        return (self.mixture.log_peak - log(self.scale)) - self.mixture.log_fall(self._squared(r))[0]

    def irls_weights(self, r: np.ndarray) -> np.ndarray:
        """Return (ν + 1) / (ν + (r / scale)²)."""
        return self.mixture.precisions(self._squared(r))[0][0]

    def precision_sums(self, r: np.ndarray, weights: np.ndarray) -> PrecisionSums:
        """Return what the M-step must know of the precisions of residuals."""
        return self.mixture.sums(weights[None], *self.mixture.precisions(self._squared(r)))

    def _squared(self, r: np.ndarray) -> np.ndarray:
        return (r[None] / self.scale) ** 2

    @property
    def location_variance(self) -> float:
        """The inverse Fisher information of the location."""
        return self.scale**2 * (self.dof + 3.0) / (self.dof + 1.0)

    def around(self, location: Any) -> Any:
        """Return the distribution of new targets about a location."""
        return StudentT(dof=self.dof, location=location, scale=self.scale)
