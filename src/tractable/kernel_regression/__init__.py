"""Regression by kernels: ridge regression in dual variables, and local means and lines."""

from tractable.kernel_regression.kernel_ridge import KernelRidge
from tractable.kernel_regression.local import LocalLinear, LocalRegressor, NadarayaWatson
from tractable.kernel_regression.smoother import LocalSmoother
from tractable.kernel_regression.spectrum import dual_objective

__all__ = [
    "KernelRidge",
    "LocalLinear",
    "LocalRegressor",
    "LocalSmoother",
    "NadarayaWatson",
    "dual_objective",
]
