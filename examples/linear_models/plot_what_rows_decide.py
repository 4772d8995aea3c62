"""
Effective number of parameters
==============================

Twelve Gaussian basis functions, and few rows. In some directions of the coefficients the likelihood
dominates, in others the prior. A direction with eigenvalue l of the design is determined by the data to the
fraction l/(l + λ), Bishop (3.91); the sum over directions is the effective number of parameters.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(0)
basis = tractable.GaussianBasis(12, strategy="uniform").fit(np.array([[0.0], [1.0]]))
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
grid = np.linspace(0.0, 1.0, 200)[:, None]
for n, colour in ((10, "#E69F00"), (40, "#009E73"), (400, "#0072B2")):
    x = rng.uniform(0.0, 1.0, size=(n, 1))
    y = np.sin(2.0 * np.pi * x[:, 0]) + 0.3 * rng.standard_normal(n)
    model = tractable.BayesianRidge().fit(basis.transform(x), y)
    print(
        f"{n:3d} rows: {model.gamma_:.2f} of 12 parameters determined, noise {model.noise_variance_**0.5:.3f}"
    )
    share = np.zeros(12)
    share[: len(model.shrinkage_factors_)] = model.shrinkage_factors_
    axes[0].plot(np.arange(1, 13), share, "o-", ms=4, color=colour, label=f"{n} rows: {model.gamma_:.1f}")
    low, high = model.predict_interval(basis.transform(grid), coverage=0.9, include_noise=False).T
    axes[1].fill_between(grid[:, 0], low, high, color=colour, alpha=0.3, lw=0, label=f"{n} rows")
axes[0].set(xlabel="direction of the weights, widest first", ylabel="fraction determined by the rows")
axes[0].set(xticks=np.arange(1, 13), ylim=(-0.02, 1.05))
axes[0].legend(frameon=False, title="effective parameters")
axes[1].plot(grid[:, 0], np.sin(2.0 * np.pi * grid[:, 0]), color="0.3", lw=0.8, label="truth")
axes[1].set(xlabel="x", ylabel="y, and 90% posterior band")
axes[1].legend(frameon=False)
for ax in axes:
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
