"""
k-means as the limit of a mixture
=================================

In a mixture of spherical Gaussians of one variance, the responsibilities tend to zero or one as the variance
tends to zero, and EM becomes k-means. With one component of fixed variance on every point, the mixture is a
kernel density.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.covariance import Isotropic

rng = np.random.default_rng(1)
X = np.concatenate([middle + rng.standard_normal((40, 2)) for middle in ([0, 0], [4, 0], [2, 3.5])])
model = tractable.KMeans(3, n_init=10, random_state=0).fit(X)
centers = model.cluster_centers_


def round_mixture(means, variance):
    covariance = Isotropic(variance=np.full(len(means), variance), dim=2)
    return tractable.Mixture(components=tractable.MultivariateNormal(mean=means, covariance=covariance))


# %%
# The responsibilities of three components with the centres of k-means, as mixtures of three colours. The
# borders sharpen into those of the nearest centre.
x, y = np.linspace(-3.5, 7.5, 220), np.linspace(-3.5, 6.5, 200)
grid = np.stack(np.meshgrid(x, y), axis=-1)
colours = np.array([[0.0, 0.45, 0.7], [0.9, 0.62, 0.0], [0.0, 0.62, 0.45]])
fig, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained", sharey=True)
for ax, width in zip(axes, (2.0, 0.5, 0.02), strict=True):
    responsibilities = round_mixture(centers, width).responsibilities(grid)
    extent = (x[0], x[-1], y[0], y[-1])
    ax.imshow(responsibilities @ (0.4 + 0.6 * colours), origin="lower", extent=extent, aspect="auto")
    ax.scatter(*X.T, s=8, color="0.2", lw=0)
    ax.plot(*centers.T, "x", ms=9, mew=2.5, color="black")
    ax.set(title=f"ε = {width:g}", xlabel="x0")
axes[0].set_ylabel("x1")
plt.show()

# %%
# The log-likelihood becomes the objective of k-means: without its constants, -2ε log p(X) lies between J
# less 2εn log K and J. And a step of EM becomes Lloyd's: from the same three points, the centres that one
# step leads to draw together as the width shrinks.
widths = np.logspace(0.3, -3, 60)
start = X[[5, 50, 90]]
lloyd = tractable.KMeans(3, init=start, max_iter=1, tol=1e9).fit(X).cluster_centers_
objective, apart = [], []
for width in widths:
    likelihood = round_mixture(centers, width).log_prob(X).sum()
    constants = len(X) * (np.log(2 * np.pi * width) + np.log(3))
    objective.append(-2 * width * (likelihood + constants))
    responsibilities = round_mixture(start, width).responsibilities(X)
    apart.append(np.abs(responsibilities.T @ X / responsibilities.sum(axis=0)[:, None] - lloyd).max())

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.fill_between(
    widths,
    model.inertia_ - 2 * widths * len(X) * np.log(3),
    model.inertia_,
    color="0.9",
    label="J - 2εn log K to J",
)
left.plot(widths, objective, color="#0072B2", label="-2ε log p(X), without constants")
left.set(xscale="log", xlabel="ε", ylim=(0, 1.1 * model.inertia_), ylabel="objective")
left.legend(frameon=False, loc="lower right")
right.plot(widths, np.maximum(apart, 1e-16), color="#0072B2")
right.set(xscale="log", yscale="log", xlabel="ε", ylabel="EM's centres from Lloyd's, after one step")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
    ax.invert_xaxis()
plt.show()

# %%
# K = N: equal weights and one fixed width on every point. No fit is left to do, and the mixture is the
# kernel density. (EM would not keep it so: a component with a point of its own shrinks on it.)
fig, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained", sharey=True)
for ax, width in zip(axes, (0.2, 0.6, 1.5), strict=True):
    tractable.plot(round_mixture(X, width**2), data=X, coverages=(0.5, 0.9), ax=ax)
    ax.set(title=f"width {width}", xlim=(-5, 9), ylim=(-5, 8))
plt.show()
