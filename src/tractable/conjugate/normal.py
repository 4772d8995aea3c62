"""Normal likelihoods of unknown mean and precision: normal-gamma and normal-Wishart priors."""

from typing import Any, ClassVar, Self

from tractable.arrays.batched import as_reals
from tractable.arrays.log_space import LOG_2PI
from tractable.arrays.namespace import Array, as_float_array, namespace_of
from tractable.conjugate.checks import as_numbers, check_moments, check_strength, one_number, some_weight
from tractable.conjugate.increments import gamma_increment
from tractable.conjugate.model import ConjugateModel
from tractable.conjugate.wishart import seen_scale, wishart_increment, wishart_interval
from tractable.covariance import Full
from tractable.distributions.checks import check_positive
from tractable.distributions.distribution import Distribution
from tractable.distributions.mean_precision import MeanPrecision, NormalGamma, NormalWishart
from tractable.distributions.multivariate_normal import MultivariateNormal
from tractable.distributions.multivariate_student_t import MultivariateStudentT
from tractable.distributions.normal import Normal
from tractable.distributions.student_t import StudentT
from tractable.statistics.moments import Moments
from tractable.value import value

__all__ = ["MultivariateNormalModel", "NormalModel"]


class MeanPrecisionModel(ConjugateModel):
    """A normal of which neither is known: the parameter is a pair ``(mean, precision)``."""

    unknown: ClassVar[str] = "both"

    @property
    def dim(self) -> int:
        """Number of columns d."""
        return getattr(self.prior, "dim", 1)

    def _summarize(self, X: Any, weights: Any) -> Moments:
        return Moments.of(as_numbers(X, self.dim), weights)

    def _seen(self, statistic: Moments) -> tuple[Array, Array, Array]:
        """Return b', x̄ - m and S + (b n / b') (x̄ - m)(x̄ - m)ᵀ."""
        check_moments(statistic, self.dim)
        d, n = self.prior, statistic.weight
        strength, step = d.strength + n, statistic.mean - d.location
        between = d.strength * n / strength * step[:, None] * step[None, :]
        return strength, step, statistic.scatter + between


@value
class NormalModel(MeanPrecisionModel):
    """x ~ N(μ, 1/λ) with neither known: λ ~ Gamma(α, β) and μ given λ ~ N(m, 1/bλ).

    After n rows with mean x̄ and scatter S = Σ (x - x̄)² the posterior is normal-gamma again, with b' = b + n,
    m' = (b m + n x̄) / b', α' = α + n/2 and β' = β + ½ S + ½ (b n / b') (x̄ - m)². The next row is Student-t
    with 2α degrees of freedom, location m and scale² β (b + 1) / (α b). Parameters are pairs
    ``(mean, precision)``.

    Parameters
    ----------
    prior : NormalGamma

    Examples
    --------
    >>> from tractable.distributions import NormalGamma
    >>> model = NormalModel(prior=NormalGamma(mean=0.0, strength=1.0, shape=2.0, rate=3.0))
    >>> after = model.update_rows([3.0, 5.0, 7.0, 9.0, 10.0])
    >>> float(after.mean().mean.round(4)), float(after.mean().precision.round(4))
    (5.6667, 0.1164)
    >>> float(after.predictive().dof), float(after.predictive().prob(6.0).round(6))
    (9.0, 0.121804)
    """

    prior_families: ClassVar[tuple[type[Distribution], ...]] = (NormalGamma,)

    prior: NormalGamma

    @classmethod
    def from_mean_strength(cls, mean: float, strength: float, *, variance: float) -> Self:
        """Return the model that expects a mean and the precision 1 / variance as if after `strength` rows.

        Examples
        --------
        >>> model = NormalModel.from_mean_strength(10.0, 4.0, variance=3.0)
        >>> float(model.prior.shape), float(model.prior.rate)
        (2.0, 6.0)
        """
        strength = check_strength(strength)
        location, spread = one_number("mean", mean), one_number("variance", variance)
        check_positive("variance", spread)
        return cls(
            prior=NormalGamma(
                mean=location, strength=strength, shape=0.5 * strength, rate=0.5 * strength * spread
            )
        )

    def likelihood(self, parameter: Any) -> Normal:
        """See `ConjugateModel.likelihood`: of a pair (mean, precision), or arrays of both."""
        mean, precision = parameter
        return Normal(mean=mean, variance=1.0 / as_float_array(precision))

    def update(self, statistic: Moments) -> Self:
        strength, step, scatter = self._seen(statistic)
        return self._with_prior(
            NormalGamma(
                mean=self.prior.location + statistic.weight / strength * step[0],
                strength=strength,
                shape=self.prior.shape + 0.5 * statistic.weight,
                rate=self.prior.rate + 0.5 * scatter[0, 0],
            )
        )

    def predictive(self) -> StudentT:
        d = self.prior
        squared = d.rate * (d.strength + 1.0) / (d.shape * d.strength)
        scale = namespace_of(squared).sqrt(squared)
        return StudentT(dof=2.0 * d.shape, location=d.location, scale=scale)

    def log_evidence(self, statistic: Moments) -> float:
        """See `ConjugateModel.log_evidence`.

        log Γ(α')/Γ(α) + α log β - α' log β' + ½ log b/b' - ½ n log 2π.
        """
        gain = 0.5 * self._seen(statistic)[2][0, 0]
        d, n = self.prior, statistic.weight
        xp = namespace_of(gain)
        increment = gamma_increment(xp.stack([d.shape, d.rate]), xp.stack([0.5 * n + 0.0 * gain, gain]))
        return float(increment - 0.5 * xp.log1p(n / d.strength) - 0.5 * n * LOG_2PI)

    def maximum_likelihood(self, statistic: Moments) -> MeanPrecision:
        """See `ConjugateModel.maximum_likelihood`: (x̄, n / S), of rows that differ."""
        check_moments(statistic, 1)
        variance = statistic.scatter[0, 0] / some_weight(statistic)
        check_positive("statistic's scatter", variance)
        return MeanPrecision(mean=statistic.mean[0], precision=1.0 / variance)

    def mode(self) -> MeanPrecision:
        """Return (m, (α - ½) / β), the mode of both together, for α ≥ ½.

        Below ½ the density grows without bound towards a precision of zero: a ValueError.
        """
        if float(self.prior.shape) < 0.5:
            raise ValueError(f"the prior has no mode: shape must be at least ½, got {self.prior.shape}")
        return self.prior.mode


@value
class MultivariateNormalModel(MeanPrecisionModel):
    """x ~ N(μ, Λ⁻¹) with neither known: Λ ~ Wishart(ν, W) and μ given Λ ~ N(m, (bΛ)⁻¹).

    After n rows with mean x̄ and scatter S the posterior is normal-Wishart again, with b' = b + n, ν' = ν + n,
    m' = (b m + n x̄) / b' and W'⁻¹ = W⁻¹ + S + (b n / b') (x̄ - m)(x̄ - m)ᵀ. The next row is Student-t with
    ν + 1 - d degrees of freedom, location m and scale (b + 1) / (b (ν + 1 - d)) W⁻¹. Parameters are pairs
    ``(mean, precision)``.

    Parameters
    ----------
    prior : NormalWishart

    Examples
    --------
    >>> import numpy as np
    >>> model = MultivariateNormalModel.from_mean_strength([0.0, 0.0], 1.0, covariance=np.eye(2))
    >>> after = model.update_rows([[1.0, 2.0], [3.0, 2.0], [2.0, 5.0]])
    >>> after.prior.location, float(after.prior.dof)
    (array([1.5 , 2.25]), 5.0)
    >>> after.predictive().location, float(after.predictive().dof)
    (array([1.5 , 2.25]), 4.0)
    """

    prior_families: ClassVar[tuple[type[Distribution], ...]] = (NormalWishart,)

    prior: NormalWishart

    @classmethod
    def from_mean_strength(
        cls, mean: Any, strength: float, *, covariance: Any, dof: float | None = None
    ) -> Self:
        """Return the model that expects a mean and the precision Σ⁻¹ as if after `strength` rows.

        `strength` rows are behind the mean, and `dof` behind the precision: above d - 1, by default
        strength + d - 1. The expected precision is the inverse of Σ.
        """
        strength = check_strength(strength)
        known = hasattr(covariance, "precision")
        structure = covariance if known else Full(matrix=as_reals("covariance", covariance))
        dof = strength + structure.dim - 1.0 if dof is None else dof
        return cls(
            prior=NormalWishart(mean=mean, strength=strength, dof=dof, scale=structure.precision() / dof)
        )

    def likelihood(self, parameter: Any) -> MultivariateNormal:
        """See `ConjugateModel.likelihood`: of a pair (mean, precision), or arrays of both."""
        mean, precision = parameter
        return MultivariateNormal(mean=mean, covariance=Full.from_precision(precision))

    def update(self, statistic: Moments) -> Self:
        strength, step, scatter = self._seen(statistic)
        scale, _ = seen_scale(self.prior.scale, scatter)
        return self._with_prior(
            NormalWishart(
                mean=self.prior.location + statistic.weight / strength * step,
                strength=strength,
                dof=self.prior.dof + statistic.weight,
                scale=scale,
            )
        )

    def predictive(self) -> MultivariateStudentT:
        d = self.prior
        dof = d.dof + 1.0 - self.dim
        scale = Full.from_precision(d.scale * (dof * d.strength / (d.strength + 1.0)))
        return MultivariateStudentT(dof=dof, location=d.location, scale=scale)

    def log_evidence(self, statistic: Moments) -> float:
        _, _, scatter = self._seen(statistic)
        d, xp = self.prior, namespace_of(scatter)
        _, growth = seen_scale(d.scale, scatter)
        increment = wishart_increment(d.dof, statistic.weight, d.scale, growth)
        return float(increment - 0.5 * self.dim * xp.log1p(statistic.weight / d.strength))

    def maximum_likelihood(self, statistic: Moments) -> MeanPrecision:
        """See `ConjugateModel.maximum_likelihood`: (x̄, n S⁻¹), of rows that span the space."""
        check_moments(statistic, self.dim)
        some_weight(statistic)
        return MeanPrecision(mean=statistic.mean, precision=Full(matrix=statistic.covariance()).precision())

    def mode(self) -> MeanPrecision:
        """Return (m, (ν - d) W), the mode of both together, for ν ≥ d.

        Below it the density grows without bound towards singular precisions: a ValueError.
        """
        if float(self.prior.dof) < self.dim:
            raise ValueError(
                f"the prior has no mode: dof must be at least d = {self.dim}, got {self.prior.dof}"
            )
        return self.prior.mode

    def interval(self, coverage: float = 0.9) -> tuple[MeanPrecision, MeanPrecision]:
        """See `ConjugateModel.interval`: of each entry of the mean and of the precision by itself."""
        means = self.prior.mean_marginal().interval(coverage)
        precisions = wishart_interval(self.prior.dof, self.prior.scale, coverage)
        low, high = (MeanPrecision(*ends) for ends in zip(means, precisions, strict=True))
        return low, high
