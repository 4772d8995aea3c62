"""Counts with a conjugate prior: Bernoulli, binomial, categorical, multinomial and Poisson likelihoods."""

from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.saddle_point import count_deviance, factorial_rest
from tractable.conjugate.checks import (
    as_counts,
    check_columns,
    check_statistic,
    check_strength,
    check_whole_number,
    one_number,
    some_weight,
)
from tractable.conjugate.increments import (
    dirichlet_gradient,
    dirichlet_hessian,
    dirichlet_increment,
    dirichlet_increment_from_best,
    gamma_gradient,
    gamma_hessian,
    gamma_increment_from_best,
)
from tractable.conjugate.model import AdditiveModel
from tractable.distributions.dirichlet import Beta, Dirichlet
from tractable.distributions.discrete.binomial import Bernoulli, Binomial
from tractable.distributions.discrete.categorical import Categorical, Multinomial
from tractable.distributions.discrete.dirichlet_multinomial import BetaBinomial, DirichletMultinomial
from tractable.distributions.discrete.poisson import NegativeBinomial, Poisson
from tractable.distributions.distribution import Distribution
from tractable.distributions.gamma import Gamma
from tractable.statistics.counts import Counts, Totals
from tractable.statistics.rows import Statistic, as_weights, as_whole_numbers, counts, or_one
from tractable.value import set_fields, value


@value
class CountTotals(Statistic):
    """Weight and sums of rows of counts, with the log probability of the rows at their most probable.

    A posterior needs the totals alone; the probability of the rows needs also how many orders of single
    events make each row, such as n! / (x! (n - x)!) for a binomial. Both that number and the probability of
    one order are extreme where counts are large; their product is stored. With
    D(x, m) = Σ_k x_k log(x_k / m_k) + m_k - x_k the log probability of rows given their expected counts m is
    Σ w log p(x | x) - Σ w D(x, x̄) - W D(x̄, m), a sum of negative terms.
    """

    _extensive: ClassVar = ("totals", "log_base")

    totals: Totals  # of every category: of a binomial, successes and failures
    #: Σ w (log p(x | x) - D(x, x̄)): the log likelihood of the rows at the maximum-likelihood mean x̄, from
    #: that of each row at its own mean, p(x | x), and its deviance D.
    log_base: Any

    @classmethod
    def of(cls, X: Array, weights: Any, log_best: Array) -> "CountTotals":
        """Summarise a block of counts (n, K), given log p(x | x) of each row."""
        xp = namespace_of(X)
        one = counts(as_weights(weights, X), X)
        totals = Totals.of(X, weights)
        each = log_best - xp.sum(count_deviance(X, _mean(totals)), axis=1)
        # The distance of a row of weight zero from the mean may be infinite.
        return cls(totals=totals, log_base=xp.sum(one * xp.where(one > 0.0, each, 0.0 * one)))

    @property
    def weight(self) -> Any:
        """Weight of the rows."""
        return self.totals.weight

    @property
    def total(self) -> Array:
        """Weighted sum of each column."""
        return self.totals.total

    @property
    def dim(self) -> int:
        """Number of columns."""
        return self.totals.dim

    def _merged(self, other: "CountTotals") -> "CountTotals":
        """Merge: sums add up, and each part is as much less probable as its mean is from the common one."""
        totals = self.totals + other.totals
        parts = [part.log_base - part.weight * _distance(part.totals, totals) for part in (self, other)]
        return CountTotals(totals=totals, log_base=parts[0] + parts[1])


def _mean(totals: Totals) -> Array:
    """Return the mean of each column, and zeros where there are no rows."""
    return totals.total / or_one(totals.weight, namespace_of(totals.total))


def _distance(part: Totals, whole: Totals) -> Array:
    """Return D of the mean of a part from the mean of all."""
    return namespace_of(part.total).sum(count_deviance(_mean(part), _mean(whole)))


class CountModel(AdditiveModel):
    """A model of counts, whose prior is worth a number of rows or trials: its strength."""

    @classmethod
    def from_mean_strength(cls, mean: Any, strength: float, **known: Any) -> Self:
        """Return the model that expects the parameter `mean` as if after `strength` observations.

        Parameters
        ----------
        mean : float or array (K,)
            Expected probability, probabilities (all positive) or rate.
        strength : float
            α + β or Σ α, so that α = strength · mean; b of a Gamma prior, whose shape is strength · mean.
        **known
            What else the model takes.
        """
        family: Any = cls.prior_families[0]
        mean = mean if family is Dirichlet else one_number("mean", mean)
        prior = family.from_mean_strength(mean, check_strength(strength))
        return cls(prior=prior, **known)  # type: ignore[call-arg]


class UnorderedCountModel(CountModel):
    """A model of rows of counts, the evidence of which includes the orders in which they come about."""

    def _log_base(self, statistic: CountTotals) -> Any:
        check_statistic(statistic, CountTotals)
        return statistic.log_base


class TrialsModel(UnorderedCountModel):
    """A model of the counts of categories in a known number of trials in every row."""

    n_trials: int

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, n_trials=check_whole_number("n_trials", self.n_trials))

    def _of_categories(self, X: Array, weights: Any) -> CountTotals:
        """Summarise counts (n, K), log p(x | x) = log n! / Π x_k! Π (x_k / n)^x_k."""
        xp = namespace_of(X)
        log_best = factorial_rest(xp.sum(X, axis=1)) - xp.sum(factorial_rest(X), axis=1)
        return CountTotals.of(X, weights, log_best)

    _increment = staticmethod(dirichlet_increment_from_best)


class BetaModel(CountModel):
    """A model whose unknown is a probability: α counts successes, β failures."""

    unknown: ClassVar[str] = "probability"
    prior_families: ClassVar[tuple[type[Distribution], ...]] = (Beta,)

    def mode(self) -> Array:
        """Return (α - 1) / (α + β - 2) inside (0, 1), or the end at which the density is greatest.

        A ValueError where no single point is: Beta(1, 1) is flat, and with α < 1 and β < 1 the density grows
        without bound towards both ends.
        """
        a, b = float(self.prior.alpha), float(self.prior.beta)
        if max(a, b) < 1.0 or a == b == 1.0:
            raise ValueError(f"the prior has no single mode: Beta({a:g}, {b:g})")
        return self.prior.mode

    def _hyperparameters(self) -> Array:
        return namespace_of(self.prior.alpha).stack([self.prior.alpha, self.prior.beta])

    def _with_hyperparameters(self, eta: Array) -> Self:
        return self._with_prior(Beta(alpha=eta[0], beta=eta[1]))

    _increment = staticmethod(dirichlet_increment)
    _gradient = staticmethod(dirichlet_gradient)
    _hessian = staticmethod(dirichlet_hessian)


@value
class BernoulliModel(BetaModel):
    """Bernoulli likelihood with a Beta prior of the probability.

    x ~ Bernoulli(p) with p ~ Beta(α, β).

    After s successes in n trials the posterior is Beta(α + s, β + n - s), and the next trial succeeds with
    probability (α + s) / (α + β + n). The evidence B(α + s, β + n - s) / B(α, β) is that of the successes and
    failures in their order.

    Parameters
    ----------
    prior : Beta
        Distribution of the probability of a one.

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


@value
class BinomialModel(TrialsModel, BetaModel):
    """Binomial likelihood, with known n, and a Beta prior of the probability.

    x ~ Binomial(n, p) with n known and p ~ Beta(α, β).

    A row is the number of successes in n trials, and the evidence is that of these numbers: it counts the
    orders C(n, x) in which they come about. The next row is beta-binomial.

    Parameters
    ----------
    prior : Beta
        Distribution of the probability of a success.
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

    def likelihood(self, parameter: Any) -> Binomial:
        return Binomial(n_trials=self.n_trials, probability=parameter)

    def _summarize(self, X: Any, weights: Any) -> CountTotals:
        X = as_counts(X, self.n_trials)
        return self._of_categories(namespace_of(X).stack([X, self.n_trials - X], axis=1), weights)

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


class DirichletModel(CountModel):
    """A model whose unknowns are the probabilities of K categories: α counts each of them."""

    unknown: ClassVar[str] = "probabilities"
    prior_families: ClassVar[tuple[type[Distribution], ...]] = (Dirichlet,)

    @classmethod
    def from_pseudocounts(cls, pseudocounts: Any, **known: Any) -> Self:
        """Return the model that has seen category k already c_k times: α = c.

        Its expected and predictive probabilities after n rows are (n_k + c_k) / (n + Σ c), smoothed relative
        frequencies. They are also the MAP estimate under Dirichlet(c + 1).
        """
        return cls(prior=Dirichlet(concentration=pseudocounts), **known)  # type: ignore[call-arg]

    @classmethod
    def laplace(cls, n_classes: int, **known: Any) -> Self:
        """Return the model with one pseudocount each, Laplace's rule of succession: (n_k + 1) / (n + K)."""
        return cls.from_pseudocounts(np.ones(check_whole_number("n_classes", n_classes)), **known)

    @property
    def n_classes(self) -> int:
        """Number of categories K."""
        return int(self.prior.concentration.shape[-1])

    def mode(self) -> Array:
        """Return (α_k - 1) / Σ (α_j - 1); categories with α_k ≤ 1 get none, a point on the boundary.

        Where some α_k < 1 the density grows without bound towards p_k = 0, and the mode is the limit of the
        maxima a little inside. A ValueError where no single point is greatest: no α_k above 1, unless one
        alone is 1 and the others are below.
        """
        alpha = self.prior.concentration
        xp = namespace_of(alpha)
        if not bool(xp.any(alpha > 1.0)) and int(xp.count_nonzero(alpha == 1.0)) != 1:
            raise ValueError("the prior has no single mode: no concentration is above 1")
        return self.prior.mode

    def _hyperparameters(self) -> Array:
        return self.prior.concentration

    def _with_hyperparameters(self, eta: Array) -> Self:
        return self._with_prior(Dirichlet(concentration=eta))

    _increment = staticmethod(dirichlet_increment)
    _gradient = staticmethod(dirichlet_gradient)
    _hessian = staticmethod(dirichlet_hessian)


@value
class CategoricalModel(DirichletModel):
    """Categorical likelihood with a Dirichlet prior of the probabilities.

    x ~ Categorical(p) with p ~ Dirichlet(α).

    After counts n the posterior is Dirichlet(α + n), and the next label is k with probability
    (α_k + n_k) / Σ (α + n): pseudocounts added to counts. The evidence is that of the labels in their order.

    Parameters
    ----------
    prior : Dirichlet
        Distribution of the probabilities of the categories.

    Examples
    --------
    A die that has not shown its second face yet, with Laplace's pseudocounts:

    >>> die = CategoricalModel.laplace(6)
    >>> faces = [0, 2, 4, 3, 3, 5]
    >>> die.update_rows(faces).predictive().probabilities.round(4)
    array([0.1667, 0.0833, 0.1667, 0.25  , 0.1667, 0.1667])
    """

    prior: Dirichlet

    def likelihood(self, parameter: Any) -> Categorical:
        return Categorical(probabilities=parameter)

    def _summarize(self, X: Any, weights: Any) -> Counts:
        return Counts.of(as_counts(X, self.n_classes - 1), weights, n_classes=self.n_classes)

    def predictive(self) -> Categorical:
        return Categorical(probabilities=self.prior.mean)

    def maximum_likelihood(self, statistic: Counts) -> Array:
        return self._added(statistic) / some_weight(statistic)

    def _added(self, statistic: Counts) -> Array:
        check_statistic(statistic, Counts)
        counts = statistic.padded(self.n_classes).counts
        if tuple(counts.shape) != (self.n_classes,):
            raise ValueError(f"statistic must count {self.n_classes} categories, got shape {counts.shape}")
        return counts


@value
class MultinomialModel(TrialsModel, DirichletModel):
    """Multinomial likelihood, with known n, and a Dirichlet prior of the probabilities.

    x ~ Multinomial(n, p) with n known and p ~ Dirichlet(α).

    A row holds the counts of K categories, n together, and the evidence is that of the counts: it includes
    the orders n! / Π x_k! in which they come about. The next row is Dirichlet-multinomial.

    Parameters
    ----------
    prior : Dirichlet
        Distribution of the probabilities of the categories.
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

    def likelihood(self, parameter: Any) -> Multinomial:
        return Multinomial(n_trials=self.n_trials, probabilities=parameter)

    def _summarize(self, X: Any, weights: Any) -> CountTotals:
        X = as_whole_numbers(X)
        xp = namespace_of(X)
        fits = X.ndim == 2 and X.shape[1] == self.n_classes
        if not fits or not bool(xp.all(xp.sum(X, axis=1) == self.n_trials)):
            raise ValueError(
                f"X must have shape (n, {self.n_classes}) and rows that add up to n_trials={self.n_trials}"
            )
        return self._of_categories(X, weights)

    def predictive(self) -> DirichletMultinomial:
        return DirichletMultinomial(n_trials=self.n_trials, concentration=self.prior.concentration)

    def maximum_likelihood(self, statistic: CountTotals | Totals) -> Array:
        return self._added(statistic) / (self.n_trials * some_weight(statistic))

    def _added(self, statistic: CountTotals | Totals) -> Array:
        check_statistic(statistic, CountTotals, Totals)
        check_columns(statistic, self.n_classes)
        return statistic.total


@value
class PoissonModel(UnorderedCountModel):
    """Poisson likelihood with a Gamma prior of the rate.

    x ~ Poisson(λ) with λ ~ Gamma(shape a, rate b).

    After n rows with sum s the posterior is Gamma(a + s, b + n): a counts events, b rows. The next row is
    negative binomial, with mean a / b and variance (a / b) (1 + 1 / b). The evidence is that of the counts.
    The mode is (a - 1) / b, and 0 for a ≤ 1.

    Parameters
    ----------
    prior : Gamma
        Distribution of the rate.

    Examples
    --------
    >>> from tractable.distributions import Gamma
    >>> model = PoissonModel(prior=Gamma(shape=2.0, rate=1.0)).update_rows([3, 5, 1])
    >>> model.prior
    Gamma(shape=array(11.), rate=array(4.))
    >>> float(model.predictive().mean), float(model.predictive().variance), float(model.mode())
    (2.75, 3.4375, 2.5)
    >>> PoissonModel.from_mean_strength(3.0, 2.0).prior
    Gamma(shape=array(6.), rate=array(2.))
    """

    unknown: ClassVar[str] = "rate"
    prior_families: ClassVar[tuple[type[Distribution], ...]] = (Gamma,)

    prior: Gamma

    def likelihood(self, parameter: Any) -> Poisson:
        return Poisson(rate=parameter)

    def _summarize(self, X: Any, weights: Any) -> CountTotals:
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

    _increment = staticmethod(gamma_increment_from_best)
    _gradient = staticmethod(gamma_gradient)
    _hessian = staticmethod(gamma_hessian)
