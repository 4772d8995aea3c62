"""The normal-gamma distribution of a mean and a precision."""

from collections.abc import Mapping
from math import e, log, pi
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.log_space import LOG_2PI
from tractable.arrays.namespace import Array, as_float_array, namespace_of
from tractable.arrays.random import standard_gamma, standard_normal
from tractable.arrays.saddle_point import log_gamma_kernel
from tractable.arrays.special import digamma, gammaln
from tractable.distributions.checks import check_finite, check_positive, check_sample_weight
from tractable.distributions.gamma import Gamma
from tractable.distributions.mean_precision import MeanPrecision, MeanPrecisionDistribution, as_pairs
from tractable.distributions.student_t import StudentT
from tractable.value import value

__all__ = ["NormalGamma"]


@value
class NormalGamma(MeanPrecisionDistribution):
    """NG(μ, λ) = N(μ | m, 1/bλ) Gamma(λ | α, β), a joint distribution of a mean and a precision.

    The conjugate prior of a normal of which neither mean nor precision is known: b counts the observations
    behind the mean, 2α those behind the precision. Events are pairs ``(mean, precision)``; a precision below
    0 has log probability -inf.

    Parameters
    ----------
    mean : array (*batch,)
        m, kept as `location`: the property `mean` is the expected pair.
    strength : array (*batch,)
        b, positive.
    shape : array (*batch,)
        α, positive.
    rate : array (*batch,)
        β, positive: the expected precision is α/β.

    Examples
    --------
    >>> d = NormalGamma(mean=1.0, strength=2.0, shape=3.0, rate=6.0)
    >>> float(d.mean.mean), float(d.mean.precision)
    (1.0, 0.5)
    >>> x = d.sample(100, rng=0)
    >>> x.mean.shape, d.log_prob(x).shape
    ((100,), (100,))
    >>> float(d.mean_marginal().dof), float(d.precision_marginal().shape)
    (6.0, 3.0)
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"mean": 0, "strength": 0, "shape": 0, "rate": 0}

    location: Array
    strength: Array
    shape: Array
    rate: Array

    def __init__(self, *, mean: Any, strength: Any, shape: Any, rate: Any) -> None:
        self._store(mean=mean, strength=strength, shape=shape, rate=rate)
        check_finite("mean", self.location)
        for name in ("strength", "shape", "rate"):
            check_positive(name, getattr(self, name))

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None) -> Self:
        """Return the maximum likelihood estimate from pairs: X = (means (n,), precisions (n,)).

        The precisions are fitted by a Gamma; m is the mean weighted by precision, and 1/b the mean of
        λ (μ - m)².
        """
        means, precisions = as_pairs(X)
        means = as_float_array(means)
        xp = namespace_of(means)
        if means.ndim != 1:
            raise ValueError(f"X must hold means of shape (n,), got {tuple(means.shape)}")
        check_finite("X", means)
        precision = Gamma.fit(precisions, sample_weight)
        weights = check_sample_weight(sample_weight, means.shape[0], means)
        weights = xp.ones_like(means) if weights is None else weights
        weighted = weights * as_float_array(precisions, xp)
        mean = xp.sum(weighted * means) / xp.sum(weighted)
        # The mean of the residuals corrects the rounding of the mean itself, far from the origin.
        mean = mean + xp.sum(weighted * (means - mean)) / xp.sum(weighted)
        spread = xp.sum(weighted * (means - mean) ** 2) / xp.sum(weights)
        if not float(spread) > 0:
            raise ValueError("X must hold means that differ: the likelihood of equal ones has no maximum")
        return cls(mean=mean, strength=1.0 / spread, shape=precision.shape, rate=precision.rate)

    @property
    def event_shape(self) -> Any:
        """Shapes of the two parts of an event: two numbers."""
        return MeanPrecision(mean=(), precision=())

    @property
    def mean(self) -> MeanPrecision:
        """Expected mean, NaN for α ≤ ½ where there is none, and expected precision α/β."""
        return MeanPrecision(mean=self.mean_marginal().mean, precision=self.shape / self.rate)

    @property
    def variance(self) -> MeanPrecision:
        """Variance of the mean, β / b(α - 1) for α > 1 (else infinite or NaN), and of the precision, α/β²."""
        return MeanPrecision(mean=self.mean_marginal().variance, precision=self.shape / self.rate**2)

    @property
    def mode(self) -> MeanPrecision:
        """(m, (α - ½)/β) for α > ½; else (m, 0), at the edge, where for α < ½ the density is unbounded."""
        xp = namespace_of(self.shape)
        left = self.shape - 0.5
        left = xp.where(left > 0, left, xp.zeros_like(left))
        return MeanPrecision(mean=self.location, precision=left / self.rate)

    def mean_marginal(self) -> StudentT:
        """Return the Student-t distribution of μ: 2α degrees of freedom, scale² β/αb."""
        squared = self.rate / (self.shape * self.strength)
        scale = namespace_of(squared).sqrt(squared)
        return StudentT(dof=2.0 * self.shape, location=self.location, scale=scale)

    def precision_marginal(self) -> Gamma:
        """Return the Gamma distribution of λ."""
        return Gamma(shape=self.shape, rate=self.rate)

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`: x is a pair (mean, precision)."""
        mean, precision = self._pair(x)
        xp = namespace_of(mean)
        some = xp.where(precision > 0, precision, xp.ones_like(precision))
        some = xp.where(xp.isinf(some), xp.ones_like(some), some)
        gap = mean - self.location
        with np.errstate(over="ignore"):
            inside = (
                log_gamma_kernel(self.shape, self.rate * some)
                - 0.5 * (xp.log(some) + self.strength * some * gap * gap)
                + 0.5 * (xp.log(self.strength) - LOG_2PI)
            )
        found = xp.where(precision > 0, inside, self._at_edge() + xp.zeros_like(inside))
        impossible = (precision < 0) | xp.isinf(precision)
        found = xp.where(impossible, xp.full_like(found, -xp.inf), found)
        return xp.where(xp.isnan(mean) | xp.isnan(precision), xp.full_like(found, xp.nan), found)

    def entropy(self) -> Array:
        """See `Distribution.entropy`."""
        xp = namespace_of(self.rate)
        mean_log = digamma(self.shape) - xp.log(self.rate)
        return self.precision_marginal().entropy() + 0.5 * (
            log(2.0 * pi * e) - xp.log(self.strength) - mean_log
        )

    def kl_divergence(self, other: "NormalGamma") -> Array:
        """See `Distribution.kl_divergence`: that of the Gammas, and the expected one of the normals."""
        self._check_family(other)
        xp = namespace_of(self.rate)
        excess = (other.strength - self.strength) / self.strength
        gap = self.location - other.location
        shift = other.strength * self.shape / self.rate * gap * gap
        normals = 0.5 * (excess - xp.log1p(excess) + shift)
        return self.precision_marginal().kl_divergence(other.precision_marginal()) + normals

    def interval(self, coverage: float = 0.9) -> tuple[MeanPrecision, MeanPrecision]:
        """Return the equal-tailed intervals of mean and precision, each by itself, as (low, high)."""
        pairs = zip(
            self.mean_marginal().interval(coverage), self.precision_marginal().interval(coverage), strict=True
        )
        low, high = (MeanPrecision(*pair) for pair in pairs)
        return low, high

    def _at_edge(self) -> Array:
        """Return the log density where λ = 0: finite for α = ½ alone."""
        xp = namespace_of(self.shape)
        level = self.shape * xp.log(self.rate) - gammaln(self.shape) + 0.5 * (xp.log(self.strength) - LOG_2PI)
        level = xp.where(self.shape > 0.5, xp.full_like(level, -xp.inf), level)
        return xp.where(self.shape < 0.5, xp.full_like(level, xp.inf), level)

    def _sample(self, n: int, rng: Any) -> Any:
        xp = namespace_of(self.location)
        precision = standard_gamma(rng, self.shape, n) / self.rate
        noise = standard_normal(rng, (n, *self.batch_shape), like=self.location)
        return MeanPrecision(
            mean=self.location + noise / xp.sqrt(self.strength * precision), precision=precision
        )
