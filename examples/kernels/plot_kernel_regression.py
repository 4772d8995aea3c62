"""
Kernel ridge regression, local means and local lines
====================================================

The next eruption of Old Faithful, predicted from the length of the last one, by three smoothers. Kernel ridge
regression is one function for all rows, with a penalty on its size; a local mean and a local line are fitted
about each point. All three are weighted sums of the targets, and the weights can be drawn.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.kernels import RBF

eruptions = tractable.datasets.load("old_faithful").frame
X, y = eruptions[["eruptions"]], eruptions["waiting"]

# %%
# One decomposition of the kernel's matrix judges every penalty by the rows that it leaves out. The bandwidths
# of the local fits are judged by the same error.
ridge = tractable.KernelRidge(RBF(1.0), alpha="loo").fit(X, y)
mean = tractable.NadarayaWatson().fit(X, y)
line = tractable.LocalLinear().fit(X, y)
print(f"penalty {ridge.alpha_:.4f}, left-out error {ridge.cv_curve_.best_score**0.5:.3f} minutes")
for model in (mean, line):
    error = np.average((model.equivalent_kernel(X) @ y - y) ** 2) ** 0.5
    print(
        f"{type(model).__name__}: bandwidth {model.bandwidth_[0]:.3f}, error of the fit {error:.3f} minutes"
    )

grid = np.linspace(1.3, 5.4, 200)
fig, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
axes[0].plot(X, y, ".", color="0.7")
for model in (ridge, mean, line):
    axes[0].plot(
        grid, model.predict(X.iloc[:0].reindex(range(200)).assign(eruptions=grid)), label=type(model).__name__
    )
axes[0].set(xlabel="length of the eruption, minutes", ylabel="waiting time, minutes")
axes[0].legend()
tractable.plot(ridge.cv_curve_, ax=axes[1])

# %%
# The weight of every target in the prediction for an eruption of 1.7 minutes, near the end of the rows. A
# local mean has positive weights only, and a bias: the rows lie to one side. Lines and functions take some
# away.
at = X.iloc[:1].assign(eruptions=1.7)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
order = np.argsort(X["eruptions"].to_numpy())
for model in (ridge, mean, line):
    weights = model.equivalent_kernel(at)[0]
    ax.plot(
        X["eruptions"].to_numpy()[order],
        weights[order],
        label=f"{type(model).__name__}, sum {weights.sum():.3f}",
    )
ax.axvline(1.7, color="0.8", zorder=0)
ax.set(xlabel="length of the eruption, minutes", ylabel="weight of its target")
ax.legend()

# %%
# A local mean is the mean of a whole conditional density. Between the two groups of eruptions the density has
# several modes, and the mean is at none of them.
middle = X.iloc[:2].assign(eruptions=[2.0, 3.1])
densities = mean.conditional_density(middle)
minutes = np.linspace(40.0, 100.0, 300)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for length, density, predicted in zip(middle["eruptions"], densities, mean.predict(middle), strict=True):
    curve = ax.plot(minutes, density.prob(minutes), label=f"after {length} minutes")
    ax.axvline(predicted, color=curve[0].get_color(), ls=":")
    print(f"after {length} minutes: mean {predicted:.1f}, modes {np.round(np.sort(density.modes()), 1)}")
ax.set(xlabel="waiting time, minutes", ylabel="p(waiting time | length)")
ax.legend()
plt.show()
