"""
Smoothing kernels
=================

A kernel density is the mean of kernels (windows) centred at the rows. A flat kernel counts the rows within
the bandwidth, the Epanechnikov kernel weights near rows more, and the Gaussian kernel has unbounded support.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.smoothing import loo_nll

ten = np.array([8.2075, 9.8171, 0.1442, 8.8333, 9.4084, 9.0987, 0.7269, 1.0454, -0.1108, 9.4905])
windows = {"tophat": "flat", "epanechnikov": "Epanechnikov (a parabola)", "gaussian": "Gaussian"}

# %%
# Ten numbers under three windows of width 1. In yellow are the single windows, each of area 1/10; in blue
# their sum. How rough the sum is, it has from the window.
x = np.linspace(-3.5, 13.0, 1200)
fig, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained", sharey=True)
for ax, (kernel, name) in zip(axes, windows.items(), strict=True):
    for row in ten:
        one = tractable.KernelDensity(bandwidth=1.0, kernel=kernel).fit([[row]])
        ax.plot(x, np.exp(one.score_samples(x[:, None])) / 10, color="#E69F00", lw=0.8)
    model = tractable.KernelDensity(bandwidth=1.0, kernel=kernel).fit(ten[:, None])
    ax.plot(x, np.exp(model.score_samples(x[:, None])), color="#0072B2")
    ax.plot(ten, np.full(10, -0.012), "|", ms=9, color="0.3")
    ax.set(title=name, xlabel="x", ylim=(-0.025, 0.38))
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("density")

# %%
# The same in numbers, at four points. At 5, between the groups, windows that end have nothing to say.
points = np.array([[0.5], [1.0], [5.0], [9.0]])
print(f"{'':21}", *(f"{f'p({point:g})':>10}" for point in points[:, 0]), sep="  ")
for kernel, name, h in (("gaussian", "Gaussian", 0.5), *((k, n, 1.0) for k, n in windows.items())):
    heights = np.exp(
        tractable.KernelDensity(bandwidth=h, kernel=kernel).fit(ten[:, None]).score_samples(points)
    )
    print(f"{name.split()[0]:>12}, h = {h}", *(f"{height:.8f}" for height in heights), sep="  ")

# %%
# A window that ends can leave a row alone: without itself the row has density zero, and no bandwidth below
# that is acceptable to the left-out likelihood. A Gaussian window is never so strict.
widths = (0.25, 0.5, 0.9, 1.0, 1.2, 2.0)
print("\nleft-out −log p a row")
for kernel in ("epanechnikov", "gaussian"):
    print(f"{kernel:>12}:", *(f"h = {h:g}: {loo_nll(ten, h, kernel=kernel):.6f}" for h in widths), sep="  ")
plt.show()
