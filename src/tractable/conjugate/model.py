"""Conjugate models: the names they share."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tractable.arrays.namespace import Array
from tractable.conjugate.search import Search
from tractable.conjugate.updates import Updates
from tractable.distributions.distribution import Distribution
from tractable.value import parameters, replace

__all__ = ["ConjugateModel"]


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
