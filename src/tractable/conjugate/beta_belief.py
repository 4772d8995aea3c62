"""Belief about a probability, Beta(α, β): what Bernoulli and binomial models share."""

from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.conjugate.additive import AdditiveModel
from tractable.conjugate.checks import check_fraction, check_strength
from tractable.conjugate.rises import shares_rise
from tractable.conjugate.shares import shares_curvature, shares_slope
from tractable.distributions.beta import Beta
from tractable.distributions.distribution import Distribution

__all__ = ["BetaBelief"]


class BetaBelief(AdditiveModel):
    """A model whose unknown is a probability: α counts successes, β failures."""

    unknown: ClassVar[str] = "probability"
    beliefs: ClassVar[tuple[type[Distribution], ...]] = (Beta,)

    @classmethod
    def from_mean_strength(cls, mean: float, strength: float, **known: Any) -> Self:
        """Return the model that expects `mean` as if after `strength` trials: α = mean · strength.

        The mean is α / (α + β); α / β would be the odds.

        Parameters
        ----------
        mean : float
            Expected probability, strictly between 0 and 1.
        strength : float
            α + β.
        **known
            What else the model takes.
        """
        mean, strength = check_fraction("mean", mean), check_strength(strength)
        return cls(prior=Beta(alpha=mean * strength, beta=(1.0 - mean) * strength), **known)  # type: ignore[call-arg]

    def mode(self) -> Array:
        """Return (α - 1) / (α + β - 2) inside (0, 1), or the end at which the density is greatest.

        A ValueError where no single point is: Beta(1, 1) is flat, and with α < 1 and β < 1 the density grows
        without bound towards both ends.
        """
        a, b = float(self.prior.alpha), float(self.prior.beta)
        if max(a, b) < 1.0 or a == b == 1.0:
            raise ValueError(f"the belief has no single mode: Beta({a:g}, {b:g})")
        above, below = max(a - 1.0, 0.0), max(b - 1.0, 0.0)
        share = above / (above + below) if above + below else float(a > b)
        xp = namespace_of(self.prior.alpha)
        return xp.asarray(share, dtype=self.prior.alpha.dtype)

    def _symbols(self) -> Array:
        return namespace_of(self.prior.alpha).stack([self.prior.alpha, self.prior.beta])

    def _with_symbols(self, symbols: Array) -> Self:
        return self._believing(Beta(alpha=symbols[0], beta=symbols[1]))

    @staticmethod
    def _rise(symbols: Array, gain: Array) -> Array:
        return shares_rise(symbols, gain)

    @staticmethod
    def _slope(symbols: np.ndarray) -> np.ndarray:
        return shares_slope(symbols)

    @staticmethod
    def _curvature(symbols: np.ndarray) -> np.ndarray:
        return shares_curvature(symbols)
