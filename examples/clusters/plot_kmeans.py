"""
K-means, step by step, and where it fails
=========================================

Eight points, three clusters. Points are assigned to the nearest centre, and centres move to the mean of their
points: the sum of squared distances, J, never increases, and after two iterations nothing changes.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

import tractable

X = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)
start = X[[4, 5, 7]]

# %%
# The picture shows each centre and the part of the plane that is nearest to it. A search cut short says so;
# here that is the point, and the warning is turned off.

centers = start
fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharey=True)
for update, ax in enumerate(axes, start=1):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = tractable.KMeans(3, init=start, tol=0.0, max_iter=update).fit(X)
    squares = np.sum((X[:, None] - centers) ** 2, axis=-1)
    nearest, centers = squares.argmin(axis=1), model.cluster_centers_
    assigned, updated = squares.min(axis=1).sum(), np.sum((X - centers[nearest]) ** 2)
    print(f"update {update}: clusters {nearest + 1}, J {assigned:.4f}, then {updated:.4f}")
    print(f"          centres {centers.round(4).tolist()}")
    tractable.plot(model, data=X, ax=ax)
    ax.set_title(f"after update {update}: J = {updated:.2f}")
    ax.get_legend().remove()
    for n, point in enumerate(X, start=1):
        ax.annotate(f"X{n}", point, xytext=(4, 4), textcoords="offset points", fontsize=8)

# %%
# What is scattered in all is scattered within clusters and between them: k-means makes the first small, and
# so the second large.
report = tractable.cluster_report(X, model.labels_)
total = np.sum((X - X.mean(axis=0)) ** 2)
print(f"total {total:.2f} = within {report.within:.5f} + between {report.between:.5f}")

# %%
# K-means has no idea of shape or size: a cluster is what is nearest to a centre. Long clusters are cut, a
# large one gives part of itself to a small one, and rings have no centre of their own.

rng = np.random.default_rng(0)
long = rng.standard_normal((400, 2)) * [8.0, 0.5] + np.repeat([[0.0, 0.0], [0.0, 5.0]], 200, axis=0)
unequal = np.concatenate([4.0 * rng.standard_normal((380, 2)), 0.2 * rng.standard_normal((20, 2)) + 9.0])
angle = rng.uniform(0.0, 2 * np.pi, 400)
radius = np.repeat([1.0, 6.0], 200) + 0.1 * rng.standard_normal(400)
rings = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])

fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for ax, rows, what in zip(axes, (long, unequal, rings), ("long", "unequal", "rings"), strict=True):
    tractable.plot(tractable.KMeans(2, n_init=5, random_state=0).fit(rows), data=rows, ax=ax)
    ax.set_title(what)
plt.show()
