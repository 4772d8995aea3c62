"""How sure least squares is of its coefficients: errors, intervals, leverage."""

from typing import Any

from tractable.arrays import Array, as_float_array, namespace_of
from tractable.base import check_columns, check_fitted
from tractable.base.parameters import check_number
from tractable.distributions import StudentT
from tractable.engines import LeastSquares
from tractable.statistics import LinearFactor

__all__ = ["CoefficientsMixin", "as_floats"]


class CoefficientsMixin:
    """`coef_interval`, `coef_std_errors_`, `covariance_`, `leverage` and more, from `solution_`.

    A model supplies `solution_`, its `coef_` and `intercept_`, and the `statistic_` they came from.
    """

    statistic_: LinearFactor
    solution_: LeastSquares
    coef_: Array
    intercept_: Array

    def leverage(self, X: Any) -> Array:
        """Return the leverage of each row: how far its own target would pull the plane at it.

        The diagonal of the hat matrix X (XᵀX)⁻¹ Xᵀ, without the matrix. Over the rows of the fit it sums to
        the number of parameters; a row that counts w times has w times this.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_fitted(self)
        return self.solution_.leverage(as_floats(check_columns(self, X)))

    def coef_interval(self, coverage: float = 0.95) -> Array:
        """Return the interval that holds each coefficient with the given confidence, by Student's t.

        Parameters
        ----------
        coverage : float

        Returns
        -------
        array of shape (n_features, 2) or (n_targets, n_features, 2)
        """
        check_fitted(self)
        return self._interval(self.coef_, self.coef_std_errors_, coverage)

    def intercept_interval(self, coverage: float = 0.95) -> Array:
        """Return the interval that holds the intercept with the given confidence, by Student's t.

        Parameters
        ----------
        coverage : float

        Returns
        -------
        array of shape (2,) or (n_targets, 2)
        """
        check_fitted(self)
        return self._interval(self.intercept_, self.intercept_std_error_, coverage)

    @property
    def covariance_(self) -> Array:
        """Covariance of the coefficients."""
        check_fitted(self)
        return self._flat(self.solution_.covariance, axis=0)

    @property
    def coef_std_errors_(self) -> Array:
        """Standard errors of the coefficients."""
        check_fitted(self)
        return self._flat(self.solution_.std_errors, axis=0)

    @property
    def intercept_std_error_(self) -> Array:
        """Standard error of the intercept."""
        check_fitted(self)
        return self._flat(self.solution_.intercept_std_errors)

    @property
    def log_likelihood_(self) -> float:
        """Log-likelihood of the rows at the maximum likelihood estimates."""
        check_fitted(self)
        return self.solution_.log_likelihood

    def _flat(self, x: Array, *, axis: int = -1) -> Array:
        """Drop the axis of the targets where there is one target, given as a vector."""
        if not self.statistic_.flat:
            return x
        if x.ndim == 1:
            return x[0]
        return x[0, ...] if axis == 0 else x[..., 0]

    def _with_noise(self) -> LeastSquares:
        """Return the solution if its noise can be told."""
        fit: LeastSquares = self.solution_
        if not fit.dof > 0:
            raise ValueError(
                f"X has too few rows to tell the noise from the fit: a weight of {float(fit.weight):g} for "
                f"{fit.rank + fit.n_located} parameters; more rows, or a model with a prior, are needed"
            )
        if not bool(namespace_of(fit.residual).all(fit.residual > 0)):
            raise ValueError("y is fitted without error, so there is no noise to predict: sigma2_ is 0")
        return fit

    def _interval(self, estimate: Array, error: Array, coverage: float) -> Array:
        check_number("coverage", coverage, above=0.0, below=1.0)
        xp = namespace_of(estimate)
        width = StudentT(dof=self._with_noise().dof, location=0.0, scale=1.0).interval(coverage)[1]
        reach = float(width) * error
        return xp.stack([xp.asarray(estimate - reach), xp.asarray(estimate + reach)], axis=-1)


def as_floats(x: Array) -> Array:
    """Return checked rows as float64."""
    xp = namespace_of(x)
    return xp.astype(as_float_array(x, xp), xp.float64)
