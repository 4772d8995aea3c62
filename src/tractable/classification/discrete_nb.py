"""What naive Bayes of counted columns does alike."""

from typing import Any

import numpy as np

from tractable.base import check_number
from tractable.classification.naive_bayes_estimation import Estimation
from tractable.classification.naive_bayes_shell import NaiveBayesShell
from tractable.classification.one_pass import class_priors, log_priors

__all__ = ["DiscreteNB"]


class DiscreteNB(NaiveBayesShell):
    """Naive Bayes with scikit-learn's names of what smooths and of what is known before."""

    alpha: float
    fit_prior: bool
    class_prior: Any

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        found.classifier_tags.poor_score = True  # on the checks' rows, which are no counts
        return found

    @property
    def class_log_prior_(self) -> np.ndarray:
        """Logarithms of p(C_k)."""
        return log_priors(self.class_prior_)

    def _check_parameters(self) -> None:
        check_number("alpha", self.alpha, least=0.0)

    def _estimation(self) -> Estimation:
        return Estimation(pseudocounts=float(self.alpha))

    def _priors(self, counts: np.ndarray, classes: np.ndarray) -> np.ndarray:
        if self.class_prior is None and not self.fit_prior:
            return np.full(len(classes), 1.0 / len(classes))
        return class_priors(self.class_prior, counts, classes, "class_prior")
