"""
Comparing distributions by their likelihood
===========================================

The likelihood of a distribution is the product of its densities at the observations. The distribution with
the larger likelihood fits better, and the difference of log-likelihoods measures by how much.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.distributions import Laplace, Normal, StudentT

rows = np.array([1.1, 2.0, 2.4])
candidates = {"narrow, at 0": Normal(mean=0.0, stddev=1.0), "wide, at 2": Normal(mean=2.0, stddev=1.5)}
found = tractable.compare_likelihood(candidates, rows)
print(found)

x = np.linspace(-4.0, 7.0, 400)
fig, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
for (name, candidate), colour in zip(candidates.items(), ("#0072B2", "#E69F00"), strict=True):
    ax.plot(x, candidate.prob(x), color=colour, label=f"{name}: likelihood {candidate.prob(rows).prod():.5f}")
    ax.vlines(rows, 0.0, candidate.prob(rows), color=colour, lw=1.0, alpha=0.6)
    ax.plot(rows, candidate.prob(rows), "o", color=colour, ms=4)
ax.plot(rows, np.zeros(3), "o", color="#D55E00", ms=6, clip_on=False, zorder=3, label="rows")
ax.set(xlabel="x", ylabel="density", ylim=(0, 0.55))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")

# %%
# Candidates may be fitted too, and are then compared on held-out rows: a family with more parameters always
# fits the training rows better. Here the noise has heavy tails; the differences have standard errors.
rng = np.random.default_rng(7)
data = StudentT(dof=3.0, location=0.0, scale=1.0).sample(800, rng=rng)
fitted = {family.__name__: family.fit(data[:400]) for family in (Normal, Laplace, StudentT)}
compared = tractable.compare_likelihood(fitted, data[400:])
print(compared)
ax = tractable.plot(compared)
plt.show()
