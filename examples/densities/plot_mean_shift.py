"""
Mean shift: clusters as modes
=============================

Repeatedly move a point to the mean of the rows in a window about it: every step increases a kernel density
estimate, and the iteration converges to a mode. Rows that converge to the same mode form a cluster. The
number and the shape of clusters are not given, only the bandwidth.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

ten = np.array([8.2075, 9.8171, 0.1442, 8.8333, 9.4084, 9.0987, 0.7269, 1.0454, -0.1108, 9.4905])[:, None]
x = np.linspace(-4.0, 14.0, 400)

# %%
# Ten points on a line, and three bandwidths. The modes that mean shift with a Gaussian window finds are those
# of the kernel density estimate: a large bandwidth gives one mode where a small one gives two.

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for h in (0.5, 1.0, 5.0):
    model = tractable.MeanShift(bandwidth=h, kernel="gaussian").fit(ten)
    windows = tractable.Normal(mean=ten[:, 0], stddev=h)
    estimate = tractable.Mixture(components=windows)
    (line,) = ax.plot(x, estimate.prob(x), label=f"h = {h:g}")
    ax.plot(model.cluster_centers_[:, 0], np.exp(model.log_heights_), "^", ms=9, color=line.get_color())
    print(f"h = {h:g}: modes at", model.cluster_centers_[:, 0].round(6))
ax.plot(ten[:, 0], np.zeros(10), "|", ms=12, color="black", label="rows")
ax.set(xlabel="x", ylabel="density")
ax.legend(frameon=False)

# %%
# In the plane: three crescents of rows, and a bandwidth for each column, which makes the window an ellipse.
# The picture shows the basin of attraction of each mode. With the flat window, rows count alike up
# to the bandwidth and not beyond; with the Gaussian, less and less. Rows farther from their mode than the
# window reaches may be left out as orphans.

rng = np.random.default_rng(0)
turns = rng.uniform(0.2, 0.8, 900) * np.pi
which = np.repeat([0, 1, 2], 300)
X = np.stack([6.0 * np.cos(turns), 2.5 * np.sin(turns) ** 3 + 4.0 * which], axis=1)
X += 0.35 * rng.standard_normal(X.shape)

fig, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained", sharey=True)
models = {
    "flat": tractable.MeanShift(bandwidth=[4.0, 1.6]),
    "Gaussian": tractable.MeanShift(bandwidth=[1.8, 0.7], kernel="gaussian"),
    "flat, with orphans": tractable.MeanShift(bandwidth=[4.0, 1.6], cluster_all=False),
}
for ax, (name, model) in zip(axes, models.items(), strict=True):
    tractable.plot(model.fit(X), ax=ax)
    ax.set_title(f"{name}: {len(model.cluster_centers_)} modes")
plt.show()
