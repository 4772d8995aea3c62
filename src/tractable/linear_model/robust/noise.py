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

#: Residuals, in units of the scale, below which the precision of a row does not grow.
LEAST_RESIDUAL = 1e-6


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

    @property
    def log_scale_information(self) -> float:
        """Fisher information of a row about the logarithm of the scale."""
        return 1.0

    def draw_precisions(
        self, r: np.ndarray, scale: np.ndarray, w: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Draw the precision of each row, in units of 1/scale², given its residual and its frequency w."""
        raise NotImplementedError(f"{type(self).__name__} must say how precisions are distributed")


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

    def draw_precisions(
        self, r: np.ndarray, scale: np.ndarray, w: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Draw from the inverse Gaussian of mean w scale / |r| and shape w²."""
        return rng.wald(w * scale / np.maximum(np.abs(r), LEAST_RESIDUAL * scale), w**2)

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

    @property
    def log_scale_information(self) -> float:
        """Fisher information of a row about the logarithm of the scale."""
        return 2.0 * self.dof / (self.dof + 3.0)

    def draw_precisions(
        self, r: np.ndarray, scale: np.ndarray, w: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Draw from the gamma of shape w (ν + 1) / 2 and rate (ν + (r / scale)²) / 2."""
        return rng.standard_gamma(0.5 * w * (self.dof + 1.0), r.shape) / (0.5 * (self.dof + (r / scale) ** 2))

    def around(self, location: Any) -> Any:
        """Return the distribution of new targets about a location."""
        return StudentT(dof=self.dof, location=location, scale=self.scale)
