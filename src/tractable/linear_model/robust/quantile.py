"""Quantile regression: the vertex of least tilted absolute errors, with standard errors by a kernel."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import column_or_1d

from tractable.arrays.limits import check_coefficients
from tractable.base import (
    Estimator,
    ModelTags,
    RegressorMixin,
    all_or_nothing,
    check_columns,
    check_fitted,
    check_number,
)
from tractable.base.by_blocks import by_blocks
from tractable.base.linear_inference import LinearInference
from tractable.base.options import SklearnOptions
from tractable.engines import LinearEstimate, least_squares
from tractable.engines.glm.losses import Quantile
from tractable.linear_model.robust.least_absolute import best_vertex
from tractable.linear_model.robust.steps import LEAST_SCALE
from tractable.linear_model.rows import check_factor, check_one_target, check_rows_in_memory, linear_factor
from tractable.regression_tables import RegressionSummary, of_columns
from tractable.value import replace

#: How far absolute errors are smoothed before the search over vertices, relative to their median.
SMOOTHING = (1.0, 0.1, 0.01)
#: Most steps of each stage, and the relative decrease below which it ends.
STEPS, ENOUGH = 30, 1e-5
#: Rows on the smaller side of the quantile, for each parameter, from which intervals have their coverage.
FEWEST_ROWS = 4.0


class QuantileRegression(RegressorMixin, LinearInference, Estimator):
    """Linear regression of a quantile: P(y ≤ intercept + xᵀ coef given x) = quantile.

    The coefficients minimise the pinball loss Σ w ρ(y - ŷ), ρ(r) = q r for r ≥ 0 and (q - 1) r below, of
    which the median (q = ½) is least absolute errors. The minimum fits as many rows exactly as there are
    parameters: from a smoothed loss the search goes over such vertices by the simplex method, and has
    converged where dual values prove that the vertex is optimal. Outliers of y have no influence beyond their
    sign. The rows must be in memory, as vertices are of single rows. One quantile is no distribution: there
    is no `predict_dist`.

    Parameters
    ----------
    quantile : float
        The quantile q, between 0 and 1.
    fit_intercept : bool
        Whether to fit an intercept.
    max_iter : int
        Most vertices visited.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients; of linearly dependent columns, the shortest.
    intercept_ : float
        The intercept; zero with ``fit_intercept=False``.
    loss_ : float
        The mean pinball loss of a row.
    parameter_covariance_ : array
        Covariance of intercept and coefficients, q (1 - q) D⁻¹ XᵀX D⁻¹, in which D = Σ f(x) x xᵀ has the
        density of y at its quantile, by a kernel about the residuals of zero (Powell 1991): it allows for
        spreads that change with x. Infinite where the rows do not determine a coefficient.
    coef_std_errors_, intercept_std_error_ : array of shape (n_features,), float
        Standard errors.
    bandwidth_ : float
        Of the kernel, by the rule of Hall and Sheather.
    n_iter_ : int
        Number of vertices visited.
    converged_ : bool
        Whether the vertex is proven optimal.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    RobustRegression : medians in Laplace noise, with predictive distributions.

    Examples
    --------
    Spreads that grow with x: the upper quantile is steeper.

    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0.0, 10.0, 400)
    >>> y = 1.0 + 2.0 * x + (0.5 + 0.5 * x) * rng.standard_normal(400)
    >>> low, high = (tractable.QuantileRegression(q).fit(x[:, None], y) for q in (0.1, 0.9))
    >>> low.coef_.round(2), high.coef_.round(2)
    (array([1.31]), array([2.63]))
    >>> high.coef_interval(0.95).round(2)
    array([[2.51, 2.75]])
    >>> float(np.mean(y <= high.predict(x[:, None])))
    0.9
    """

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="no")

    _sklearn_options = SklearnOptions(ignored=("solver", "solver_options"))

    def __init__(self, quantile: float = 0.5, *, fit_intercept: bool = True, max_iter: int = 10_000) -> None:
        self.quantile, self.fit_intercept, self.max_iter = quantile, fit_intercept, max_iter

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Minimise the pinball loss of rows in memory.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,) or column name
            The targets.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        """
        check_number("quantile", self.quantile, above=0.0, below=1.0)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        rows = check_rows_in_memory(self, X, y, sample_weight)
        if rows.y.ndim == 2 and rows.y.shape[1] == 1:
            rows = replace(rows, y=column_or_1d(rows.y, warn=True))
        check_one_target(1 if rows.y.ndim == 1 else rows.y.shape[1])
        some = np.asarray(rows.row_weights) > 0.0
        x, target, w = (
            np.asarray(part, dtype=np.float64)[some] for part in (rows.data, rows.y, rows.row_weights)
        )
        factor = check_factor(linear_factor(replace(rows, y=rows.y)))
        whole = least_squares(factor, fit_intercept=bool(self.fit_intercept))
        # Residuals keep their digits at any level of y.
        shift = float(np.average(target, weights=w)) if self.fit_intercept else 0.0
        unit = float(np.sqrt(np.average((target - shift) ** 2, weights=w))) or 1.0
        phi, t = whole.predictor_root(x), (target - shift) / unit
        beta = self._minimized(phi, t, w)
        first = int(whole.has_intercept)
        with np.errstate(over="ignore"):
            self.coef_ = check_coefficients(unit * (whole.slopes_root @ beta))
        at_center = shift + unit * float(beta[0]) / np.sqrt(float(whole.weight)) if first else 0.0
        self._factor_, self._weight_, self._rank_ = factor, float(whole.weight), whole.rank + first
        residuals = t - phi @ beta
        residuals = unit * np.where(np.abs(residuals) > LEAST_SCALE, residuals, 0.0)
        costs = Quantile(quantile=float(self.quantile)).terms(0.0 * residuals, residuals).value
        self.loss_ = float(np.average(costs, weights=w))
        root = whole.covariance_root
        self._estimate_ = LinearEstimate(
            coef=self.coef_[None, :],
            centre=whole.centre,
            offset=np.array([at_center]),
            root=replace(root, factor=root.factor @ self._spread(phi, residuals, w)),
            scale=np.ones(1),
            dof=self._weight_ - self._rank_,
            has_intercept=whole.has_intercept,
        )
        self.intercept_ = float(self._estimate_.intercept[0])
        if not self.converged_:
            warnings.warn(
                f"QuantileRegression did not converge in {self.n_iter_} vertices; raise max_iter",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    @by_blocks
    def predict(self, X: Any) -> np.ndarray:
        """Return intercept + xᵀ coef, the quantile of each row.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        """
        check_fitted(self)
        rows = np.asarray(check_columns(self, X), dtype=np.float64)
        return self._estimate_.predict(rows)[:, 0]

    @property
    def parameter_covariance_(self) -> np.ndarray:
        """Covariance of intercept and coefficients."""
        check_fitted(self)
        return self._estimate.covariance()

    def summary(self, *, coverage: float = 0.95) -> RegressionSummary:  # type: ignore[override]
        """Return the regression table: coefficients, standard errors, tests and intervals."""
        check_fitted(self)
        unknown = bool(np.any(np.isnan(self._estimate_.coef_std_errors)))
        table = self._table(
            n_rows=self._weight_,
            n_parameters=self._rank_,
            residual_dof=self._weight_ - self._rank_,
            covariance_type="kernel",
            **of_columns(self._factor_, intercept=bool(self.fit_intercept)),
            statistics={
                "quantile": self.quantile,
                "mean pinball loss": self.loss_,
                "bandwidth": self.bandwidth_,
            },
            coverage=coverage,
            notes=("y has no density about its quantile: there are no standard errors",) if unknown else (),
        )
        table.warn_of_collinearity()
        return table

    @property
    def _estimate(self) -> LinearEstimate:
        return self._estimate_

    def _minimized(self, phi: np.ndarray, t: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the coefficients of orthonormal columns that have the least pinball loss."""
        tilt = 2.0 * float(self.quantile) - 1.0
        beta = phi.T @ (w * t)
        self.n_iter_, self.converged_ = 0, True
        if not np.any(np.abs(t - phi @ beta) > LEAST_SCALE):
            return beta  # every row is fitted exactly
        push = tilt * (w @ phi)
        for smooth in SMOOTHING:
            beta = _smoothed(phi, t, w, beta, smooth, tilt, push)
        found = best_vertex(phi, t, w, t - phi @ beta, LEAST_SCALE, int(self.max_iter), tilt)
        self.n_iter_, self.converged_ = len(found.costs), found.optimal
        return np.linalg.solve(phi[found.rows], t[found.rows])

    def _spread(self, phi: np.ndarray, r: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return a root of the covariance of coefficients of Φ, ΦᵀWΦ = I; NaN without a density."""
        q = float(self.quantile)
        self.bandwidth_ = _bandwidth(r, w, q)
        none = np.full((phi.shape[1], phi.shape[1]), np.nan)
        if not self.bandwidth_ > 0.0:  # residuals without a spread
            return none
        kernel = w * np.maximum(1.0 - (r / self.bandwidth_) ** 2, 0.0) * (0.75 / self.bandwidth_)
        try:
            return np.sqrt(q * (1.0 - q)) * np.linalg.inv((phi * kernel[:, None]).T @ phi)
        except np.linalg.LinAlgError:
            return none

    def _check_intervals(self) -> None:
        """Refuse intervals of fewer than four rows a parameter on the smaller side of the quantile."""
        check_fitted(self)
        q = float(self.quantile)
        least = FEWEST_ROWS * self._rank_ / min(q, 1.0 - q)
        if self._weight_ < least * (1.0 - 1e-9):
            raise ValueError(
                f"X has too few rows for intervals: a weight of {self._weight_:g} for {self._rank_} "
                f"parameters at the quantile {q:g}, which needs {least:g}"
            )
        if not np.all(self._estimate_.coef_std_errors >= 0.0):
            raise ValueError(
                "y has no density about its quantile: it is fitted without error, or has few values"
            )


def _smoothed(
    phi: np.ndarray,
    t: np.ndarray,
    w: np.ndarray,
    beta: np.ndarray,
    smooth: float,
    tilt: float,
    push: np.ndarray,
) -> np.ndarray:
    """Return the minimum of Σ w (√(r² + s²) + tilt r) by iteratively reweighted least squares, roughly."""
    r = t - phi @ beta
    s = max(smooth * float(np.quantile(np.abs(r), 0.5, weights=w, method="inverted_cdf")), LEAST_SCALE)
    cost = np.inf
    for _ in range(STEPS):
        distance = np.hypot(r, s)
        before, cost = cost, float(w @ (distance + tilt * r))
        if before - cost <= ENOUGH * abs(cost):
            break
        weighted = phi * (w / distance)[:, None]
        beta = np.linalg.solve(weighted.T @ phi, weighted.T @ t + push)
        r = t - phi @ beta
    return beta


def _bandwidth(r: np.ndarray, w: np.ndarray, q: float) -> float:
    """Return Hall and Sheather's bandwidth of the density of residuals at zero, in their own units."""
    from scipy.special import ndtri

    n = float(np.sum(w))
    z = float(ndtri(q))
    peak = float(np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi))
    h = n ** (-1 / 3) * float(ndtri(0.975)) ** (2 / 3) * (1.5 * peak**2 / (2.0 * z * z + 1.0)) ** (1 / 3)
    h = min(h, 0.9 * q, 0.9 * (1.0 - q))
    low, high = np.quantile(r, [0.25, 0.75], weights=w, method="inverted_cdf")
    stddev = float(np.sqrt(np.average((r - np.average(r, weights=w)) ** 2, weights=w)))
    spread = min(stddev, float(high - low) / 1.34) or stddev
    return spread * float(ndtri(q + h) - ndtri(q - h))
