"""What a solved ridge regression answers."""

from typing import Any

from tractable.arrays import Array
from tractable.base import check_columns, check_fitted
from tractable.linear_model.linear_rows import as_floats
from tractable.linear_model.ridge_solution import RidgeSolution
from tractable.linear_model.solved_plane import SolvedPlane

__all__ = ["RidgeAnswers"]


class RidgeAnswers(SolvedPlane):
    """`hat_matrix`, and all that a solved plane answers."""

    solution_: RidgeSolution
    _needed = "more rows or more penalty"

    def hat_matrix(self, X: Any) -> Array:
        """Return the hat (smoothing) matrix H = X (XᵀX + αI)⁻¹ Xᵀ, and 1/n where the intercept is free.

        For the rows of the fit, H y are the fitted values.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_samples)
        """
        check_fitted(self)
        return self.solution_.hat(as_floats(check_columns(self, X)))

    def _name(self, fit: RidgeSolution, *, flat: bool) -> None:
        self.solution_ = fit
        self.coef_ = fit.coef[0, :] if flat else fit.coef
        self.intercept_, self.sigma2_ = self._flat(fit.intercept), self._flat(fit.sigma2)
        self.effective_dof_, self.dof_ = fit.effective_dof, fit.dof
