"""What rows of the no-U-turn sampler share: blackjax, and how draws are compared."""

from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np

from tractable.sampling import effective_sample_size


def least_ess(draws):
    """Return the smallest effective sample size of any coordinate, bulk or tail."""
    return min(float(np.min(effective_sample_size(draws, kind))) for kind in ("bulk", "tail"))


def blackjaxs(data):
    """Return draws of four chains by blackjax, compiled once and before any time counts."""
    import jax

    jax.config.update("jax_enable_x64", True)  # as ours
    if "run" not in data.compiled:
        data.compiled["run"] = jax.jit(lambda key: _chains(key, data)).lower(jax.random.key(0)).compile()
    draws = np.asarray(data.compiled["run"](jax.random.key(0)))
    mean = draws.reshape(-1, data.dim).mean(axis=0)
    return SimpleNamespace(ess=least_ess(draws), mean=mean, sd=data.sd)


#: The peer, where it is installed.
PEERS = {"blackjax": blackjaxs} if find_spec("blackjax") else {}


def _chains(key, data):
    import blackjax
    import jax

    def one(key):
        first, second, third = jax.random.split(key, 3)
        warm_up = blackjax.window_adaptation(blackjax.nuts, data.jax_log_prob)
        (state, tuned), _ = warm_up.run(first, jax.random.normal(third, (data.dim,)), data.n_draws)
        step = blackjax.nuts(data.jax_log_prob, **tuned).step

        def following(state, key):
            state, _ = step(key, state)
            return state, state.position

        return jax.lax.scan(following, state, jax.random.split(second, data.n_draws))[1]

    return jax.vmap(one)(jax.random.split(key, 4))


def check(mine, theirs):
    """Means agree within six standard errors, and our draws are worth as many as theirs."""
    assert theirs.ess < 1_000 or mine.ess >= theirs.ess  # few draws on tiny data are worth this or that
    error = mine.sd * np.sqrt(1.0 / mine.ess + 1.0 / theirs.ess)
    assert np.all(np.abs(mine.mean - theirs.mean) < 6.0 * error)


def note(results):
    """Say what the draws are worth."""
    return "effective draws: " + ", ".join(f"{name} {found.ess:.0f}" for name, found in results.items())
