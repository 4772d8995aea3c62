"""The linear estimate of a generalised linear model, and the terms of its rows in robust covariances."""

from typing import Any

import numpy as np

from tractable.engines import CovarianceRoot, LinearEstimate, RowSpan
from tractable.engines.glm.losses import FamilyLoss, NegativeBinomial
from tractable.statistics import Standardizer

#: A combination of parameters with this part, or more, in directions without curvature is not determined.
UNDETERMINED = 1e-6


def standardized_estimate(
    standardizer: Standardizer,
    coef: np.ndarray,
    root: np.ndarray,
    undetermined: np.ndarray,
    *,
    outside: float,
    scale: float,
    dof: float,
) -> LinearEstimate:
    """Return the estimate of a linear predictor of standardized columns, in the units of the columns.

    Parameters
    ----------
    standardizer : Standardizer
        Of the columns; the scale of a constant one is 0.
    coef : array (p,)
        Coefficients, after the intercept where p is one more than the number of columns.
    root : array (p, r)
        G of their covariance, over the scale.
    undetermined : array (p, q)
        The directions without curvature.
    outside : float
        Variance of a coefficient that the rows say nothing of, over the scale.
    scale, dof : float
        The dispersion, and the degrees of freedom of Student's t about the estimates.

    Examples
    --------
    >>> standardizer = Standardizer(shift=np.array([5.0]), scale=np.array([2.0]), varies=np.array([True]))
    >>> none, root = np.zeros((2, 0)), 0.1 * np.eye(2)
    >>> found = standardized_estimate(
    ...     standardizer, np.array([1.0, 3.0]), root, none, outside=np.inf, scale=1.0, dof=np.inf
    ... )
    >>> found.coef, found.intercept, found.coef_std_errors
    (array([[6.]]), array([-29.]), array([[0.2]]))
    """
    shift, widths, varies = standardizer.shift, standardizer.scale, standardizer.varies
    first = len(coef) - len(shift)
    span = None
    if undetermined.shape[1]:
        lengths = np.where(varies, 1.0 / np.where(varies, widths, 1.0), np.abs(shift))
        axes, sizes, _ = np.linalg.svd(undetermined[first:])
        rank = int(np.sum(sizes > UNDETERMINED * np.max(sizes)))
        lengths = np.where(lengths > 0.0, lengths, 1.0)
        span = RowSpan(scale=lengths, directions=axes[:, rank:], tol=UNDETERMINED)
    factor = np.append(np.ones(first), widths)[:, None] * root
    return LinearEstimate(
        coef=(coef[first:] * widths)[None, :],
        centre=shift if first else np.zeros_like(shift),
        offset=coef[:1] if first else np.zeros(1),
        root=CovarianceRoot(factor=factor, span=span, outside=outside),
        scale=np.array([scale]),
        dof=dof,
        has_intercept=bool(first),
    )


def targets_and_predictors(
    x: np.ndarray, targets: Any, *, loss: FamilyLoss, estimate: LinearEstimate
) -> tuple[np.ndarray, np.ndarray]:
    """Return the targets of rows, and their linear predictors with the logarithms of the exposures."""
    y, offset = loss.targets(np.asarray(targets, dtype=np.float64))
    eta = estimate.predict(x)[:, 0]
    return y, eta if offset is None else eta + offset


def row_terms(
    x: np.ndarray, targets: Any, *, loss: FamilyLoss, estimate: LinearEstimate
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return what `RowScores` asks: slopes and curvatures of rows, and the scores of a learned dispersion."""
    y, eta = targets_and_predictors(x, targets, loss=loss, estimate=estimate)
    found, further = loss.terms(eta, y), None
    if isinstance(loss, NegativeBinomial) and loss.learned:
        further = -loss.dispersion_terms(eta, y)[1][:, None]
    return -found.slope[:, None], found.curvature, further
