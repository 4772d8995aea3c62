"""
How many clusters?
==================

The objective of k-means decreases with every additional cluster, so it cannot choose their number. Five other
criteria are computed from the same fits. They agree for well separated clusters, and differ otherwise.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(4)
centers = np.array([[0.0, 0.0], [5.0, 1.0], [2.0, 5.0], [8.0, 6.0]])
X = np.concatenate([center + rng.standard_normal((80, 2)) for center in centers])
every = ["silhouette", "calinski_harabasz", "davies_bouldin", "gap", "elbow"]
found = tractable.select_n_clusters(X, range(2, 10), criterion=every, random_state=0)
print(found)

# %%
# The gap compares with rows spread evenly over the same box: more clusters always reduce the scatter within,
# but where there are none to find they do so slowly. The elbow is the point of the curve of scatter that is
# farthest below its chord.
fig, axes = plt.subplots(2, 3, figsize=(12, 7), layout="constrained")
for ax, criterion in zip(axes.flat, every, strict=False):
    tractable.plot(found, criterion=criterion, ax=ax)
labels = found.best_fit.labels
tractable.plot(tractable.KMeans(found.best, init=found.best_fit.centers).fit(X), data=X, ax=axes[1, 2])
axes[1, 2].set_title(f"{found.best} clusters")
axes[1, 2].get_legend().remove()
plt.show()

# %%
# A cluster is compact and separate. The report says how far the rows of each reach; where the farthest is
# beyond half the way to the nearest other centre, clusters may touch.
report = tractable.cluster_report(X, labels)
print(report)
tractable.plot(report)
plt.show()

# %%
# Eight points of a classroom. Three clusters look right, and the index agrees, if no more than four are
# tried; it is largest at five. For so few points every partition can be tried, so that k-means is known to
# have found the best ones.
points = [[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]]
few = tractable.select_n_clusters(points, range(2, 8), n_init=20, random_state=0)
print(few)
for k, inertia in zip(few.n_clusters, few.inertias, strict=True):
    best = tractable.best_partition(points, k)
    index = tractable.calinski_harabasz_score(points, best.labels)
    print(f"K = {k}: J {inertia:.5f}, least of {best.n_partitions:4} {best.inertia:.5f}, index {index:.5f}")
tractable.plot(few)
plt.show()
