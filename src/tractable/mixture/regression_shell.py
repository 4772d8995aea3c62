"""How mixtures of regressions are fitted, all alike: units, restarts, what is said of the result."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import column_or_1d

from tractable.arrays.random import as_generator
from tractable.base import (
    Estimator,
    FitInterrupted,
    ModelTags,
    Rows,
    all_or_nothing,
    check_choice,
    check_number,
    check_rows,
    refuse_foreign,
)
from tractable.data import Source
from tractable.engines import EMResult, best_of
from tractable.mixture.climb import climb
from tractable.mixture.gaussian_parameters import as_numbers
from tractable.mixture.regression_model import RegressionMixture
from tractable.mixture.regression_predictions import PlanesPredictions
from tractable.mixture.regression_steps import RegressionProblem
from tractable.mixture.regression_units import RegressionUnits, survey
from tractable.value import replace

__all__ = ["NoiseCollapsedWarning", "PlanesEstimator"]

#: The least noise when none is given, in units of the variance of the targets.
FLOOR = 1e-12

#: Where noises are separate, so small a one about few rows comes by chance, and the likelihood has no bound:
#: fewer than so many a parameter of a plane and this share of all, which may lie in so thin a strip.
SMALL_NOISE, FEW_ROWS, FEW_SHARE = 1e-6, 10.0, 1e-2


class NoiseCollapsedWarning(UserWarning):
    """Rows lie on a plane of a mixture without error, or they are few: its noise says nothing."""


class PlanesEstimator(PlanesPredictions, RegressorMixin, Estimator):
    """`fit` and restarts of p(y | x) = Σ_k π_k(x) N(y | f_k(x), σ_k²).

    A model says by `_gate_alpha` whether shares are constant (None), and adopts what is its own.
    """

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact over several passes")
    n_components: int
    noise: str
    alpha: float
    fit_intercept: bool
    noise_floor: float | None
    coef_init: Any
    intercept_init: Any
    n_init: int
    tol: float
    max_iter: int
    random_state: Any

    def _gate_alpha(self) -> float | None:
        """Return the price of squared coefficients of the gate; None where there is no gate."""
        return None

    def _check_parameters(self) -> None:
        check_number("n_components", self.n_components, least=1, whole=True)
        check_choice("noise", self.noise, ("shared", "separate"))
        check_number("alpha", self.alpha, least=0.0)
        if self.noise_floor is not None:
            check_number("noise_floor", self.noise_floor, above=0.0)
        if self.coef_init is None and self.intercept_init is not None:
            raise ValueError("intercept_init needs coef_init beside it")
        check_number("n_init", self.n_init, least=1, whole=True)
        check_number("tol", self.tol, least=0.0)
        check_number("max_iter", self.max_iter, least=1, whole=True)

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows held in memory, in a file, or in a stream that can be walked several times.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : array of shape (n_samples,), or column name
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows = self._rows(X, y, sample_weight, reset=True)
        units = survey(rows, self.n_components, fit_intercept=bool(self.fit_intercept))
        problem = self._problem(rows, units)
        self._conclude(self._search(problem), problem)
        return self

    def _rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Rows:
        refuse_foreign(X)
        rows = check_rows(
            self,
            X,
            y,
            sample_weight,
            reset=reset,
            min_rows=self.n_components if reset else 1,
            supervised=True,
        )
        if isinstance(rows.data, Source):
            return rows
        return replace(rows, y=column_or_1d(rows.y, warn=True))

    def _problem(self, rows: Rows, units: RegressionUnits) -> RegressionProblem:
        floor = FLOOR if self.noise_floor is None else self.noise_floor / units.width**2
        return RegressionProblem(
            rows=rows,
            units=units,
            n_components=self.n_components,
            root_alpha=np.sqrt(float(self.alpha)) / units.spread,
            shared=self.noise == "shared",
            floor=floor,
            gate_alpha=self._gate_alpha(),
        )

    def _search(self, problem: RegressionProblem) -> EMResult:
        if self.coef_init is not None:
            return climb(self, problem, self._given_start(problem))
        rng = as_generator(self.random_state)
        return best_of(
            lambda _: climb(self, problem, problem.start(rng)),
            self.n_init,
            sound=lambda params: not bool(np.any(self._chance(params, problem))),
        )

    def _chance(self, params: RegressionMixture, problem: RegressionProblem) -> np.ndarray:
        """Return which planes go through a few rows, almost: how good that is says nothing of the model."""
        small = params.noise <= max(problem.floor, SMALL_NOISE)
        if problem.shared or not small.any():
            return np.zeros(len(small), dtype=bool)
        few = FEW_ROWS * (1 + params.coef.shape[1]) + FEW_SHARE * problem.total
        return small & (problem.expect(params).mass < few)

    def _given_start(self, problem: RegressionProblem) -> RegressionMixture:
        units, k = problem.units, self.n_components
        coef = as_numbers("coef_init", self.coef_init, (k, len(units.shift)))
        given = np.zeros(k) if self.intercept_init is None else self.intercept_init
        intercept = as_numbers("intercept_init", given, (k,))
        if not units.located and np.any(intercept != 0):
            raise ValueError("intercept_init must be zero where fit_intercept is False")
        heights = (intercept + coef @ units.shift - units.middle) / units.width
        slopes = np.where(np.isfinite(units.spread), coef * units.spread, 0.0) / units.width
        return problem.begin(slopes, heights)

    def _conclude(self, result: EMResult, problem: RegressionProblem) -> None:
        self.units_ = problem.units
        self._adopt(result.params)
        at_floor = result.params.noise <= problem.floor
        self.collapsed_ = at_floor | (False if result.interrupted else self._chance(result.params, problem))
        self.lower_bounds_ = [objective / problem.total for objective in result.trace]
        self.lower_bound_ = self.lower_bounds_[-1]
        self.log_likelihood_ = result.objective + problem.penalty(result.params)
        self.n_iter_, self.converged_ = max(result.n_iter, 1), result.converged
        if result.interrupted:
            raise FitInterrupted
        self._complain()

    def _adopt(self, params: RegressionMixture) -> None:
        """Set what users read from parameters in the units of the search."""
        units = self.units_
        self.model_ = params
        self.coef_ = units.slopes(params.coef)
        self.intercept_ = (
            units.heights(params.coef, params.intercept) if units.located else np.zeros(self.n_components)
        )
        self.noise_variance_ = params.noise * units.width**2
        n_noises = 1 if self.noise == "shared" else self.n_components
        self.n_parameters_ = (
            self.coef_.size + units.located * self.n_components + n_noises
            + (self.n_components - 1) * params.gate.shape[1]
        )  # fmt: skip

    def _complain(self) -> None:
        if not self.converged_:
            warnings.warn(
                f"EM did not settle in {self.max_iter} iterations; raise max_iter or tol, or start elsewhere "
                "(n_init, coef_init)",
                ConvergenceWarning,
                stacklevel=5,
            )
        if self.collapsed_.any():
            planes = np.flatnonzero(self.collapsed_).tolist()
            warnings.warn(
                f"the noise of planes {planes} is next to nothing, or what noise_floor leaves, a variance of "
                f"{self.noise_variance_.min():.3g}: their rows lie on them without error, or are few. Use "
                'fewer components, noise="shared" or alpha > 0; where noise may be so small, a smaller '
                "noise_floor",
                NoiseCollapsedWarning,
                stacklevel=5,
            )
