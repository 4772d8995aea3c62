"""Mean direction and spread of angles."""

from typing import Any

from tractable.arrays.linalg import product
from tractable.arrays.namespace import Array, namespace_of
from tractable.statistics.rows import Statistic, as_rows, as_weights, counts
from tractable.value import value


@value
class Directions(Statistic):
    """Weight, mean direction and circular variance of each column of angles, in radians.

    The circular variance is the mean of 1 - cos(x - θ), θ the mean direction, and 1 less the mean resultant
    length. It is merged as such, by turning both directions to one, so that angles that hardly differ keep
    their digits.

    Parameters
    ----------
    weight : float
        Total weight of the rows.
    direction : array (d,)
        θ, from -π to π; 0 where no row was seen.
    variance : array (d,)
        From 0, all angles equal, to 1, none preferred.

    Examples
    --------
    >>> import numpy as np
    >>> s = Directions.of([[0.1], [2 * np.pi - 0.1]]) + Directions.of([[0.0]])
    >>> float(abs(s.direction[0]).round(12)), float(s.variance[0].round(6))
    (0.0, 0.003331)
    """

    weight: Any
    direction: Array
    variance: Array

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "Directions":
        """Summarise a block of rows of angles."""
        x = as_rows(x)
        xp = namespace_of(x)
        if not bool(xp.all(xp.isfinite(x))):
            raise ValueError("X contains NaN or infinity; remove the rows")
        one = counts(as_weights(weights, x), x)
        weight = xp.sum(one)
        part = one / xp.where(weight > 0.0, weight, xp.ones_like(weight))
        rough = xp.atan2(product(part, xp.sin(x)), product(part, xp.cos(x)))
        # About a direction near the mean: what is left of it is small, and exact.
        turned = cls(
            weight=weight, direction=rough, variance=product(part, 2.0 * xp.sin(0.5 * (x - rough)) ** 2)
        )
        return _about_mean(turned, product(part, xp.sin(x - rough)))

    @property
    def dim(self) -> int:
        """Number of columns."""
        return int(self.direction.shape[-1])

    @property
    def resultant_length(self) -> Array:
        """Length of the mean of the unit vectors, (d,)."""
        return 1.0 - self.variance

    def _merged(self, other: "Directions") -> "Directions":
        """Turn both to the direction of the heavier, then add cosines and sines."""
        xp = namespace_of(self.direction)
        weight = self.weight + other.weight
        near = self.direction if float(self.weight) >= float(other.weight) else other.direction
        total = xp.where(weight > 0.0, weight, xp.ones_like(weight))
        variance, sine = xp.zeros_like(near), xp.zeros_like(near)
        for one in (self, other):
            turn, part = one.direction - near, one.weight / total
            variance = variance + part * (2.0 * xp.sin(0.5 * turn) ** 2 + xp.cos(turn) * one.variance)
            sine = sine + part * xp.sin(turn) * (1.0 - one.variance)
        return _about_mean(type(self)(weight=weight, direction=near, variance=variance), sine)


def _about_mean(about: Directions, sine: Array) -> Directions:
    """Return a statistic about its mean direction, given one about θ and the mean of sin(x - θ)."""
    xp = namespace_of(sine)
    cosine = 1.0 - about.variance
    turn = xp.atan2(sine, cosine)
    # With c = 1 - v, 1 - (c cos t + s sin t) is a sum of terms as small as v.
    variance = about.variance + cosine * 2.0 * xp.sin(0.5 * turn) ** 2 - sine * xp.sin(turn)
    direction = about.direction + turn
    return type(about)(
        weight=about.weight,
        direction=xp.atan2(xp.sin(direction), xp.cos(direction)),
        variance=xp.clip(variance, 0.0, 1.0),
    )
