"""
Eight schools by the no-U-turn sampler
======================================

Rubin's (1981) effects of coaching in eight schools, each with its standard error. How far the schools differ,
τ, is to be learned too; given τ all else is normal, and so the posterior of τ can be drawn by hand and
compared. Effects are written as μ + τ z with z standard normal: without that the density is a funnel, and the
divergences would say so.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.sampling import nuts, sample

effects = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
errors = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def log_density(x):
    """log p of (μ, log τ, z) and its gradient; μ ~ N(0, 5²), τ ~ half-Cauchy(5)."""
    mean, tau, z = x[..., :1], np.exp(x[..., 1:2]), x[..., 2:]
    off = (effects - mean - tau * z) / errors
    ratio, pull = (tau / 5.0) ** 2, off / errors
    value = -0.5 * (mean / 5.0) ** 2 - np.log1p(ratio) + x[..., 1:2]
    slope = [
        pull.sum(axis=-1, keepdims=True) - mean / 25.0,
        tau * (pull * z).sum(axis=-1, keepdims=True) - 2.0 * ratio / (1.0 + ratio) + 1.0,
        tau * pull - z,
    ]
    return value[..., 0] - 0.5 * np.sum(z * z + off * off, axis=-1), np.concatenate(slope, axis=-1)


start = np.random.default_rng(0).standard_normal((4, 10))
chains = sample(nuts(log_density, True, target_acceptance=0.9), start, 1000, n_warm_up=500, rng=0)
schools = chains.map(
    lambda v: {
        "mean": v["x"][..., 0],
        "tau": np.exp(v["x"][..., 1]),
        "effect": v["x"][..., :1] + np.exp(v["x"][..., 1:2]) * v["x"][..., 2:],
    }
)
print(schools.summary().loc[:, ["mean", "sd", "5%", "95%", "ess_bulk", "r_hat"]].round(2).to_string())
print(
    f"{chains.n_divergent} divergences, {chains.info['n_leapfrog'].mean():.1f} steps of the integrator a draw"
)

# %%
# The sampled density of τ beside that by integration of all else, in closed form.
tau = np.linspace(0.02, 25.0, 300)
variance = errors**2 + tau[:, None] ** 2
precision = (1.0 / variance).sum(axis=1) + 1.0 / 25.0
mean = (effects / variance).sum(axis=1) / precision
log_p = -0.5 * (np.log(variance) + effects**2 / variance).sum(axis=1) - np.log1p((tau / 5.0) ** 2)
exact = np.exp(log_p + 0.5 * precision * mean**2 - 0.5 * np.log(precision))
exact /= exact.sum() * (tau[1] - tau[0])

fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
axes[0].hist(schools.flat("tau"), 60, range=(0, 25), density=True, color="#56B4E9", label="draws")
axes[0].plot(tau, exact, color="#D55E00", label="by integration")
axes[0].set(xlabel="τ", ylabel="density")
axes[0].legend(frameon=False)
tractable.plot(schools, ax=axes[1], variable="tau", show="ranks")
