"""
Space subdivision: four trees for neighbour search
==================================================

Trees divide space into cells, so that neighbours are found without computing all distances. They differ in
where they split, and in whether a search backtracks.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.spatial import KDTree, RandomizedForest, SpillTree, TSVQTree, recall

rng = np.random.default_rng(0)
angle = rng.uniform(0.0, 2.0 * np.pi, 400)
ring = 3.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1) + 0.25 * rng.standard_normal((400, 2))
points = np.concatenate([ring, 0.6 * rng.standard_normal((150, 2))])
row = [2.2, 2.0]

# %%
# A k-d tree halves its points at the median of the widest side: boxes, all with as many points.
# No labels are involved (that would be CART). A spill tree keeps the points near a cut on both of its sides.
# Vector quantisation cuts between the centres of 2-means, in any direction. A randomised forest has several
# trees of random directions; a search looks at the points of its leaf in each (ringed: what is looked at for
# the star).

fig, axes = plt.subplots(2, 2, figsize=(10, 9), layout="constrained", sharex=True, sharey=True)
trees = {
    "k-d tree": (KDTree(points, leaf_size=32), {}),
    "spill tree, τ = 0.1": (SpillTree(points, tau=0.1, leaf_size=100, random_state=0), {"row": row}),
    "tree-structured vector quantisation": (TSVQTree(points, leaf_size=32, random_state=0), {"row": row}),
    "randomised forest, one of 4 trees": (
        RandomizedForest(points, n_trees=4, leaf_size=32, random_state=0),
        {"row": row},
    ),
}
for ax, (title, (tree, options)) in zip(axes.flat, trees.items(), strict=True):
    tractable.plot(tree, ax=ax, **options)
    ax.set_title(title)

# %%
# A k-d tree looks back until no cell can hide a nearer point: exact, but in many dimensions most cells can.
# The others go down to one leaf, some log n nodes, and miss what lies behind a cut. More trees, a wider
# margin or larger leaves find more for more work; a wide margin also takes memory, (1 + 2τ) times as
# much a level.

flat = rng.standard_normal((10_000, 6)) @ rng.standard_normal((6, 30))
points = np.tanh(flat) + 0.02 * rng.standard_normal((10_000, 30))
x = points[:300] + 0.02 * rng.standard_normal((300, 30))

families = {
    "spill tree, τ = 0 … 0.2": [
        SpillTree(points, tau=tau, leaf_size=128, max_copies=200, random_state=0)
        for tau in (0.0, 0.05, 0.1, 0.15, 0.2)
    ],
    "vector quantisation, leaves of 30 … 2000": [
        TSVQTree(points, leaf_size=size, random_state=0) for size in (30, 120, 500, 2000)
    ],
    "forest, 1 … 32 trees": [
        RandomizedForest(points, n_trees=n, leaf_size=64, random_state=0) for n in (1, 2, 4, 8, 16, 32)
    ],
    "k-d tree": [KDTree(points, leaf_size=64)],
}
fig, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained", sharey=True)
for name, indexes in families.items():
    recalls = [recall(index, x, 10) for index in indexes]
    reports = [index.query(x, 10, report=True)[2] for index in indexes]
    axes[0].semilogx([report.visited.mean() for report in reports], recalls, "o-")
    axes[1].semilogx([report.measured.mean() for report in reports], recalls, "o-")
    axes[2].plot([report.memory / 1e6 for report in reports], recalls, "o-", label=name)
axes[0].set(xlabel="nodes visited", ylabel="recall of 10 neighbours")
axes[1].set(xlabel="points looked at")
axes[2].set(xlabel="memory beside the points, MB")
axes[2].legend(loc="center right", fontsize=8, frameon=False)
plt.show()

# %%
# A margin that would fill the memory is refused before any work.
try:
    SpillTree(points, tau=0.4)
except ValueError as refused:
    print(refused)
