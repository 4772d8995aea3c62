"""A mixture of linear regressions."""

from typing import Any, Self

import numpy as np

from tractable.base import Rows, all_or_nothing, check_fitted
from tractable.mixture.regression_model import RegressionMixture
from tractable.mixture.regression_shell import PlanesEstimator
from tractable.mixture.regression_steps import ExpectedPlanes

__all__ = ["MixtureOfRegressors"]


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
