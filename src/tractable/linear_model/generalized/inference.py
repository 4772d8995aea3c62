"""The terms of the rows of a generalised linear model in robust covariances and influence."""

from typing import Any

import numpy as np

from tractable.engines import LinearEstimate
from tractable.engines.glm.losses import FamilyLoss, NegativeBinomial


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
