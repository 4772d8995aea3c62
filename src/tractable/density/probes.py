"""Points at which an integral over all space is looked at: half of them where the rows are."""

import math

import numpy as np

from tractable.density.lattice import lattice
from tractable.density.places import Places
from tractable.smoothing import WINDOWS, WindowSums
from tractable.value import value

__all__ = ["Probes", "box_about", "probes_of"]

#: Half of the points.
N_EACH = 512


@value
class Probes:
    """Points drawn from a density q: ∫ f is the mean of f / q over them."""

    points: np.ndarray  # (s, d)
    log_density: np.ndarray  # (s,)

    def log_integral(self, log_f: np.ndarray) -> float:
        """Return log ∫ f from log f at the points."""
        ratio = log_f - self.log_density
        top = float(np.max(ratio))
        return top + math.log(float(np.mean(np.exp(ratio - top))))


def probes_of(places: Places) -> Probes:
    """Return points of which half fill a box about the places evenly, and half are places, blurred.

    Of a box in many dimensions hardly a point falls where the density is; blurred places all do. The same
    points are drawn every time.

    Examples
    --------
    >>> from tractable.base import Rows
    >>> from tractable.density.places import places_of
    >>> probes = probes_of(places_of(Rows(data=np.arange(20.0)[:, None])))
    >>> round(probes.log_integral(-0.5 * probes.points[:, 0] ** 2), 1)  # log √(2π) = 0.92
    0.9
    """
    low, high = box_about(places)
    rng, (m, dim) = np.random.default_rng(0), places.points.shape
    h = (4.0 / ((dim + 2.0) * places.weights.sum())) ** (1.0 / (dim + 4.0))
    below = np.cumsum(places.weights)
    chosen = np.searchsorted(below, below[-1] * (np.arange(N_EACH) + 0.5) / N_EACH)
    blurred = places.points[np.minimum(chosen, m - 1)] + h * rng.standard_normal((N_EACH, dim))
    points = np.concatenate([low + (high - low) * lattice(N_EACH, dim), blurred])
    sums = WindowSums(points=places.points / h, weights=places.weights, window=WINDOWS["gaussian"])
    log_scale = WINDOWS["gaussian"].log_normaliser(dim) + dim * math.log(h) + math.log(below[-1])
    inside = np.all((points >= low) & (points <= high), axis=1)
    even = np.where(inside, -float(np.sum(np.log(high - low))), -np.inf)
    log_density = np.logaddexp(even, sums.log_sums(points / h) - log_scale) - math.log(2.0)
    return Probes(points=points, log_density=log_density)


def box_about(places: Places) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of the range of places, widened to three times its size."""
    low, high = places.points.min(axis=0), places.points.max(axis=0)
    reach = np.where(high > low, high - low, 1.0)
    return low - reach, high + reach
