"""Linear regression that outliers do not bend."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import column_or_1d

from tractable.base import (
    Estimator,
    FitInterrupted,
    ModelTags,
    PredictiveMixin,
    all_or_nothing,
    check_columns,
    check_fitted,
)
from tractable.base.parameters import check_choice, check_number
from tractable.distributions import Normal
from tractable.engines import EMResult
from tractable.linear_model.robust.noise import NOISES
from tractable.linear_model.robust.steps import RobustPlane, in_units, robust_search, start_at_least_squares
from tractable.linear_model.rows import check_held_rows

__all__ = ["RobustRegression"]


class RobustRegression(PredictiveMixin, RegressorMixin, Estimator):
    """Linear regression in noise with heavy tails, y = intercept + xᵀ coef + noise, by maximum likelihood.

    Minus the log density of the noise is the loss: Laplace noise makes absolute errors, of which the median
    regression is the least; Student's t one that grows as a logarithm, so that a row far away hardly counts;
    Gaussian noise squared ones. Both heavy tails are mixtures of normals of different precision, and
    expectation-maximisation is least squares with each row weighted by the precision expected of it. Absolute
    errors are least at a plane through as many rows as it has parameters: the search ends at such a corner,
    and has converged where dual values prove that no plane errs less. Exact over several passes, with the
    rows in memory. Student's likelihood can have several maxima; this is the one reached from least squares.

    Parameters
    ----------
    noise : {"laplace", "student", "gaussian"}
    dof : float, optional
        Degrees of freedom of Student's t; by default they are learnt, between 1 and 1e6 (no heavier tails
        than a normal's).
    fit_intercept : bool
    tol : float
        Relative growth of the mean log-likelihood below which the search stops; with Laplace noise it stops
        at the best corner, and nowhere else.
    max_iter : int
        Most least squares solved and, for Laplace noise, most corners visited.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    scale_ : float
        Of the noise, Laplace's b or Student's scale; 0 where the rows lie in a plane.
    dof_ : float
        Degrees of freedom of Student's t; infinite for Gaussian, NaN for Laplace noise.
    weights_ : array of shape (n_samples,)
        How much each row counted in the last least squares: small for outliers, at most 1e16.
    noise_ : LaplaceNoise, StudentNoise or GaussianNoise
    objective_trace_ : array
        The mean log-likelihood of a row after each iteration; for Laplace noise of absolute errors that are
        rounded off less and less, and then of the best plane so far.
    n_iter_ : int
    converged_ : bool

    Examples
    --------
    >>> import numpy as np, tractable
    >>> x = np.arange(10.0)
    >>> y = 1.0 + 2.0 * x + np.array([0.1, -0.2, 0.0, 0.2, -0.1, 0.1, 0.0, -0.1, 0.2, 60.0])
    >>> tractable.LinearRegression().fit(x[:, None], y).coef_.round(2)
    array([5.28])
    >>> model = tractable.RobustRegression("student", dof=2.0).fit(x[:, None], y)
    >>> model.coef_.round(2), bool(model.weights_[-1] < 1e-4)
    (array([2.01]), True)
    """

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="no")

    def __init__(
        self,
        noise: str = "laplace",
        *,
        dof: float | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-15,
        max_iter: int = 5000,
    ) -> None:
        self.noise = noise
        self.dof = dof
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows held in memory.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,), or column name
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows = check_held_rows(self, X, y, sample_weight)
        X, y = rows.data.astype(np.float64), column_or_1d(rows.y, warn=True)
        w = np.ones(len(y)) if rows.weights is None else rows.weights.astype(np.float64)
        located = {"fit_intercept": bool(self.fit_intercept)}
        seen = y[w > 0]
        # About one of the targets, so that their level costs no digits of what is about it, and in units in
        # which squares are numbers.
        level = float(np.quantile(seen, 0.5, method="inverted_cdf")) if self.fit_intercept else 0.0
        unit = _power_of_two(np.abs(seen - level).max())
        y = (y - level) / unit
        rounding = 8.0 * np.finfo(float).eps * float(np.abs(seen / unit).max())
        start = start_at_least_squares(X, y, w, self.noise, self.dof, **located)
        self.least_squares_ = in_units(start.plane, level, unit)
        if start.noise.scale <= max(1e-10 * float(np.ptp(y[w > 0])), rounding):
            self._name(EMResult(params=start, trace=(np.inf,), converged=True), level, unit, exact=True)
            self.weights_ = np.ones(len(y))
            return self
        floor = 8.0 * np.finfo(float).eps * float(np.abs(y[w > 0]).max())
        found = robust_search(X, y, w, start, floor, tol=self.tol, max_iter=self.max_iter, **located)
        self._name(found, level, unit, exact=False)
        self.weights_ = found.params.noise.pull(y - found.params.plane.predict(X)[:, 0])
        if found.interrupted:
            raise FitInterrupted
        self._report(collapsed=found.params.noise.scale <= 4.0 * floor)
        return self

    def predict(self, X: Any, return_std: bool = False, *, include_noise: bool = True) -> Any:
        """Return the plane at each row, the median of the predictive distribution; on request its spread.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        return_std : bool
        include_noise : bool
            Whether the spread is that of a new observation (default) or of the plane.

        Returns
        -------
        array of shape (n_samples,), or two of them
        """
        if return_std:
            return super().predict(X, return_std, include_noise=include_noise)
        check_fitted(self)
        return self._plane(check_columns(self, X).astype(np.float64))

    def predict_dist(self, X: Any, *, include_noise: bool = True) -> Any:
        """Return the noise about the plane, as if the plane were known; or, without noise, the plane itself.

        The plane is given its large-sample normal distribution, from the Fisher information of the noise.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        include_noise : bool

        Returns
        -------
        Laplace, StudentT or Normal
            Of batch shape (n_samples,).
        """
        check_fitted(self)
        rows = check_columns(self, X).astype(np.float64)
        if self.scale_ == 0.0:
            raise ValueError("y is fitted without error, so there is no noise to predict: scale_ is 0")
        if include_noise:
            return self.noise_.around(self._plane(rows))
        leverage = self.least_squares_.leverage(rows)
        return Normal(mean=self._plane(rows), variance=leverage * self.noise_.plane_variance)

    def _plane(self, X: np.ndarray) -> np.ndarray:
        return self.plane_.predict(X)[:, 0]

    def _name(self, found: EMResult, level: float, unit: float, *, exact: bool) -> None:
        params: RobustPlane = found.params
        self.plane_, self.noise_ = in_units(params.plane, level, unit), params.noise.in_units(unit)
        self.coef_, self.intercept_ = self.plane_.coef[0, :], float(self.plane_.intercept[0])
        self.scale_ = 0.0 if exact else self.noise_.scale
        self.dof_ = {"gaussian": np.inf, "laplace": np.nan}.get(
            self.noise, getattr(self.noise_, "dof", np.nan)
        )
        self.objective_trace_ = np.asarray(found.trace) - np.log(unit)
        self.n_iter_, self.converged_ = max(found.n_iter, 1), found.converged

    def _report(self, *, collapsed: bool) -> None:
        if collapsed:
            warnings.warn(
                f"the scale of the noise collapsed to {self.scale_:.1g}, the rounding of y: so many rows lie "
                "in the plane that was found that its likelihood has no bound. coef_ is that plane, but the "
                'spread of predictions means nothing; noise="laplace" has one',
                ConvergenceWarning,
                stacklevel=4,
            )
        elif not self.converged_:
            looser = "" if self.noise == "laplace" else " or tol"
            learnt = ", or give dof" if self.noise == "student" and self.dof is None else ""
            warnings.warn(
                f"RobustRegression did not converge in {self.n_iter_} iterations; raise max_iter"
                f"{looser}{learnt}",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _check_parameters(self) -> None:
        check_choice("noise", self.noise, NOISES)
        if self.dof is not None and self.noise != "student":
            raise ValueError(f"dof is for Student's noise alone, got {self.dof!r} with noise={self.noise!r}")
        if self.dof is not None:
            check_number("dof", self.dof, above=0.0)
        check_number("tol", self.tol, least=0.0)
        check_number("max_iter", self.max_iter, least=1, whole=True)


def _power_of_two(size: float) -> float:
    """Return a unit near the size, or one, by which division is exact."""
    return float(2.0 ** np.floor(np.log2(size))) if size > 0.0 else 1.0
