"""Models of the logarithm of a target, for targets that are positive and of very different sizes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.report.candidates import Candidate, Predict, regressors
from tractable.value import value

__all__ = ["OfLogarithm", "is_skewed", "log_regressors", "middle", "skewed_columns"]

#: A skewness beyond this is strong: that of an exponential is 2, of a normal 0.
STRONG = 1.0


@value
class OfLogarithm:
    """The distribution of y, given that of log y: p(y) = p(log y) / y for y > 0.

    It has a median but not always a mean: where log y is Student's t, the mean of y is infinite.

    Parameters
    ----------
    base : distribution of numbers
        Of log y, one batch entry a row.

    Examples
    --------
    >>> from tractable import Normal
    >>> d = OfLogarithm(base=Normal(mean=[0.0, 1.0], stddev=0.5))
    >>> d.median.round(3), d.cdf([1.0, np.e]).round(3), d.log_prob([1.0, -1.0]).round(3)
    (array([1.   , 2.718]), array([0.5, 0.5]), array([-0.226,   -inf]))
    """

    base: Any

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return tuple(self.base.batch_shape)

    @property
    def median(self) -> np.ndarray:
        return _exp(self.base.icdf(0.5))

    def log_prob(self, y: Any) -> np.ndarray:
        log_y, outside = _log(y)
        return np.where(outside, -np.inf, self.base.log_prob(log_y) - log_y)

    def cdf(self, y: Any) -> np.ndarray:
        log_y, outside = _log(y)
        return np.where(outside, 0.0, self.base.cdf(log_y))

    def icdf(self, q: Any) -> np.ndarray:
        return _exp(self.base.icdf(q))

    def interval(self, coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return the equal-tailed interval: the exponentials of the ends of that of log y."""
        low, high = self.base.interval(coverage)
        return _exp(low), _exp(high)


def middle(said: Any) -> np.ndarray:
    """Return one number for each row: the mean, or the median where the logarithm was modelled."""
    return np.asarray(said.median if isinstance(said, OfLogarithm) else said.mean)


def is_skewed(x: Any) -> bool:
    """Tell whether numbers are positive, strongly skewed to the right, and less so in logarithms.

    Examples
    --------
    >>> is_skewed([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]), is_skewed([1.0, 2.0, 3.0, 4.0, 5.0])
    (True, False)
    """
    x = np.asarray(x, dtype=np.float64)
    x = x[~np.isnan(x)]
    if len(x) < 3 or not (x > 0.0).all():
        return False
    skewness = _skewness(x)
    return bool(skewness > STRONG and abs(_skewness(np.log(x))) < skewness)


def skewed_columns(X: Any) -> list[str]:
    """Return the columns of a frame whose logarithms a model of a logarithm is given."""
    return [name for name in X.columns if X[name].dtype.kind == "f" and is_skewed(X[name])]


def log_regressors(columns: Sequence[str] = ()) -> tuple[Candidate, ...]:
    """Return what `regressors` has, each as a model of the logarithm of the target.

    Parameters
    ----------
    columns : sequence of str
        Columns of X that they are given as logarithms too; new entries that have none are missing.
    """
    names = {"the mean alone": "the mean of logarithms alone"}
    return tuple(
        Candidate(
            name=names.get(one.name, f"{one.name} of logarithms"),
            learn=_of_logarithm(one, list(columns)),
            rows_each=one.rows_each,
        )
        for one in regressors()
    )


def _of_logarithm(one: Candidate, columns: list[str]) -> Any:
    def learn(X: Any, y: np.ndarray) -> Predict:
        predict = one.learn(_logged(X, columns), np.log(y))
        return lambda new: OfLogarithm(base=predict(_logged(new, columns)))

    return learn


def _logged(X: Any, columns: list[str]) -> Any:
    return X.assign(**{name: np.log(X[name].where(X[name] > 0.0)) for name in columns})


def _log(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return logarithms, 0 in place of those that do not exist, and where that is."""
    y = np.asarray(y, dtype=np.float64)
    outside = y <= 0.0
    return np.log(np.where(outside, 1.0, y)), outside


def _exp(x: Any) -> np.ndarray:
    with np.errstate(over="ignore"):  # an end of an interval may be beyond the largest number: infinite
        return np.exp(x)


def _skewness(x: np.ndarray) -> float:
    z = x / np.abs(x).max()  # cubes must not overflow
    z = z - z.mean()
    scale = float(np.sqrt(np.mean(z**2)))
    return float(np.mean((z / scale) ** 3)) if scale > 0.0 else 0.0
