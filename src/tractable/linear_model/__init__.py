"""Linear models: estimators, thin shells around statistics and engines."""

from tractable.linear_model.ard_regression import ARDRegression
from tractable.linear_model.basis import (
    FourierBasis,
    FunctionBasis,
    GaussianBasis,
    PolynomialBasis,
    SigmoidBasis,
    SplineBasis,
    n_monomials,
)
from tractable.linear_model.bayesian_linear_regression import BayesianLinearRegression
from tractable.linear_model.bayesian_ridge import BayesianRidge
from tractable.linear_model.bridge import BridgeFit, bridge_regression, lp_norm
from tractable.linear_model.cv_curve import CVCurve
from tractable.linear_model.diagnosis import Diagnosis, Finding
from tractable.linear_model.elastic_net import ElasticNet
from tractable.linear_model.evidence import log_evidence
from tractable.linear_model.gaussian_prior import GaussianPrior
from tractable.linear_model.gradient_steps import Descent, Scaling
from tractable.linear_model.hierarchical import hierarchical_predictive
from tractable.linear_model.lars_path import LarsPath, lars_path
from tractable.linear_model.lasso import Lasso
from tractable.linear_model.lasso_cv import LassoCV
from tractable.linear_model.lasso_lars import LassoLars
from tractable.linear_model.lasso_path import LassoPath, lasso_path
from tractable.linear_model.least_mean_squares import LeastMeanSquares
from tractable.linear_model.linear_posterior import LinearPosterior
from tractable.linear_model.linear_regression import LinearRegression
from tractable.linear_model.noise_floor import NoiseVanishedWarning
from tractable.linear_model.noise_models import GaussianNoise, LaplaceNoise, StudentNoise
from tractable.linear_model.objectives import negative_log_posterior, ridge_objective
from tractable.linear_model.placement import Placement
from tractable.linear_model.plane_belief import PlaneBelief
from tractable.linear_model.ridge import Ridge
from tractable.linear_model.ridge_cv import RidgeCV
from tractable.linear_model.ridge_solution import DualSpread, PrimalSpread, RidgeSolution
from tractable.linear_model.robust_regression import RobustRegression
from tractable.linear_model.robust_steps import RobustPlane
from tractable.linear_model.tikhonov import tikhonov
from tractable.linear_model.troubles import diagnose

__all__ = [
    "ARDRegression",
    "BayesianLinearRegression",
    "BayesianRidge",
    "BridgeFit",
    "CVCurve",
    "Descent",
    "Diagnosis",
    "DualSpread",
    "ElasticNet",
    "Finding",
    "FourierBasis",
    "FunctionBasis",
    "GaussianBasis",
    "GaussianNoise",
    "GaussianPrior",
    "LaplaceNoise",
    "LarsPath",
    "Lasso",
    "LassoCV",
    "LassoLars",
    "LassoPath",
    "LeastMeanSquares",
    "LinearPosterior",
    "LinearRegression",
    "NoiseVanishedWarning",
    "Placement",
    "PlaneBelief",
    "PolynomialBasis",
    "PrimalSpread",
    "Ridge",
    "RidgeCV",
    "RidgeSolution",
    "RobustPlane",
    "RobustRegression",
    "Scaling",
    "SigmoidBasis",
    "SplineBasis",
    "StudentNoise",
    "bridge_regression",
    "diagnose",
    "hierarchical_predictive",
    "lars_path",
    "lasso_path",
    "log_evidence",
    "lp_norm",
    "n_monomials",
    "negative_log_posterior",
    "ridge_objective",
    "tikhonov",
]
