"""Ridge regression: the penalised least squares, and the choice of its penalty."""

from tractable.linear_model.ridge.estimator import OwnPenalties, Ridge, RidgeCV
from tractable.linear_model.ridge.objectives import negative_log_posterior, ridge_objective, tikhonov
from tractable.linear_model.ridge.solution import (
    Centering,
)

__all__ = [
    "Centering",
    "OwnPenalties",
    "Ridge",
    "RidgeCV",
    "negative_log_posterior",
    "ridge_objective",
    "tikhonov",
]
