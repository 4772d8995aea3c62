"""Matérn kernels of smoothness 1/2, 3/2 and 5/2."""

from numbers import Real
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.distribution import Distribution
from tractable.kernels.base import one_number
from tractable.kernels.hyperparameters import BOUNDS
from tractable.kernels.markov_term import MarkovTerm
from tractable.kernels.stationary import Stationary
from tractable.value import set_fields, value

#: The equation of the states of each smoothness, f and its derivatives in units of √(2ν)/ℓ, with the
#: characteristic polynomial (x + 1)^(ν + ½), and the covariance of stationary states.
_STATES: dict[float, tuple[Any, Any]] = {
    0.5: ([[-1.0]], [[1.0]]),
    1.5: ([[0.0, 1.0], [-1.0, -2.0]], [[1.0, 0.0], [0.0, 1.0]]),
    2.5: (
        [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, -3.0, -3.0]],
        [[1.0, 0.0, -1.0 / 3.0], [0.0, 1.0 / 3.0, 0.0], [-1.0 / 3.0, 0.0, 1.0]],
    ),
}


@value
class Matern(Stationary):
    r"""A Matérn kernel, Rasmussen and Williams (4.17).

    With r = √(Σ_d (x_d - x'_d)²/ℓ_d²):

    - ν = 1/2: exp(-r), the Ornstein-Uhlenbeck process; continuous, rough paths, Markov in one dimension.
      ``exp(-θ|x - x'|)`` is ``Matern(1/θ, nu=0.5)``.
    - ν = 3/2: (1 + √3 r) exp(-√3 r); one derivative.
    - ν = 5/2: (1 + √5 r + 5r²/3) exp(-√5 r); two derivatives.

    Parameters
    ----------
    length_scale : float or array (d,)
        ℓ, positive: one for all columns, or one a column.
    length_scale_bounds : (float, float), array (d, 2) or "fixed"
        Where a search looks for it.
    nu : {0.5, 1.5, 2.5}
        The smoothness ν.
    length_scale_prior : Distribution, optional
        Of the number itself; one for all columns, or a batch of d.

    Examples
    --------
    >>> from tractable.kernels import Matern
    >>> Matern(2.0, nu=0.5)([[0.0]], [[2.0]]).round(4)
    array([[0.3679]])
    """

    length_scale: Any
    length_scale_bounds: Any
    nu: float
    length_scale_prior: Distribution | None

    def __init__(
        self,
        length_scale: Any = 1.0,
        *,
        length_scale_bounds: Any = BOUNDS,
        nu: Any = 1.5,
        length_scale_prior: Distribution | None = None,
    ) -> None:
        if not isinstance(nu, Real) or nu not in (0.5, 1.5, 2.5):
            raise ValueError(f"nu must be 0.5, 1.5 or 2.5, got {nu!r}")
        set_fields(self, nu=float(nu))
        self._set_hyper(length_scale=(length_scale, length_scale_bounds, length_scale_prior))

    @property
    def _smooth(self) -> bool:  # type: ignore[override]
        return self.nu > 0.5

    def _profile(self, s: Array) -> Array:
        r = self._radii(s)
        decay = namespace_of(r).exp(-r)
        if self.nu > 0.5:
            decay *= 1.0 + r if self.nu == 1.5 else 1.0 + r + r * r / 3.0
        return decay

    def _slope(self, matrix: Array, x: Array, y: Array) -> Array:
        r = self._radii(self._squares(x, y))
        xp = namespace_of(r)
        decay = xp.exp(-r)
        if self.nu == 0.5:
            return decay / xp.where(r > 0.0, r, 1.0)  # times s, which is zero there
        return 3.0 * decay if self.nu == 1.5 else 5.0 / 3.0 * (1.0 + r) * decay

    def _spectral_scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """The spectral density is Student's t with 2ν degrees of freedom."""
        return np.sqrt(2.0 * self.nu / rng.chisquare(2.0 * self.nu, n))

    def markov_terms(self) -> tuple[MarkovTerm, ...]:
        """Return its one term, of ν + ½ states: the function and its derivatives."""
        drift, stationary = _STATES[self.nu]
        rate = (2.0 * self.nu) ** 0.5 / one_number(self.length_scale, "length_scale")
        return (MarkovTerm(drift=np.array(drift), stationary=np.array(stationary), variance=1.0, rate=rate),)

    def _radii(self, s: Array) -> Array:
        """Return √(2ν) r."""
        s *= 2.0 * self.nu
        # exp(-r) is zero from 745 on; a larger r would only make inf · 0 of it.
        return namespace_of(s).clip(namespace_of(s).sqrt(s), None, 1e4)
