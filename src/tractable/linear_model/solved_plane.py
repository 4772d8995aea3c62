"""What a plane that was solved answers: predictions, their spread, leverages."""

from typing import Any

from tractable.arrays import Array, namespace_of
from tractable.base import PredictiveMixin, check_columns, check_fitted
from tractable.distributions import StudentT
from tractable.linear_model.linear_rows import as_floats

__all__ = ["SolvedPlane"]


class SolvedPlane(PredictiveMixin):
    """`predict`, `predict_dist` and `leverage`, from `solution_`.

    A model supplies `coef_` and its `solution_`: a value with the plane, its leverages, its noise and the
    rows that are left to tell it.
    """

    solution_: Any
    coef_: Array
    #: What would help where there are too few rows.
    _needed = "more rows"

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

        Its scale is σ √(1 + h) with the leverage h of the row, or σ √h for the plane itself, and it has
        `dof_` degrees of freedom. Without penalty it covers new targets with the stated probability, exactly
        so under Gaussian noise. A penalty α is taken for the prior that it comes from, coef ~ N(0, σ²/α),
        with `sigma2_` for σ²; that it was chosen is not known.

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

        The diagonal of the hat matrix, X (XᵀX)⁻¹ Xᵀ without penalty, but not the matrix. Over the rows of the
        fit it sums to the number of parameters, as far as a penalty leaves them free; a row that counts w
        times has w times this.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_fitted(self)
        return self.solution_.leverage(as_floats(check_columns(self, X)))

    def _flat(self, x: Array, *, axis: int = -1) -> Array:
        """Drop the axis of the targets where there is one target, given as a vector."""
        if self.coef_.ndim > 1:
            return x
        if x.ndim == 1:
            return x[0]
        return x[0, ...] if axis == 0 else x[..., 0]

    def _with_noise(self) -> Any:
        """Return the solution if its noise can be told."""
        fit, xp = self.solution_, namespace_of(self.solution_.residual)
        if bool(xp.any(xp.isnan(fit.sigma2))):
            raise ValueError(
                f"X has too few rows to tell the noise from the fit: a weight of {float(fit.weight):g} for "
                f"{float(fit.weight) - fit.dof:g} parameters; {self._needed} are needed"
            )
        if not bool(xp.all(fit.residual > 0)):
            raise ValueError("y is fitted without error, so there is no noise to predict: sigma2_ is 0")
        return fit
