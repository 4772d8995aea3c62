"""
The origin of the bins
======================

A histogram depends on where its first bin begins, also for bins of the same width. Linear binning, which
splits a row between the two nearest bins, reduces the effect; kernel densities have no edges.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

waits = tractable.datasets.load("old_faithful").frame[["waiting"]].to_numpy()[:60]
width, starts = 9.0, (34.0, 37.0, 40.0)
x = np.linspace(32.0, 108.0, 400)


def edges(start):
    """Bins of the same width, from a start of their own."""
    return [np.arange(start, start + 8.5 * width, width)]


# %%
# Sixty waits for Old Faithful, in bins of nine minutes that begin at 34, at 37 and at 40. Above, a row
# belongs to its bin; below, it gives a share to the bin beside it, the larger the nearer it is.
labels = {"plain": "a row to its bin", "linear": "shared"}
fig, axes = plt.subplots(2, 3, figsize=(12, 5.6), layout="constrained", sharex=True, sharey=True)
for row, weighting in zip(axes, ("plain", "linear"), strict=True):
    for ax, start in zip(row, starts, strict=True):
        model = tractable.Histogram(edges(start), weighting=weighting).fit(waits)
        ax.stairs(model.distribution_.heights, model.edges_[0], color="#0072B2", fill=True, alpha=0.35)
        ax.plot(waits, np.zeros(len(waits)), "|", ms=8, color="0.3")
        ax.set_title(f"from {start:g}, {labels[weighting]}", fontsize="medium")
        ax.spines[["top", "right"]].set_visible(False)
for ax in axes[1]:
    ax.set_xlabel("waiting (minutes)")
for ax in axes[:, 0]:
    ax.set_ylabel("density")

# %%
# How much does the start matter? Eighteen starts, and the mean distance of the heights from their average, as
# a share of the average. A kernel density of about the same smoothness has no start to choose.
every = {}
for weighting, name in labels.items():
    fits = [tractable.Histogram(edges(31.0 + 0.5 * n), weighting=weighting).fit(waits) for n in range(18)]
    heights = np.exp([fit.score_samples(x[:, None]) for fit in fits])
    every[weighting] = np.abs(heights - heights.mean(axis=0)).mean() / heights.mean()
    print(f"{name:>18}: {every[weighting]:.1%}")

fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
ax.plot(x, heights.mean(axis=0), color="#E69F00", label="average of 18 shared histograms")
smooth = tractable.KernelDensity(bandwidth=width / np.sqrt(6.0)).fit(waits)
ax.plot(x, smooth.distribution_.prob(x[:, None]), color="#0072B2", label="kernel density")
ax.set(xlabel="waiting (minutes)", ylabel="density")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
