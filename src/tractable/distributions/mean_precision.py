"""Distributions of a mean together with a precision: priors of a normal of which neither is known."""

from abc import abstractmethod
from typing import Any, NamedTuple

from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.distribution import Distribution, as_parameters

__all__ = ["MeanPrecision", "MeanPrecisionDistribution", "as_pairs"]


class MeanPrecision(NamedTuple):
    """A mean and a precision: one event, or arrays of them with the same leading axes.

    Examples
    --------
    >>> MeanPrecision(mean=1.0, precision=4.0).precision
    4.0
    """

    mean: Array
    precision: Array


class MeanPrecisionDistribution(Distribution):
    """A joint distribution of a mean and a precision.

    Its events are pairs: `log_prob` takes one, ``(mean, precision)``, and `sample` returns a
    :class:`MeanPrecision`, as do the properties `mean`, `variance`, `stddev` and `mode`. What is given as
    `mean` is kept as `location`, since `mean` is the expected pair.
    """

    support = None  # any mean with any positive (definite) precision is no box

    location: Array
    strength: Array

    def _store(self, **given: Any) -> None:
        """Make the parameters arrays of one library, dtype and batch shape."""
        for name, x in as_parameters(self.parameter_ndims, **given).items():
            object.__setattr__(self, "location" if name == "mean" else name, x)

    def _arrays(self) -> dict[str, Array]:
        return {k: getattr(self, "location" if k == "mean" else k) for k in self.parameter_ndims}

    def _parameters(self) -> dict[str, Any]:
        return self._arrays()

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """See `Distribution.batch_shape`."""
        return tuple(self.strength.shape)

    @property
    def stddev(self) -> MeanPrecision:
        """See `Distribution.stddev`."""
        xp = namespace_of(self.location)
        return MeanPrecision(*(xp.sqrt(part) for part in self.variance))

    @abstractmethod
    def mean_marginal(self) -> Any:
        """Return the distribution of the mean, whatever the precision."""

    @abstractmethod
    def precision_marginal(self) -> Any:
        """Return the distribution of the precision, whatever the mean."""

    def _pair(self, x: Any) -> MeanPrecision:
        """Return an argument as two float arrays of the parameters' library, their event axes checked."""
        if not isinstance(x, (tuple, list)) or len(x) != 2:
            raise ValueError(f"x must be a pair (mean, precision), got {type(x).__name__}")
        parts = zip(("mean", "precision"), x, self.event_shape, strict=True)
        return MeanPrecision(
            *(self._event(x, f"{name} of x", like=self.location, shape=shape) for name, x, shape in parts)
        )


def as_pairs(X: Any) -> tuple[Any, Any]:
    """Return what is to be learnt from: many means, and as many precisions."""
    if not isinstance(X, (tuple, list)) or len(X) != 2:
        raise ValueError(f"X must be a pair (means, precisions), got {type(X).__name__}")
    return X[0], X[1]
