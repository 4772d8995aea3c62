"""Conjugate models: the names they share, models whose data add to η, and empirical Bayes."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from tractable.arrays.namespace import Array, to_numpy
from tractable.conjugate.checks import check_whole_number
from tractable.distributions.distribution import Distribution
from tractable.engines.newton import newton
from tractable.value import parameters, replace, value


@value
class Search:
    """The evidence as a function of free hyper-parameters, for empirical Bayes."""

    #: The model's own hyper-parameters as free numbers of order one; a positive one by its logarithm.
    start: np.ndarray
    #: Minus the summed log evidence at such numbers, with its gradient and Hessian.
    objective: Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]]
    #: The model with those hyper-parameters.
    model: Callable[[np.ndarray], Any]


@value
class Updates:
    """The same model before any data and after each statistic: a result to draw.

    Parameters
    ----------
    models : tuple of ConjugateModel
        The first with the prior before any data, the last with the posterior after all of them.

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
    """A likelihood paired with a conjugate prior of its unknown parameter.

    The posterior is the `prior` of the next data: :meth:`update` returns a model of the same type. Statistics
    merge with ``+``, so updating in sequence, in one batch, from a stream
    (``tractable.fold(model.summarize, data)``) or from merged parts is the same;
    ``statistic.discount(rate)`` forgets.

    A model gives its likelihood as :meth:`likelihood`, the statistic as `_summarize`, and writes
    `update`, `predictive`, `log_evidence` and `maximum_likelihood` in closed form.
    """

    #: What the parameter is called.
    unknown: ClassVar[str]

    #: Families that the prior may be of.
    prior_families: ClassVar[tuple[type[Distribution], ...]]

    if TYPE_CHECKING:  # a field of every model

        @property
        def prior(self) -> Any:
            """The current distribution of the parameter."""

    @abstractmethod
    def likelihood(self, parameter: Any) -> Distribution:
        """Return p(x | parameter), the distribution of one row; an array of parameters gives a batch."""

    @abstractmethod
    def _summarize(self, X: Any, weights: Any) -> Any:
        """Return the statistic of rows; see `summarize`."""

    @abstractmethod
    def update(self, statistic: Any) -> Self:
        """Return the same model with the prior replaced by the posterior p(parameter | data)."""

    @abstractmethod
    def predictive(self) -> Distribution:
        """Return p(x) = ∫ p(x | parameter) p(parameter) dparameter, the distribution of the next row."""

    @abstractmethod
    def log_evidence(self, statistic: Any) -> float:
        """Return log p(data), the parameter integrated out: the log probability of the rows as they came."""

    @abstractmethod
    def maximum_likelihood(self, statistic: Any) -> Array:
        """Return the parameter that makes the data most probable, whatever the prior."""

    def summarize(self, X: Any, sample_weight: Any = None, *, weights: Any = None) -> Any:
        """Return all that the model needs to know about rows, as a statistic.

        Parameters
        ----------
        X : array (n, ...)
            Rows, as `likelihood` draws them.
        sample_weight, weights : array (n,), optional
            How often each row counts; ``tractable.fold`` calls it `weights`.
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

        A ValueError where no point, or more than one, has the greatest density.
        """
        return self.prior.mode

    def interval(self, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return (low, high), each like the parameter: each entry is between with probability `coverage`."""
        return self.prior.interval(coverage)

    def trace(self, statistics: Iterable[Any]) -> Updates:
        """Return the posteriors as statistics arrive one after another: ``tractable.plot`` draws them."""
        models = [self]
        for statistic in statistics:
            models.append(models[-1].update(statistic))
        return Updates(models=tuple(models))

    def __post_init__(self) -> None:
        self._check_prior()

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **parameters(self)), ()

    def _search(self, statistics: Sequence[Any]) -> Search:
        """Return the summed evidence of groups as a function of the hyper-parameters, where it is written."""
        raise ValueError(
            f"model must be one whose hyper-parameters can be searched, and {type(self).__name__} is not"
        )

    def _with_prior(self, prior: Distribution) -> Self:
        return replace(self, prior=prior)

    def _check_prior(self) -> None:
        """Refuse a prior of another family, or a batch of priors."""
        if not isinstance(self.prior, self.prior_families):
            families = " or ".join(family.__name__ for family in self.prior_families)
            raise TypeError(f"prior must be a {families}, got {type(self.prior).__name__}")
        if self.prior.batch_shape:
            raise ValueError(f"prior must be one distribution, got a batch of shape {self.prior.batch_shape}")


class AdditiveModel(ConjugateModel):
    """A conjugate model with hyper-parameters η > 0 such that η(posterior) = η(prior) + t(statistic).

    With A(η) the log normalising constant of the prior, the log evidence is A(η + t) - A(η), and the base
    measure of the likelihood. A function of t alone may move from
    the one to the other, where both are large and cancel. A model writes `_hyperparameters`, `_added`,
    `_with_hyperparameters` and `_log_base`, the increment of A and its derivatives; the rest follows.
    """

    @abstractmethod
    def _hyperparameters(self) -> Array:
        """Return η as one vector."""

    @abstractmethod
    def _with_hyperparameters(self, eta: Array) -> Self:
        """Return the same model with another η."""

    @abstractmethod
    def _added(self, statistic: Any) -> Array:
        """Return what data add to η, the statistic checked."""

    def _log_base(self, statistic: Any) -> Any:
        """Return the log of the base measure, and what `_increment` left out: 0 for rows of single events."""
        return 0.0

    @staticmethod
    @abstractmethod
    def _increment(eta: Array, added: Array, /) -> Array:
        """Return A(η + t) - A(η) over the last axis, without cancellation, less what `_log_base` includes."""

    @staticmethod
    @abstractmethod
    def _gradient(eta: np.ndarray, /) -> np.ndarray:
        """Return ∂A/∂η, for many η at once."""

    @staticmethod
    @abstractmethod
    def _hessian(eta: np.ndarray, /) -> np.ndarray:
        """Return ∂²A/∂η², for many η at once."""

    def update(self, statistic: Any) -> Self:
        return self._with_hyperparameters(self._hyperparameters() + self._added(statistic))

    def log_evidence(self, statistic: Any) -> float:
        """See `ConjugateModel.log_evidence`: A(η + t) - A(η), and the base measure of the rows."""
        increment = self._increment(self._hyperparameters(), self._added(statistic))
        return float(increment) + float(self._log_base(statistic))

    def _search(self, statistics: Sequence[Any]) -> Search:
        added = np.stack([to_numpy(self._added(s)) for s in statistics])
        base = sum(float(self._log_base(s)) for s in statistics)

        def objective(logs: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
            """Minus the summed log evidence of η = exp(logs), its gradient and its Hessian."""
            eta = np.exp(logs)
            increment = np.sum(self._increment(eta, added))
            slope = eta * np.sum(self._gradient(eta + added) - self._gradient(eta), axis=0)
            bend = np.sum(self._hessian(eta + added) - self._hessian(eta), axis=0)
            return -(increment + base), -slope, -(bend * eta[:, None] * eta + np.diag(slope))

        return Search(
            start=np.log(to_numpy(self._hyperparameters()).astype(np.float64)),
            objective=objective,
            model=lambda logs: self._with_hyperparameters(np.exp(logs)),
        )


Model = TypeVar("Model", bound=ConjugateModel)

#: A maximum flatter than this, in logarithms of hyper-parameters, is at infinity.
_FLAT = 1e-6


def empirical_bayes(model: Model, statistics: Iterable[Any], *, max_iter: int = 200) -> Model:
    """Return the model whose prior maximises Σ log p(group), the summed evidence of several groups.

    Each group has a parameter of its own, drawn from the prior; the prior is learnt from all of them, and
    ``empirical_bayes(model, groups).update(group)`` shrinks the estimate of each group towards
    the prior mean. Type II maximum likelihood, by Newton's method with exact derivatives.

    Parameters
    ----------
    model : ConjugateModel
        Where the search starts: a model of counts, or one of the mean or the precision of numbers.
    statistics : iterable of statistics
        One for each group, as ``model.summarize`` returns them.
    max_iter : int
        The most steps to take.

    Warns
    -----
    RuntimeWarning
        Where no finite prior is best: groups that differ no more than chance are best explained by one shared
        parameter, an infinitely strong prior, and a very strong one is returned. Also where `max_iter` steps
        were too few.

    Examples
    --------
    >>> from tractable.conjugate import NormalMeanModel
    >>> from tractable.distributions import Normal
    >>> model = NormalMeanModel(prior=Normal(mean=0.0, variance=1.0), variance=1.0)
    >>> groups = [model.summarize([x]) for x in (1.0, 3.0, 5.0, 7.0)]
    >>> best = empirical_bayes(model, groups)
    >>> float(best.prior.mean.round(6)), float(best.prior.variance.round(6))
    (4.0, 4.0)
    >>> float(best.update(groups[0]).mean().round(6))
    1.6
    """
    groups = list(statistics) if isinstance(statistics, Iterable) else [None]
    invalid = [group for group in groups if not hasattr(group, "weight")]
    if invalid:
        raise ValueError(
            f"statistics must be what model.summarize returns for each group, got {invalid[0]!r:.60}"
        )
    max_iter = check_whole_number("max_iter", max_iter)
    if not any(float(group.weight) > 0.0 for group in groups):
        raise ValueError("statistics must have a group with data in it")
    search = model._search(groups)  # noqa: SLF001
    found = newton(search.objective, search.start, tol=1e-14, max_iter=max_iter)
    best: Model = search.model(found.x)
    least, most = np.linalg.eigvalsh(found.curvature)[[0, -1]]
    # Rounding may end the search on the way to infinity, and adds to a curvature that vanishes there.
    if least < _FLAT or (not found.converged and least < _FLAT * most):
        warnings.warn(
            "no finite prior is best: the groups differ no more than chance, or as much as they can",
            RuntimeWarning,
            stacklevel=2,
        )
    elif not found.converged:
        warnings.warn(f"not converged after {found.n_iter} steps", RuntimeWarning, stacklevel=2)
    return best
