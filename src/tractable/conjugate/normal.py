"""A normal likelihood of numbers with a normal-gamma prior of its mean and precision."""

from typing import Any, ClassVar, Self

from tractable.arrays.log_space import LOG_2PI
from tractable.arrays.namespace import Array, as_float_array, namespace_of
from tractable.conjugate.checks import as_numbers, check_moments, check_strength, one_number, some_weight
from tractable.conjugate.increments import gamma_increment
from tractable.conjugate.model import ConjugateModel
from tractable.distributions.checks import check_positive
from tractable.distributions.distribution import Distribution
from tractable.distributions.mean_precision import MeanPrecision, NormalGamma
from tractable.distributions.normal import Normal
from tractable.distributions.student_t import StudentT
from tractable.statistics.moments import Moments
from tractable.value import value

__all__ = ["NormalModel"]


@value
class NormalModel(ConjugateModel):
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

    unknown: ClassVar[str] = "both"
    prior_families: ClassVar[tuple[type[Distribution], ...]] = (NormalGamma,)

    prior: NormalGamma

    def __post_init__(self) -> None:
        self._check_prior()

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

    def _summarize(self, X: Any, weights: Any) -> Moments:
        return Moments.of(as_numbers(X, 1), weights)

    def update(self, statistic: Moments) -> Self:
        strength, step, gain = self._seen(statistic)
        return self._with_prior(
            NormalGamma(
                mean=self.prior.location + statistic.weight / strength * step,
                strength=strength,
                shape=self.prior.shape + 0.5 * statistic.weight,
                rate=self.prior.rate + gain,
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
        _, _, gain = self._seen(statistic)
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

    def _seen(self, statistic: Moments) -> tuple[Array, Array, Array]:
        """Return b', x̄ - m and β' - β."""
        check_moments(statistic, 1)
        d, n = self.prior, statistic.weight
        strength, step = d.strength + n, statistic.mean[0] - d.location
        between = d.strength * n / strength * step * step
        return strength, step, 0.5 * (statistic.scatter[0, 0] + between)
