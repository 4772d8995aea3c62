"""Belief about shares, Dirichlet(α): what categorical and multinomial models share."""

from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.conjugate.additive import AdditiveModel
from tractable.conjugate.checks import check_whole_number
from tractable.conjugate.rises import shares_rise
from tractable.conjugate.shares import shares_curvature, shares_slope
from tractable.distributions.dirichlet import Dirichlet
from tractable.distributions.distribution import Distribution

__all__ = ["DirichletBelief"]


class DirichletBelief(AdditiveModel):
    """A model whose unknowns are the probabilities of K categories: α counts each of them."""

    unknown: ClassVar[str] = "probabilities"
    beliefs: ClassVar[tuple[type[Distribution], ...]] = (Dirichlet,)

    @classmethod
    def from_mean_strength(cls, mean: Any, strength: float, **known: Any) -> Self:
        """Return the model that expects the shares `mean` as if after `strength` rows: α = strength · mean.

        Parameters
        ----------
        mean : array (K,)
            Expected shares, all positive.
        strength : float
            Σ α.
        **known
            What else the model takes.
        """
        return cls(prior=Dirichlet.from_mean_strength(mean, strength), **known)  # type: ignore[call-arg]

    @classmethod
    def from_pseudocounts(cls, pseudocounts: Any, **known: Any) -> Self:
        """Return the model that has seen category k already c_k times: α = c.

        Its expected and predictive shares after n rows are (n_k + c_k) / (n + Σ c), smoothed relative
        frequencies. They are also the MAP estimate under Dirichlet(c + 1).
        """
        return cls(prior=Dirichlet(concentration=pseudocounts), **known)  # type: ignore[call-arg]

    @classmethod
    def laplace(cls, n_classes: int, **known: Any) -> Self:
        """Return the model with one pseudocount each, Laplace's rule of succession: (n_k + 1) / (n + K)."""
        return cls.from_pseudocounts(np.ones(check_whole_number("n_classes", n_classes)), **known)

    @property
    def n_classes(self) -> int:
        """Number of categories K."""
        return int(self.prior.concentration.shape[-1])

    def mode(self) -> Array:
        """Return (α_k - 1) / Σ (α_j - 1); categories with α_k ≤ 1 get none, a point on the boundary.

        Where some α_k < 1 the density grows without bound towards p_k = 0, and the mode is the limit of the
        maxima a little inside. A ValueError where no single point is greatest: no α_k above 1, unless one
        alone is 1 and the others are below.
        """
        alpha = self.prior.concentration
        xp = namespace_of(alpha)
        excess = xp.where(alpha > 1.0, alpha - 1.0, xp.zeros_like(alpha))
        if bool(xp.any(excess > 0.0)):
            return excess / xp.sum(excess)
        flat = xp.astype(alpha == 1.0, alpha.dtype)
        if float(xp.sum(flat)) != 1.0:
            raise ValueError("the belief has no single mode: no concentration is above 1")
        return flat

    def _symbols(self) -> Array:
        return self.prior.concentration

    def _with_symbols(self, symbols: Array) -> Self:
        return self._believing(Dirichlet(concentration=symbols))

    @staticmethod
    def _rise(symbols: Array, gain: Array) -> Array:
        return shares_rise(symbols, gain)

    @staticmethod
    def _slope(symbols: np.ndarray) -> np.ndarray:
        return shares_slope(symbols)

    @staticmethod
    def _curvature(symbols: np.ndarray) -> np.ndarray:
        return shares_curvature(symbols)
