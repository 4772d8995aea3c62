"""Gaussian processes: regression with exact inference."""

from tractable.gaussian_process.classifier import GaussianProcessClassifier
from tractable.gaussian_process.committee import BayesianCommittee
from tractable.gaussian_process.comparison import ExactComparison, LaplaceComparison
from tractable.gaussian_process.estimator import GaussianProcessRegressor
from tractable.gaussian_process.explain import FunctionParts, KernelDiagnosis, Relevance
from tractable.gaussian_process.kernel_search import KernelCandidate, KernelSearch, search_kernel
from tractable.gaussian_process.latent import LatentModel
from tractable.gaussian_process.mean import MeanFunction
from tractable.gaussian_process.model import FittedTargets, GaussianProcess, Prior
from tractable.gaussian_process.nystrom import NystromGaussianProcess
from tractable.gaussian_process.poisson import GaussianProcessPoissonRegressor
from tractable.gaussian_process.posteriors import (
    DualPosterior,
    InducingPoints,
    InducingPosterior,
    LatentProcess,
    LikelihoodExpansion,
    Nystrom,
    Observations,
    PrimalPosterior,
    SoftmaxProcess,
    StateSpacePosterior,
    nystrom,
)
from tractable.gaussian_process.rows import TrainingRows
from tractable.gaussian_process.state_space import StateSpaceGaussianProcess

__all__ = [
    "BayesianCommittee",
    "DualPosterior",
    "ExactComparison",
    "FittedTargets",
    "FunctionParts",
    "GaussianProcess",
    "GaussianProcessClassifier",
    "GaussianProcessPoissonRegressor",
    "GaussianProcessRegressor",
    "InducingPoints",
    "InducingPosterior",
    "KernelCandidate",
    "KernelDiagnosis",
    "KernelSearch",
    "LaplaceComparison",
    "LatentModel",
    "LatentProcess",
    "LikelihoodExpansion",
    "MeanFunction",
    "Nystrom",
    "NystromGaussianProcess",
    "Observations",
    "PrimalPosterior",
    "Prior",
    "Relevance",
    "SoftmaxProcess",
    "StateSpaceGaussianProcess",
    "StateSpacePosterior",
    "TrainingRows",
    "nystrom",
    "search_kernel",
]
