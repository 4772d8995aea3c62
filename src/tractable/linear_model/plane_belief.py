"""A Gaussian belief of a plane, in units of the noise."""

from typing import Self

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.statistics import LinearFactor
from tractable.value import value

__all__ = ["PlaneBelief"]


@value
class PlaneBelief:
    """What is believed of a plane: its level at a centre, then its coefficients.

    Parameters
    ----------
    centre : array (d,)
        Mean of the rows; zeros where the plane goes through the origin.
    location : array (p,)
        The expected level and coefficients, p = d + 1, or the coefficients alone, p = d.
    root : array (p, r)
        G: their covariance is σ² G Gᵀ.
    """

    centre: Array
    location: Array
    root: Array

    @classmethod
    def about_the_mean(
        cls, statistic: LinearFactor, coef: Array, root: Array, *, fit_intercept: bool
    ) -> Self:
        """Return the belief with given coefficients and a factor of their covariance, (d, r).

        The level at the mean of the rows, where there is an intercept, is known to 1/n and by itself.
        """
        xp = namespace_of(coef)
        if not fit_intercept:
            return cls(centre=xp.zeros_like(coef), location=coef, root=root)
        d = statistic.dim
        first = xp.asarray([float(statistic.weight) ** -0.5], dtype=root.dtype, device=device(root))
        none = xp.zeros((d + 1, 1 + root.shape[1]), dtype=root.dtype, device=device(root))
        level = xp.concat([first, none[0, 1:]])[None, :]
        return cls(
            centre=statistic.mean[:d],
            location=xp.concat([statistic.mean[d:], coef]),
            root=xp.concat([level, xp.concat([none[1:, :1], root], axis=1)]),
        )

    @property
    def n_located(self) -> int:
        """1 where there is an intercept, else 0."""
        return int(self.location.shape[0]) - int(self.centre.shape[0])

    def columns(self, x: Array) -> Array:
        """Return the columns that the parameters multiply, (n, p)."""
        moved = x - self.centre
        xp = namespace_of(moved)
        return xp.concat([xp.ones_like(moved[:, :1]), moved], axis=1) if self.n_located else moved

    def predict(self, x: Array) -> Array:
        """Return the expected plane at the rows of x, (n,)."""
        return self.columns(x) @ self.location

    def spread(self, x: Array) -> Array:
        """Return a factor of the covariance of the plane at the rows of x, (n, r), in units of the noise."""
        return self.columns(x) @ self.root

    def parameters(self) -> tuple[Array, Array]:
        """Return the expected intercept and coefficients, (p,), and a factor of their covariance, (p, r)."""
        return self._at_origin(self.location), self._at_origin(self.root)

    def _at_origin(self, part: Array) -> Array:
        """Return what is said of the level at the centre as said of the intercept."""
        if not self.n_located:
            return part
        xp = namespace_of(part)
        intercept = part[0, ...] - self.centre @ part[1:, ...]
        return xp.concat([intercept[None, ...], part[1:, ...]])
