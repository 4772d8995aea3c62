"""Labels of K categories: belief about their shares."""

from typing import Any

from tractable.arrays.namespace import Array
from tractable.conjugate.checks import as_counts, check_statistic
from tractable.conjugate.dirichlet_belief import DirichletBelief
from tractable.distributions.categorical import Categorical
from tractable.distributions.dirichlet import Dirichlet
from tractable.statistics.counts import Counts
from tractable.value import value

__all__ = ["CategoricalModel"]


@value
class CategoricalModel(DirichletBelief):
    """x ~ Categorical(p) with p ~ Dirichlet(α).

    After counts n the belief is Dirichlet(α + n), and the next label is k with probability
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
        """See `ConjugateModel.likelihood`."""
        return Categorical(probabilities=parameter)

    def _summarize(self, X: Any, weights: Any) -> Counts:
        """See `ConjugateModel.summarize`: counts of labels 0, …, K - 1, X (n,)."""
        return Counts.of(as_counts(X, self.n_classes - 1), weights, n_classes=self.n_classes)

    def predictive(self) -> Categorical:
        """See `ConjugateModel.predictive`."""
        return Categorical(probabilities=self.prior.mean)

    def maximum_likelihood(self, statistic: Counts) -> Array:
        """See `ConjugateModel.maximum_likelihood`: relative frequencies."""
        counts = self._gain(statistic)
        if not float(statistic.weight) > 0.0:
            raise ValueError("statistic must have a weight above 0")
        return counts / statistic.weight

    def _gain(self, statistic: Counts) -> Array:
        check_statistic(statistic, Counts)
        counts = statistic.padded(self.n_classes).counts
        if tuple(counts.shape) != (self.n_classes,):
            raise ValueError(f"statistic must count {self.n_classes} categories, got shape {counts.shape}")
        return counts

    def _log_base(self, statistic: Counts) -> float:
        return 0.0
