"""What a solved ridge regression answers: predictions, their spread, leverages."""

from typing import Any

from tractable.arrays import Array, namespace_of
from tractable.base import PredictiveMixin, check_columns, check_fitted
from tractable.distributions import StudentT
from tractable.linear_model.coefficients import as_floats
from tractable.linear_model.ridge_solution import RidgeSolution

__all__ = ["RidgeAnswers"]


class RidgeAnswers(PredictiveMixin):
    """`predict`, `predict_dist`, `leverage` and `hat_matrix`, from `solution_`."""

    solution_: RidgeSolution
    coef_: Array

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()  # type: ignore[misc]
        found.target_tags.multi_output = True
        return found

    def predict(self, X: Any, return_std: bool = False, *, include_noise: bool = True) -> Any:
        """Return the plane at each row, and on request the standard deviation of the predictive distribution.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        return_std : bool
        include_noise : bool
            Whether the spread is that of a new observation (default) or of the plane.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets), or two of them
        """
        if return_std:
            return super().predict(X, return_std, include_noise=include_noise)
        check_fitted(self)
        return self._flat(self.solution_.predict(as_floats(check_columns(self, X))))

    def predict_dist(self, X: Any, *, include_noise: bool = True) -> StudentT:
        """Return the predictive distribution of each row's target: Student's t about the plane.

        It takes the penalty for the prior that it comes from, coef ~ N(0, σ²/α), and plugs `sigma2_` in for
        σ²: scale σ √(1 + h) with the leverage h of the row, or σ √h for the plane itself, and `dof_`
        degrees of freedom. Exact without penalty; with one, it does not know that the penalty was chosen.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        include_noise : bool

        Returns
        -------
        StudentT
            Of batch shape (n_samples,) or (n_samples, n_targets).
        """
        check_fitted(self)
        rows = as_floats(check_columns(self, X))
        xp = namespace_of(rows)
        fit = self._with_noise()
        factor = fit.leverage(rows) + float(include_noise)
        return StudentT(
            dof=fit.dof,
            location=self._flat(fit.predict(rows)),
            scale=self._flat(xp.sqrt(factor[:, None] * fit.sigma2)),
        )

    def leverage(self, X: Any) -> Array:
        """Return the leverage of each row: how far its own target would pull the plane at it.

        The diagonal of the hat matrix, without the matrix. Over the rows of the fit it sums to
        `effective_dof_`; a row that counts w times has w times this.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_fitted(self)
        return self.solution_.leverage(as_floats(check_columns(self, X)))

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
        self.intercept_ = fit.intercept[0] if flat else fit.intercept
        self.effective_dof_, self.dof_ = fit.effective_dof, fit.dof
        self.sigma2_ = fit.sigma2[0] if flat else fit.sigma2

    def _flat(self, x: Array) -> Array:
        """Drop the axis of the targets where there is one target, given as a vector."""
        return x[:, 0] if self.coef_.ndim == 1 else x

    def _with_noise(self) -> RidgeSolution:
        """Return the solution if its noise can be told."""
        xp = namespace_of(self.solution_.residual)
        noise = self.solution_.sigma2
        if bool(xp.any(xp.isnan(noise))):
            raise ValueError(
                "X has too few rows to tell the noise from the fit: "
                f"a weight of {self.solution_.weight:g} for {self.solution_.effective_dof:g} effective "
                "parameters; more rows or more penalty are needed"
            )
        if not bool(xp.all(noise > 0)):
            raise ValueError("y is fitted without error, so there is no noise to predict: sigma2_ is 0")
        return self.solution_
