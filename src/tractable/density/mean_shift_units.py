"""How wide the window of mean shift is, and rows in units of it."""

from typing import Any

import numpy as np

from tractable.smoothing.rows import as_lengths
from tractable.smoothing.rules import column_scales, scott, silverman, window_factor
from tractable.smoothing.windows import WINDOWS
from tractable.value import value

__all__ = ["Units", "bandwidths", "check_bandwidth"]

RULES = ("gradient", "scott", "silverman")

#: Squares of larger numbers are not to be trusted.
LARGEST = 1e150


@value
class Units:
    """Rows about their median, each column in units of its bandwidth."""

    origin: np.ndarray  # (d,)
    bandwidth: np.ndarray  # (d,)

    @classmethod
    def of(cls, X: np.ndarray, weights: np.ndarray | None, bandwidth: Any) -> "Units":
        """Return the units of rows."""
        return cls(origin=_medians(X, weights), bandwidth=np.broadcast_to(bandwidth, X.shape[1:]))

    def inside(self, x: Any, name: str = "X") -> np.ndarray:
        """Return points of the data's space in these units."""
        with np.errstate(over="ignore"):
            z = (np.asarray(x, dtype=np.float64) - self.origin) / self.bandwidth
        if z.size and not np.abs(z).max() < LARGEST:
            raise ValueError(f"{name} reaches so far that squares of distances in bandwidths overflow")
        return z

    def outside(self, z: np.ndarray) -> np.ndarray:
        """Return points in these units in the data's space."""
        return z * self.bandwidth + self.origin


def check_bandwidth(bandwidth: Any, n_features: int | None = None) -> None:
    """Refuse what is neither a positive number (or one for each column) nor a rule."""
    if bandwidth is None or (isinstance(bandwidth, str) and bandwidth in RULES):
        return
    if isinstance(bandwidth, str):
        raise ValueError(f"bandwidth must be numbers or one of {[*RULES]}, got {bandwidth!r}")
    as_lengths("bandwidth", bandwidth, n_features)


def bandwidths(bandwidth: Any, X: np.ndarray, weights: np.ndarray | None, *, flat: bool) -> Any:
    """Return the bandwidth as a number, or as one for each column (d,).

    By rule: "gradient", h_j = σ_j (4 / ((d + 4) n))^(1/(d+6)), the best for the slopes of a Gaussian
    density (Chacón & Duong 2013); "silverman" and "scott", the best for its heights. A flat window climbs the
    estimate of Epanechnikov's, and is made as wide as smooths alike.
    """
    check_bandwidth(bandwidth, X.shape[1])
    window = WINDOWS["epanechnikov" if flat else "gaussian"]
    if isinstance(bandwidth, str) and bandwidth != "gradient":
        return {"scott": scott, "silverman": silverman}[bandwidth](X, weights, window)
    if bandwidth is None or isinstance(bandwidth, str):
        total, scales = column_scales(X, weights)
        d = X.shape[1]
        return scales * (4.0 / ((d + 4.0) * total)) ** (1.0 / (d + 6.0)) * window_factor(window, d)
    return float(bandwidth) if np.ndim(bandwidth) == 0 else np.asarray(bandwidth, dtype=np.float64)


def _medians(X: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the lower median of each column, which is an entry of it: repeated rows and weights agree."""
    if weights is None:
        return np.partition(X, (len(X) - 1) // 2, axis=0)[(len(X) - 1) // 2]
    order = np.argsort(X, axis=0)
    below = np.cumsum(weights[order], axis=0)
    return np.take_along_axis(X, np.take_along_axis(order, _first(below), axis=0), axis=0)[0]


def _first(below: np.ndarray) -> np.ndarray:
    return np.argmax(below >= 0.5 * below[-1], axis=0)[None, :]
