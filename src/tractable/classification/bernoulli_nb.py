"""Naive Bayes of yes-or-no columns."""

from typing import Any

import numpy as np

from tractable.base import check_number
from tractable.classification.discrete_nb import DiscreteNB
from tractable.classification.naive_bayes_model import statistics_of_classes

__all__ = ["BernoulliNB"]


class BernoulliNB(DiscreteNB):
    """p(C_k | x) ∝ p(C_k) Π_j Bern(x_j | θ_kj): independent zeros and ones; a zero speaks as a one does.

    θ_kj = (n_kj + α) / (n_k + 2α). Missing entries (NaN) drop out exactly.

    Parameters
    ----------
    alpha : float
        Pseudocounts of zeros and of ones.
    binarize : float or None
        Entries above are ones, others zeros; None where they are zeros and ones already.
    fit_prior : bool
        Whether p(C_k) are the shares of the classes; otherwise they are equal.
    class_prior : array of shape (n_classes,), optional
        p(C_k).

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_count_, class_prior_, class_log_prior_ : arrays of shape (n_classes,)
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
        How many ones, and log θ_kj.
    class_distributions_, distribution_
        As of :class:`tractable.NaiveBayes`, of zeros and ones.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X, y = np.array([[1, 0], [1, 1], [0, 0], [0, 1]]), np.array(["in", "in", "out", "out"])
    >>> model = tractable.BernoulliNB().fit(X, y)
    >>> np.exp(model.feature_log_prob_).round(2).tolist(), model.predict_proba([[1, np.nan]])
    ([[0.75, 0.5], [0.25, 0.5]], array([[0.75, 0.25]]))
    """

    _usual_kind = "bernoulli"

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    @property
    def feature_count_(self) -> np.ndarray:
        """How many ones each column has, class by class."""
        found = statistics_of_classes(self.statistic_, self.classes_)
        nothing = np.zeros(self.n_features_in_)
        return np.stack([nothing if p is None else p.parts[0].padded(2).counts[:, 1] for p in found])

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """Log probabilities of ones, class by class."""
        with np.errstate(divide="ignore"):
            return np.log(self.fitted_columns_.probability)

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows and their classes: zeros and ones, or what `binarize` parts where it does not part these.

        Parameters
        ----------
        n_samples : int
        random_state : None, int, RandomState or Generator

        Returns
        -------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        """
        events, labels = super().sample(n_samples, random_state=random_state)
        if self.binarize is None or 0.0 <= self.binarize < 1.0:
            return events, labels
        low = float(self.binarize)
        return np.where(events > 0.5, max(low + 1.0, np.nextafter(low, np.inf)), low), labels

    def _told(self) -> Any:
        return "bernoulli"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.binarize is not None:
            check_number("binarize", self.binarize)

    def _preparation(self) -> str:
        return f"binarize={None if self.binarize is None else float(self.binarize)}"

    def _prepared(self, x: np.ndarray) -> np.ndarray:
        if self.binarize is None:
            return x
        return np.where(np.isnan(x), np.nan, x > self.binarize)
