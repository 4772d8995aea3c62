"""Loops and solvers that know no model: the fold, EM, least squares, principal components, Newton."""

from tractable.engines.em import EMResult, best_of, em, squared_extrapolation
from tractable.engines.evidence import EvidenceDecomposition, decompose_evidence, elbo
from tractable.engines.fold import fold
from tractable.engines.gaussian_process import DualPosterior, Observations, PrimalPosterior
from tractable.engines.glm import LikelihoodExpansion, SoftmaxRegression, softmax_regression
from tractable.engines.inducing_points import InducingPoints, InducingPosterior, Nystrom, nystrom
from tractable.engines.kmeans import Clusters
from tractable.engines.latent_gaussian_process import LatentProcess, SoftmaxProcess
from tractable.engines.least_squares import (
    ColumnInverse,
    LeastSquares,
    PointSolution,
    RowInverse,
    RowSpan,
    least_squares,
)
from tractable.engines.long_rows import ReferredRows
from tractable.engines.newton import NewtonResult, newton
from tractable.engines.nonnegative import nonnegative_least_squares
from tractable.engines.principal_components import PrincipalComponents, principal_components
from tractable.engines.quadrature import Integral, integrate
from tractable.engines.robbins_monro import RobbinsMonroResult, StepSize, robbins_monro, sequential_mle
from tractable.engines.roots import increasing_root
from tractable.engines.state_space import MarkovTerm, StateSpacePosterior

__all__ = [
    "Clusters",
    "ColumnInverse",
    "DualPosterior",
    "EMResult",
    "EvidenceDecomposition",
    "InducingPoints",
    "InducingPosterior",
    "Integral",
    "LatentProcess",
    "LeastSquares",
    "LikelihoodExpansion",
    "MarkovTerm",
    "NewtonResult",
    "Nystrom",
    "Observations",
    "PointSolution",
    "PrimalPosterior",
    "PrincipalComponents",
    "ReferredRows",
    "RobbinsMonroResult",
    "RowInverse",
    "RowSpan",
    "SoftmaxProcess",
    "SoftmaxRegression",
    "StateSpacePosterior",
    "StepSize",
    "best_of",
    "decompose_evidence",
    "elbo",
    "em",
    "fold",
    "increasing_root",
    "integrate",
    "least_squares",
    "newton",
    "nonnegative_least_squares",
    "nystrom",
    "principal_components",
    "robbins_monro",
    "sequential_mle",
    "softmax_regression",
    "squared_extrapolation",
]
