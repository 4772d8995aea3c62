"""Classifiers that decide by scores and claim no probabilities."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from tractable.base import check_answerable, check_columns, refuse_foreign

__all__ = ["DiscriminantScores"]


class DiscriminantScores(ClassifierMixin):
    """`predict` and `decision_function` of a model that supplies `_scores(rows)`, one column a class."""

    classes_: np.ndarray

    def _scores(self, rows: np.ndarray) -> np.ndarray:
        raise NotImplementedError(f"{type(self).__name__} must say how it scores classes")

    def _rows(self, X: Any) -> np.ndarray:
        """Return checked rows in double precision."""
        check_answerable(self)
        refuse_foreign(X)
        return np.asarray(check_columns(self, X), dtype=np.float64)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of the largest score of each row; of tied ones the first.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores > 0.0).astype(int)]
        return self.classes_[np.argmax(scores, axis=1)]

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of the classes; of two, that of the second less that of the first.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) for two classes, or (n_samples, n_classes)
        """
        scores = self._scores(self._rows(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores
