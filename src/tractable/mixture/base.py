"""What a fitted mixture says of rows: their components, their density, and new ones."""

import copy
import warnings
from abc import abstractmethod
from typing import Any, Protocol, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.random import as_generator
from tractable.base import (
    DensityMixin,
    Estimator,
    FitInterrupted,
    ModelTags,
    Rows,
    all_or_nothing,
    check_columns,
    check_fitted,
    check_number,
    check_rows,
    check_weights,
    refuse_foreign,
)
from tractable.engines import EMResult, best_of, em
from tractable.primitives.threads import single_threaded_blas

__all__ = [
    "OF_A_SEARCH",
    "OF_A_STREAM",
    "CriteriaMixin",
    "EMMixture",
    "MixtureAnswers",
    "Problem",
    "StepwiseMixin",
    "climb",
]


class MixtureAnswers:
    """`predict`, `predict_proba`, `score_samples` and `sample` of a model whose density is a mixture."""

    _density: Any

    def predict(self, X: Any) -> np.ndarray:
        """Return the component that most likely made each row, argmax_k p(k | x).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of int, shape (n_samples,)
        """
        return np.argmax(self.predict_proba(X), axis=1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the responsibilities p(k | x) = π_k p_k(x) / Σ_j π_j p_j(x) of each row.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        return self._density().responsibilities(self._events(X))

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log density of each row; missing entries (NaN) are marginalised where the model can.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._density().log_prob(self._events(X))

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> Any:
        """Draw new rows and the components they come from.

        Parameters
        ----------
        n_samples : int
        random_state : None, int, RandomState or Generator

        Returns
        -------
        X : array of shape (n_samples, n_features)
        labels : array of int, shape (n_samples,)
        """
        return self._density().sample_labelled(n_samples, rng=random_state)

    def _events(self, X: Any) -> Any:
        """Return checked rows as events of `distribution_`."""
        self._density()
        return check_columns(self, X)


class CriteriaMixin:
    """`aic`, `bic` and `icl` of a model with `score_samples`, `predict_proba` and `n_parameters_`."""

    n_parameters_: int
    score_samples: Any
    predict_proba: Any
    _events: Any

    def aic(self, X: Any, sample_weight: Any = None) -> float:
        """Return Akaike's criterion, -2 log p(X) + 2 parameters; lower is better.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        return 2.0 * self.n_parameters_ - 2.0 * self._log_likelihood(X, sample_weight)[0]

    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """Return Schwarz's criterion, -2 log p(X) + parameters · log n; lower is better.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        log_likelihood, weight = self._log_likelihood(X, sample_weight)
        return self.n_parameters_ * float(np.log(weight)) - 2.0 * log_likelihood

    def icl(self, X: Any, sample_weight: Any = None) -> float:
        """Return the integrated complete likelihood criterion: BIC + twice the entropy of the labels.

        It asks for components that are apart, where BIC asks for a good density; lower is better (Biernacki,
        Celeux and Govaert 2000).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        shares = self.predict_proba(X)
        entropy = -np.sum(
            np.where(shares > 0, shares * np.log(np.where(shares > 0, shares, 1.0)), 0.0), axis=1
        )
        counts = self._counted(X, sample_weight, entropy)
        return self.bic(X, sample_weight) + 2.0 * float(np.sum(counts * entropy))

    def _log_likelihood(self, X: Any, sample_weight: Any) -> tuple[float, float]:
        log_prob = self.score_samples(X)
        counts = self._counted(X, sample_weight, log_prob)
        return float(np.sum(counts * log_prob)), float(np.sum(counts))

    def _counted(self, X: Any, sample_weight: Any, per_row: np.ndarray) -> np.ndarray:
        """Return how often each row counts; one in which nothing was observed does not."""
        weights = check_weights(sample_weight, per_row[:, None])
        events = np.asarray(self._events(X))
        seen = ~np.all(np.isnan(events), axis=1) if events.dtype.kind == "f" else np.ones(len(events))
        return seen * (1.0 if weights is None else weights)


def climb(model: Any, problem: Any, start: Any) -> EMResult:
    """Search from a start, with the patience that the model's parameters give."""
    # Waking the threads of BLAS for small matrices, between two folds, costs more than an iteration.
    with single_threaded_blas():
        return em(
            problem.expect,
            problem.maximize,
            start,
            tol=model.tol,
            max_iter=model.max_iter,
            unit=problem.total,
            label=f"{type(model).__name__}, {model.n_components} components",
        )


#: What a search says of itself, and what a stream has gathered: untrue once parameters came another way.
OF_A_SEARCH = ("lower_bound_", "lower_bounds_", "n_iter_", "converged_")
OF_A_STREAM = ("statistic_", "n_batches_", "weight_seen_")


class Problem(Protocol):
    """Rows, and the pure steps of a search over them."""

    #: Weight of the rows.
    total: float

    def start(self, rng: np.random.Generator) -> Any:
        """Return parameters to begin at."""

    def expect(self, params: Any) -> Any:
        """Return expected statistics, which add, with the `objective` at the parameters."""

    def maximize(self, expected: Any) -> Any:
        """Return the parameters that expected statistics suggest."""


class EMMixture(MixtureAnswers, CriteriaMixin, DensityMixin, Estimator):
    """`fit`, restarts, labels, criteria and steps of a mixture p(x) = Σ_k π_k p_k(x).

    A model supplies `_check_parameters`, `_survey` (one look at the rows, for their units), `_problem` (the
    steps over rows), `_restart` (the fitted parameters, for a warm start) and `_adopt` (which sets
    `distribution_`, a `Mixture`, and the attributes that users read).
    """

    model_tags = ModelTags(kind="generative", parametric=True, streaming="exact over several passes")
    n_components: int
    n_init: int
    tol: float
    max_iter: int
    random_state: Any
    warm_start: bool

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, before any work."""
        check_number("n_components", self.n_components, least=1, whole=True)
        check_number("n_init", self.n_init, least=1, whole=True)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        check_number("tol", self.tol, least=0.0)

    def _survey(self, rows: Rows) -> Any:
        """Return what must be known of the rows before the first step; None where nothing must."""
        return None

    def _look_again(self, rows: Rows) -> Any:
        """Return the units of the fit, with what they say of rows said of these."""
        return self.units_

    @abstractmethod
    def _problem(self, rows: Rows, units: Any) -> Problem:
        """Return the steps over rows."""

    @abstractmethod
    def _restart(self, units: Any) -> Any:
        """Return the fitted parameters as the steps take them."""

    @abstractmethod
    def _adopt(self, params: Any, units: Any) -> None:
        """Set what users read from the parameters that a search found."""

    def _sound(self, params: Any, units: Any) -> bool:
        """Whether an end may win over others; where a component collapsed, the likelihood says nothing."""
        return True

    def _complain(self) -> None:
        """Warn of what a user should know of a finished fit, besides convergence."""

    @all_or_nothing(afresh=False)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows held in memory, in a file, or in a stream that can be walked several times.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.

        Returns
        -------
        self
        """
        self._check_parameters()
        earlier = copy.copy(self)
        self._forget(*[name for name in vars(self) if name.endswith("_")])
        rows = self._rows(X, sample_weight, reset=True)
        units = self._survey(rows)
        problem = self._problem(rows, units)
        if self.warm_start and hasattr(earlier, "distribution_"):
            known = len(earlier.weights_), earlier.n_features_in_
            if known != (self.n_components, self.n_features_in_):
                raise ValueError(
                    f"warm_start goes on from {known[0]} components of {known[1]} columns; "
                    "n_components and X must be as they were"
                )
            result = climb(self, problem, earlier._restart(units))  # noqa: SLF001
        else:
            rng = as_generator(self.random_state)
            result = best_of(
                lambda _: climb(self, problem, problem.start(rng)),
                self.n_init,
                sound=lambda params: self._sound(params, units),
            )
        self._conclude(result, problem, units)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Learn from rows, and return the component that most likely made each.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        array of int, shape (n_samples,)
        """
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def summarize(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Return the rows' expected statistics under the fitted model: one E-step; the model stays as it is.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,) or column name, optional

        Returns
        -------
        statistic
            Merge two with ``+``; `from_statistic` takes the M-step. Its `objective` is the (penalised) log
            likelihood of the rows.
        """
        check_fitted(self)
        rows = self._rows(X, sample_weight, reset=False)
        return self._problem(rows, self._look_again(rows)).expect(self._restart(self.units_))

    @all_or_nothing(afresh=False)
    def from_statistic(self, statistic: Any) -> Self:
        """Learn from expected statistics: one M-step.

        Parameters
        ----------
        statistic
            What `summarize` returned, or a sum of such.

        Returns
        -------
        self
        """
        check_fitted(self)
        self._require_statistic(statistic)
        self._adopt(self._problem(Rows(data=None), self.units_).maximize(statistic), self.units_)
        self._forget(*OF_A_SEARCH, *OF_A_STREAM)
        return self

    def _require_statistic(self, statistic: Any) -> None:
        """Refuse what is no expected statistic of this model."""
        if not hasattr(statistic, "objective"):
            raise ValueError(f"statistic must be what summarize returns, got {type(statistic).__name__}")

    def _forget(self, *names: str) -> None:
        for name in names:
            self.__dict__.pop(name, None)

    def _rows(self, X: Any, sample_weight: Any, *, reset: bool) -> Rows:
        refuse_foreign(X)
        rows = check_rows(self, X, None, sample_weight, reset=reset, min_rows=2 if reset else 1)
        n = rows.n_rows
        if reset and n is not None and n < self.n_components:
            raise ValueError(
                f"n_components={self.n_components} needs as many rows, but X has n_samples={n} rows"
            )
        return rows

    def _conclude(self, result: EMResult, problem: Problem, units: Any) -> None:
        self.units_ = units
        self._adopt(result.params, units)
        self.lower_bounds_ = [objective / problem.total for objective in result.trace]
        self.lower_bound_ = self.lower_bounds_[-1]
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        if result.interrupted:
            raise FitInterrupted
        if not result.converged:
            warnings.warn(_unsettled(result, self.max_iter), ConvergenceWarning, stacklevel=4)
        self._complain()


def _unsettled(result: EMResult, max_iter: int) -> str:
    if result.n_iter < max_iter:
        return (
            f"EM stopped after {result.n_iter} iterations, where rounding lowered the objective: a component "
            "is singular; use fewer components or a larger reg_covar"
        )
    return f"EM did not settle in {max_iter} iterations; raise max_iter or tol, or try more starts (n_init)"


#: A batch's share in the statistic is (t + 2)^-POWER: averages forget their start, and settle.
POWER = 0.7


class StepwiseMixin:
    """`partial_fit` of a mixture whose expected statistics add and discount."""

    @all_or_nothing(afresh=False)
    def partial_fit(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn from a batch of rows that will not be seen again; approximate.

        The first batch is fitted by EM. From then on (Cappé and Moulines 2009) expected statistics of a row
        follow s ← (1 - ρ) s + ρ s_batch with ρ = (t + 2)^-0.7, and each batch ends with an M-step. Give
        batches of hundreds of rows, in random order. For exact fits of data larger than memory give
        :meth:`fit` a source.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._check_parameters()
        if not hasattr(self, "distribution_"):
            self.fit(X, sample_weight=sample_weight)
            self.n_batches_, self.weight_seen_ = 1, self.units_.total
            return self
        rows = self._rows(X, sample_weight, reset=False)
        problem, params = self._problem(rows, self._look_again(rows)), self._restart(self.units_)
        batch = problem.expect(params)
        batches = getattr(self, "n_batches_", 1)
        before = getattr(self, "weight_seen_", self.units_.total)
        weight = float(batch.weight.sum())
        if weight > 0.0:
            rate, seen = (batches + 2.0) ** -POWER, before + weight
            if not hasattr(self, "statistic_"):
                self.statistic_ = problem.implied(params, before).discount(1.0 / before)
            self.statistic_ = self.statistic_.discount(1.0 - rate) + batch.discount(rate / weight)
            self._adopt(problem.maximize(self.statistic_.discount(seen)), self.units_)
            self._forget(*OF_A_SEARCH)
            self.lower_bound_ = batch.objective / weight
            self.weight_seen_ = seen
        self.n_batches_ = batches + 1
        return self
