"""Monte Carlo: averages over draws, Markov chains by pure steps under one driver, and their diagnostics.

A step is a pure function ``(rng, state) -> (state, info)``; :func:`sample` runs chains of it side by side.
"""

from tractable.sampling.chains import Chains
from tractable.sampling.diagnostics import (
    Diagnosis,
    autocorrelation,
    autocorrelation_time,
    diagnose,
    effective_sample_size,
    kish_ess,
    mcse,
    pareto_k,
    r_hat,
)
from tractable.sampling.direct import (
    ImportanceSample,
    MonteCarloEstimate,
    RejectionSample,
    importance,
    inverse_transform,
    monte_carlo,
    rejection,
)
from tractable.sampling.driver import State, sample
from tractable.sampling.gibbs import GaussianGibbs, Gibbs, gaussian_gibbs, gibbs
from tractable.sampling.metropolis import MetropolisHastings, RandomWalk, metropolis_hastings
from tractable.sampling.nuts import Nuts, nuts
from tractable.sampling.posterior import PosteriorSample, PosteriorSampler
from tractable.sampling.slices import Slice, slice  # noqa: A004
from tractable.sampling.target import Target

__all__ = [
    "Chains",
    "Diagnosis",
    "GaussianGibbs",
    "Gibbs",
    "ImportanceSample",
    "MetropolisHastings",
    "MonteCarloEstimate",
    "Nuts",
    "PosteriorSample",
    "PosteriorSampler",
    "RandomWalk",
    "RejectionSample",
    "Slice",
    "State",
    "Target",
    "autocorrelation",
    "autocorrelation_time",
    "diagnose",
    "effective_sample_size",
    "gaussian_gibbs",
    "gibbs",
    "importance",
    "inverse_transform",
    "kish_ess",
    "mcse",
    "metropolis_hastings",
    "monte_carlo",
    "nuts",
    "pareto_k",
    "r_hat",
    "rejection",
    "sample",
    "slice",
]
