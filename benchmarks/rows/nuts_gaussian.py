"""The no-U-turn sampler on a correlated normal distribution."""

from types import SimpleNamespace

import numpy as np

from benchmarks.nuts import PEERS, check, least_ess, note
from benchmarks.row import Row, no_slower
from tractable.sampling import nuts, sample


def setup(size, folder):  # noqa: ARG001  (no files)
    dim, n_draws = size
    factor = np.random.default_rng(0).standard_normal((dim, dim))
    covariance = factor @ factor.T / dim + 0.1 * np.eye(dim)
    precision = np.linalg.inv(covariance)

    def both(x):
        slope = -(x @ precision)
        return 0.5 * np.einsum("...i,...i->...", x, slope), slope

    def jax_log_prob(x):
        return -0.5 * x @ precision @ x

    sd = np.sqrt(np.diag(covariance))
    return SimpleNamespace(dim=dim, n_draws=n_draws, both=both, jax_log_prob=jax_log_prob, sd=sd, compiled={})


def ours(data):
    step = nuts(data.both, True, mass="dense", vectorized=True)
    start = np.random.default_rng(1).standard_normal((4, data.dim))
    chains = sample(step, start, data.n_draws * 11 // 10, n_warm_up=data.n_draws, rng=0)
    return SimpleNamespace(ess=least_ess(chains["x"]), mean=chains.flat().mean(axis=0), sd=data.sd)


ROW = Row(
    name="nuts_gaussian",
    shows="No-U-turn sampler, 4 chains, as many effective draws of a correlated 100-D normal.",
    setup=setup,
    size=(100, 1_000),
    dry_size=(3, 60),
    ours=ours,
    peers=PEERS,
    absent=() if PEERS else ("blackjax",),
    check=check,
    note=note,
    targets={"blackjax": no_slower()},
    limit="calls of NumPy between gradients, about eight a step of the integrator.",
)
