"""Where the squared error of a model comes from: its bias, its variance, and noise."""

from typing import Any

import numpy as np

from tractable.distributions import Estimate
from tractable.value import value

__all__ = ["BiasVariance", "ErrorParts", "decompose"]


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
        Where the model was asked.
    truth : array (n,)
        The function behind the targets there.
    mean_prediction : array (n,)
        The mean over training sets of what was answered.
    pointwise : ErrorParts
        With arrays (n,).
    average : ErrorParts
        Their means over the points, with numbers.
    n_repeats : int
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

    E[(y - ŷ)²] = (f - E[ŷ])² + E[(ŷ - E[ŷ])²] + σ². Standard errors are the jackknife's over training sets,
    since the predictions of one training set go wrong together.

    Parameters
    ----------
    points : array (n, d)
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
    bias2, variance = _unbiased(predictions, truth)
    error = (targets - predictions) ** 2

    def parts(across: Any) -> ErrorParts:
        return ErrorParts(
            bias2=_jackknifed(across(bias2[0]), across(bias2[1])),
            variance=_jackknifed(across(variance[0]), across(variance[1])),
            noise=_known(noise_variance + 0.0 * across(truth)),
            error=_mean(across(error)),
        )

    return BiasVariance(
        points=points,
        truth=truth,
        mean_prediction=predictions.mean(axis=0),
        pointwise=parts(lambda x: x),
        average=parts(lambda x: x.mean(axis=-1)),
        n_repeats=len(predictions),
    )


def _unbiased(predictions: np.ndarray, truth: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return squared bias and variance, each from all training sets, (n,), and without each one, (r, n)."""
    r = len(predictions)
    mean = predictions.mean(axis=0)
    step = predictions - mean
    scatter = (step**2).sum(axis=0)
    mean_without, scatter_without = mean - step / (r - 1), scatter - step**2 * (r / (r - 1))
    variance, variance_without = scatter / (r - 1), scatter_without / (r - 2)
    bias2 = (mean - truth) ** 2 - variance / r
    bias2_without = (mean_without - truth) ** 2 - variance_without / (r - 1)
    return (bias2, bias2_without), (variance, variance_without)


def _jackknifed(whole: Any, without: np.ndarray) -> Estimate:
    r = len(without)
    spread = np.sqrt((r - 1) / r * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    return Estimate(value=whole, standard_error=spread)


def _mean(each: np.ndarray) -> Estimate:
    return Estimate(value=each.mean(axis=0), standard_error=each.std(axis=0, ddof=1) / np.sqrt(len(each)))


def _known(x: Any) -> Estimate:
    return Estimate(value=x, standard_error=0.0 * x)
