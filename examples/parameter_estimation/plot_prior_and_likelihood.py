"""
Prior times likelihood
======================

A prior of the probability of heads, times the likelihood of the tosses, normalised, is the posterior. With
few tosses the prior matters; with many, the posterior has the shape of the likelihood.
"""

import matplotlib.pyplot as plt
import numpy as np

from tractable.conjugate import BernoulliModel
from tractable.distributions import Beta

tosses = np.random.default_rng(5).random(200) < 0.7
coin = BernoulliModel(prior=Beta(alpha=5.0, beta=5.0))
p = np.linspace(0.0, 1.0, 401)

fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharex=True)
for ax, n in zip(axes, (3, 20, 200), strict=True):
    seen = coin.summarize(tosses[:n])
    after = coin.update(seen)
    # Scaled to area one, a likelihood of heads and tails is the posterior that a flat prior would give.
    likelihood = BernoulliModel(prior=Beta(alpha=1.0, beta=1.0)).update(seen).prior
    for density, name, style in (
        (coin.prior, "prior", {"color": "0.6"}),
        (likelihood, "likelihood", {"color": "#E69F00", "ls": "--"}),
        (after.prior, "posterior", {"color": "#0072B2"}),
    ):
        ax.plot(p, density.prob(p), label=name, **style)
    ax.axvline(0.7, color="0.8", lw=0.8, zorder=0)
    ax.set(title=f"{tosses[:n].sum()} heads in {n}", xlabel="probability of heads", ylim=(0, None))
    ax.spines[["top", "right"]].set_visible(False)
    low, high = after.interval(0.9)
    print(
        f"{n:3d} tosses: likelihood highest at {coin.maximum_likelihood(seen):.3f}, "
        f"posterior at {after.mode():.3f}, 90% between {low:.3f} and {high:.3f}"
    )
axes[0].set_ylabel("density")
axes[0].legend(frameon=False)

# %%
# The normalising constant is the evidence, which compares priors: one concentrated on fair coins, a flat one,
# and one concentrated on biased coins:
seen = coin.summarize(tosses)
for name, prior in {"fair": (50.0, 50.0), "anything": (1.0, 1.0), "bent": (14.0, 6.0)}.items():
    model = BernoulliModel(prior=Beta(alpha=prior[0], beta=prior[1]))
    print(f"{name:8s} log evidence {model.log_evidence(seen):.2f}")
plt.show()
