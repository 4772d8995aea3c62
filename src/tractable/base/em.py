"""Models fitted by expectation-maximisation: what their `fit` has in common."""

import copy
import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.random import as_generator
from tractable.base.estimator import Estimator, FitInterrupted, all_or_nothing, check_fitted
from tractable.base.parameters import check_number
from tractable.base.validation import Rows, check_rows, refuse_foreign
from tractable.engines import EMResult, best_of, em


class EMEstimator(Estimator):
    """`fit`, restarts, warm start, one step at a time, and streams, of a model fitted by EM.

    A model supplies the steps of its life:

    - `_check_parameters()` refuses constructor parameters that make no sense;
    - `_validate_rows(X, y, sample_weight, reset=…)` checks rows;
    - `_em_problem(rows, fitted=…)` standardizes and returns the `EMProblem`; with `fitted`, in the scale of
      the fit, for `summarize`, `from_statistic` and `partial_fit`;
    - `_fitted_params(problem)` returns the fitted parameters as the problem's steps take them;
    - `_set_fitted(params, problem)` sets what users read;
    - `_is_regular(params, problem)` returns whether a solution may be chosen (no component collapsed);
    - `_warn_fitted()` warns of what a user should know of a finished fit, besides convergence.
    """

    n_init: Any
    tol: float
    max_iter: int
    random_state: Any
    #: Whether the model learns from targets as well.
    _supervised = False
    #: Attributes of a search and of a stream, removed when parameters are set another way.
    _SEARCH_ATTRIBUTES = ("lower_bound_", "objective_trace_", "n_iter_", "converged_")
    _STREAM_ATTRIBUTES = ("statistic_", "n_batches_", "weight_seen_")

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse invalid parameters, before any work."""
        check_number("n_init", self.n_init, least=1, whole=True)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        check_number("tol", self.tol, least=0.0)

    def _validate_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Rows:
        """Check rows to learn from, or (not `reset`) rows like those of the fit."""
        if not self._learns_on_host:
            refuse_foreign(X)
        return check_rows(
            self,
            X,
            y,
            sample_weight,
            reset=reset,
            min_rows=self._min_rows() if reset else 1,
            supervised=self._supervised,
        )

    def _min_rows(self) -> int:
        """Return the fewest rows that `fit` accepts."""
        return 1

    @abstractmethod
    def _em_problem(self, rows: Rows | None, *, fitted: bool) -> Any:
        """Return the `EMProblem` of rows, scaled anew or (`fitted`) as in the fit; of no rows where None."""

    @abstractmethod
    def _fitted_params(self, problem: Any) -> Any:
        """Return the fitted parameters in the scale of a problem."""

    @abstractmethod
    def _set_fitted(self, params: Any, problem: Any) -> None:
        """Set the attributes that users read."""

    def _is_regular(self, params: Any, problem: Any) -> bool:
        """Whether a solution may win over others: a collapsed component has an unbounded likelihood."""
        return True

    def _warn_fitted(self) -> None:
        """Warn about the fitted model, besides convergence."""

    @all_or_nothing(afresh=False)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit by expectation-maximisation to rows in memory, in files, or in a stream that can be repeated.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,) or column name
            The targets, where the model has any; ignored elsewhere.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        """
        self._check_parameters()
        earlier = copy.copy(self)
        self._forget(*[name for name in vars(self) if name.endswith("_")])
        rows = self._validate_rows(X, y, sample_weight, reset=True)
        problem = self._em_problem(rows, fitted=False)
        result = self._search(problem, earlier)
        self._set_fitted(result.params, problem)
        self._set_search(result, problem)
        if result.interrupted:
            raise FitInterrupted
        if not result.converged:
            warnings.warn(self._not_converged(result), ConvergenceWarning, stacklevel=4)
        self._warn_fitted()
        return self

    def summarize(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Return the rows' expected statistics under the fitted model: one E-step; the model is not changed.

        Statistics merge with ``+``; `from_statistic` takes the M-step. The `objective` of one is the
        (penalised) log likelihood of the rows.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        """
        check_fitted(self)
        rows = self._validate_rows(X, y, sample_weight, reset=False)
        problem = self._em_problem(rows, fitted=True)
        return problem.data.reduce(problem.expect(self._fitted_params(problem)), label="E-step")

    @all_or_nothing(afresh=False)
    def from_statistic(self, statistic: Any) -> Self:
        """Learn from expected statistics, what `summarize` returned or a sum of such: one M-step."""
        check_fitted(self)
        self._check_statistic(statistic)
        problem = self._em_problem(None, fitted=True)
        self._set_fitted(problem.maximize(statistic), problem)
        self._forget(*self._SEARCH_ATTRIBUTES, *self._STREAM_ATTRIBUTES)
        return self

    def _search(self, problem: Any, earlier: Any) -> EMResult:
        """Run EM from the earlier fit (`warm_start`), or from `n_init` starts, and return the best."""
        if getattr(self, "warm_start", False) and hasattr(earlier, "n_features_in_"):
            return self._run_em(problem, earlier._fitted_params(problem))  # noqa: SLF001
        rng = as_generator(self.random_state, name="random_state")
        return best_of(
            lambda _: self._run_em(problem, problem.initial(rng)),
            self._n_starts(),
            sound=lambda params: self._is_regular(params, problem),
        )

    def _n_starts(self) -> int:
        """Return from how many initial parameters the search runs."""
        return self.n_init

    def _run_em(self, problem: Any, params: Any) -> EMResult:
        return em(
            problem.expect,
            problem.maximize,
            params,
            problem.data,
            tol=self.tol,
            max_iter=self.max_iter,
            scale=problem.total,
            label=self._label(),
            extrapolate=problem.extrapolate,
            options=self.get_params(deep=False),
        )

    def _label(self) -> str:
        """Return what the progress line of a search shows."""
        n = getattr(self, "n_components", None)
        return type(self).__name__ if n is None else f"{type(self).__name__}, {n} components"

    def _not_converged(self, result: EMResult) -> str:
        """Return the warning of a search that ended before it converged."""
        if result.n_iter < self.max_iter:
            return (
                f"EM stopped after {result.n_iter} iterations, where rounding lowered the objective: a "
                "component is singular; use fewer components or a larger reg_covar"
            )
        return (
            f"EM did not converge in {self.max_iter} iterations; raise max_iter or tol, or try more starts "
            "(n_init)"
        )

    def _check_statistic(self, statistic: Any) -> None:
        """Refuse what is no expected statistic of this model."""
        if not hasattr(statistic, "objective"):
            raise ValueError(f"statistic must be what summarize returns, got {type(statistic).__name__}")

    def _set_search(self, result: EMResult, problem: Any) -> None:
        """Set what users read of the search."""
        self.objective_trace_ = np.asarray(result.trace) / problem.total
        self.lower_bound_ = float(self.objective_trace_[-1])
        self.n_iter_, self.converged_ = result.n_iter, result.converged

    def _forget(self, *names: str) -> None:
        for name in names:
            self.__dict__.pop(name, None)
