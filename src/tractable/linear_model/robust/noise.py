"""Noise around a plane, as scale mixtures of normals: far residuals pull less."""

from math import exp, log, pi
from typing import Any

import numpy as np

from tractable.distributions import Laplace, Normal, StudentT
from tractable.value import replace, value

__all__ = ["NOISES", "GaussianNoise", "LaplaceNoise", "StudentNoise"]

#: Between which degrees of freedom are sought.
LEAST, GREATEST = 1.0, 1e6


@value
class GaussianNoise:
    """N(r | 0, scale²): squared errors, every row pulls alike."""

    scale: float

    def in_units(self, unit: float) -> "GaussianNoise":
        """Return the noise of residuals that are so many times as large."""
        return replace(self, scale=self.scale * unit)

    def log_prob(self, r: np.ndarray) -> np.ndarray:
        """Return the log density of residuals."""
        return -0.5 * (r / self.scale) ** 2 - log(self.scale) - 0.5 * log(2.0 * pi)

    def pull(self, r: np.ndarray) -> np.ndarray:
        """Return how much each row counts in the next least squares."""
        return np.ones_like(r)

    def refitted(self, r: np.ndarray, w: np.ndarray, pull: np.ndarray, floor: float) -> "GaussianNoise":
        """Return the likeliest noise for new residuals; the pulls are those that made them."""
        return replace(self, scale=max(_rms(r, w), floor))

    @property
    def plane_variance(self) -> float:
        """Variance of the plane for a leverage of one: the inverse Fisher information of the location."""
        return self.scale**2

    def around(self, location: np.ndarray) -> Any:
        """Return the distribution of new targets about a location."""
        return Normal(mean=location, stddev=self.scale)


@value
class LaplaceNoise:
    """Lap(r | 0, scale): absolute errors, |r| rounded off to √(r² + smooth²) so that no pull is infinite."""

    scale: float
    smooth: float = 0.0

    def in_units(self, unit: float) -> "LaplaceNoise":
        """Return the noise of residuals that are so many times as large."""
        return replace(self, scale=self.scale * unit, smooth=self.smooth * unit)

    def log_prob(self, r: np.ndarray) -> np.ndarray:
        """Return the log density of residuals."""
        return -np.hypot(r, self.smooth) / self.scale - log(2.0 * self.scale)

    def pull(self, r: np.ndarray) -> np.ndarray:
        """Return scale / |r|: the expected precision, given the residual, times scale²; 1e16 at most."""
        return self.scale / np.maximum(np.hypot(r, self.smooth), 1e-16 * self.scale)

    def refitted(self, r: np.ndarray, w: np.ndarray, pull: np.ndarray, floor: float) -> "LaplaceNoise":
        """Return the likeliest noise for new residuals: the mean distance."""
        return replace(self, scale=max(float(w @ np.hypot(r, self.smooth) / w.sum()), floor))

    @property
    def plane_variance(self) -> float:
        """Variance of the plane for a leverage of one: the inverse Fisher information of the location."""
        return self.scale**2

    def around(self, location: np.ndarray) -> Any:
        """Return the distribution of new targets about a location."""
        return Laplace(location=location, scale=self.scale)


@value
class StudentNoise:
    """St(r | 0, scale, dof): a normal of unknown precision; `dof` is learnt where it is not `known`."""

    scale: float
    dof: float
    known: bool = True

    def in_units(self, unit: float) -> "StudentNoise":
        """Return the noise of residuals that are so many times as large."""
        return replace(self, scale=self.scale * unit)

    def log_prob(self, r: np.ndarray) -> np.ndarray:
        """Return the log density of residuals."""
        return _student(r / self.scale, self.dof) - log(self.scale)

    def pull(self, r: np.ndarray) -> np.ndarray:
        """Return (ν + 1) / (ν + (r / scale)²): the expected precision, given the residual, times scale²."""
        return (self.dof + 1.0) / (self.dof + (r / self.scale) ** 2)

    def refitted(self, r: np.ndarray, w: np.ndarray, pull: np.ndarray, floor: float) -> "StudentNoise":
        """Return a likelier noise for new residuals.

        The squares are divided by the sum of the pulls, not of the rows, which has the same fixed point and
        gets there sooner (PX-EM); the degrees of freedom maximise the likelihood itself (ECME).
        """
        moved = replace(self, scale=max(_rms(r, w * pull), floor))
        return moved if self.known else replace(moved, dof=_best_dof(r / moved.scale, w, self.dof))

    @property
    def plane_variance(self) -> float:
        """Variance of the plane for a leverage of one: the inverse Fisher information of the location."""
        return self.scale**2 * (self.dof + 3.0) / (self.dof + 1.0)

    def around(self, location: np.ndarray) -> Any:
        """Return the distribution of new targets about a location."""
        return StudentT(dof=self.dof, location=location, scale=self.scale)


NOISES = ("laplace", "student", "gaussian")


def _rms(r: np.ndarray, w: np.ndarray) -> float:
    return float(np.sqrt(w @ r**2 / w.sum()))


def _student(z: np.ndarray, dof: float) -> np.ndarray:
    from scipy.special import betaln

    peak = -0.5 * log(dof) - float(betaln(0.5 * dof, 0.5))
    return peak - 0.5 * (dof + 1.0) * np.log1p(z**2 / dof)


def _best_dof(z: np.ndarray, w: np.ndarray, now: float) -> float:
    """Return the likeliest degrees of freedom for standardised residuals, no worse than those of now."""
    from scipy.optimize import minimize_scalar

    def loss(log_dof: float) -> float:
        return -float(w @ _student(z, exp(log_dof)) / w.sum())

    grid = np.linspace(log(LEAST), log(GREATEST), 15)
    best = int(np.argmin([loss(u) for u in grid]))
    ends = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    fine = minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-9}).x
    return exp(min((grid[best], float(fine), log(now)), key=loss))
