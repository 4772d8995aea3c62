"""Criteria that weigh how well a mixture fits against how many numbers it takes."""

from typing import Any

import numpy as np

from tractable.base import check_weights

__all__ = ["CriteriaMixin"]


class CriteriaMixin:
    """`aic`, `bic` and `icl` of a model with `score_samples`, `predict_proba` and `n_parameters_`."""

    n_parameters_: int
    score_samples: Any
    predict_proba: Any
    _events: Any

    def aic(self, X: Any, sample_weight: Any = None) -> float:
        """Return Akaike's criterion, -2 log p(X) + 2 parameters; lower is better.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        return 2.0 * self.n_parameters_ - 2.0 * self._log_likelihood(X, sample_weight)[0]

    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """Return Schwarz's criterion, -2 log p(X) + parameters · log n; lower is better.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        log_likelihood, weight = self._log_likelihood(X, sample_weight)
        return self.n_parameters_ * float(np.log(weight)) - 2.0 * log_likelihood

    def icl(self, X: Any, sample_weight: Any = None) -> float:
        """Return the integrated complete likelihood criterion: BIC + twice the entropy of the labels.

        It asks for components that are apart, where BIC asks for a good density; lower is better (Biernacki,
        Celeux and Govaert 2000).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        shares = self.predict_proba(X)
        entropy = -np.sum(
            np.where(shares > 0, shares * np.log(np.where(shares > 0, shares, 1.0)), 0.0), axis=1
        )
        counts = self._counted(X, sample_weight, entropy)
        return self.bic(X, sample_weight) + 2.0 * float(np.sum(counts * entropy))

    def _log_likelihood(self, X: Any, sample_weight: Any) -> tuple[float, float]:
        log_prob = self.score_samples(X)
        counts = self._counted(X, sample_weight, log_prob)
        return float(np.sum(counts * log_prob)), float(np.sum(counts))

    def _counted(self, X: Any, sample_weight: Any, per_row: np.ndarray) -> np.ndarray:
        """Return how often each row counts; one in which nothing was observed does not."""
        weights = check_weights(sample_weight, per_row[:, None])
        events = np.asarray(self._events(X))
        seen = ~np.all(np.isnan(events), axis=1) if events.dtype.kind == "f" else np.ones(len(events))
        return seen * (1.0 if weights is None else weights)
