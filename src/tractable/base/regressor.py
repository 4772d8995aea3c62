"""Regression: the predictive distribution p(y given x), its summaries, and R²."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import base
from sklearn.utils.metaestimators import available_if

from tractable.arrays.devices import beside, on_host
from tractable.arrays.namespace import Array, is_array_api_obj, is_foreign_array, namespace_of
from tractable.base.by_blocks import by_blocks
from tractable.base.estimator import check_answerable
from tractable.base.parameters import check_number
from tractable.base.scores import SquaredErrors, SquaredErrorsOf, reduced, rows_in_memory
from tractable.base.validation import require_targets
from tractable.data import is_streamed


def _has_distribution(regressor: Any) -> bool:
    return hasattr(regressor, "predict_dist")


class RegressorMixin(base.RegressorMixin):
    """`score`, and from `predict_dist` also `predict`, `predict_var`, `predict_interval` and quantiles.

    A model supplies ``predict_dist(X, include_noise=True)``: a distribution with one batch entry a row (and a
    second batch axis for several targets), with `include_noise` (default) of a new observation, without it of
    the noiseless function. A model without a predictive distribution supplies `predict` alone.
    """

    predict_dist: Callable[..., Any]

    @available_if(_has_distribution)
    @by_blocks
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
        return (_centre(dist), spread(dist.stddev)) if return_std else _centre(dist)

    @available_if(_has_distribution)
    @by_blocks
    def predict_var(self, X: Any, *, include_noise: bool = True) -> Array:
        """Return the variance of the predictive distribution of each row, (n_samples,).

        It is infinite where the tails are too heavy. `include_noise` is as in `predict`.
        """
        return spread(self.predict_dist(X, include_noise=include_noise).variance)

    @available_if(_has_distribution)
    def predict_interval(self, X: Any, coverage: float = 0.9, *, include_noise: bool = True) -> np.ndarray:
        """Return the equal-tailed interval that holds the target with probability `coverage`, (n_samples, 2).

        With one more axis before the last for several targets.

        Parameters
        ----------
        X, include_noise
            As in `predict`.
        coverage : float
            Probability, between 0 and 1.
        """
        check_number("coverage", coverage, above=0.0, below=1.0)
        tail = 0.5 * (1.0 - coverage)
        return self.predict_quantiles(X, [tail, 1.0 - tail], include_noise=include_noise)

    @available_if(_has_distribution)
    @by_blocks
    def predict_quantiles(
        self, X: Any, alpha: Any = (0.05, 0.95), *, include_noise: bool = True
    ) -> np.ndarray:
        """Return quantiles of the predictive distribution at probabilities `alpha`, (n_samples, len(alpha)).

        With one more axis before the last for several targets.

        Parameters
        ----------
        X, include_noise
            As in `predict`.
        alpha : array of probabilities
            Levels of the quantiles, between 0 and 1.
        """
        levels = check_levels(alpha)
        dist = self.predict_dist(X, include_noise=include_noise)
        found = [dist.icdf(level) for level in levels]
        return namespace_of(*found).stack(found, axis=-1)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R² = 1 - Σ w (y - ŷ)² / Σ w (y - ȳ)²; of several targets, the mean of theirs.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,) or (n_samples, n_targets), or column name
            Targets; sources have their own.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        """
        check_answerable(self)
        if is_foreign_array(X):
            require_targets(self, y)
            given = [x if x is None or is_array_api_obj(x) else np.asarray(x) for x in (y, sample_weight)]
            y, sample_weight = beside(given, X)
            return on_host(SquaredErrors.of(y, self.predict(X), sample_weight)).r_squared
        if not is_streamed(X):
            return float(super().score(*rows_in_memory(self, X, y, sample_weight)))
        return reduced(self, X, y, sample_weight, SquaredErrorsOf).r_squared


def check_levels(alpha: Any) -> np.ndarray:
    """Return levels of quantiles, (n,), or refuse what is no probability between 0 and 1."""
    try:
        levels = np.atleast_1d(np.asarray(alpha, dtype=float))
    except (TypeError, ValueError):
        levels = np.full(1, np.nan)
    if levels.ndim != 1 or not np.all((levels > 0.0) & (levels < 1.0)):
        raise ValueError(f"alpha must be probabilities between 0 and 1, got {alpha!r}")
    return levels


def _centre(dist: Any) -> Array:
    """Return the mean of a distribution, or its mode where the mean does not exist."""
    mean = dist.mean
    xp = namespace_of(mean)
    lost = xp.isnan(mean)
    return xp.where(lost, dist.mode, mean) if bool(xp.any(lost)) else mean


def spread(squares: Array) -> Array:
    """Return variances or standard deviations, with infinity in the place of NaN (of no mean)."""
    xp = namespace_of(squares)
    return xp.where(xp.isnan(squares), xp.full_like(squares, xp.inf), squares)
