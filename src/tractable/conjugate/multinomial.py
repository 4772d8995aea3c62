"""Categorical and multinomial likelihoods with a Dirichlet prior of the probabilities."""

from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.conjugate.checks import (
    as_counts,
    check_columns,
    check_statistic,
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
from tractable.distributions.dirichlet import Dirichlet
from tractable.distributions.discrete.categorical import Categorical
from tractable.distributions.discrete.dirichlet_multinomial import DirichletMultinomial
from tractable.distributions.discrete.multinomial import Multinomial
from tractable.distributions.distribution import Distribution
from tractable.statistics.counts import Counts, Totals
from tractable.statistics.rows import as_whole_numbers
from tractable.value import value

__all__ = ["CategoricalModel", "DirichletModel", "MultinomialModel"]


class DirichletModel(AdditiveModel):
    """A model whose unknowns are the probabilities of K categories: α counts each of them."""

    unknown: ClassVar[str] = "probabilities"
    prior_families: ClassVar[tuple[type[Distribution], ...]] = (Dirichlet,)

    @classmethod
    def from_mean_strength(cls, mean: Any, strength: float, **known: Any) -> Self:
        """Return the model that expects the probabilities `mean` as if after `strength` rows, α = strength m.

        Parameters
        ----------
        mean : array (K,)
            Expected probabilities, all positive.
        strength : float
            Σ α.
        **known
            What else the model takes.
        """
        return cls(prior=Dirichlet.from_mean_strength(mean, strength), **known)  # type: ignore[call-arg]

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
        excess = xp.where(alpha > 1.0, alpha - 1.0, xp.zeros_like(alpha))
        if bool(xp.any(excess > 0.0)):
            return excess / xp.sum(excess)
        flat = xp.astype(alpha == 1.0, alpha.dtype)
        if float(xp.sum(flat)) != 1.0:
            raise ValueError("the prior has no single mode: no concentration is above 1")
        return flat

    def _hyperparameters(self) -> Array:
        return self.prior.concentration

    def _with_hyperparameters(self, eta: Array) -> Self:
        return self._with_prior(Dirichlet(concentration=eta))

    _increment = staticmethod(dirichlet_increment)
    _gradient = staticmethod(dirichlet_gradient)
    _hessian = staticmethod(dirichlet_hessian)


@value
class CategoricalModel(DirichletModel):
    """x ~ Categorical(p) with p ~ Dirichlet(α).

    After counts n the posterior is Dirichlet(α + n), and the next label is k with probability
    (α_k + n_k) / Σ (α + n): pseudocounts added to counts. The evidence is that of the labels in their order.

    Parameters
    ----------
    prior : Dirichlet

    Examples
    --------
    A die that has not shown its second face yet, with Laplace's pseudocounts:

    >>> die = CategoricalModel.laplace(6)
    >>> faces = [0, 2, 4, 3, 3, 5]
    >>> die.update_rows(faces).predictive().probabilities.round(4)
    array([0.1667, 0.0833, 0.1667, 0.25  , 0.1667, 0.1667])
    """

    prior: Dirichlet

    def __post_init__(self) -> None:
        self._check_prior()

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

    def _log_base(self, statistic: Counts) -> float:
        return 0.0


@value
class MultinomialModel(DirichletModel):
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
        object.__setattr__(self, "n_trials", check_whole_number("n_trials", self.n_trials))

    def likelihood(self, parameter: Any) -> Multinomial:
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
        return CountTotals.of(X, weights, log_best_probability(X))

    def predictive(self) -> DirichletMultinomial:
        return DirichletMultinomial(n_trials=self.n_trials, concentration=self.prior.concentration)

    def maximum_likelihood(self, statistic: CountTotals | Totals) -> Array:
        return self._added(statistic) / (self.n_trials * some_weight(statistic))

    def _added(self, statistic: CountTotals | Totals) -> Array:
        check_statistic(statistic, CountTotals, Totals)
        check_columns(statistic, self.n_classes)
        return statistic.total

    def _log_base(self, statistic: CountTotals) -> Any:
        check_statistic(statistic, CountTotals)
        return statistic.log_base

    _increment = staticmethod(dirichlet_increment_from_best)
