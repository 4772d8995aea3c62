"""
A prior of any shape, on a grid
===============================

A box of coins: most are fair, some fall on heads nine times in ten. No Beta has two such modes. On a grid of
probabilities, the posterior is prior times likelihood over their sum. Slow, but without assumptions: it is
also the reference for the closed forms.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.conjugate import BernoulliModel
from tractable.distributions import Beta

p = np.linspace(0.0005, 0.9995, 1999)
fair, bent = Beta(alpha=60.0, beta=60.0), Beta(alpha=36.0, beta=4.0)


def log_prior(p):
    return np.logaddexp(np.log(0.8) + fair.log_prob(p), np.log(0.2) + bent.log_prob(p))


def after(heads, tails):
    return tractable.grid_posterior(lambda p: heads * np.log(p) + tails * np.log1p(-p), log_prior, p)


fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharex=True)
for ax, (heads, tails) in zip(axes, [(0, 0), (4, 0), (9, 1)], strict=True):
    posterior = after(heads, tails)
    tractable.plot(posterior, ax=ax, names=["probability of heads"])
    ax.set(title=f"{heads} heads, {tails} tails")
    share = posterior.mass[p > 0.7].sum() / posterior.mass.sum()
    evidence = np.exp(posterior.log_evidence)
    print(f"{heads} heads, {tails} tails: biased with probability {share:.3f}, evidence {evidence:.5f}")
for ax in axes[:2]:
    ax.get_legend().remove()

# %%
# Where there is a closed form, the grid agrees with it.
exact = BernoulliModel(prior=fair).update_rows([1, 1, 1, 0]).prior
grid = tractable.grid_posterior(lambda p: 3 * np.log(p) + np.log1p(-p), fair, p)
print(f"mean by formula {exact.mean:.10f}, on the grid {grid.mean:.10f}")
plt.show()
