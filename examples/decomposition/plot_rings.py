"""
Rings: what no straight direction separates
===========================================

Two rings have the same variance in every direction, so PCA can only turn them. In the feature space of a
kernel they come apart: quadratic features hold the squared radius, and a Gaussian kernel knows who is near
whom. Scores are those of the centred kernel matrix, with directions of length one.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.kernels import RBF, Polynomial

rng = np.random.default_rng(0)
ring = np.repeat([0, 1], 150)
angle, radius = rng.uniform(0, 2 * np.pi, 300), np.where(ring == 0, 1.0, 3.0) + 0.1 * rng.standard_normal(300)
X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])

models = {
    "PCA": tractable.PCA(2),
    "quadratic kernel": tractable.KernelPCA(3, kernel=Polynomial(degree=2)),
    "Gaussian kernel": tractable.KernelPCA(3, kernel=RBF(1.0)),
}
gaps = {}
for name, model in models.items():
    Z = model.fit(X).transform(X)
    inner, outer = Z[ring == 0], Z[ring == 1]
    apart = np.maximum(inner.min(axis=0) - outer.max(axis=0), outer.min(axis=0) - inner.max(axis=0))
    gaps[name] = float(apart.max())
    print(f"{name}: widest gap between the rings along a component {gaps[name]:.2f}")

# %%
fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    shown = (0, 2) if name == "quadratic kernel" else (0, 1)
    tractable.plot(
        model, data=X, labels=ring, ax=ax, dims=shown, **({"show": "biplot"} if name == "PCA" else {})
    )
    ax.set_title(name)
