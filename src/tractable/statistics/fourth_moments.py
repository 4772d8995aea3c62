"""Moments of columns and of their squares."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, freeze
from tractable.statistics.moments import Moments
from tractable.statistics.rows import as_rows, as_weights, check_rate, check_same_width, check_squares
from tractable.value import value

__all__ = ["FourthMoments"]


@value
class FourthMoments:
    """Weight, mean, scatter, and the sums of squares times columns and of squares times squares.

    With them the error of a covariance is known from one pass (Ledoit and Wolf, 2004). Powers are of
    u = (x - mean) / unit with a power of two for each column, so that units do not overflow.

    Parameters
    ----------
    moments : Moments
    unit : array (d,)
        About the standard deviation of each column; 0 for one that has not varied.
    third : array (d, d)
        Σ w u_i² u_j.
    fourth : array (d, d)
        Σ w u_i² u_j².

    Examples
    --------
    >>> both = FourthMoments.of([[0.0], [2.0]]) + FourthMoments.of([[4.0]])
    >>> float(both.weight), (both.fourth * both.unit**4).tolist()
    (3.0, [[32.0]])
    """

    moments: Moments
    unit: Array
    third: Array
    fourth: Array

    def __post_init__(self) -> None:
        for name in ("unit", "third", "fourth"):
            object.__setattr__(self, name, freeze(getattr(self, name)))

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "FourthMoments":
        """Summarise a block of rows."""
        x = as_rows(x)
        w = as_weights(weights, x)
        with np.errstate(invalid="ignore", over="ignore"):
            moments = Moments.of(x, w)
        if not np.all(np.isfinite(moments.mean)):
            raise ValueError("X contains NaN or infinity")
        squares = np.diagonal(moments.scatter)
        check_squares(squares, x, moments.mean, w)
        unit = power_of_two(_deviations(moments))
        u = (x - moments.mean) * over(1.0, unit)
        once = u if w is None else u * w[:, None]
        return cls(moments=moments, unit=unit, third=(u * once).T @ u, fourth=(u * once).T @ (u * u))

    @classmethod
    def empty(cls, dim: int) -> "FourthMoments":
        """Return the statistic of no rows."""
        return cls.of(np.zeros((0, dim)))

    @property
    def weight(self) -> Any:
        """Weight of all rows."""
        return self.moments.weight

    @property
    def dim(self) -> int:
        """Number of columns."""
        return self.moments.dim

    def __add__(self, other: "FourthMoments") -> "FourthMoments":
        """Merge: the powers of both about the common mean, by the binomial theorem."""
        if not isinstance(other, FourthMoments):
            return NotImplemented
        check_same_width(self, other)
        moments = self.moments + other.moments
        step = power_of_two(np.abs(other.moments.mean - self.moments.mean))
        counted = self.weight > 0 and other.weight > 0
        unit = np.maximum(np.maximum(self.unit, other.unit), step if counted else 0.0)
        parts = [_about(part, moments.mean, unit) for part in (self, other)]
        third, fourth = (a + b for a, b in zip(*parts, strict=True))
        return FourthMoments(moments=moments, unit=unit, third=third, fourth=fourth)

    def canonical(self) -> dict[str, Any]:
        """Return what two statistics of the same rows share: the same sums, of standardised columns."""
        third, fourth = _about(self, self.moments.mean, _deviations(self.moments))
        return {"moments": self.moments, "third": third, "fourth": fourth}

    def discount(self, rate: float) -> "FourthMoments":
        """Forget: everything believed `rate` times as strongly."""
        rate = check_rate(rate)
        return FourthMoments(
            moments=self.moments.discount(rate),
            unit=self.unit,
            third=self.third * rate,
            fourth=self.fourth * rate,
        )


def _about(part: FourthMoments, mean: Array, unit: Array) -> tuple[Array, Array]:
    """Return Σ w v_i² v_j and Σ w v_i² v_j² of v = (x - mean) / unit."""
    if not part.weight > 0:
        return np.zeros_like(part.third), np.zeros_like(part.fourth)
    a = (part.moments.mean - mean) * over(1.0, unit)
    scatter = part.moments.scatter * over(1.0, unit)[:, None] * over(1.0, unit)
    ratio = over(part.unit, unit)
    t = part.third * (ratio**2)[:, None] * ratio
    f = part.fourth * (ratio**2)[:, None] * ratio**2
    s, i, j = np.diagonal(scatter), a[:, None], a[None, :]
    w = part.weight
    third = t + s[:, None] * j + 2.0 * i * scatter + w * i * i * j
    fourth = f + 2.0 * (t * j + t.T * i) + s[:, None] * j * j + i * i * s + 4.0 * i * j * scatter
    return third, fourth + w * (i * j) ** 2


def _deviations(moments: Moments) -> np.ndarray:
    # The scatter of few rows may be a rounding below zero.
    return np.sqrt(np.maximum(np.diagonal(moments.scatter), 0.0) / (moments.weight or 1.0))


def power_of_two(size: np.ndarray) -> np.ndarray:
    """Return the power of two at or below each size; 0 for 0."""
    return np.where(size > 0, np.ldexp(1.0, np.frexp(np.where(size > 0, size, 1.0))[1] - 1), 0.0)


def over(a: Any, b: np.ndarray) -> np.ndarray:
    """Return a / b, and 0 where b is 0."""
    return np.where(b > 0, a / np.where(b > 0, b, 1.0), 0.0)
