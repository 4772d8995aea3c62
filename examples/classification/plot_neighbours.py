"""
The number of neighbours
========================

With one neighbour there are no training errors, and the boundary is irregular. With many the boundary is
smooth, and biased. Leave-one-out chooses the number.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable


def moons(n, rng):
    """Two half moons, one in the arms of the other, with noise."""
    t, y = rng.uniform(0.0, np.pi, n), rng.integers(0, 2, n)
    inner = np.column_stack([1.0 - np.cos(t), 0.5 - np.sin(t)])
    outer = np.column_stack([np.cos(t), np.sin(t)])
    return np.where(y[:, None] == 1, inner, outer) + rng.normal(0.0, 0.4, (n, 2)), y


rng = np.random.default_rng(3)
X, y = moons(200, rng)
fresh, truth = moons(5000, rng)

# %%
# The strength of the colour is the fraction of votes. The first model has no training error, and the largest
# error on new rows.
fig, axes = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained", sharey=True)
errors = {}
for ax, k in zip(axes, (1, 5, 25), strict=True):
    model = tractable.KNeighborsClassifier(k).fit(X, y)
    errors[k] = 1 - model.score(X, y), 1 - model.score(fresh, truth)
    tractable.plot(model, ax=ax)
    ax.set_title(f"K = {k}: {errors[k][0]:.1%} wrong here, {errors[k][1]:.1%} on new rows", fontsize="medium")
    print(f"K = {k:>2}: error on its own rows {errors[k][0]:.3f}, on new rows {errors[k][1]:.3f}")

# %%
# Leave one out: all K from 1 to 60 are scored in one search for neighbours. The curve is flat near its
# maximum, so that the choice matters little.
chosen = tractable.KNeighborsClassifier("loo", max_neighbors=60).fit(X, y)
print(
    f"leave-one-out takes K = {chosen.n_neighbors_}: error on new rows {1 - chosen.score(fresh, truth):.3f}"
)
fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
tractable.plot(chosen.loo_curve_, ax=ax)
new = [tractable.KNeighborsClassifier(k).fit(X, y).score(fresh, truth) for k in range(1, 61, 3)]
ax.plot(range(1, 61, 3), new, color="0.5", ls="dashed", label="new rows")
ax.legend(frameon=False)
plt.show()
