"""Models of p(y given x): the predictive distribution and its summaries, spelled the same everywhere."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array

__all__ = ["PredictiveMixin"]


class PredictiveMixin:
    """`predict`, `predict_var`, `predict_interval` and `predict_quantiles` from `predict_dist`.

    A model supplies ``predict_dist(X, include_noise=True)``: a distribution with one batch entry a row (and a
    second batch axis for several targets).
    """

    def predict_dist(self, X: Any, *, include_noise: bool = True) -> Any:
        """Return the predictive distribution of the target, as an object."""
        raise NotImplementedError(f"{type(self).__name__} must give a predictive distribution")

    def predict(self, X: Any, return_std: bool = False, *, include_noise: bool = True) -> Any:
        """Return the mean of the predictive distribution, and on request its standard deviation.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        return_std : bool
        include_noise : bool
            Whether the spread is that of a new observation (default) or of the noiseless function.

        Returns
        -------
        array of shape (n_samples,), or two of them
        """
        dist = self.predict_dist(X, include_noise=include_noise)
        return (dist.mean, dist.stddev) if return_std else dist.mean

    def predict_var(self, X: Any, *, include_noise: bool = True) -> Array:
        """Return the variance of the predictive distribution.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        include_noise : bool

        Returns
        -------
        array of shape (n_samples,)
        """
        return self.predict_dist(X, include_noise=include_noise).variance

    def predict_interval(self, X: Any, coverage: float = 0.9, *, include_noise: bool = True) -> np.ndarray:
        """Return the equal-tailed interval that holds the target with the given probability.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        coverage : float
        include_noise : bool

        Returns
        -------
        array of shape (n_samples, 2)
            With one more axis before the last for several targets.
        """
        if not 0.0 < coverage < 1.0:
            raise ValueError(f"coverage must be between 0 and 1, got {coverage!r}")
        tail = 0.5 * (1.0 - coverage)
        return self.predict_quantiles(X, [tail, 1.0 - tail], include_noise=include_noise)

    def predict_quantiles(
        self, X: Any, alpha: Any = (0.05, 0.95), *, include_noise: bool = True
    ) -> np.ndarray:
        """Return quantiles of the predictive distribution.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        alpha : array of probabilities
        include_noise : bool

        Returns
        -------
        array of shape (n_samples, len(alpha))
            With one more axis before the last for several targets.
        """
        levels = np.atleast_1d(np.asarray(alpha, dtype=float))
        if levels.ndim != 1 or not np.all((levels > 0.0) & (levels < 1.0)):
            raise ValueError(f"alpha must be probabilities between 0 and 1, got {alpha!r}")
        dist = self.predict_dist(X, include_noise=include_noise)
        return np.stack([dist.icdf(level) for level in levels], axis=-1)
