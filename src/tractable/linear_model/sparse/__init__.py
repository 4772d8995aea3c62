"""Sparse linear regression: the lasso, the elastic net, their paths, and the bridge penalties."""

from tractable.linear_model.sparse.bridge import BridgeFit, bridge_regression, lp_norm
from tractable.linear_model.sparse.cross_validation import ElasticNetCV, LassoCV
from tractable.linear_model.sparse.estimator import ElasticNet, Lasso
from tractable.linear_model.sparse.lars import LarsPath, LassoLars, lars_path
from tractable.linear_model.sparse.path import LassoPath, lasso_path

__all__ = [
    "BridgeFit",
    "ElasticNet",
    "ElasticNetCV",
    "LarsPath",
    "Lasso",
    "LassoCV",
    "LassoLars",
    "LassoPath",
    "bridge_regression",
    "lars_path",
    "lasso_path",
    "lp_norm",
]
