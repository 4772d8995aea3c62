"""Naive Bayes of categories."""

from typing import Any

import numpy as np

from tractable.base import check_choice, check_numbers
from tractable.classification.discrete_nb import DiscreteNB
from tractable.classification.naive_bayes_estimation import Estimation
from tractable.classification.naive_bayes_model import statistics_of_classes
from tractable.value import replace

__all__ = ["CategoricalNB"]


class CategoricalNB(DiscreteNB):
    """p(C_k | x) ∝ p(C_k) Π_j θ_kj(x_j): independent categories.

    θ_kjc = (n_kjc + α) / (n_kj + α C_j): relative frequencies, smoothed as if every category had been seen α
    times more in every class. Missing entries drop out exactly.

    Parameters
    ----------
    alpha : float
        Pseudocounts. 0 is maximum likelihood, under which one category that a class has not shown vetoes it.
    fit_prior : bool
        Whether p(C_k) are the shares of the classes; otherwise they are equal.
    class_prior : array of shape (n_classes,), optional
        p(C_k).
    min_categories : int or array of shape (n_features,), optional
        Categories that a column of codes has at least; as many as were seen by default.
    unseen : {"smooth", "error", "missing"}
        What becomes of a category that a column did not have in learning: α / (n_kj + α (C_j + 1)), as if it
        had been declared; a refusal; or nothing is said of it, with a warning. Each is scored as if it alone
        had been declared: with it the probabilities of a column add up to more than one.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_count_, class_prior_, class_log_prior_ : arrays of shape (n_classes,)
    category_count_, feature_log_prob_ : lists of arrays of shape (n_classes, n_categories)
        For each column, n_kjc and log θ_kjc.
    n_categories_ : array of shape (n_features,)
    class_distributions_, distribution_
        As of :class:`tractable.NaiveBayes`.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    Examples
    --------
    >>> import pandas as pd, tractable
    >>> X = pd.DataFrame({"sky": ["sun", "rain", "rain", "sun"], "wind": ["no", "yes", "yes", "yes"]})
    >>> model = tractable.CategoricalNB().fit(X, ["walk", "stay", "stay", "walk"])
    >>> model.predict_proba(pd.DataFrame({"sky": ["sun", "hail"], "wind": ["no", None]})).round(3)
    array([[0.143, 0.857],
           [0.5  , 0.5  ]])
    """

    _usual_kind = "categorical"
    _reads_text = True

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
        unseen: str = "smooth",
    ) -> None:
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.unseen = unseen

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        found.input_tags.categorical = True
        found.input_tags.positive_only = True
        found.input_tags.string = True
        return found

    @property
    def category_count_(self) -> list[np.ndarray]:
        """How often each category was seen, class by class, a column each."""
        found = statistics_of_classes(self.statistic_, self.classes_)
        counts = []
        for j, n in enumerate(self.n_categories_):
            count = np.zeros((len(self.classes_), n))
            for k, part in enumerate(found):
                if part is not None:
                    own = part.parts[0].counts[j][:n]
                    count[k, : len(own)] = own
            counts.append(count)
        return counts

    @property
    def feature_log_prob_(self) -> list[np.ndarray]:
        """Log shares of the categories, class by class, a column each."""
        with np.errstate(divide="ignore"):
            return [np.log(part.probabilities) for part in self._shares()]

    @property
    def n_categories_(self) -> np.ndarray:
        """How many categories each column has."""
        return np.array([part.probabilities.shape[-1] for part in self._shares()])

    def _shares(self) -> Any:
        return self.fitted_columns_.parts

    def _told(self) -> Any:
        return "categorical"

    def _unseen(self) -> str:
        return self.unseen

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.min_categories is not None:
            check_numbers("min_categories", np.atleast_1d(self.min_categories).tolist())
        check_choice("unseen", self.unseen, ("smooth", "error", "missing"))

    def _estimation(self) -> Estimation:
        return replace(super()._estimation(), min_categories=self.min_categories)
