"""
A surface unrolled
==================

Rows often lie on a surface that is bent through their columns. Isomap measures distances along it, by the
shortest paths from neighbour to neighbour, and flattens it.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import tractable

# %%
# A rectangle, rolled up: rows are (t cos t, width, t sin t). Neighbouring turns are near in space, and far
# along the roll.
rng = np.random.default_rng(0)
angle = 1.5 * np.pi * (1.0 + 2.0 * rng.random(1200))
width = 21.0 * rng.random(1200)
X = np.column_stack([angle * np.cos(angle), width, angle * np.sin(angle)])
along = 0.5 * (angle * np.sqrt(1.0 + angle**2) + np.arcsinh(angle))  # the length of the spiral
fig = plt.figure(figsize=(5, 4.4), layout="constrained")
ax = fig.add_subplot(projection="3d")
ax.scatter(*X.T, c=along, s=8)

# %%
# Isomap finds the length along the roll and the width; classical scaling, which keeps distances in space,
# flattens it from the side.
isomap = tractable.Isomap(n_neighbors=10).fit(X)
linear = tractable.ClassicalMDS().fit(X)
kept = abs(np.corrcoef(isomap.embedding_[:, 0], along)[0, 1])
lost = abs(np.corrcoef(linear.embedding_[:, 0], along)[0, 1])
print(f"correlation with the length along the roll: Isomap {kept:.3f}, classical scaling {lost:.3f}")
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, model, title in zip(axes, (isomap, linear), ("Isomap", "classical scaling"), strict=True):
    ax.scatter(*model.embedding_.T, c=along, s=8)
    ax.set(title=title, xlabel="coordinate 1", ylabel="coordinate 2", aspect="equal")

# %%
# How many dimensions does it need? The residual variance, 1 - r² between distances along the data and in the
# map, falls until there are enough.
residual = tractable.Isomap(n_neighbors=10, n_components=5).fit(X).residual_variance_
print("residual variance of 1 to 5 dimensions:", residual.round(4).tolist())
fig, ax = plt.subplots(figsize=(5, 3.4), layout="constrained")
ax.plot(np.arange(1, 6), residual, "o-", color="#0072B2")
ax.set(xlabel="dimensions", ylabel="residual variance", ylim=(0, None), xticks=np.arange(1, 6))

# %%
# Too many neighbours jump from turn to turn, and the roll stays rolled; too few break the surface into parts,
# which are said, and joined by their shortest links.
ways = {}
for k in (3, 10, 60):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ways[k] = tractable.Isomap(n_neighbors=k).fit(X)
    print(f"{k} neighbours: {ways[k].n_connected_components_} part(s)", *(str(w.message) for w in said[:1]))
fig, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
for ax, (k, model) in zip(axes, ways.items(), strict=True):
    ax.scatter(*model.embedding_.T, c=along, s=8)
    ax.set(title=f"{k} neighbours", xlabel="coordinate 1", ylabel="coordinate 2")

# %%
# New rows are placed by their distances along the data. And each point of the map has a colour that says how
# far its neighbourhood can be trusted.
new = np.column_stack(
    [9.0 * np.cos(9.0) * np.ones(5), np.linspace(2.0, 19.0, 5), 9.0 * np.sin(9.0) * np.ones(5)]
)
tractable.plot(isomap, data=new)
plt.show()
