"""Linear models: estimators, thin shells around statistics and engines."""

from tractable.linear_model.cv_curve import CVCurve
from tractable.linear_model.linear_regression import LinearRegression
from tractable.linear_model.objectives import negative_log_posterior, ridge_objective
from tractable.linear_model.placement import Placement
from tractable.linear_model.ridge import Ridge
from tractable.linear_model.ridge_cv import RidgeCV
from tractable.linear_model.ridge_solution import DualSpread, PrimalSpread, RidgeSolution
from tractable.linear_model.tikhonov import tikhonov

__all__ = [
    "CVCurve",
    "DualSpread",
    "LinearRegression",
    "Placement",
    "PrimalSpread",
    "Ridge",
    "RidgeCV",
    "RidgeSolution",
    "negative_log_posterior",
    "ridge_objective",
    "tikhonov",
]
