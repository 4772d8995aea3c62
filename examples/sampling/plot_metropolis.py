"""
Metropolis on a banana, and on two modes
========================================

A random walk needs nothing but the density. On a curved ridge it gets about slowly: neighbouring draws are
alike, and the autocorrelation time says how many steps make one independent draw. Between modes that are
far apart it does not get about at all, and R-hat says so: every chain stays at one of them.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.sampling import metropolis_hastings, sample


def banana(x):
    return -0.5 * (x[..., 0] ** 2 + (x[..., 1] - x[..., 0] ** 2) ** 2 / 0.1)


chains = sample(metropolis_hastings(banana), np.zeros((4, 2)), 3000, rng=0)
print(chains.summary().round(2).to_string())
print(f"{chains.acceptance:.0%} of the proposals were accepted")

fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
axes[0].plot(*chains.flat()[::5].T, ".", ms=2, alpha=0.4)
axes[0].set(xlabel="x[0]", ylabel="x[1]", title="draws")
tractable.plot(chains, ax=axes[1], show="autocorrelation", entry=1)

# %%
# Two normals at a distance of 16 standard deviations, and chains that start at either.


def two_modes(x):
    return np.logaddexp(-0.5 * (x[..., 0] - 8.0) ** 2, -0.5 * (x[..., 0] + 8.0) ** 2)


start = np.array([[-8.0], [-8.0], [8.0], [8.0]])
stuck = sample(metropolis_hastings(two_modes), start, 2000, rng=0)
print(*stuck.complaints(), sep="\n")
fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
tractable.plot(stuck, ax=axes[0])
tractable.plot(stuck, ax=axes[1], show="ranks")
