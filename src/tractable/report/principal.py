"""Principal axes: the directions in which rows differ most."""

from typing import Any

import numpy as np

from tractable.statistics import Moments
from tractable.value import value

__all__ = ["PrincipalAxes", "chance_variance", "filled", "principal_axes"]


@value
class PrincipalAxes:
    """The eigenvectors of a covariance, the largest variance first.

    Parameters
    ----------
    variances : array (d,)
    directions : array (d, d)
        One a column; of each the largest entry is positive.
    """

    variances: np.ndarray
    directions: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        """The share of the whole variance along each direction, (d,)."""
        return self.variances / self.variances.sum()


def principal_axes(covariance: Any) -> PrincipalAxes:
    """Return the principal axes of a covariance, or of the `Moments` of rows: Σ = U diag(λ) Uᵀ, λ falling.

    Examples
    --------
    >>> axes = principal_axes(Moments.of([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]))
    >>> axes.shares.round(3), axes.directions[:, 0].round(3)
    (array([1., 0.]), array([0.707, 0.707]))
    """
    matrix = np.asarray(covariance.covariance() if isinstance(covariance, Moments) else covariance)
    variances, directions = np.linalg.eigh(matrix)
    variances, directions = np.maximum(variances[::-1], 0.0), directions[:, ::-1]
    largest = np.argmax(np.abs(directions), axis=0)
    signs = np.sign(directions[largest, np.arange(len(matrix))])
    return PrincipalAxes(variances=variances, directions=directions * signs)


def filled(x: Any, mean: Any, covariance: Any) -> np.ndarray:
    """Return rows with their holes filled by what a normal expects there, given the rest of the row.

    E[x_m | x_o] = μ_m + Σ_mo Σ_oo⁻¹ (x_o - μ_o), one factorisation for all rows with the same holes.

    Examples
    --------
    >>> filled([[1.0, np.nan]], mean=[0.0, 0.0], covariance=[[1.0, 0.5], [0.5, 1.0]])
    array([[1. , 0.5]])
    """
    x = np.array(x, dtype=np.float64)
    mean, covariance = np.asarray(mean), np.asarray(covariance)
    holes = np.isnan(x)
    patterns, which = np.unique(holes, axis=0, return_inverse=True)
    for k, gone in enumerate(patterns):
        if not gone.any():
            continue
        rows = np.flatnonzero(which.ravel() == k)
        seen = ~gone
        gain = np.linalg.lstsq(covariance[np.ix_(seen, seen)], covariance[np.ix_(seen, gone)], rcond=None)[0]
        x[np.ix_(rows, gone)] = mean[gone] + (x[np.ix_(rows, seen)] - mean[seen]) @ gain
    return x


def chance_variance(n_rows: int, n_columns: int) -> float:
    """Return the largest variance that columns without any relation show along a direction, (1 + √(d/n))².

    For standardised columns, of many rows and columns (Marčenko and Pastur 1967).

    Examples
    --------
    >>> round(chance_variance(400, 4), 12)
    1.21
    """
    return float((1.0 + np.sqrt(n_columns / n_rows)) ** 2)
