"""
Kernels, neighbours, or both?
=============================

Half of these rows are concentrated about 0, half are spread about 6. With one bandwidth, a kernel density
oversmooths the narrow part and has a separate mode at every row of the sparse part. A K-nearest-neighbour
density adapts, but has a relative standard deviation of 1/√K everywhere. Kernels whose widths follow the
neighbours combine both.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(0)
truth = tractable.Mixture(weights=[0.5, 0.5], components=tractable.Normal(mean=[0.0, 6.0], stddev=[0.1, 2.0]))
x = np.linspace(-1.0, 11.0, 1500)

models = {
    "kernel density, h = 0.3": lambda: tractable.KernelDensity(bandwidth=0.3),
    "K = 30 nearest neighbours": lambda: tractable.NearestNeighborDensity(30),
    "widths by neighbours": lambda: tractable.AdaptiveKernelDensity(30),
}
samples = [truth.sample(500, rng=rng)[:, None] for _ in range(5)]
fig, axes = plt.subplots(2, 3, figsize=(11, 5.6), layout="constrained", sharey="row")
for column, (name, make) in zip(axes.T, models.items(), strict=True):
    for rows in samples:
        p = np.exp(make().fit(rows).score_samples(x[:, None]))
        for ax in column:
            ax.plot(x, p, color="#0072B2", lw=0.8, alpha=0.7)
    for ax in column:
        ax.plot(x, truth.prob(x), color="0.2", lw=1.5, ls="--")
    column[0].set(title=name, xlim=(-0.6, 0.6), ylim=(0.0, 3.2))
    column[1].set(xlim=(1.0, 11.0), ylim=(0.0, 0.25), xlabel="x")
axes[0, 0].set_ylabel("density, narrow part")
axes[1, 0].set_ylabel("density, where rows are sparse")

# %%
# In numbers, over a hundred samples: what is expected of each estimate, and how much it varies, in parts of
# the true density at the centre of the narrow part and in the tail of the sparse part.

points = np.array([[0.0], [10.0]])
many = [truth.sample(500, rng=rng)[:, None] for _ in range(100)]
for name, make in models.items():
    found = np.array([np.exp(make().fit(rows).score_samples(points)) for rows in many]) / truth.prob(
        points[:, 0]
    )
    mean, spread = found.mean(axis=0), found.std(axis=0)
    print(f"{name:>26}: narrow part {mean[0]:.2f} ± {spread[0]:.2f}, tail {mean[1]:.2f} ± {spread[1]:.2f}")

# %%
# More neighbours are smoother and more biased.

for k in (5, 30, 150):
    model = tractable.NearestNeighborDensity(k)
    found = np.array([np.exp(model.fit(rows).score_samples(points)) for rows in many]) / truth.prob(
        points[:, 0]
    )
    print(f"K = {k:>3}: narrow part {found[:, 0].mean():.2f} ± {found[:, 0].std():.2f}")
plt.show()
