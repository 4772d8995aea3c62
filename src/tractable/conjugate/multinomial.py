"""Counts of K categories in n trials: belief about their shares."""

from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.conjugate.checks import check_columns, check_n_trials, check_statistic, some_weight
from tractable.conjugate.count_totals import CountTotals, log_best_shares
from tractable.conjugate.dirichlet_belief import DirichletBelief
from tractable.conjugate.rises import shares_rise_from_best
from tractable.distributions.dirichlet import Dirichlet
from tractable.distributions.dirichlet_multinomial import DirichletMultinomial
from tractable.distributions.multinomial import Multinomial
from tractable.statistics.counts import Totals
from tractable.statistics.rows import as_whole_numbers
from tractable.value import value

__all__ = ["MultinomialModel"]


@value
class MultinomialModel(DirichletBelief):
    """x ~ Multinomial(n, p) with n known and p ~ Dirichlet(α).

    A row holds the counts of K categories, n together, and the evidence is that of the counts: it includes
    the orders n! / Π x_k! in which they come about. The next row is Dirichlet-multinomial.

    Parameters
    ----------
    prior : Dirichlet
    n_trials : int
        Trials in every row.

    Examples
    --------
    >>> model = MultinomialModel.from_pseudocounts([1.0, 1.0, 2.0], n_trials=5)
    >>> after = model.update_rows([[3, 1, 1], [2, 2, 1]])
    >>> after.mean().round(4)
    array([0.4286, 0.2857, 0.2857])
    >>> after.mode().round(4)
    array([0.4545, 0.2727, 0.2727])
    """

    prior: Dirichlet
    n_trials: int

    def __post_init__(self) -> None:
        self._check_prior()
        object.__setattr__(self, "n_trials", check_n_trials(self.n_trials))

    def likelihood(self, parameter: Any) -> Multinomial:
        """See `ConjugateModel.likelihood`."""
        return Multinomial(n_trials=self.n_trials, probabilities=parameter)

    def _summarize(self, X: Any, weights: Any) -> CountTotals:
        """See `ConjugateModel.summarize`: rows of counts, (n, K), with the orders they come in."""
        X = as_whole_numbers(X)
        xp = namespace_of(X)
        fits = X.ndim == 2 and X.shape[1] == self.n_classes
        if not fits or not bool(xp.all(xp.sum(X, axis=1) == self.n_trials)):
            raise ValueError(
                f"X must have shape (n, {self.n_classes}) and rows that add up to n_trials={self.n_trials}"
            )
        return CountTotals.of(X, weights, log_best_shares(X))

    def predictive(self) -> DirichletMultinomial:
        """See `ConjugateModel.predictive`."""
        return DirichletMultinomial(n_trials=self.n_trials, concentration=self.prior.concentration)

    def maximum_likelihood(self, statistic: CountTotals | Totals) -> Array:
        """See `ConjugateModel.maximum_likelihood`: shares of all trials."""
        return self._gain(statistic) / (self.n_trials * some_weight(statistic))

    def _gain(self, statistic: CountTotals | Totals) -> Array:
        check_statistic(statistic, CountTotals, Totals)
        check_columns(statistic, self.n_classes)
        return statistic.total

    def _log_base(self, statistic: CountTotals) -> Any:
        check_statistic(statistic, CountTotals)
        return statistic.log_base

    @staticmethod
    def _rise(symbols: Array, gain: Array) -> Array:
        return shares_rise_from_best(symbols, gain)
