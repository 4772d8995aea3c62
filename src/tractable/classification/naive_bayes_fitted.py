"""What naive Bayes has learned of its columns."""

from typing import Any

import numpy as np

from tractable.distributions import Bernoulli, Normal, Poisson, Product
from tractable.value import value

__all__ = ["FittedColumns"]


@value
class FittedColumns:
    """The likelihoods of all columns: arrays where many are of one family, distributions elsewhere.

    Tables of thousands of columns are learned and asked without making a distribution of each.

    Parameters
    ----------
    parts : tuple
        The distribution of each column, a batch of K classes; None where the arrays say it.
    normal, counted, binary : arrays of int
        Positions of the normal columns that are estimated, of those that share a row's total, and of those of
        zeros and ones.
    mean, variance : arrays (K, number of `normal`)
    rate : array (K, number of `counted`)
        Of the Poisson distributions that shares of totals are.
    probability : array (K, number of `binary`)
        Of ones.
    log_unseen : array (K, d)
        What a category has that was not declared; NaN of other columns.
    """

    parts: tuple[Any, ...]
    normal: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    counted: np.ndarray
    rate: np.ndarray
    binary: np.ndarray
    probability: np.ndarray
    log_unseen: np.ndarray

    def product(self, names: tuple[Any, ...] | None) -> Product:
        """Return p(x | C_k) as a batch of products."""
        parts = list(self.parts)
        for i, j in enumerate(self.normal):
            parts[j] = Normal(mean=self.mean[:, i], variance=self.variance[:, i])
        for i, j in enumerate(self.counted):
            parts[j] = Poisson(rate=self.rate[:, i])
        for i, j in enumerate(self.binary):
            parts[j] = Bernoulli(probability=self.probability[:, i])
        named = names is not None and all(isinstance(name, str) for name in names)
        return Product(parts=parts, names=names if named else None)
