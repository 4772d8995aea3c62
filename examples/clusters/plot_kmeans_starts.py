"""
Initial centres of k-means
==========================

K-means converges to a local minimum, which depends on the initial centres. Several starts, and initial
centres that are far apart (k-means++), find better minima.
"""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np

import tractable

X = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)

# %%
# Three of eight points can be chosen as centres in 56 ways. From 46 of them the search ends at the best
# clusters there are, and from the other ten in one of five worse places.
starts = list(combinations(range(8), 3))
ends = [tractable.KMeans(3, init=X[[*rows]], tol=0.0).fit(X).inertia_ for rows in starts]
reached, times = np.unique(np.round(ends, 4), return_counts=True)
for J, n in zip(reached, times, strict=True):
    print(f"J = {J:7.4f} from {n:2} starts")
best = tractable.best_partition(X, 3)
print(f"the least of all {best.n_partitions} partitions: {best.inertia:.4f}")

# %%
# k-means++ chooses the first centre at random, and each further one with a probability that grows as the
# square of its distance from those chosen: far points are likely, and points beside a centre are not.
square = np.sum((X - X[0]) ** 2, axis=1)
print("second centre, given the first point:", " ".join(f"{s:g}/{square.sum():g}" for s in square))

# %%
# Is that a better beginning? Both kinds of start, a hundred times each, one search a start. (For every
# centre `KMeans` draws a few candidates so, and keeps the best of them.)
shares = {}
for init, label in (("random", "any three points"), ("k-means++", "k-means++")):
    found = [tractable.KMeans(3, init=init, n_init=1, random_state=seed).fit(X) for seed in range(100)]
    shares[label] = np.mean([model.inertia_ < best.inertia + 1e-6 for model in found])
    print(f"{label:>16}: {shares[label]:.0%} reach the best")

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.scatter(*X.T, s=3000 * square / square.sum(), color="#0072B2", alpha=0.35, lw=0)
left.scatter(*X[1:].T, s=14, color="0.2")
left.plot(*X[0], "X", ms=11, color="#D55E00", label="first centre")
for point, s in zip(X[1:], square[1:], strict=True):
    left.annotate(f"{s / square.sum():.0%}", point, xytext=(8, 8), textcoords="offset points", fontsize=9)
left.set(
    xlabel="x0",
    ylabel="x1",
    xlim=(0, 9.5),
    ylim=(0.5, 11.5),
    title="k-means++: probability of the second centre",
)
left.legend(frameon=False, loc="upper right")
bars = right.bar([f"{J:.2f}" for J in reached], times, color=["#009E73", *["#E69F00"] * (len(times) - 1)])
right.bar_label(bars)
right.set(xlabel="J at the end", ylabel="starts", title="all 56 starts", ylim=(0, 52))
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
