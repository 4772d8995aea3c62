"""
One sample, four estimates
==========================

With K of n rows in a small volume V, the density there is about K/(nV). Histograms and kernels fix the volume
and count; nearest neighbours fix the count and measure the volume. Ten numbers are few enough to check by
hand.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.smoothing import loo_nll, lscv

ten = np.array([8.2075, 9.8171, 0.1442, 8.8333, 9.4084, 9.0987, 0.7269, 1.0454, -0.1108, 9.4905])[:, None]

# %%
# Bins of width 2 from -1 to 11: three rows in the first, so 3/(10 · 2) = 0.15.
bins = tractable.Histogram([np.arange(-1.0, 12.0, 2.0)]).fit(ten)
print("counts ", bins.counts_)
print("heights", bins.distribution_.heights)

# %%
# The third neighbour of 0.5 is 0.5454 away: 3/(10 · 2 · 0.5454). There is a neighbour everywhere, so the
# estimate is nowhere zero; it falls off so slowly that its area is infinite.
near = tractable.NearestNeighborDensity(3).fit(ten)
for place, height in zip((0.5, 5.0, 9.0), np.exp(near.score_samples([[0.5], [5.0], [9.0]])), strict=True):
    print(f"third neighbour: p({place}) = {height:.6f}")

# %%
# Kernels of one bandwidth, chosen by leave-one-out: each row is left out in turn, and predicted by the others
# (the likelihood), or the squared error is estimated in the same way.
for h in (0.25, 0.5, 1.0, 2.0):
    print(f"h = {h:4}: left-out −log p {loo_nll(ten, h):.6f}, squared error {lscv(ten, h):.6f}")
likely, square = (tractable.KernelDensity(bandwidth=rule).fit(ten) for rule in ("loo", "lscv"))
for model, criterion in ((likely, loo_nll), (square, lscv)):
    h = model.bandwidth_[0]
    print(f"{criterion.__name__:>8}: best at h = {h:.6f}, where it is {criterion(ten, h):.6f}")

# %%
# Mean shift converges to the modes of such an estimate; with a bandwidth of 5 there is only one.
for h in (0.5, 1.0, 5.0):
    modes = np.sort(tractable.MeanShift(bandwidth=h, kernel="gaussian").fit(ten).cluster_centers_[:, 0])
    print(f"h = {h}: modes at", " and ".join(f"{mode:.6f}" for mode in modes))

fig, axes = plt.subplots(2, 2, figsize=(10, 6.4), layout="constrained")
adaptive = tractable.AdaptiveKernelDensity(3).fit(ten)
titles = {
    "six bins": bins,
    f"windows of width {likely.bandwidth_[0]:.2f}": likely,
    "three nearest neighbours": near,
    "windows as wide as three neighbours": adaptive,
}
for ax, (title, model) in zip(axes.flat, titles.items(), strict=True):
    tractable.plot(model, ax=ax)
    ax.set(title=title, xlabel="x", xlim=(-3, 13))
plt.show()
