"""Gaussian processes: regression with exact inference."""

from tractable.gaussian_process.estimator import GaussianProcessRegressor
from tractable.gaussian_process.explain import FunctionParts, KernelDiagnosis, Relevance
from tractable.gaussian_process.kernel_search import KernelCandidate, KernelSearch, search_kernel
from tractable.gaussian_process.mean import MeanFunction
from tractable.gaussian_process.model import FittedTargets, GaussianProcess, Prior
from tractable.gaussian_process.rows import TrainingRows

__all__ = [
    "FittedTargets",
    "FunctionParts",
    "GaussianProcess",
    "GaussianProcessRegressor",
    "KernelCandidate",
    "KernelDiagnosis",
    "KernelSearch",
    "MeanFunction",
    "Prior",
    "Relevance",
    "TrainingRows",
    "search_kernel",
]
