"""Mixtures of linear regressions: with constant mixing weights, and with a softmax gate."""

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from tractable.arrays.limits import check_coefficients
from tractable.arrays.log_space import log_sum_exp
from tractable.base import (
    EMEstimator,
    ModelTags,
    RegressorMixin,
    Rows,
    check_choice,
    check_columns,
    check_fitted,
    check_number,
    check_values,
    refuse_foreign,
)
from tractable.base.by_blocks import by_blocks, of_held_rows
from tractable.data import Batch, Source
from tractable.data.blocks import map_blocks
from tractable.distributions import Mixture, StudentT
from tractable.engines import EMResult
from tractable.mixture.regression.model import FEWEST_ROWS, RegressionMixture
from tractable.mixture.regression.steps import (
    ExpectedRegressions,
    RegressionProblem,
    summarize_rows,
)
from tractable.statistics import Standardizer
from tractable.value import replace

#: The least noise variance when none is given, as a fraction of the variance of the targets.
FLOOR = 1e-12

#: With separate noises the likelihood has no bound: so small a noise (as a fraction of the variance of the
#: targets) about fewer rows than so many a parameter, plus this fraction of all rows, may come by chance.
SMALL_NOISE, FEW_ROWS, FEW_OF_ALL = 1e-6, 10.0, 1e-2


class NoiseCollapsedWarning(UserWarning):
    """The rows of a component are fitted without error, or are few: its noise cannot be estimated."""


class MixtureOfRegressors(RegressorMixin, EMEstimator):
    """A mixture of linear regressions, p(y | x) = Σ_k π_k N(y | intercept_k + xᵀ coef_k, σ_k²), by EM.

    The E-step computes responsibilities, γ_ki ∝ π_k N(y_i | f_k(x_i), σ_k²) with f_k(x) = intercept_k +
    xᵀ coef_k; the M-step is least squares with these weights, by QR, and

        σ_k² = Σ_i γ_ki (y_i - f_k(x_i))² / Σ_i γ_ki,    π_k = Σ_i γ_ki / N,

    where noise is shared σ² = Σ_k Σ_i γ_ki (y_i - f_k(x_i))² / N. The log-likelihood of the rows never falls;
    its maxima are local, so the best of `n_init` starts is kept. Exact over several passes, so rows may be in
    files larger than memory. For curves, put basis functions before it in a pipeline; for mixing weights that
    depend on x, see :class:`MixtureOfExperts`.

    The likelihood is bounded with a shared noise, unless all rows are fitted without error. With separate
    noises it is not: a component that fits few rows without error can make it arbitrarily large. A search
    that ends at such a component wins only where all do, with a warning; its noise stops at `noise_floor`.

    Parameters
    ----------
    n_components : int
        Number of regressions.
    noise : {"shared", "separate"}
        Whether all components have one noise variance.
    alpha : float
        Penalty weight of squared coefficients: each component is ridge regression with scikit-learn's
        `alpha`, and the objective is log-likelihood - ½ Σ_k alpha |coef_k|² / σ_k².
    fit_intercept : bool
        Whether the regressions have intercepts.
    noise_floor : float, optional
        The least variance of the noise; 1e-12 of the variance of y by default.
    coef_init : array of shape (n_components, n_features), optional
        Initial coefficients; by default random ones about those of least squares.
    intercept_init : array of shape (n_components,), optional
        Initial intercepts; zeros by default.
    n_init : int
        Number of searches from random coefficients, of which the best is kept.
    tol : float
        Growth of the mean log-likelihood of a row below which a search ends.
    max_iter : int
        Most iterations of a search.
    random_state : None, int, RandomState or Generator
        The seed of the initial coefficients.

    Attributes
    ----------
    coef_ : array of shape (n_components, n_features)
        Coefficients of each regression.
    intercept_ : array of shape (n_components,)
        Intercepts; zeros without `fit_intercept`.
    weights_ : array of shape (n_components,)
        Mixing weights π.
    noise_variance_ : array of shape (n_components,)
        σ².
    log_likelihood_ : float
        Log-likelihood of the training rows.
    lower_bound_ : float
        The objective, a row: the log-likelihood less the penalty, divided by the weight of the rows.
    objective_trace_ : array of shape (n_iter_ + 1,)
        The same at the start of the best search and after each iteration; never falling.
    collapsed_ : array of bool, shape (n_components,)
        Whose noise is at its floor, or next to nothing about a few rows.
    n_parameters_ : int
        Number of free parameters, for `aic` and `bic`.
    n_iter_ : int
        Iterations of the best search.
    converged_ : bool
        Whether it ended by `tol`.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    MixtureOfExperts : mixing weights that depend on x.

    Examples
    --------
    Two lines, and a mean that lies on neither:

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

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact over several passes")
    n_parameters_: int
    _supervised = True
    _params_: RegressionMixture
    _standardizer_: Standardizer
    #: Penalty weight of the gate; None where mixing weights are constant.
    gate_alpha: float | None = None

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

    @of_held_rows
    def predict_dist(self, X: Any, *, include_noise: bool = True) -> Any:
        """Return the predictive distribution of each row's target, a mixture of Student's t.

        Component k is about f_k(x), of scale s_k √(1 + h_k) and with the degrees of freedom of its residuals;
        h_k is the leverage of the row among those of the component, s_k² = Σ_n γ_nk (y_n - f_k(x_n))² / dof_k
        and dof_k = N_k - p with p parameters a component; noise that is shared has the sums of both over all
        components. With one component this is the distribution of `LinearRegression`, and covers exactly.
        With several, responsibilities stand for the labels of the rows, and the mixing weights for known
        ones: intervals cover where there are many rows, and of no more than four rows a parameter they are
        refused. Rows are refused, too, whose predictor linearly dependent columns leave undetermined; with a
        penalty none is. The `Mixture` of one row, ``dist[i]``, has `modes`.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        include_noise : bool
            Whether it is the distribution of a new target (default) or without noise, of scale s_k √h_k.
        """
        x, params, target = self._standardized_columns(X), self._params_, self._standardizer_[-1]
        noise, dof = self._noise_estimates()
        leverage = params.leverage(x)
        _check_determined(leverage)
        scale = np.sqrt(noise * (leverage + float(include_noise))) / target.scale
        return Mixture(
            weights=np.exp(params.log_weights(x)),
            components=StudentT(dof=dof, location=target.inverse_transform(params.means(x)), scale=scale),
        )

    def _noise_estimates(self) -> tuple[np.ndarray, np.ndarray]:
        """Return unbiased noise variances and their degrees of freedom, if the rows suffice for them."""
        params = self._params_
        root_alpha = np.sqrt(float(self.alpha)) * self._standardizer_.scale[:-1]
        noise, dof = params.noise_estimates(root_alpha, shared=self.noise == "shared")
        rows = sum(one.n_rows for one in params.regressions)
        n_parameters = sum(one.n_rows - one.residual_dof for one in params.regressions)
        if not rows > (1.0 if self.n_components == 1 else FEWEST_ROWS) * n_parameters:
            raise ValueError(
                f"X has too few rows to estimate the noise: {rows:.3g} for {n_parameters:.3g} coefficients; "
                "more rows or fewer components are needed"
            )
        return np.maximum(noise, max(self._floor(self._standardizer_), np.finfo(float).tiny)), dof

    @by_blocks
    def predict(self, X: Any, return_std: bool = False, *, include_noise: bool = True) -> Any:
        """Return the mean of the mixture, Σ_k π_k(x) f_k(x), and on request its standard deviation.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        return_std : bool
            Whether to return the standard deviation as well.
        include_noise : bool
            Whether that is the deviation of a new target (default) or without the noise of the components.
        """
        if return_std:
            return super().predict(X, return_std, include_noise=include_noise)
        x = self._standardized_columns(X)
        mean = np.sum(np.exp(self._params_.log_weights(x)) * self._params_.means(x), axis=1)
        return self._standardizer_[-1].inverse_transform(mean)

    @by_blocks
    def predict_components(self, X: Any) -> np.ndarray:
        """Return the prediction of every component at each row, f_k(x), (n_samples, n_components)."""
        x = self._standardized_columns(X)
        return self._standardizer_[-1].inverse_transform(self._params_.means(x))

    def responsibilities(self, X: Any, y: Any = None) -> np.ndarray:
        """Return p(k | x, y) ∝ π_k(x) N(y | f_k(x), σ_k²), (n_samples, n_components).

        Parameters
        ----------
        X, y
            As in `fit`.
        """
        joint = map_blocks(self._log_joint, self._rows_of(X, y, None).source.blocks())
        return np.exp(joint - log_sum_exp(joint)[:, None])

    def log_likelihood(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return Σ_i w_i log p(y_i | x_i).

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        """
        return float(self._likelihood(X, y, sample_weight)[0])

    def aic(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return Akaike's criterion, -2 log p(y | X) + 2 parameters; lower is better.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        """
        return 2.0 * self.n_parameters_ - 2.0 * self.log_likelihood(X, y, sample_weight)

    def bic(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return Schwarz's criterion, -2 log p(y | X) + parameters · log n; lower is better.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        """
        likelihood, weight = self._likelihood(X, y, sample_weight)
        return self.n_parameters_ * float(np.log(weight)) - 2.0 * float(likelihood)

    def _rows_of(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        check_fitted(self)
        return self._validate_rows(X, y, sample_weight, reset=False)

    def _likelihood(self, X: Any, y: Any, sample_weight: Any) -> np.ndarray:
        """Return Σ w log p(y | x) and Σ w."""
        rows = self._rows_of(X, y, sample_weight)
        log_jacobian = np.log(self._standardizer_.scale[-1])

        def sums(block: Batch) -> np.ndarray:
            weights = block.row_weights
            return np.array([weights @ (log_sum_exp(self._log_joint(block)) + log_jacobian), weights.sum()])

        return rows.source.reduce(sums)

    def _standardized_columns(self, X: Any) -> np.ndarray:
        check_fitted(self)
        refuse_foreign(X)
        return self._standardizer_[:-1].transform(check_columns(self, X))

    def _log_joint(self, block: Batch) -> np.ndarray:
        if block.y is None:
            raise ValueError("y is missing: the source has no target; name its column")
        x, y = (np.asarray(part, dtype=np.float64) for part in (block.X, block.y))
        standardizer = self._standardizer_
        return self._params_.log_joint(standardizer[:-1].transform(x), standardizer[-1].transform(y.ravel()))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("n_components", self.n_components, least=1, whole=True)
        check_choice("noise", self.noise, ("shared", "separate"))
        check_number("alpha", self.alpha, least=0.0)
        if self.noise_floor is not None:
            check_number("noise_floor", self.noise_floor, above=0.0)
        if self.coef_init is None and self.intercept_init is not None:
            raise ValueError("intercept_init needs coef_init beside it")

    def _min_rows(self) -> int:
        return self.n_components

    def _n_starts(self) -> int:
        return self.n_init if self.coef_init is None else 1

    def _validate_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Rows:
        rows = super()._validate_rows(X, y, sample_weight, reset=reset)
        if isinstance(rows.data, Source):
            return rows
        if rows.y is None:
            raise ValueError("y must be given")
        return replace(rows, y=column_or_1d(rows.y, warn=True))

    def _em_problem(self, rows: Rows | None, *, fitted: bool) -> RegressionProblem:
        source = summary = None
        if rows is not None:
            source = rows.source
            summary = summarize_rows(source, 1 if fitted else self.n_components)
        if fitted or summary is None:
            standardizer = self._standardizer_
        else:
            standardizer = summary.standardizer(fit_intercept=bool(self.fit_intercept))
            _check_width(1.0 / standardizer.scale[-1])
        return RegressionProblem(
            data=source,
            summary=summary,
            standardizer=standardizer,
            n_components=self.n_components,
            fit_intercept=bool(self.fit_intercept),
            alpha=self.alpha,
            shared=self.noise == "shared",
            floor=self._floor(standardizer),
            gate_alpha=self.gate_alpha,
            initial_coef=None if self.coef_init is None else self._given_coefficients(standardizer),
        )

    def _floor(self, standardizer: Standardizer) -> float:
        """Return the least noise variance of standardized targets."""
        given = self.noise_floor
        return FLOOR if given is None else given * float(standardizer.scale[-1]) ** 2

    def _given_coefficients(self, standardizer: Standardizer) -> tuple[np.ndarray, np.ndarray]:
        """Return the initial coefficients and intercepts that the user gave, standardized."""
        columns, target, K = standardizer[:-1], standardizer[-1], self.n_components
        coef = check_values("coef_init", self.coef_init, (K, len(columns.shift)))
        given = np.zeros(K) if self.intercept_init is None else self.intercept_init
        intercept = check_values("intercept_init", given, (K,))
        if not self.fit_intercept and np.any(intercept != 0):
            raise ValueError("intercept_init must be zero where fit_intercept is False")
        width = np.where(columns.scale > 0, 1.0 / np.where(columns.scale > 0, columns.scale, 1.0), 0.0)
        return coef * width * target.scale, target.transform(intercept + coef @ columns.shift)

    def _fitted_params(self, problem: RegressionProblem) -> RegressionMixture:
        return self._params_

    def _by_chance(self, params: RegressionMixture, problem: RegressionProblem) -> np.ndarray:
        """Return which components fit a few rows almost exactly: their likelihood is not comparable."""
        small = params.noise <= max(problem.floor, SMALL_NOISE)
        if problem.shared or not small.any():
            return np.zeros(len(small), dtype=bool)
        few = FEW_ROWS * (1 + params.coef.shape[1]) + FEW_OF_ALL * problem.total
        return small & (problem.data.reduce(problem.expect(params)).weight < few)

    def _is_regular(self, params: RegressionMixture, problem: RegressionProblem) -> bool:
        return not bool(np.any(self._by_chance(params, problem)))

    def _set_fitted(self, params: RegressionMixture, problem: RegressionProblem) -> None:
        self._params_, self._standardizer_ = params, problem.standardizer
        columns, target = problem.standardizer[:-1], problem.standardizer[-1]
        with np.errstate(over="ignore"):
            self.coef_ = check_coefficients(params.coef * columns.scale / target.scale)
        self.intercept_ = np.zeros(self.n_components)
        if problem.fit_intercept:
            self.intercept_ = target.inverse_transform(params.intercept) - self.coef_ @ columns.shift
        self.noise_variance_ = params.noise / target.scale**2
        n_noises = 1 if self.noise == "shared" else self.n_components
        intercepts = problem.fit_intercept * self.n_components
        n_gate = (self.n_components - 1) * params.gate.shape[1]
        self.n_parameters_ = self.coef_.size + intercepts + n_noises + n_gate
        self.collapsed_ = params.noise <= problem.floor
        self._set_mixing(params, problem)

    def _set_mixing(self, params: RegressionMixture, problem: RegressionProblem) -> None:
        self.weights_ = np.exp(params.gate[:, 0])

    def _set_search(self, result: EMResult, problem: RegressionProblem) -> None:
        super()._set_search(result, problem)
        self.n_iter_ = max(result.n_iter, 1)
        self.log_likelihood_ = result.objective + problem.penalty(result.params)
        if not result.interrupted:
            self.collapsed_ = self.collapsed_ | self._by_chance(result.params, problem)

    def _not_converged(self, result: EMResult) -> str:
        return (
            f"EM did not converge in {self.max_iter} iterations; raise max_iter or tol, or begin elsewhere "
            "(n_init, coef_init)"
        )

    def _check_statistic(self, statistic: Any) -> None:
        if not isinstance(statistic, ExpectedRegressions):
            raise ValueError(f"statistic must be ExpectedRegressions, got {type(statistic).__name__}")

    def _warn_fitted(self) -> None:
        if self.collapsed_.any():
            which = np.flatnonzero(self.collapsed_).tolist()
            warnings.warn(
                f"the noise of components {which} is next to nothing, or what noise_floor leaves, a variance "
                f"of {self.noise_variance_.min():.3g}: their rows are fitted without error, or are few. Use "
                'fewer components, noise="shared" or alpha > 0; where noise may be so small, a smaller '
                "noise_floor",
                NoiseCollapsedWarning,
                stacklevel=5,
            )


class MixtureOfExperts(MixtureOfRegressors):
    """Mixture of linear experts with a softmax gate, p(y | x) = Σ_k π_k(x) N(y | f_k(x), σ_k²), by EM.

    The gate is a softmax, π_k(x) ∝ exp(gate_intercept_k + xᵀ gate_coef_k); the experts are linear, f_k(x) =
    intercept_k + xᵀ coef_k. EM as for :class:`MixtureOfRegressors`, with one more part of the M-step: the
    gate is a softmax regression on the responsibilities, which has no closed form; one step of Newton's
    method (iteratively reweighted least squares), halved until the objective grows, makes a generalised EM.
    The penalised log-likelihood never falls. Exact over several passes.

    With constant mixing weights every component has density everywhere, also where none of its rows is. The
    gate confines each to a region.

    Parameters
    ----------
    gate_alpha : float
        Penalty weight of squared coefficients of the gate, in the objective as - ½ gate_alpha Σ_kj (s_j
        gate_coef_kj)² with s_j the standard deviation of column j, so that the fit does not depend on the
        units of columns. Above zero it keeps the gate finite where the experts' rows are separable in x.
    n_components, noise, alpha, fit_intercept, noise_floor, coef_init, intercept_init
        Of the experts, as in :class:`MixtureOfRegressors`; the gate always has intercepts.
    n_init, tol, max_iter, random_state
        Of the search, as in :class:`MixtureOfRegressors`.

    Attributes
    ----------
    gate_coef_ : array of shape (n_components, n_features)
        Coefficients of the gate; they sum to zero over components, as do the intercepts.
    gate_intercept_ : array of shape (n_components,)
        Intercepts of the gate.
    coef_, intercept_, noise_variance_, log_likelihood_, n_parameters_, collapsed_
        As in :class:`MixtureOfRegressors`, of the experts.
    lower_bound_, objective_trace_, n_iter_, converged_, n_features_in_, feature_names_in_
        As in :class:`MixtureOfRegressors`, with the penalties of experts and gate.

    See Also
    --------
    MixtureOfRegressors : constant mixing weights.

    Examples
    --------
    Below 2 rows follow one line and above it another, and about 2 either of them:

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
        coef_init: Any = None,
        intercept_init: Any = None,
        alpha: float = 0.0,
        gate_alpha: float = 0.01,
        fit_intercept: bool = True,
        noise_floor: float | None = None,
        n_init: int = 5,
        tol: float = 1e-7,
        max_iter: int = 500,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_components,
            noise=noise,
            alpha=alpha,
            fit_intercept=fit_intercept,
            noise_floor=noise_floor,
            coef_init=coef_init,
            intercept_init=intercept_init,
            n_init=n_init,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
        )
        self.gate_alpha = gate_alpha

    @by_blocks
    def gate_proba(self, X: Any) -> np.ndarray:
        """Return the mixing weights π_k(x) at each row, before y is known, (n_samples, n_components)."""
        return np.exp(self._params_.log_weights(self._standardized_columns(X)))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("gate_alpha", self.gate_alpha, least=0.0)

    def _set_mixing(self, params: RegressionMixture, problem: RegressionProblem) -> None:
        columns = problem.standardizer[:-1]
        self.gate_coef_ = params.gate[:, 1:] * columns.scale
        self.gate_intercept_ = params.gate[:, 0] - self.gate_coef_ @ columns.shift


def _check_width(width: float) -> None:
    limits = np.finfo(float)
    if not limits.tiny / limits.eps < width * width < limits.max * limits.eps:
        raise ValueError(
            "y varies by so much, or so little, that its square overflows or underflows; rescale it"
        )


def _check_determined(leverage: np.ndarray) -> None:
    """Refuse rows outside of the span of the rows of a component, whose prediction there is any number."""
    undetermined = np.isinf(leverage)
    if undetermined.any():
        row, component = np.argwhere(undetermined)[0]
        raise ValueError(
            f"X has rows, the first is row {row}, outside of the span of the rows of component {component}, "
            "among which columns are linearly dependent: its linear predictor is not determined there, and "
            "has no finite scale. Fit with alpha > 0, or without columns that others determine"
        )
