"""Naive Bayes of counts that share a row's total."""

from typing import Any

import numpy as np

from tractable.classification.discrete_nb import DiscreteNB
from tractable.classification.naive_bayes_model import statistics_of_classes

__all__ = ["MultinomialNB"]


class MultinomialNB(DiscreteNB):
    """p(C_k | x) ∝ p(C_k) Π_j θ_kj^x_j: counts, such as those of words, of which θ_k are the shares.

    θ_kj = (Σ x_j + α) / (Σ_i Σ x_i + α D), summed over the rows of a class. The total of a row is taken to be
    Poisson with the same mean λ in all classes, so that it says nothing of the class; then the columns are
    independent, Poisson with rates λ θ_kj, which is the distribution that rows are drawn from and a missing
    entry drops out of exactly. Counts may be fractions, as weighted words are; their densities are then those
    of the same formula. Where entries are missing in learning, θ_k is the mode of a posterior in which every
    class has a λ of its own, so that totals say nothing of shares: in proportion to the average counts of the
    rows in which a column was observed, but for α. A column that a class never shows has the share that it
    has in all classes together.

    Parameters
    ----------
    alpha : float
        Pseudocounts of each column.
    fit_prior : bool
        Whether p(C_k) are the shares of the classes; otherwise they are equal.
    class_prior : array of shape (n_classes,), optional
        p(C_k).

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_count_, class_prior_, class_log_prior_ : arrays of shape (n_classes,)
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
        Σ x_j and log θ_kj.
    class_distributions_, distribution_
        As of :class:`tractable.NaiveBayes`.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X, y = np.array([[3, 0, 1], [2, 1, 0], [0, 4, 1], [1, 3, 2]]), np.array([0, 0, 1, 1])
    >>> model = tractable.MultinomialNB().fit(X, y)
    >>> np.exp(model.feature_log_prob_), model.predict_proba([[1, 1, 0]]).round(3)
    (array([[0.6       , 0.2       , 0.2       ],
           [0.14285714, 0.57142857, 0.28571429]]), array([[0.595, 0.405]]))
    """

    _usual_kind = "poisson"

    def __init__(self, *, alpha: float = 1.0, fit_prior: bool = True, class_prior: Any = None) -> None:
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        found.input_tags.positive_only = True
        return found

    @property
    def feature_count_(self) -> np.ndarray:
        """Counts of each column, class by class."""
        found = statistics_of_classes(self.statistic_, self.classes_)
        nothing = np.zeros(self.n_features_in_)
        return np.stack(
            [nothing if part is None else part.parts[0].weight * part.parts[0].mean for part in found]
        )

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """Log shares of the columns, class by class."""
        rates = self.fitted_columns_.rate
        with np.errstate(divide="ignore"):
            return np.log(rates / rates.sum(axis=1, keepdims=True))

    def _told(self) -> Any:
        return "multinomial"
