"""How mixtures of regressions are fitted, all alike: units, restarts, what is said of the result."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import column_or_1d

from tractable.arrays.random import as_generator
from tractable.arrays.special import log_sum_exp
from tractable.base import (
    Estimator,
    FitInterrupted,
    ModelTags,
    PredictiveMixin,
    Rows,
    all_or_nothing,
    check_choice,
    check_columns,
    check_fitted,
    check_number,
    check_rows,
    check_targets,
    check_weights,
    refuse_foreign,
)
from tractable.data import Source
from tractable.distributions import Mixture, Normal
from tractable.engines import EMResult, best_of
from tractable.mixture.base import climb
from tractable.mixture.gaussian.initial import as_numbers
from tractable.mixture.regression.model import RegressionMixture
from tractable.mixture.regression.steps import ExpectedPlanes, RegressionProblem, RegressionUnits, survey
from tractable.value import replace

__all__ = ["MixtureOfExperts", "MixtureOfRegressors", "NoiseCollapsedWarning", "PlanesEstimator"]

#: The least noise when none is given, in units of the variance of the targets.
FLOOR = 1e-12

#: Where noises are separate, so small a one about few rows comes by chance, and the likelihood has no bound:
#: fewer than so many a parameter of a plane and this share of all, which may lie in so thin a strip.
SMALL_NOISE, FEW_ROWS, FEW_SHARE = 1e-6, 10.0, 1e-2


class NoiseCollapsedWarning(UserWarning):
    """Rows lie on a plane of a mixture without error, or they are few: its noise says nothing."""


class PlanesPredictions(PredictiveMixin):
    """`predict_dist`, `responsibilities`, `log_likelihood` and `bic` from `model_` in units of `units_`."""

    n_components: int
    n_parameters_: int
    model_: RegressionMixture
    units_: RegressionUnits

    def predict_dist(self, X: Any, *, include_noise: bool = True) -> Any:
        """Return p(y | x) = Σ_k π_k(x) N(y | f_k(x), σ_k²), or the mixture of the planes without their noise.

        The planes are taken for known. Without noise each has its large-sample distribution, as if it were
        known which rows belong to it.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        include_noise : bool

        Returns
        -------
        UnivariateMixture
            Of batch shape (n_samples,); that of one row, ``dist[i]``, says where its `modes` are.
        """
        x, model, units = self._columns(X), self.model_, self.units_
        variance = np.broadcast_to(model.noise, (len(x), self.n_components))
        if not include_noise:
            variance = model.plane_variance(x)
        return Mixture(
            weights=np.exp(model.log_shares(x)),
            components=Normal(
                mean=units.middle + units.width * model.heights(x), variance=variance * units.width**2
            ),
        )

    def predict_components(self, X: Any) -> np.ndarray:
        """Return every plane at each row, f_k(x).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        x = self._columns(X)
        return self.units_.middle + self.units_.width * self.model_.heights(x)

    def responsibilities(self, X: Any, y: Any) -> np.ndarray:
        """Return p(k | x, y) ∝ π_k(x) N(y | f_k(x), σ_k²): which plane each row belongs to, once y is seen.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        joint = self._log_joint(X, y)
        return np.exp(joint - log_sum_exp(joint)[:, None])

    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return Σ_i w_i log p(y_i | x_i).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        per_row = log_sum_exp(self._log_joint(X, y)) - np.log(self.units_.width)
        weights = check_weights(sample_weight, per_row[:, None])
        return float(np.sum(per_row) if weights is None else weights @ per_row)

    def aic(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return Akaike's criterion, -2 log p(y | X) + 2 parameters; lower is better.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        return 2.0 * self.n_parameters_ - 2.0 * self.log_likelihood(X, y, sample_weight)

    def bic(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return Schwarz's criterion, -2 log p(y | X) + parameters · log n; lower is better.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        likelihood = self.log_likelihood(X, y, sample_weight)
        weight = float(len(X)) if sample_weight is None else float(np.sum(sample_weight))
        return self.n_parameters_ * float(np.log(weight)) - 2.0 * likelihood

    def _columns(self, X: Any) -> np.ndarray:
        """Return checked rows in the units of the search."""
        check_fitted(self)
        refuse_foreign(X)
        return self.units_.columns(check_columns(self, X))

    def _log_joint(self, X: Any, y: Any) -> np.ndarray:
        x = self._columns(X)
        return self.model_.log_joint(x, self.units_.targets(column_or_1d(check_targets(self, y, x))))


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


class MixtureOfRegressors(PlanesEstimator):
    """Several planes, one of which each row follows: p(y | x) = Σ_k π_k N(y | intercept_k + xᵀ coef_k, σ_k²).

    Expectation-maximisation. The E-step shares every row out, γ_ki ∝ π_k N(y_i | f_k(x_i), σ_k²); the M-step
    is least squares with these shares for weights, by QR, and

        σ_k² = Σ_i γ_ki (y_i - f_k(x_i))² / Σ_i γ_ki,    π_k = Σ_i γ_ki / N,

    where noise is shared σ² = Σ_k Σ_i γ_ki (y_i - f_k(x_i))² / N. The log-likelihood of the rows never falls;
    its maxima are local, so the best of `n_init` starts is kept. Exact over several passes, so rows may be in
    files larger than memory. For curves, put basis functions before it in a pipeline; where the shares depend
    on x, see :class:`MixtureOfExperts`.

    The likelihood is bounded while one noise is shared, unless the planes go through all rows. With separate
    ones it is not: a plane through few rows, without error, would make it as large as one likes. Starts
    that lead to a plane through few rows are passed over, and where all do it is said; there its noise stops
    at `noise_floor`.

    Parameters
    ----------
    n_components : int
    noise : {"shared", "separate"}
        Whether all planes have one noise.
    alpha : float
        Price of squared coefficients: each plane is that of ridge regression with scikit-learn's `alpha`, and
        the objective is log-likelihood - ½ Σ_k alpha |coef_k|² / σ_k².
    fit_intercept : bool
    noise_floor : float, optional
        The least variance of the noise; 1e-12 of the variance of y by default.
    coef_init : array of shape (n_components, n_features), optional
        Where to begin; by default planes scattered about the one of least squares.
    intercept_init : array of shape (n_components,), optional
    n_init : int
        Number of random starts.
    tol : float
        Growth of the mean log-likelihood of a row below which the search stops.
    max_iter : int
    random_state : None, int, RandomState or Generator

    Attributes
    ----------
    coef_ : array of shape (n_components, n_features)
    intercept_ : array of shape (n_components,)
    weights_ : array of shape (n_components,)
        π.
    noise_variance_ : array of shape (n_components,)
        σ².
    log_likelihood_ : float
        Of the rows learned from.
    lower_bound_ : float
        The objective, a row: the log-likelihood less the penalty, divided by the weight of the rows.
    lower_bounds_ : list of float
        The same before the first step and after each.
    collapsed_ : array of bool, shape (n_components,)
        Whose noise is at its floor, or next to nothing about a few rows.
    n_parameters_ : int
        Free ones, for `bic`.
    n_iter_ : int
    converged_ : bool
    model_ : RegressionMixture
        The parameters in the units of the search, `units_`.

    See Also
    --------
    MixtureOfExperts : shares that depend on x.

    Examples
    --------
    Two roads lead from the same places to different ones; the mean of both is neither:

    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0.0, 4.0, 200)
    >>> y = np.where(rng.random(200) < 0.7, 1.0 + x, 5.0 - 2.0 * x) + 0.1 * rng.standard_normal(200)
    >>> model = tractable.MixtureOfRegressors(random_state=0).fit(x[:, None], y)
    >>> order = np.argsort(model.coef_[:, 0])
    >>> model.coef_[order].round(1).ravel(), model.intercept_[order].round(1)
    (array([-2.,  1.]), array([5., 1.]))
    >>> model.predict_dist([[3.0]])[0].modes().round(1)
    array([ 4., -1.])
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        noise: str = "shared",
        alpha: float = 0.0,
        fit_intercept: bool = True,
        noise_floor: float | None = None,
        coef_init: Any = None,
        intercept_init: Any = None,
        n_init: int = 5,
        tol: float = 1e-7,
        max_iter: int = 500,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.noise = noise
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.noise_floor = noise_floor
        self.coef_init = coef_init
        self.intercept_init = intercept_init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def summarize(self, X: Any, y: Any = None, sample_weight: Any = None) -> ExpectedPlanes:
        """Return the rows' expected statistics under the fitted model: one E-step; the model stays as it is.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : array of shape (n_samples,), or column name
        sample_weight : array of shape (n_samples,) or column name, optional

        Returns
        -------
        ExpectedPlanes
            Merge two with ``+``; `from_statistic` takes the M-step.
        """
        check_fitted(self)
        rows = self._rows(X, y, sample_weight, reset=False)
        return self._problem(rows, self.units_).expect(self.model_)

    @all_or_nothing(afresh=False)
    def from_statistic(self, statistic: ExpectedPlanes) -> Self:
        """Learn from expected statistics: one M-step.

        Parameters
        ----------
        statistic : ExpectedPlanes
            What `summarize` returned, or a sum of such.

        Returns
        -------
        self
        """
        check_fitted(self)
        if not isinstance(statistic, ExpectedPlanes):
            raise ValueError(f"statistic must be ExpectedPlanes, got {type(statistic).__name__}")
        problem = self._problem(Rows(data=None), self.units_)
        self._adopt(problem.maximize(statistic))
        self.collapsed_ = self.model_.noise <= problem.floor
        return self

    def _adopt(self, params: RegressionMixture) -> None:
        super()._adopt(params)
        self.weights_ = np.exp(params.gate[:, 0])


class MixtureOfExperts(PlanesEstimator):
    """Planes, and a gate that says which to trust where: p(y | x) = Σ_k π_k(x) N(y | f_k(x), σ_k²).

    The gate is a softmax, π_k(x) ∝ exp(gate_intercept_k + xᵀ gate_coef_k); the experts are planes, f_k(x) =
    intercept_k + xᵀ coef_k. Expectation-maximisation as for :class:`MixtureOfRegressors`, with one more piece
    in the same M-step: the gate is a softmax regression on the responsibilities, which has no closed form; a
    few steps of Newton's method (iteratively reweighted least squares), halved until they climb, make a
    generalised EM. The penalised log-likelihood never falls. Exact over several passes.

    Where the shares are constant, a mixture has the same modes everywhere, and gives density to planes in
    places that no row of theirs was seen. The gate does not.

    Parameters
    ----------
    n_components : int
    noise : {"shared", "separate"}
        Whether all planes have one noise.
    alpha : float
        Price of squared coefficients of the planes: scikit-learn's `alpha` of ridge regression, in the
        objective as - ½ Σ_k alpha |coef_k|² / σ_k².
    gate_alpha : float
        Price of squared coefficients of the gate, in the objective as - ½ gate_alpha Σ_kj (s_j gate_coef_kj)²
        with s_j the standard deviation of column j, so that the fit does not depend on the units of columns.
        Above zero it keeps a gate finite that would grow without end, where planes never meet in x.
    fit_intercept : bool
        Of the planes; the gate always has one.
    noise_floor : float, optional
        The least variance of the noise; 1e-12 of the variance of y by default.
    coef_init : array of shape (n_components, n_features), optional
        Planes to begin with; by default they are scattered about the one of least squares.
    intercept_init : array of shape (n_components,), optional
    n_init : int
        Number of random starts.
    tol : float
        Growth of the mean objective of a row below which the search stops.
    max_iter : int
    random_state : None, int, RandomState or Generator

    Attributes
    ----------
    coef_ : array of shape (n_components, n_features)
    intercept_ : array of shape (n_components,)
    gate_coef_ : array of shape (n_components, n_features)
        They sum to zero over components, as do the intercepts.
    gate_intercept_ : array of shape (n_components,)
    noise_variance_ : array of shape (n_components,)
    log_likelihood_ : float
        Of the rows learned from.
    lower_bound_ : float
        The objective, a row: the log-likelihood less the penalties, divided by the weight of the rows.
    lower_bounds_ : list of float
        The same before the first step and after each.
    collapsed_ : array of bool, shape (n_components,)
        Whose noise is at its floor, or next to nothing about a few rows.
    n_parameters_ : int
        Free ones, for `bic`.
    n_iter_ : int
    converged_ : bool
    model_ : RegressionMixture
        The parameters in the units of the search, `units_`.

    See Also
    --------
    MixtureOfRegressors : shares that are the same everywhere.

    Examples
    --------
    Below 2 rows follow one plane and above it another, and about 2 either of them:

    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0.0, 4.0, 400)
    >>> low = x + 0.2 * rng.standard_normal(400) < 2.0
    >>> y = np.where(low, 1.0 - x, 3.0 * x) + 0.1 * rng.standard_normal(400)
    >>> model = tractable.MixtureOfExperts(random_state=0).fit(x[:, None], y)
    >>> model.gate_proba([[1.0], [2.0], [3.0]]).max(axis=1).round(1)
    array([1. , 0.6, 1. ])
    >>> model.predict_dist([[2.0]])[0].modes().round(1)
    array([ 6., -1.])
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        noise: str = "shared",
        alpha: float = 0.0,
        gate_alpha: float = 0.01,
        fit_intercept: bool = True,
        noise_floor: float | None = None,
        coef_init: Any = None,
        intercept_init: Any = None,
        n_init: int = 5,
        tol: float = 1e-7,
        max_iter: int = 500,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.noise = noise
        self.alpha = alpha
        self.gate_alpha = gate_alpha
        self.fit_intercept = fit_intercept
        self.noise_floor = noise_floor
        self.coef_init = coef_init
        self.intercept_init = intercept_init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def gate_proba(self, X: Any) -> np.ndarray:
        """Return π_k(x), how much each plane is trusted at each row before y is seen.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        return np.exp(self.model_.log_shares(self._columns(X)))

    def _gate_alpha(self) -> float:
        return float(self.gate_alpha)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("gate_alpha", self.gate_alpha, least=0.0)

    def _adopt(self, params: RegressionMixture) -> None:
        super()._adopt(params)
        self.gate_coef_ = params.gate[:, 1:] / self.units_.spread
        self.gate_intercept_ = params.gate[:, 0] - self.gate_coef_ @ self.units_.shift
