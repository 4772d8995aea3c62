"""The squared error of a model decomposed into squared bias, variance and noise."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.distributions import Estimate
from tractable.value import value


@value
class ErrorParts:
    """The parts of an expected squared error, each with its standard error.

    Parameters
    ----------
    bias2 : Estimate
        (f - E[ŷ])², unbiased: what the variance of the mean prediction adds to it is taken off, so that it
        may fall below 0.
    variance : Estimate
        E[(ŷ - E[ŷ])²] over training sets.
    noise : Estimate
        σ², which no model can remove.
    error : Estimate
        The squared error that was measured on fresh targets; the three parts add up to it, within its
        standard error.
    """

    bias2: Estimate
    variance: Estimate
    noise: Estimate
    error: Estimate

    @property
    def total(self) -> Any:
        """Sum of the three parts."""
        return self.bias2.value + self.variance.value + self.noise.value


@value
class BiasVariance:
    """The expected squared error of a model in its parts, at each point and on average.

    Parameters
    ----------
    points : array (n, d)
        Where the model predicts.
    truth : array (n,)
        The function behind the targets there.
    mean_prediction : array (n,)
        The mean prediction over training sets.
    pointwise : ErrorParts
        With arrays (n,).
    average : ErrorParts
        Their means over the points, with numbers.
    n_repeats : int
        Number of training sets.
    """

    points: np.ndarray
    truth: np.ndarray
    mean_prediction: np.ndarray
    pointwise: ErrorParts
    average: ErrorParts
    n_repeats: int


def decompose(
    points: np.ndarray, truth: np.ndarray, predictions: np.ndarray, targets: np.ndarray, noise_variance: float
) -> BiasVariance:
    """Return the parts of the squared error of predictions from many training sets.

    E[(y - ŷ)²] = (f - E[ŷ])² + E[(ŷ - E[ŷ])²] + σ². Standard errors come from the scatter over training
    sets, since the predictions of one training set go wrong together.

    Parameters
    ----------
    points : array (n, d)
        Points of prediction.
    truth : array (n,)
        f at the points.
    predictions : array (r, n)
        ŷ at the points, one line a training set; three or more.
    targets : array (r, n)
        Fresh targets at the points, f + noise, independent of the predictions.
    noise_variance : float
        σ².

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> predictions = 1.5 + 0.1 * rng.standard_normal((4000, 1))
    >>> targets = 1.0 + rng.standard_normal((4000, 1))
    >>> parts = decompose(np.zeros((1, 1)), np.ones(1), predictions, targets, 1.0).average
    >>> round(float(parts.bias2), 2), round(float(parts.variance), 2)
    (0.25, 0.01)
    >>> bool(abs(parts.error.value - parts.total) < 4 * parts.error.standard_error)
    True
    """
    if len(predictions) < 3:
        raise ValueError(f"predictions must come from at least 3 training sets, got {len(predictions)}")
    step = predictions - predictions.mean(axis=0)
    bias = predictions.mean(axis=0) - truth
    shift = len(predictions) / (len(predictions) - 1)  # makes the variance unbiased
    error = (targets - predictions) ** 2

    def parts(across: Callable[[np.ndarray], Any], spread: Any) -> ErrorParts:
        variance = _mean(shift * across(step**2))
        return ErrorParts(
            bias2=Estimate(
                value=across(bias**2) - variance.value / len(step), standard_error=spread(step, bias)
            ),
            variance=variance,
            noise=_known(noise_variance + 0.0 * across(truth)),
            error=_mean(across(error)),
        )

    return BiasVariance(
        points=points,
        truth=truth,
        mean_prediction=predictions.mean(axis=0),
        pointwise=parts(lambda x: x, _bias_error),
        average=parts(lambda x: x.mean(axis=-1), _average_bias_error),
        n_repeats=len(predictions),
    )


def _bias_error(step: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Standard error of each squared bias: 4 b² v + 2 v², with v the variance of the mean prediction."""
    v = step.var(axis=0, ddof=1) / len(step)
    return np.sqrt(4.0 * np.maximum(bias**2 - v, 0.0) * v + 2.0 * v**2)


def _average_bias_error(step: np.ndarray, bias: np.ndarray) -> Any:
    """Return the same for the mean over points: (4 bᵀVb + 2 Tr V²) / n², with V their covariance."""
    r, n = step.shape
    small = step @ step.T if r < n else step.T @ step
    along = np.sum((step @ bias) ** 2) / (r * (r - 1))
    squared = np.sum(small**2) / (r * (r - 1)) ** 2
    return np.sqrt(4.0 * max(along - squared, 0.0) + 2.0 * squared) / n


def _mean(each: np.ndarray) -> Estimate:
    return Estimate(value=each.mean(axis=0), standard_error=each.std(axis=0, ddof=1) / np.sqrt(len(each)))


def _known(x: Any) -> Estimate:
    return Estimate(value=x, standard_error=0.0 * x)
