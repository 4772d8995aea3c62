"""What a fitted mixture says of rows: their components, their density, and new ones."""

from typing import Any

import numpy as np

from tractable.base import check_columns

__all__ = ["MixtureAnswers"]


class MixtureAnswers:
    """`predict`, `predict_proba`, `score_samples` and `sample` of a model whose density is a mixture."""

    _density: Any

    def predict(self, X: Any) -> np.ndarray:
        """Return the component that most likely made each row, argmax_k p(k | x).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of int, shape (n_samples,)
        """
        return np.argmax(self.predict_proba(X), axis=1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the responsibilities p(k | x) = π_k p_k(x) / Σ_j π_j p_j(x) of each row.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        return self._density().responsibilities(self._events(X))

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log density of each row; missing entries (NaN) are marginalised where the model can.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._density().log_prob(self._events(X))

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> Any:
        """Draw new rows and the components they come from.

        Parameters
        ----------
        n_samples : int
        random_state : None, int, RandomState or Generator

        Returns
        -------
        X : array of shape (n_samples, n_features)
        labels : array of int, shape (n_samples,)
        """
        return self._density().sample_labelled(n_samples, rng=random_state)

    def _events(self, X: Any) -> Any:
        """Return checked rows as events of `distribution_`."""
        self._density()
        return check_columns(self, X)
