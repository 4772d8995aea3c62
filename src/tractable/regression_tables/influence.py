"""Influence of single rows on a fit: leverage, studentized residuals, Cook's distance, DFFITS."""

from typing import Any

import numpy as np

from tractable.regression_tables.sandwich import NO_FREEDOM
from tractable.value import value


@value
class Influence:
    """How much each row moves a fit; of a row that counts several times, one of its copies.

    Parameters
    ----------
    residuals : array (n,)
        yᵢ - ŷᵢ; of generalised linear models Pearson's, divided by the standard deviation of yᵢ.
    leverage : array (n,)
        hᵢ, the diagonal of the hat matrix.
    studentized_internal : array (n,)
        Residuals over their own standard errors, σ √(1 - h).
    studentized : array (n,)
        The same with σ estimated without the row (externally): t distributed in Gaussian noise. Where there
        is no σ to estimate, as of classes and counts, equal to the internal ones.
    cooks_distance : array (n,)
        How far all fitted values move without the row, relative to their covariance.
    dffits : array (n,)
        How far the row's own fitted value moves without it, in its standard errors.

    Examples
    --------
    >>> import tractable
    >>> X, y = np.arange(5.0)[:, None], np.array([0.1, 0.9, 2.1, 2.9, 6.0])
    >>> found = tractable.LinearRegression().fit(X, y).influence(X, y)
    >>> int(found.cooks_distance.argmax()), found.leverage.round(2)
    (4, array([0.6, 0.3, 0.2, 0.3, 0.6]))
    """

    residuals: np.ndarray
    leverage: np.ndarray
    studentized_internal: np.ndarray
    studentized: np.ndarray
    cooks_distance: np.ndarray
    dffits: np.ndarray

    @classmethod
    def of(
        cls,
        residuals: np.ndarray,
        leverage: np.ndarray,
        *,
        n_parameters: float,
        residual_dof: float | None = None,
        residual_squares: float = 1.0,
    ) -> "Influence":
        """Return the influence of rows, from their residuals and leverages alone.

        A row of leverage 1 is fitted exactly whatever its target: its residual says nothing, and all that
        follows from it is 0.

        Parameters
        ----------
        residuals, leverage : arrays (n,)
            Of the rows.
        n_parameters : float
            p, of the linear predictor.
        residual_dof : float, optional
            n - p, where a noise variance is estimated; when not given it is known to be 1.
        residual_squares : float
            Σ w r² over all rows.
        """
        free = 1.0 - leverage
        alone = free <= NO_FREEDOM
        free = np.where(alone, 1.0, free)
        variance = 1.0 if residual_dof is None else residual_squares / residual_dof
        if variance <= 0.0:
            alone, variance = np.ones_like(alone), 1.0
        internal = np.where(alone, 0.0, residuals / np.sqrt(variance * free))
        external = internal
        if residual_dof is not None:
            rest = np.maximum(residual_squares - residuals**2 / free, 1e-20 * residual_squares)
            left = rest / (residual_dof - 1.0) if residual_dof > 1.0 else np.full_like(rest, np.nan)
            external = np.where(alone, 0.0, residuals / np.sqrt(np.where(alone, 1.0, left) * free))
        odds = leverage / free
        return cls(
            residuals=residuals,
            leverage=leverage,
            studentized_internal=internal,
            studentized=external,
            cooks_distance=internal**2 * odds / n_parameters,
            dffits=external * np.sqrt(odds),
        )

    def to_frame(self) -> Any:
        """Return a pandas frame with a row for each row."""
        import pandas as pd

        return pd.DataFrame({name: getattr(self, name) for name in self.__dataclass_fields__})
