"""Posteriors of Gaussian processes: exact, of latent functions, through inducing points, in state space."""

from tractable.gaussian_process.posteriors.exact import DualPosterior, Observations, PrimalPosterior
from tractable.gaussian_process.posteriors.inducing_points import (
    InducingPoints,
    InducingPosterior,
    Nystrom,
    nystrom,
)
from tractable.gaussian_process.posteriors.latent import LatentProcess, LikelihoodExpansion, SoftmaxProcess
from tractable.gaussian_process.posteriors.state_space import StateSpacePosterior

__all__ = [
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
]
