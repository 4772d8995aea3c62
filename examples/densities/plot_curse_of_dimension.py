"""
The curse of dimensionality
===========================

In many dimensions the cells of a grid outnumber the rows, distances between rows become similar, and
uninformative columns dominate the informative ones.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(0)
dims = np.array([1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000])

# %%
# Cut every side of a cube into ten bins: the cells number 10^D. A thousand rows that fill a line a hundred to
# a bin leave nine cells of ten empty in four dimensions at the least.

n_rows = 1000
cells = 10.0 ** np.arange(1, 9)
filled = [len(np.unique(np.floor(10 * rng.random((n_rows, d))), axis=0)) / cells[d - 1] for d in range(1, 9)]
print("fraction of cells with a row, D = 1 to 8:", np.round(filled, 6))

# %%
# How much nearer than the farthest of 1,000 rows is the nearest? On a line, by a factor of thousands. Squared
# distances are sums over columns: their mean grows as D and their spread as √D, so that the ratio of least to
# greatest tends to one.

ratio = []
for d in dims:
    X, at = rng.standard_normal((n_rows, d)), rng.standard_normal((50, d))
    distances, _ = tractable.NearestNeighbors(n_neighbors=n_rows).fit(X).kneighbors(at)
    ratio.append(np.mean(distances[:, 0] / distances[:, -1]))
ratio = np.array(ratio)
print("nearest over farthest:", dict(zip(dims.tolist(), ratio.round(3).tolist(), strict=True)))

# %%
# Two classes that two columns tell apart, and more and more columns of noise. K is chosen anew each time, by
# leave-one-out; scored on new rows. A Gaussian for each class loses far less: what it
# must learn grows as the columns, not as the cells.


def rows(n, n_noise):
    """Two classes in two columns, one on either side, beside columns of noise."""
    y = rng.integers(0, 2, n)
    signal = rng.standard_normal((n, 2)) + np.where(y[:, None] == 1, 1.5, -1.5) * [1.0, 0.0]
    return np.column_stack([signal, 1.5 * rng.standard_normal((n, n_noise))]), y


noise = np.array([0, 2, 5, 10, 20, 50, 100])
accuracy = {"neighbours": [], "a Gaussian for each class": []}
for n_noise in noise:
    (X, y), (fresh, truth) = rows(300, n_noise), rows(2000, n_noise)
    voted = tractable.KNeighborsClassifier("loo", max_neighbors=60).fit(X, y)
    accuracy["neighbours"].append(voted.score(fresh, truth))
    each = [tractable.GaussianDensity(covariance_type="diag").fit(X[y == c]) for c in (0, 1)]
    predicted = each[1].score_samples(fresh) > each[0].score_samples(fresh)
    accuracy["a Gaussian for each class"].append(np.mean(predicted == truth))
accuracy = {name: np.array(found) for name, found in accuracy.items()}
for name, found in accuracy.items():
    print(f"{name}:", dict(zip(noise.tolist(), found.round(3).tolist(), strict=True)))

# %%
fig, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
axes[0].semilogy(np.arange(1, 9), filled, "o-")
axes[0].set(xlabel="dimensions", ylabel="fraction of cells with a row", title="1,000 rows, ten bins a side")
axes[1].semilogx(dims, ratio, "o-")
axes[1].set(xlabel="dimensions", ylabel="nearest / farthest", ylim=(0, 1), title="All rows are equally far")
for name, found in accuracy.items():
    axes[2].plot(noise, found, "o-", label=name)
axes[2].set(xlabel="columns of noise", ylabel="accuracy on fresh rows", title="Noise drowns the neighbours")
axes[2].legend(frameon=False)
plt.show()

# %%
# The curve of leave-one-out, and what the neighbours say of the plane where two columns are all there is.

X, y = rows(300, 0)
model = tractable.KNeighborsClassifier("loo", max_neighbors=60).fit(X, y)
fig, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
tractable.plot(model.loo_curve_, ax=axes[0])
tractable.plot(model, ax=axes[1])
plt.show()
