"""Successes and failures: belief about their probability."""

from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.conjugate.beta_belief import BetaBelief
from tractable.conjugate.checks import as_counts, check_columns, check_statistic, some_weight
from tractable.distributions.bernoulli import Bernoulli
from tractable.distributions.beta import Beta
from tractable.statistics.counts import Totals
from tractable.value import value

__all__ = ["BernoulliModel"]


@value
class BernoulliModel(BetaBelief):
    """x ~ Bernoulli(p) with p ~ Beta(α, β).

    After s successes in n trials the belief is Beta(α + s, β + n - s), and the next trial succeeds with
    probability (α + s) / (α + β + n). The evidence B(α + s, β + n - s) / B(α, β) is that of the successes and
    failures in their order.

    Parameters
    ----------
    prior : Beta

    Examples
    --------
    Three heads in a row: maximum likelihood is sure of the next one.

    >>> from tractable.distributions import Beta
    >>> coin = BernoulliModel(prior=Beta(alpha=2.0, beta=2.0))
    >>> tosses = coin.summarize([1, 1, 1])
    >>> after = coin.update(tosses)
    >>> [float(x) for x in (coin.maximum_likelihood(tosses), after.mode(), after.mean().round(4))]
    [1.0, 0.8, 0.7143]
    """

    prior: Beta

    def __post_init__(self) -> None:
        self._check_prior()

    def likelihood(self, parameter: Any) -> Bernoulli:
        """See `ConjugateModel.likelihood`."""
        return Bernoulli(probability=parameter)

    def _summarize(self, X: Any, weights: Any) -> Totals:
        """See `ConjugateModel.summarize`: how many rows, and how many successes; X of 0 and 1, (n,)."""
        return Totals.of(as_counts(X, 1.0), weights)

    def predictive(self) -> Bernoulli:
        """See `ConjugateModel.predictive`."""
        return Bernoulli(probability=self.prior.mean)

    def maximum_likelihood(self, statistic: Totals) -> Array:
        """See `ConjugateModel.maximum_likelihood`: s / n."""
        return self._gain(statistic)[0] / some_weight(statistic)

    def _gain(self, statistic: Totals) -> Array:
        check_statistic(statistic, Totals)
        check_columns(statistic, 1)
        xp = namespace_of(statistic.total)
        total = xp.reshape(statistic.total, ())
        return xp.stack([total, statistic.weight - total])

    def _log_base(self, statistic: Totals) -> float:
        return 0.0
