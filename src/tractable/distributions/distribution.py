"""Distributions: the names they share, and cdf and quantiles of those of numbers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import prod
from operator import attrgetter
from operator import index as as_index
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

import numpy as np

from tractable.arrays.batched import as_reals, batch_index
from tractable.arrays.namespace import Array, device, freeze, namespace_of
from tractable.arrays.random import as_generator, either_seed_name
from tractable.distributions.checks import (
    check_coverage,
    check_finite,
    check_probability,
    check_sample_weight,
)
from tractable.distributions.tails import log_tail, upper_quantile
from tractable.value import parameters, set_fields

F = TypeVar("F")
D = TypeVar("D", bound="Distribution")

#: Levels of the quantiles at which quadrature divides the line.
_TAIL = (1e-30, 1e-20, 1e-14, 1e-10, 1e-7, 1e-5, 1e-3, 0.01, 0.05, 0.15, 0.3)
_LEVELS = (*_TAIL, 0.5, *(1.0 - q for q in _TAIL if q > 1e-16))


#: The ends of the support of every family on the whole line.
LOWEST, HIGHEST = -np.inf, np.inf


class Distribution(ABC):
    """An immutable probability distribution, or a batch of them.

    Arguments and results have shape ``(*sample, *batch_shape, *event_shape)`` and broadcast. A family gives
    its parameters as fields, in `parameter_ndims` how many of their axes belong to one event, calls
    `_settle` once they are set, and writes `log_prob`, `_sample`, `entropy`, `_divergence` and the
    properties `mean`, `variance` and `mode`; where they exist also `cdf`, `icdf` and `interval`.
    """

    #: How many axes of each parameter are not batch axes; a parameter that is not an array is not listed.
    parameter_ndims: ClassVar[Mapping[str, int]] = {}

    #: Whether events are counted (log_prob is of a probability) rather than measured (of a density).
    discrete: ClassVar[bool] = False

    if TYPE_CHECKING:  # fields of some families, properties of others

        @property
        def mean(self) -> Array:
            """Expected value, (*batch, *event)."""

        @property
        def variance(self) -> Array:
            """Variance of each entry of an event, (*batch, *event)."""

        @property
        def mode(self) -> Array:
            """A point of greatest density, (*batch, *event)."""

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch of distributions; empty for one distribution, or a family without batches."""
        if not self.parameter_ndims:
            return ()
        name, n_event = next(iter(self.parameter_ndims.items()))
        shape = getattr(self, name).shape
        return tuple(shape[: len(shape) - n_event])

    @property
    def event_shape(self) -> tuple[int, ...]:
        """Shape of one draw of one distribution; empty for numbers."""
        return ()

    @property
    def support(self) -> tuple[Any, Any] | None:
        """Least and greatest value of an entry; None where the support is no box (a simplex, a cone)."""
        return LOWEST, HIGHEST

    @property
    def stddev(self) -> Array:
        """Square root of the variance, (*batch, *event)."""
        return namespace_of(self.variance).sqrt(self.variance)

    @abstractmethod
    def log_prob(self, x: Any) -> Array:
        """Return the log density (or log probability) of x; -inf outside the support."""

    def as_univariate(self) -> Any:
        """Return vectors of one column as numbers, which have `cdf`, `icdf` and `interval`."""
        if not self.event_shape:
            return self
        if self.event_shape != (1,):
            raise ValueError(f"as_univariate needs one column, but events have shape {self.event_shape}")
        return self._one_column()

    def _one_column(self) -> Any:
        """Return the distribution of the one column of vectors; a family of vectors overrides it."""
        raise ValueError(f"{type(self).__name__} has no distribution of numbers beside it")

    @abstractmethod
    def entropy(self) -> Array:
        """Return -E[log p(x)] in nats, (*batch,)."""

    def kl_divergence(self, other: Any) -> Array:
        """Return E[log p(x) - log q(x)] under p, this distribution, with q the other of its family."""
        self._check_family(other)
        found = self._divergence(other)
        xp = namespace_of(found)
        return xp.where(found < 0, xp.zeros_like(found), found)  # by rounding

    def _divergence(self, other: Any) -> Array:
        """Return the divergence from another of the family; see `kl_divergence`."""
        raise NotImplementedError(f"{type(self).__name__} has no divergence")

    @abstractmethod
    def _sample(self, n: int, rng: Any) -> Array:
        """Draw n events, (n, *batch, *event)."""

    def prob(self, x: Any) -> Array:
        """Return the density (or probability) of x."""
        log_prob = self.log_prob(x)
        with np.errstate(over="ignore"):  # a density may be beyond the largest number: infinite
            return namespace_of(log_prob).exp(log_prob)

    @either_seed_name
    def sample(self, n_samples: int = 1, *, rng: Any = None) -> Array:
        """Draw independent events, (n_samples, *batch, *event).

        Parameters
        ----------
        n_samples : int
            Number of draws of every member of the batch.
        rng : None, int or Generator
            Where randomness comes from; a seed gives the same draws every time.
        """
        return self._sample(as_count(n_samples), as_generator(rng))

    def __getitem__(self, index: Any) -> Self:
        """Return some of the batch: of a batch of K, ``d[0]`` is one distribution."""
        if not self.parameter_ndims and index not in ((), Ellipsis):
            raise IndexError(f"{type(self).__name__} has no batch to take {index!r} of")
        changed = {k: x[batch_index(index, self.parameter_ndims[k])] for k, x in self._arrays().items()}
        return type(self)(**{**parameters(self), **changed})

    def expand(self, batch_shape: tuple[int, ...]) -> Self:
        """Return the same distributions repeated to a batch shape that theirs broadcasts to."""
        changed = {
            k: namespace_of(x).broadcast_to(x, (*batch_shape, *x.shape[x.ndim - self.parameter_ndims[k] :]))
            for k, x in self._arrays().items()
        }
        return type(self)(**{**parameters(self), **changed})

    def __iter__(self) -> Iterator[Self]:
        if not self.batch_shape:
            raise TypeError(f"{type(self).__name__} has no batch to iterate over")
        return (self[i] for i in range(self.batch_shape[0]))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **parameters(self)), ()

    def _arrays(self) -> dict[str, Array]:
        return {name: getattr(self, name) for name in self.parameter_ndims}

    def _settle(self, **checks: Callable[[str, Array], None]) -> None:
        """Make the parameters arrays of one library, dtype and batch shape; check and freeze them."""
        arrays = as_parameters(self.parameter_ndims, **self._arrays())
        for name, check in checks.items():
            check(name, arrays[name])
        set_fields(self, **arrays)

    def _event(self, x: Any, name: str = "x", *, like: Array = None, shape: Any = None) -> Array:
        """Return an argument as a float array of the parameters' library, its event axes checked."""
        like, shape = self.mean if like is None else like, self.event_shape if shape is None else shape
        xp, n = namespace_of(like), len(shape)
        if hasattr(x, "dtype") and not isinstance(x, np.generic) and namespace_of(x) is not xp:
            raise ValueError(f"{name} must be an array of {xp.__name__}, as the parameters are")
        x = as_reals(name, x, like)
        if x.ndim < n or tuple(x.shape[x.ndim - n :]) != shape:
            axes = ", ".join(map(str, ("...", *shape)))
            raise ValueError(f"{name} must have shape ({axes}), got {tuple(x.shape)}")
        return x

    def _quantile(self, q: Any) -> Array:
        """Return probabilities as an array of the parameters' library."""
        q = self._event(q, "q")
        check_probability("q", q)
        return q

    @property
    def _has_cdf(self) -> bool:
        """Whether events are numbers that have a cdf: asked by methods marked `numbers_only`."""
        return not self.event_shape

    def _landmarks(self) -> Array:
        """Return quantiles of the batch, (m,), at which quadrature divides the line."""
        xp, d = namespace_of(self.mean), cast("Univariate", self)
        levels = xp.asarray(_LEVELS, dtype=self.mean.dtype, device=device(self.mean))
        return xp.reshape(d.icdf(xp.reshape(levels, (-1, *(1,) * len(self.batch_shape)))), (-1,))

    def _check_family(self, other: Any) -> None:
        """Refuse to compare with another family, or with events of another shape."""
        if not (isinstance(other, type(self)) or isinstance(self, type(other))):
            raise TypeError(f"other must be a {type(self).__name__}, got {type(other).__name__}")
        self._check_events(other)

    def _check_events(self, other: Any) -> None:
        """Refuse what is no distribution, or is one of events of another shape."""
        if not isinstance(other, Distribution):
            raise TypeError(f"other must be a distribution, got {type(other).__name__}")
        if other.event_shape != self.event_shape:
            raise ValueError(f"other must have events of shape {self.event_shape}, got {other.event_shape}")


class Univariate(Distribution):
    """A distribution of numbers, which has a cumulative distribution function and its inverse.

    Families that are of numbers or of vectors (`Mixture`, `HistogramDensity`, `Empirical`,
    `SmoothedEmpirical`, `Stacked`) are not derived from it; where their events are numbers they have the same
    methods (see `numbers_only`), so ``hasattr(d, "cdf")`` tests whether a distribution has quantiles.

    A family writes the formulas that hold inside its support, ends included: `_log_density`, `_cdf`, `_icdf`,
    and if they are more accurate than what follows from these, `_survival`, `_log_cdf`, `_log_survival` and
    `_isf`. This class checks the event, answers outside the support and for NaN, and silences the warnings
    of floating-point limits.
    """

    def _log_density(self, x: Array) -> Array:
        """Return log p(x) inside the support."""
        raise NotImplementedError(f"{type(self).__name__} has no density")

    def _cdf(self, x: Array) -> Array:
        """Return P(X ≤ x) inside the support."""
        raise NotImplementedError(f"{type(self).__name__} has no cumulative distribution function")

    def _survival(self, x: Array) -> Array:
        """Return P(X > x) inside the support."""
        return 1.0 - self._cdf(x)

    def _log_cdf(self, x: Array) -> Array:
        """Return log P(X ≤ x) inside the support."""
        return log_tail(self, x, upper=False)

    def _log_survival(self, x: Array) -> Array:
        """Return log P(X > x) inside the support."""
        return log_tail(self, x, upper=True)

    def _icdf(self, q: Array) -> Array:
        """Return the quantile of probabilities from 0 to 1."""
        raise NotImplementedError(f"{type(self).__name__} has no quantiles")

    def _isf(self, q: Array) -> Array:
        """Return the quantile from above of probabilities from 0 to 1."""
        return upper_quantile(self, q)

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`."""
        return self._on_support(self._log_density, x, -np.inf, -np.inf)

    def cdf(self, x: Any) -> Array:
        """Return P(X ≤ x)."""
        return self._on_support(self._cdf, x, 0.0, 1.0)

    def icdf(self, q: Any) -> Array:
        """Return the quantile: the least x with P(X ≤ x) ≥ q."""
        with np.errstate(all="ignore"):
            return self._icdf(self._quantile(q))

    def survival(self, x: Any) -> Array:
        """Return P(X > x); accurate in the upper tail if the family allows it."""
        return self._on_support(self._survival, x, 1.0, 0.0)

    def log_cdf(self, x: Any) -> Array:
        """Return log P(X ≤ x), accurate in both tails, also if the probability itself underflows."""
        return self._on_support(self._log_cdf, x, -np.inf, 0.0)

    def log_survival(self, x: Any) -> Array:
        """Return log P(X > x), accurate in both tails, also if the probability itself underflows."""
        return self._on_support(self._log_survival, x, 0.0, -np.inf)

    def isf(self, q: Any) -> Array:
        """Return the quantile from above: the least x with P(X > x) ≤ q, accurate for small q."""
        with np.errstate(all="ignore"):
            return self._isf(self._quantile(q))

    def _on_support(self, formula: Callable[[Array], Array], x: Any, below: float, above: float) -> Array:
        """Return a formula at the points of the support, its values below and above, and NaN for NaN."""
        x = self._event(x)
        low, high = cast("tuple[Any, Any]", self.support)
        if low is LOWEST and high is HIGHEST:
            with np.errstate(all="ignore"):
                return formula(x)
        xp = namespace_of(x)
        under, over = x < low, x > high
        with np.errstate(all="ignore"):
            found = formula(xp.where(under | over | xp.isnan(x), low + xp.zeros_like(x), x))
        found = xp.where(under, xp.full_like(found, below), found)
        found = xp.where(over, xp.full_like(found, above), found)
        return xp.where(xp.isnan(x), xp.full_like(found, xp.nan), found)

    def probability_between(self, low: Any, high: Any) -> Array:
        """Return P(low < X ≤ high), by the tail that holds less."""
        below = self.cdf(low)
        xp = namespace_of(below)
        return xp.where(below > 0.5, self.survival(low) - self.survival(high), self.cdf(high) - below)

    def interval(self, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return the equal-tailed interval (low, high) that holds X with probability `coverage`."""
        tail = 0.5 * (1.0 - check_coverage(coverage))
        return self.icdf(tail), self.icdf(1.0 - tail)


class ScalarFamily(Univariate):
    """A family of numbers that is fitted, column by column, from a statistic: `from_statistic`."""

    #: What :meth:`from_statistic` learns from.
    statistic: ClassVar[Any]

    @classmethod
    @abstractmethod
    def from_statistic(cls, statistic: Any) -> Self:
        """Return the maximum likelihood estimate of each column."""

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None, **options: Any) -> Self:
        """Return the maximum likelihood estimate; see `from_statistic`.

        Parameters
        ----------
        X : array (n, *batch)
            Observations on the first axis, inside the support; where the likelihood of equal ones is
            unbounded, not all the same.
        sample_weight : array (n,), optional
            How often each observation counts.
        **options
            What `from_statistic` takes beside the statistic.
        """
        X, columns, weights = as_columns(X, sample_weight)
        return like_columns(cls.from_statistic(cls.statistic.of(columns, weights), **options), X)


class _NumbersOnly:
    """The descriptor behind `numbers_only`, around a function or a property."""

    def __init__(self, member: Any) -> None:
        self.member, self.__doc__ = member, member.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, d: Any, owner: Any = None) -> Any:
        if d is not None and not d._has_cdf:  # noqa: SLF001
            message = f"{type(d).__name__} has no {self.name}: its events are not numbers"
            raise AttributeError(message, name=self.name, obj=d)
        return self.member.__get__(d, owner)


def numbers_only(member: F) -> F:
    """Make a method or a property exist only where the events of a distribution are numbers.

    Elsewhere it raises an AttributeError, which `hasattr` sees: a mixture of numbers has a `cdf`, and one of
    vectors has none.
    """
    return cast("F", _NumbersOnly(member))


def of_each(name: str) -> Any:
    """Return a property of a compound distribution: that of each of its members, which `_each` joins."""
    return property(lambda d: d._each(attrgetter(name)))  # noqa: SLF001


def _as_float(name: str, x: float) -> float:
    try:
        return float(x)
    except OverflowError:
        raise ValueError(f"{name} must be finite, and is an integer beyond floating point") from None


def as_parameters(ndims: Mapping[str, int], **given: Any) -> dict[str, Array]:
    """Return parameters as frozen arrays of one library, one floating dtype and one batch shape.

    Numbers take the dtype of the arrays beside them, so float32 stays float32.
    """
    xp = namespace_of(*given.values())
    arrays = {k: as_reals(k, x) for k, x in given.items() if not isinstance(x, (int, float))}
    dtype = xp.result_type(*arrays.values()) if arrays else xp.float64
    where = device(next(iter(arrays.values()))) if arrays else None
    numbers = {k: _as_float(k, x) for k, x in given.items() if k not in arrays}
    frozen = {k: freeze(xp.asarray(x, dtype=dtype, device=where)) for k, x in {**arrays, **numbers}.items()}
    for name, x in frozen.items():
        if x.ndim < ndims[name]:
            raise ValueError(f"{name} must have at least {ndims[name]} axes, got shape {tuple(x.shape)}")
    shapes = {k: tuple(x.shape[: x.ndim - ndims[k]]) for k, x in frozen.items()}
    batch = broadcast_batches(**shapes)
    return {k: xp.broadcast_to(x, batch + tuple(x.shape[x.ndim - ndims[k] :])) for k, x in frozen.items()}


def as_count(n_samples: Any) -> int:
    """Return how many draws are wanted, if it is a number of draws."""
    try:
        n = as_index(n_samples)
    except TypeError:
        n = -1
    if n < 0 or isinstance(n_samples, bool):
        raise ValueError(f"n_samples must be a non-negative integer, got {n_samples!r}")
    return n


def broadcast_batches(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the batch shape that several parameters share, or raise ValueError that names them."""
    first, *others = shapes.values()
    if all(shape == first or not shape for shape in others):
        return first
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        given = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"batch shapes do not broadcast: {given}") from None


def as_columns(X: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
    """Return observations (n, *batch), the same as columns (n, size of batch), and their weights."""
    X = as_reals("X", X)
    if X.ndim < 1 or not X.shape[0]:
        raise ValueError(f"X must have observations on its first axis, got shape {tuple(X.shape)}")
    check_finite("X", X)
    columns = namespace_of(X).reshape(X, (X.shape[0], prod(X.shape[1:])))
    return X, columns, check_sample_weight(sample_weight, X.shape[0], X)


def like_columns(fitted: D, X: Array) -> D:
    """Return a batch of distributions in the shape and dtype of the observations they were learnt from."""
    xp = namespace_of(X)
    shaped = {
        name: xp.astype(xp.reshape(getattr(fitted, name), tuple(X.shape[1:])), X.dtype)
        for name in fitted.parameter_ndims
    }
    return type(fitted)(**{**parameters(fitted), **shaped})
