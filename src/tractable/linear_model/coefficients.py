"""How sure least squares is of its coefficients: errors and intervals."""

from tractable.arrays import Array, namespace_of
from tractable.base import check_fitted
from tractable.base.parameters import check_number
from tractable.distributions import StudentT
from tractable.engines import LeastSquares
from tractable.linear_model.solved_plane import SolvedPlane

__all__ = ["CoefficientsMixin"]


class CoefficientsMixin(SolvedPlane):
    """`coef_interval`, `coef_std_errors_`, `covariance_` and more, from `solution_`, and what it predicts."""

    solution_: LeastSquares
    intercept_: Array
    _needed = "more rows, or a model with a prior,"

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

    def _interval(self, estimate: Array, error: Array, coverage: float) -> Array:
        check_number("coverage", coverage, above=0.0, below=1.0)
        xp = namespace_of(estimate)
        width = StudentT(dof=self._with_noise().dof, location=0.0, scale=1.0).interval(coverage)[1]
        reach = float(width) * error
        return xp.stack([xp.asarray(estimate - reach), xp.asarray(estimate + reach)], axis=-1)
