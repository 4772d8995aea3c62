"""A mixture of linear regressions whose shares depend on where one is."""

from typing import Any

import numpy as np

from tractable.base import check_number
from tractable.mixture.regression_model import RegressionMixture
from tractable.mixture.regression_shell import PlanesEstimator

__all__ = ["MixtureOfExperts"]


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
