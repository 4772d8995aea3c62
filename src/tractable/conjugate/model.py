"""Conjugate models: the names they share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from tractable.arrays.namespace import Array, to_numpy
from tractable.distributions.distribution import Distribution
from tractable.value import parameters, replace, value

__all__ = ["AdditiveModel", "ConjugateModel", "Search", "Updates"]


@value
class Search:
    """What empirical Bayes needs of a model: where to start, what to minimise, and the way back.

    Parameters
    ----------
    start : array (p,)
        The model's own hyper-parameters as free numbers of order one; a positive one by its logarithm.
    objective : callable
        Minus the summed log evidence at such numbers, with its gradient and Hessian.
    model : callable
        The model with those hyper-parameters.
    """

    start: np.ndarray
    objective: Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]]
    model: Callable[[np.ndarray], Any]


@value
class Updates:
    """The same model before any data and after each statistic: a result to draw.

    Parameters
    ----------
    models : tuple of ConjugateModel
        The first is what was believed before any data, the last what is believed after all of them.

    Examples
    --------
    >>> from tractable.conjugate import NormalMeanModel
    >>> from tractable.distributions import Normal
    >>> model = NormalMeanModel(prior=Normal(mean=0.0, variance=1.0), variance=4.0)
    >>> steps = model.trace([model.summarize([4.0]), model.summarize([6.0, 5.0])])
    >>> [round(float(m.mean()), 3) for m in steps]
    [0.0, 0.8, 2.143]
    """

    models: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.models)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.models)

    def __getitem__(self, index: int) -> Any:
        return self.models[index]


class ConjugateModel(ABC):
    """A likelihood paired with the current belief about its unknown parameter.

    The belief is called `prior` whatever it has already learnt: yesterday's posterior is today's prior, and
    :meth:`update` returns a model of the same type. Statistics merge with ``+``, so updating in sequence, in
    one batch, from a stream (``tractable.fold(model.summarize, data)``) or from merged parts is the same
    thing; ``statistic.discount(rate)`` forgets.

    A model gives its likelihood as :meth:`likelihood`, the statistic as `_summarize`, and writes
    `update`, `predictive`, `log_evidence` and `maximum_likelihood` in closed form.
    """

    #: What the parameter is called.
    unknown: ClassVar[str]

    #: Families that the belief may be of.
    beliefs: ClassVar[tuple[type[Distribution], ...]]

    if TYPE_CHECKING:  # a field of every model

        @property
        def prior(self) -> Any:
            """The current belief about the parameter, a distribution."""

    @abstractmethod
    def likelihood(self, parameter: Any) -> Distribution:
        """Return p(x | parameter), the distribution of one row; an array of parameters gives a batch."""

    @abstractmethod
    def _summarize(self, X: Any, weights: Any) -> Any:
        """Return the statistic of rows; see `summarize`."""

    @abstractmethod
    def update(self, statistic: Any) -> Self:
        """Return the same model believing p(parameter | data)."""

    @abstractmethod
    def predictive(self) -> Distribution:
        """Return p(x) = ∫ p(x | parameter) p(parameter) dparameter, the distribution of the next row."""

    @abstractmethod
    def log_evidence(self, statistic: Any) -> float:
        """Return log p(data), the parameter integrated out: the log probability of the rows as they came."""

    @abstractmethod
    def maximum_likelihood(self, statistic: Any) -> Array:
        """Return the parameter that makes the data most probable; the belief is not asked."""

    def summarize(self, X: Any, sample_weight: Any = None, *, weights: Any = None) -> Any:
        """Return all that the model needs to know about rows, as a statistic.

        Parameters
        ----------
        X : array
            Rows, as `likelihood` draws them.
        sample_weight : array (n,), optional
            How often each row counts.
        weights : array (n,), optional
            The same by the name that ``tractable.fold`` calls it.
        """
        if sample_weight is not None and weights is not None:
            raise ValueError("sample_weight and weights are two names of one thing: give one of them")
        return self._summarize(X, sample_weight if weights is None else weights)

    def update_rows(self, X: Any, sample_weight: Any = None) -> Self:
        """Return ``update(summarize(X, sample_weight))``."""
        return self.update(self.summarize(X, sample_weight))

    def mean(self) -> Array:
        """Return the expected parameter."""
        return self.prior.mean

    def mode(self) -> Array:
        """Return the most probable parameter: after an update, the MAP estimate.

        A ValueError says so where no point, or more than one, has the greatest density.
        """
        return self.prior.mode

    def interval(self, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return (low, high), each like the parameter: each entry is between with probability `coverage`."""
        return self.prior.interval(coverage)

    def trace(self, statistics: Iterable[Any]) -> Updates:
        """Return the beliefs as statistics arrive one after another: ``tractable.plot`` draws them."""
        models = [self]
        for statistic in statistics:
            models.append(models[-1].update(statistic))
        return Updates(models=tuple(models))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **parameters(self)), ()

    def _search(self, statistics: Sequence[Any]) -> Search:
        """Return the summed evidence of groups as a function of the hyper-parameters, where it is written."""
        raise ValueError(
            f"model must be one whose hyper-parameters can be searched, and {type(self).__name__} is not"
        )

    def _believing(self, prior: Distribution) -> Self:
        return replace(self, prior=prior)

    def _check_prior(self) -> None:
        """Refuse a belief of another family, or a batch of beliefs."""
        if not isinstance(self.prior, self.beliefs):
            told = " or ".join(family.__name__ for family in self.beliefs)
            raise TypeError(f"prior must be a {told}, got {type(self.prior).__name__}")
        if self.prior.batch_shape:
            raise ValueError(f"prior must be one distribution, got a batch of shape {self.prior.batch_shape}")


class AdditiveModel(ConjugateModel):
    """A conjugate model with hyper-parameters η > 0 such that η(posterior) = η(prior) + t(statistic).

    With A(η) the log of the constant that normalises the belief, the log evidence is A(η + t) - A(η), and
    what the likelihood does not share with the belief (its base measure). A function of t alone may move from
    the one to the other, where both are large and cancel. A model writes `_symbols`, `_gain`,
    `_with_symbols` and `_log_base`, how much A rises, and the derivatives of A; the rest follows.
    """

    @abstractmethod
    def _symbols(self) -> Array:
        """Return η as one vector."""

    @abstractmethod
    def _with_symbols(self, symbols: Array) -> Self:
        """Return the same model believing in another η."""

    @abstractmethod
    def _gain(self, statistic: Any) -> Array:
        """Return what data add to η, the statistic checked."""

    @abstractmethod
    def _log_base(self, statistic: Any) -> Any:
        """Return the log of what the likelihood multiplies the kernel by, and what `_rise` left out."""

    @staticmethod
    @abstractmethod
    def _rise(symbols: Array, gain: Array) -> Array:
        """Return A(η + t) - A(η) over the last axis, with its digits, less what `_log_base` took over."""

    @staticmethod
    @abstractmethod
    def _slope(symbols: np.ndarray) -> np.ndarray:
        """Return ∂A/∂η, for many η at once."""

    @staticmethod
    @abstractmethod
    def _curvature(symbols: np.ndarray) -> np.ndarray:
        """Return ∂²A/∂η², for many η at once."""

    def update(self, statistic: Any) -> Self:
        """See `ConjugateModel.update`: η + t."""
        return self._with_symbols(self._symbols() + self._gain(statistic))

    def log_evidence(self, statistic: Any) -> float:
        """See `ConjugateModel.log_evidence`: A(η + t) - A(η), and the base measure of the rows."""
        rise = self._rise(self._symbols(), self._gain(statistic))
        return float(rise) + float(self._log_base(statistic))

    def _search(self, statistics: Sequence[Any]) -> Search:
        gains = np.stack([to_numpy(self._gain(s)) for s in statistics])
        base = sum(float(self._log_base(s)) for s in statistics)

        def objective(logs: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
            """Minus the summed log evidence of η = exp(logs), its gradient and its Hessian."""
            eta = np.exp(logs)
            rise = np.sum(self._rise(eta, gains))
            slope = eta * np.sum(self._slope(eta + gains) - self._slope(eta), axis=0)
            bend = np.sum(self._curvature(eta + gains) - self._curvature(eta), axis=0)
            return -(rise + base), -slope, -(bend * eta[:, None] * eta + np.diag(slope))

        return Search(
            start=np.log(to_numpy(self._symbols()).astype(np.float64)),
            objective=objective,
            model=lambda logs: self._with_symbols(np.exp(logs)),
        )
