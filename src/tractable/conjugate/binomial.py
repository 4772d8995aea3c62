"""Numbers of successes in n trials: belief about the probability of one."""

from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.conjugate.beta_belief import BetaBelief
from tractable.conjugate.checks import as_counts, check_columns, check_n_trials, check_statistic, some_weight
from tractable.conjugate.count_totals import CountTotals, log_best_shares
from tractable.conjugate.rises import shares_rise_from_best
from tractable.distributions.beta import Beta
from tractable.distributions.beta_binomial import BetaBinomial
from tractable.distributions.binomial import Binomial
from tractable.statistics.counts import Totals
from tractable.value import value

__all__ = ["BinomialModel"]


@value
class BinomialModel(BetaBelief):
    """x ~ Binomial(n, p) with n known and p ~ Beta(α, β).

    A row is the number of successes in n trials, and the evidence is that of these numbers: it counts the
    orders C(n, x) in which they come about. The next row is beta-binomial.

    Parameters
    ----------
    prior : Beta
    n_trials : int
        Trials in every row.

    Examples
    --------
    >>> from tractable.distributions import Beta
    >>> model = BinomialModel(prior=Beta(alpha=1.0, beta=1.0), n_trials=10)
    >>> after = model.update_rows([7, 8])
    >>> after.prior
    Beta(alpha=array(16.), beta=array(6.))
    >>> model.predictive().prob([0, 5, 10]).round(4)
    array([0.0909, 0.0909, 0.0909])
    """

    prior: Beta
    n_trials: int

    def __post_init__(self) -> None:
        self._check_prior()
        object.__setattr__(self, "n_trials", check_n_trials(self.n_trials))

    def likelihood(self, parameter: Any) -> Binomial:
        """See `ConjugateModel.likelihood`."""
        return Binomial(n_trials=self.n_trials, probability=parameter)

    def _summarize(self, X: Any, weights: Any) -> CountTotals:
        """See `ConjugateModel.summarize`: numbers of successes, (n,), with the orders they come in."""
        X = as_counts(X, self.n_trials)
        X = namespace_of(X).stack([X, self.n_trials - X], axis=1)
        return CountTotals.of(X, weights, log_best_shares(X))

    def predictive(self) -> BetaBinomial:
        """See `ConjugateModel.predictive`."""
        return BetaBinomial(n_trials=self.n_trials, alpha=self.prior.alpha, beta=self.prior.beta)

    def maximum_likelihood(self, statistic: CountTotals | Totals) -> Array:
        """See `ConjugateModel.maximum_likelihood`: the share of successes in all trials."""
        return self._gain(statistic)[0] / (self.n_trials * some_weight(statistic))

    def _gain(self, statistic: CountTotals | Totals) -> Array:
        check_statistic(statistic, CountTotals, Totals)
        if isinstance(statistic, CountTotals):
            check_columns(statistic, 2)
            return statistic.total
        check_columns(statistic, 1)
        xp = namespace_of(statistic.total)
        total = xp.reshape(statistic.total, ())
        return xp.stack([total, self.n_trials * statistic.weight - total])

    def _log_base(self, statistic: CountTotals) -> Any:
        check_statistic(statistic, CountTotals)
        return statistic.log_base

    @staticmethod
    def _rise(symbols: Array, gain: Array) -> Array:
        return shares_rise_from_best(symbols, gain)
