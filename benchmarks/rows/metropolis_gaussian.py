"""Random-walk Metropolis on a normal distribution, up to an effective sample size."""

from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np

from benchmarks.row import Row, at_least
from tractable.sampling import effective_sample_size, metropolis_hastings, sample

BLOCK = 2_000


def setup(size, folder):  # noqa: ARG001  (no files)
    dim, ess = size
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((dim, dim))
    covariance = factor @ factor.T / dim + 0.1 * np.eye(dim)
    white = np.linalg.inv(np.linalg.cholesky(covariance)).T

    def log_prob(x):
        z = x @ white
        return -0.5 * np.einsum("...i,...i->...", z, z)

    return SimpleNamespace(dim=dim, ess=ess, log_prob=log_prob, covariance=covariance)


def least(draws):
    return min(float(np.min(effective_sample_size(draws, kind))) for kind in ("bulk", "tail"))


def ours(data):
    step = metropolis_hastings(data.log_prob)
    chains = sample(step, np.zeros((4, data.dim)), BLOCK, target_ess=data.ess, max_samples=1_000_000, rng=0)
    return np.var(chains.flat(), axis=0) / np.diag(data.covariance)


def emcees(data):
    import emcee

    n_walkers = 3 * data.dim + 2
    rng = np.random.default_rng(0)
    sampler = emcee.EnsembleSampler(n_walkers, data.dim, data.log_prob, vectorize=True)
    state = sampler.run_mcmc(rng.standard_normal((n_walkers, data.dim)), 1_000)
    sampler.reset()
    while True:
        state = sampler.run_mcmc(state, BLOCK)
        draws = np.swapaxes(sampler.get_chain(), 0, 1)
        if least(draws) >= data.ess:
            return np.var(draws.reshape(-1, data.dim), axis=0) / np.diag(data.covariance)


def check(mine, theirs):
    """Both variances are within a tenth of the truth, a fifth on tiny data."""
    np.testing.assert_allclose(mine, 1.0, atol=0.3)
    np.testing.assert_allclose(theirs, 1.0, atol=0.3)


PEERS = {"emcee": emcees} if find_spec("emcee") else {}

ROW = Row(
    name="metropolis_gaussian",
    shows="Random-walk Metropolis, 4 chains on a 10-D normal, until draws are worth 1,000; emcee has 32.",
    setup=setup,
    size=(10, 1_000),
    dry_size=(2, 100),
    ours=ours,
    peers=PEERS,
    absent=() if PEERS else ("emcee",),
    check=check,
    targets={"emcee": at_least(2.0)},
    limit="the overhead of some fifteen NumPy calls a step, for all chains together.",
)
