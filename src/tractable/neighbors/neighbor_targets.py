"""The targets of neighbours, as a distribution for each row."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.namespace import Array
from tractable.distributions import Univariate
from tractable.distributions.checks import check_finite, check_nonnegative
from tractable.distributions.probabilities import log_or_minus_inf
from tractable.value import value

__all__ = ["NeighborTargets"]


@value
class NeighborTargets(Univariate):
    """Weighted samples of numbers, one for each member of a batch: P(y) = Σ_j w_j [y = y_j] / Σ_j w_j.

    The batched sister of `tractable.Empirical`, for NumPy arrays.

    Parameters
    ----------
    values : array (*batch, K)
    weights : array (*batch, K)
        Not negative; of each member one at least positive.

    Examples
    --------
    >>> d = NeighborTargets(values=[[1.0, 2.0, 4.0], [5.0, 5.0, 8.0]], weights=np.ones((2, 3)))
    >>> d.mean.round(3), d.icdf(0.5), d[1].prob(5.0).round(3)
    (array([2.333, 6.   ]), array([2., 5.]), np.float64(0.667))
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"values": 1, "weights": 1}
    discrete: ClassVar[bool] = True

    values: Array
    weights: Array

    def __post_init__(self) -> None:
        self._settle(values=check_finite, weights=check_nonnegative)
        if self.values.shape != self.weights.shape:
            raise ValueError(f"weights must have shape {self.values.shape}, got {self.weights.shape}")
        if not np.all(np.any(self.weights > 0.0, axis=-1)):
            raise ValueError("weights must have a positive entry for each member of the batch")

    @property
    def probabilities(self) -> np.ndarray:
        """Share of each value, (*batch, K)."""
        return self.weights / self.weights.sum(axis=-1, keepdims=True)

    @property
    def atoms(self) -> np.ndarray:
        """The distinct values of one distribution that have a probability, in order."""
        if self.batch_shape:
            raise AttributeError("atoms are those of one distribution, not of a batch")
        return np.unique(self.values[self.weights > 0.0])

    @property
    def support(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest value, (*batch,) both."""
        values, shares = self._ordered
        counted = shares > 0.0
        low = np.min(np.where(counted, values, np.inf), axis=-1)
        return low, np.max(np.where(counted, values, -np.inf), axis=-1)

    @property
    def mean(self) -> np.ndarray:
        """See `Distribution.mean`."""
        return np.sum(self.probabilities * self.values, axis=-1)

    @property
    def variance(self) -> np.ndarray:
        """See `Distribution.variance`: the mean squared deviation, not an unbiased estimate."""
        return np.sum(self.probabilities * (self.values - self.mean[..., None]) ** 2, axis=-1)

    @property
    def mode(self) -> np.ndarray:
        """See `Distribution.mode`: the heaviest value; of equal ones the first."""
        heaviest = np.argmax(self._masses, axis=-1)
        return np.take_along_axis(self.values, heaviest[..., None], axis=-1)[..., 0]

    def log_prob(self, x: Any) -> np.ndarray:
        """Return the log of the probability at exactly x; -inf away from the values, NaN at NaN."""
        x = self._event(x)
        mass = np.sum(np.where(x[..., None] == self.values, self.probabilities, 0.0), axis=-1)
        return np.where(np.isnan(x), np.nan, log_or_minus_inf(mass))

    def cdf(self, x: Any) -> np.ndarray:
        """See `Univariate.cdf`: the share of what is not above x."""
        x = self._event(x)
        below = np.sum(np.where(self.values <= x[..., None], self.probabilities, 0.0), axis=-1)
        return np.where(np.isnan(x), np.nan, np.minimum(below, 1.0))

    def icdf(self, q: Any) -> np.ndarray:
        """See `Univariate.icdf`: one of the values."""
        q = self._quantile(q)
        values, shares = self._ordered
        reached = np.cumsum(shares, axis=-1)
        # Level 0 is reached before the first value; the least that counts stands for it.
        q = np.maximum(q, np.finfo(float).tiny)[..., None] * (1.0 - 1e-14) * reached[..., -1:]
        place = np.minimum(np.sum(reached < q, axis=-1), values.shape[-1] - 1)
        values = np.broadcast_to(values, (*place.shape, values.shape[-1]))
        return np.take_along_axis(values, place[..., None], axis=-1)[..., 0]

    def entropy(self) -> np.ndarray:
        """See `Distribution.entropy`."""
        return -np.sum(self.probabilities * np.log(np.where(self._masses > 0.0, self._masses, 1.0)), axis=-1)

    def kl_divergence(self, other: "NeighborTargets") -> np.ndarray:
        """See `Distribution.kl_divergence`: infinite where the other lacks one of these values."""
        if not isinstance(other, NeighborTargets):
            raise ValueError(f"other must be NeighborTargets, got {type(other).__name__}")
        batch = np.broadcast_shapes(self.batch_shape, other.batch_shape)
        every = (np.broadcast_to(x, (*batch, x.shape[-1])) for x in (self.values, self.probabilities))
        values, shares = (np.moveaxis(x, -1, 0) for x in every)
        ratio = np.where(shares > 0.0, self.log_prob(values) - other.log_prob(values), 0.0)
        return np.sum(shares * ratio, axis=0)

    def _sample(self, n: int, rng: Any) -> np.ndarray:
        return self.icdf(rng.random((n, *self.batch_shape)))

    @cached_property
    def _ordered(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.values, axis=-1, kind="stable")
        return tuple(np.take_along_axis(x, order, axis=-1) for x in (self.values, self.probabilities))  # type: ignore[return-value]

    @cached_property
    def _masses(self) -> np.ndarray:
        """The probability of each value, equal ones together, (*batch, K)."""
        same = self.values[..., :, None] == self.values[..., None, :]
        return np.sum(np.where(same, self.probabilities[..., None, :], 0.0), axis=-1)
