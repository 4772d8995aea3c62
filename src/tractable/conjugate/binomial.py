"""Bernoulli and binomial likelihoods with a Beta prior of the probability of success."""

from typing import Any, ClassVar, Self

from tractable.arrays.namespace import Array, namespace_of
from tractable.conjugate.checks import (
    as_counts,
    check_columns,
    check_fraction,
    check_statistic,
    check_strength,
    check_whole_number,
    some_weight,
)
from tractable.conjugate.count_totals import CountTotals, log_best_probability
from tractable.conjugate.increments import (
    dirichlet_gradient,
    dirichlet_hessian,
    dirichlet_increment,
    dirichlet_increment_from_best,
)
from tractable.conjugate.model import AdditiveModel
from tractable.distributions.beta import Beta
from tractable.distributions.discrete.bernoulli import Bernoulli
from tractable.distributions.discrete.binomial import Binomial
from tractable.distributions.discrete.dirichlet_multinomial import BetaBinomial
from tractable.distributions.distribution import Distribution
from tractable.statistics.counts import Totals
from tractable.value import value

__all__ = ["BernoulliModel", "BetaModel", "BinomialModel"]


class BetaModel(AdditiveModel):
    """A model whose unknown is a probability: α counts successes, β failures."""

    unknown: ClassVar[str] = "probability"
    prior_families: ClassVar[tuple[type[Distribution], ...]] = (Beta,)

    @classmethod
    def from_mean_strength(cls, mean: float, strength: float, **known: Any) -> Self:
        """Return the model that expects `mean` as if after `strength` trials: α = mean · strength.

        The mean is α / (α + β); α / β would be the odds.

        Parameters
        ----------
        mean : float
            Expected probability, strictly between 0 and 1.
        strength : float
            α + β.
        **known
            What else the model takes.
        """
        mean, strength = check_fraction("mean", mean), check_strength(strength)
        return cls(prior=Beta(alpha=mean * strength, beta=(1.0 - mean) * strength), **known)  # type: ignore[call-arg]

    def mode(self) -> Array:
        """Return (α - 1) / (α + β - 2) inside (0, 1), or the end at which the density is greatest.

        A ValueError where no single point is: Beta(1, 1) is flat, and with α < 1 and β < 1 the density grows
        without bound towards both ends.
        """
        a, b = float(self.prior.alpha), float(self.prior.beta)
        if max(a, b) < 1.0 or a == b == 1.0:
            raise ValueError(f"the prior has no single mode: Beta({a:g}, {b:g})")
        above, below = max(a - 1.0, 0.0), max(b - 1.0, 0.0)
        top = above / (above + below) if above + below else float(a > b)
        xp = namespace_of(self.prior.alpha)
        return xp.asarray(top, dtype=self.prior.alpha.dtype)

    def _hyperparameters(self) -> Array:
        return namespace_of(self.prior.alpha).stack([self.prior.alpha, self.prior.beta])

    def _with_hyperparameters(self, eta: Array) -> Self:
        return self._with_prior(Beta(alpha=eta[0], beta=eta[1]))

    _increment = staticmethod(dirichlet_increment)
    _gradient = staticmethod(dirichlet_gradient)
    _hessian = staticmethod(dirichlet_hessian)


@value
class BernoulliModel(BetaModel):
    """x ~ Bernoulli(p) with p ~ Beta(α, β).

    After s successes in n trials the posterior is Beta(α + s, β + n - s), and the next trial succeeds with
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
        return Bernoulli(probability=parameter)

    def _summarize(self, X: Any, weights: Any) -> Totals:
        return Totals.of(as_counts(X, 1.0), weights)

    def predictive(self) -> Bernoulli:
        return Bernoulli(probability=self.prior.mean)

    def maximum_likelihood(self, statistic: Totals) -> Array:
        return self._added(statistic)[0] / some_weight(statistic)

    def _added(self, statistic: Totals) -> Array:
        check_statistic(statistic, Totals)
        check_columns(statistic, 1)
        xp = namespace_of(statistic.total)
        total = xp.reshape(statistic.total, ())
        return xp.stack([total, statistic.weight - total])

    def _log_base(self, statistic: Totals) -> float:
        return 0.0


@value
class BinomialModel(BetaModel):
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
        object.__setattr__(self, "n_trials", check_whole_number("n_trials", self.n_trials))

    def likelihood(self, parameter: Any) -> Binomial:
        return Binomial(n_trials=self.n_trials, probability=parameter)

    def _summarize(self, X: Any, weights: Any) -> CountTotals:
        """See `ConjugateModel.summarize`: numbers of successes, (n,), with the orders they come in."""
        X = as_counts(X, self.n_trials)
        X = namespace_of(X).stack([X, self.n_trials - X], axis=1)
        return CountTotals.of(X, weights, log_best_probability(X))

    def predictive(self) -> BetaBinomial:
        return BetaBinomial(n_trials=self.n_trials, alpha=self.prior.alpha, beta=self.prior.beta)

    def maximum_likelihood(self, statistic: CountTotals | Totals) -> Array:
        return self._added(statistic)[0] / (self.n_trials * some_weight(statistic))

    def _added(self, statistic: CountTotals | Totals) -> Array:
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

    _increment = staticmethod(dirichlet_increment_from_best)
