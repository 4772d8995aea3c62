"""Models of p(y given x): the predictive distribution and its summaries, spelled the same everywhere."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.base.parameters import check_number


class PredictiveMixin:
    """`predict`, `predict_var`, `predict_interval` and `predict_quantiles` from `predict_dist`.

    A model supplies ``predict_dist(X, include_noise=True)``: a distribution with one batch entry a row (and a
    second batch axis for several targets).
    """

    def predict_dist(self, X: Any, *, include_noise: bool = True) -> Any:
        """Return the predictive distribution of the target, one batch entry a row.

        With `include_noise` (default) of a new observation, without it of the noiseless function.
        """
        raise NotImplementedError(f"{type(self).__name__} must give a predictive distribution")

    def predict(self, X: Any, return_std: bool = False, *, include_noise: bool = True) -> Any:
        """Return the mean of the predictive distribution, and on request its standard deviation.

        A Student-t of one degree of freedom or fewer has no mean: its location stands for it, and the spread
        is infinite.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        return_std : bool
            Whether to return the standard deviation as well.
        include_noise : bool
            Whether the spread is that of a new observation (default) or of the noiseless function.
        """
        dist = self.predict_dist(X, include_noise=include_noise)
        return (_centre(dist), _spread(dist.stddev)) if return_std else _centre(dist)

    def predict_var(self, X: Any, *, include_noise: bool = True) -> Array:
        """Return the variance of the predictive distribution of each row, (n_samples,).

        It is infinite where the tails are too heavy. `include_noise` is as in `predict`.
        """
        return _spread(self.predict_dist(X, include_noise=include_noise).variance)

    def predict_interval(self, X: Any, coverage: float = 0.9, *, include_noise: bool = True) -> np.ndarray:
        """Return the equal-tailed interval that holds the target with probability `coverage`, (n_samples, 2).

        With one more axis before the last for several targets. `include_noise` is as in `predict`.
        """
        check_number("coverage", coverage, above=0.0, below=1.0)
        tail = 0.5 * (1.0 - coverage)
        return self.predict_quantiles(X, [tail, 1.0 - tail], include_noise=include_noise)

    def predict_quantiles(
        self, X: Any, alpha: Any = (0.05, 0.95), *, include_noise: bool = True
    ) -> np.ndarray:
        """Return quantiles of the predictive distribution at probabilities `alpha`, (n_samples, len(alpha)).

        With one more axis before the last for several targets. `include_noise` is as in `predict`.
        """
        try:
            levels = np.atleast_1d(np.asarray(alpha, dtype=float))
        except (TypeError, ValueError):
            levels = np.full(1, np.nan)
        if levels.ndim != 1 or not np.all((levels > 0.0) & (levels < 1.0)):
            raise ValueError(f"alpha must be probabilities between 0 and 1, got {alpha!r}")
        dist = self.predict_dist(X, include_noise=include_noise)
        return np.stack([dist.icdf(level) for level in levels], axis=-1)


def _centre(dist: Any) -> Array:
    """Return the mean, or the mode where the tails are too heavy for a mean."""
    mean = dist.mean
    xp = namespace_of(mean)
    lost = xp.isnan(mean)
    return xp.where(lost, dist.mode, mean) if bool(xp.any(lost)) else mean


def _spread(squares: Array) -> Array:
    """Return a spread, infinite where there is no mean to spread about."""
    xp = namespace_of(squares)
    return xp.where(xp.isnan(squares), xp.full_like(squares, xp.inf), squares)
