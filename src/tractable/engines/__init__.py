"""Loops and solvers that know no model: the fold, EM, least squares, principal components, Newton."""

from importlib import import_module

from tractable.engines.em import EMResult, best_of, em, squared_extrapolation
from tractable.engines.evidence import EvidenceDecomposition, decompose_evidence, elbo
from tractable.engines.fold import fold
from tractable.engines.glm import SoftmaxRegression, softmax_regression
from tractable.engines.kmeans import Clusters
from tractable.engines.least_squares import DeferredRoot, LeastSquares, PointSolution, least_squares
from tractable.engines.linear_estimate import CovarianceRoot, LinearEstimate, RootOfRows, RowSpan
from tractable.engines.long_rows import ReferredRows
from tractable.engines.newton import NewtonResult, newton
from tractable.engines.nonnegative import nonnegative_least_squares
from tractable.engines.principal_components import PrincipalComponents, principal_components
from tractable.engines.quadrature import Integral, integrate
from tractable.engines.robbins_monro import RobbinsMonroResult, StepSize, robbins_monro, sequential_mle
from tractable.engines.roots import increasing_root

__all__ = [
    "Clusters",
    "CovarianceRoot",
    "DeferredRoot",
    "EMResult",
    "EvidenceDecomposition",
    "Integral",
    "LeastSquares",
    "LinearEstimate",
    "NewtonResult",
    "PointSolution",
    "PrincipalComponents",
    "ReferredRows",
    "RobbinsMonroResult",
    "RootOfRows",
    "RowSpan",
    "SoftmaxRegression",
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
    "principal_components",
    "robbins_monro",
    "sequential_mle",
    "softmax_regression",
    "squared_extrapolation",
]

#: Names that were public here before their packages had them, and still can be imported from here.
MOVED = {
    **dict.fromkeys(
        (
            "DualPosterior",
            "InducingPoints",
            "InducingPosterior",
            "LatentProcess",
            "LikelihoodExpansion",
            "Nystrom",
            "Observations",
            "PrimalPosterior",
            "SoftmaxProcess",
            "StateSpacePosterior",
            "nystrom",
        ),
        "tractable.gaussian_process",
    ),
    "MarkovTerm": "tractable.kernels",
}


def __getattr__(name: str) -> object:
    if name in MOVED:
        return getattr(import_module(MOVED[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
