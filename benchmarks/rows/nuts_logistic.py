"""The no-U-turn sampler on logistic regression of the size of the German credit table."""

from types import SimpleNamespace

import numpy as np

from benchmarks.nuts import PEERS, check, least_ess, note
from benchmarks.row import Row, no_slower
from tractable.sampling import nuts, sample


def setup(size, folder):  # noqa: ARG001  (no files)
    n, dim, n_draws = size
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(n), rng.standard_normal((n, dim - 1))])
    y = rng.random(n) < 1.0 / (1.0 + np.exp(-X @ (0.5 * rng.standard_normal(dim))))
    signed = X * np.where(y, 1.0, -1.0)[:, None]
    across = np.ascontiguousarray(signed.T)

    def both(b):
        m = b @ across
        small = np.exp(-np.abs(m))
        value = (np.minimum(m, 0.0) - np.log1p(small)).sum(axis=-1) - 0.5 * np.einsum("...i,...i->...", b, b)
        return value, (np.where(m > 0.0, small, 1.0) / (1.0 + small)) @ signed - b

    def jax_log_prob(b):
        import jax.numpy as jnp

        return -jnp.sum(jnp.logaddexp(0.0, -(signed @ b))) - 0.5 * b @ b

    return SimpleNamespace(
        dim=dim, n_draws=n_draws, both=both, jax_log_prob=jax_log_prob, sd=np.ones(dim), compiled={}
    )


def ours(data):
    step = nuts(data.both, True, mass="diagonal", vectorized=True)
    start = np.random.default_rng(1).standard_normal((4, data.dim))
    chains = sample(step, start, data.n_draws * 11 // 10, n_warm_up=data.n_draws, rng=0)
    return SimpleNamespace(ess=least_ess(chains["x"]), mean=chains.flat().mean(axis=0), sd=data.sd)


ROW = Row(
    name="nuts_logistic",
    shows="No-U-turn sampler, 4 chains, as many effective draws of logistic regression, 1,000 × 25.",
    setup=setup,
    size=(1_000, 25, 1_000),
    dry_size=(40, 3, 60),
    ours=ours,
    peers=PEERS,
    absent=() if PEERS else ("blackjax",),
    check=check,
    note=note,
    targets={"blackjax": no_slower()},
    limit="exponentials of 4,000 linear predictors a step of the integrator, two thirds of the time.",
)
