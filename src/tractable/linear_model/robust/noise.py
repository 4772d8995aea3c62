"""Noise of linear regression as scale mixtures of normals: losses, weights of the rows, and their updates."""

from abc import ABC, abstractmethod
from math import log, pi
from typing import Any

import numpy as np

from tractable.distributions import Laplace, Normal, StudentT
from tractable.engines.glm.losses import Student
from tractable.engines.student_t import PrecisionSums, ScaleMixture
from tractable.value import replace, value

NOISES = ("laplace", "student", "gaussian")

#: The least degrees of freedom that are looked for.
LEAST_DOF = 1.0

#: Residuals, in units of the scale, below which the precision of a row does not grow.
LEAST_RESIDUAL = 1e-6


@value
class NoiseSums:
    """Weighted sums over residuals that the likeliest noise is computed from; they merge with ``+``."""

    log_likelihood: float = 0.0  # Σ w log p(r), but of Laplace noise
    distance: float = 0.0  # Σ w √(r² + smooth²), of Laplace noise
    precisions: PrecisionSums | None = None  # of Student's noise, where its degrees of freedom are unknown

    def __add__(self, other: "NoiseSums") -> "NoiseSums":
        both = self.precisions, other.precisions
        return NoiseSums(
            log_likelihood=self.log_likelihood + other.log_likelihood,
            distance=self.distance + other.distance,
            precisions=None if both[0] is None or both[1] is None else both[0] + both[1],
        )


@value
class Noise(ABC):
    """Noise of a scale: the distribution of the residuals r = y - ŷ.

    A model of noise supplies `expected(r, w)`: of each row the expected precision given its residual, times
    scale², which is its weight in the next least squares; and what a likelier noise is computed from. And
    `around(location)`, the distribution of new targets.
    """

    scale: float

    def rescaled(self, unit: float) -> Any:
        """Return the noise of residuals that are multiplied by a unit."""
        return replace(self, scale=self.scale * unit)

    @abstractmethod
    def expected(self, r: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, NoiseSums]:
        """Return the IRLS weights of rows given their residuals, and sums over rows of frequencies w."""

    @abstractmethod
    def standard_loss(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return -log p(z) of residuals in units of the scale, up to a constant, and its derivative."""

    def around(self, location: Any) -> Any:
        """Return the distribution of new targets about a location, of losses that are a likelihood."""
        raise NotImplementedError(f"{type(self).__name__} is no distribution of targets")

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
        """Draw the precision of each row, in units of 1/scale², given its residual and its frequency w.

        Parameters
        ----------
        r, scale, w : arrays
            Residuals, the scale of the noise, and frequencies of the rows.
        rng : Generator
            Where randomness comes from.
        """
        raise NotImplementedError(f"{type(self).__name__} has no precision of each row")


@value
class GaussianNoise(Noise):
    """N(r | 0, scale²): squared errors, all rows have the same weight."""

    def standard_loss(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `Noise.standard_loss`."""
        return 0.5 * z * z, z

    def expected(self, r: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, NoiseSums]:
        """Return ones, and the log-likelihood."""
        log_peak = -log(self.scale) - 0.5 * log(2.0 * pi)
        fall = 0.5 * float(w @ (r / self.scale) ** 2)
        return np.ones_like(r), NoiseSums(log_likelihood=log_peak * float(np.sum(w)) - fall)

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

    def standard_loss(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `Noise.standard_loss`."""
        return np.abs(z), np.sign(z)

    def expected(self, r: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, NoiseSums]:
        """Return scale / |r|, 1e16 at most, and the sum of |r|, whose mean is the likeliest scale."""
        distance = np.hypot(r, self.smooth)
        weights = self.scale / np.maximum(distance, 1e-16 * self.scale)
        return weights, NoiseSums(distance=float(w @ distance))

    def draw_precisions(
        self, r: np.ndarray, scale: np.ndarray, w: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Draw from the inverse Gaussian of mean w scale / |r| and shape w².

        Parameters
        ----------
        r, scale, w, rng
            As in `Noise.draw_precisions`.
        """
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

    def standard_loss(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `Noise.standard_loss`."""
        found = Student(dof=self.dof).terms(z, np.zeros_like(z))
        return found.value, found.slope

    def expected(self, r: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, NoiseSums]:
        """Return (ν + 1) / (ν + (r / scale)²), and the log-likelihood."""
        mixture, squared = self.mixture, (r[None] / self.scale) ** 2
        u, more = mixture.precisions(squared)
        log_peak = float(mixture.log_peak[0]) - log(self.scale)
        return u[0], NoiseSums(
            log_likelihood=log_peak * float(np.sum(w)) - float(w @ mixture.log_fall(squared)[0]),
            precisions=None if self.known else mixture.sums(w[None], u, more),
        )

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
        """Draw from the gamma of shape w (ν + 1) / 2 and rate (ν + (r / scale)²) / 2.

        Parameters
        ----------
        r, scale, w, rng
            As in `Noise.draw_precisions`.
        """
        return rng.standard_gamma(0.5 * w * (self.dof + 1.0), r.shape) / (0.5 * (self.dof + (r / scale) ** 2))

    def around(self, location: Any) -> Any:
        """Return the distribution of new targets about a location."""
        return StudentT(dof=self.dof, location=location, scale=self.scale)
