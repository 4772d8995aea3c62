"""A Poisson likelihood with a Gamma prior of its rate."""

from typing import Any, ClassVar, Self

from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.saddle_point import factorial_rest
from tractable.conjugate.checks import (
    as_counts,
    check_columns,
    check_statistic,
    check_strength,
    one_number,
    some_weight,
)
from tractable.conjugate.count_totals import CountTotals
from tractable.conjugate.increments import gamma_gradient, gamma_hessian, gamma_increment_from_best
from tractable.conjugate.model import AdditiveModel
from tractable.distributions.checks import check_positive
from tractable.distributions.discrete.negative_binomial import NegativeBinomial
from tractable.distributions.discrete.poisson import Poisson
from tractable.distributions.distribution import Distribution
from tractable.distributions.gamma import Gamma
from tractable.statistics.counts import Totals
from tractable.value import value

__all__ = ["PoissonModel"]


@value
class PoissonModel(AdditiveModel):
    """x ~ Poisson(λ) with λ ~ Gamma(shape a, rate b).

    After n rows with sum s the posterior is Gamma(a + s, b + n): a counts events, b rows. The next row is
    negative binomial, with mean a / b and variance (a / b) (1 + 1 / b). The evidence is that of the counts.
    The mode is (a - 1) / b, and 0 for a ≤ 1.

    Parameters
    ----------
    prior : Gamma

    Examples
    --------
    >>> from tractable.distributions import Gamma
    >>> model = PoissonModel(prior=Gamma(shape=2.0, rate=1.0)).update_rows([3, 5, 1])
    >>> model.prior
    Gamma(shape=array(11.), rate=array(4.))
    >>> float(model.predictive().mean), float(model.predictive().variance), float(model.mode())
    (2.75, 3.4375, 2.5)
    """

    unknown: ClassVar[str] = "rate"
    prior_families: ClassVar[tuple[type[Distribution], ...]] = (Gamma,)

    prior: Gamma

    def __post_init__(self) -> None:
        self._check_prior()

    @classmethod
    def from_mean_strength(cls, mean: float, strength: float) -> Self:
        """Return the model that expects the rate `mean` as if after `strength` rows: a = mean · strength.

        Examples
        --------
        >>> PoissonModel.from_mean_strength(3.0, 2.0).prior
        Gamma(shape=array(6.), rate=array(2.))
        """
        expected, strength = one_number("mean", mean), check_strength(strength)
        check_positive("mean", expected)
        return cls(prior=Gamma(shape=expected * strength, rate=strength))

    def likelihood(self, parameter: Any) -> Poisson:
        return Poisson(rate=parameter)

    def _summarize(self, X: Any, weights: Any) -> CountTotals:
        """See `ConjugateModel.summarize`: counts, (n,), with their log factorials."""
        X = as_counts(X)
        return CountTotals.of(namespace_of(X).reshape(X, (-1, 1)), weights, -factorial_rest(X))

    def predictive(self) -> NegativeBinomial:
        return NegativeBinomial(shape=self.prior.shape, mean=self.prior.mean)

    def maximum_likelihood(self, statistic: CountTotals | Totals) -> Array:
        return self._added(statistic)[0] / some_weight(statistic)

    def _hyperparameters(self) -> Array:
        return namespace_of(self.prior.shape).stack([self.prior.shape, self.prior.rate])

    def _with_hyperparameters(self, eta: Array) -> Self:
        return self._with_prior(Gamma(shape=eta[0], rate=eta[1]))

    def _added(self, statistic: CountTotals | Totals) -> Array:
        check_statistic(statistic, CountTotals, Totals)
        check_columns(statistic, 1)
        xp = namespace_of(statistic.total)
        return xp.stack([xp.reshape(statistic.total, ()), statistic.weight])

    def _log_base(self, statistic: CountTotals) -> Any:
        check_statistic(statistic, CountTotals)
        return statistic.log_base

    _increment = staticmethod(gamma_increment_from_best)
    _gradient = staticmethod(gamma_gradient)
    _hessian = staticmethod(gamma_hessian)
