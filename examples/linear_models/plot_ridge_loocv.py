"""
Leave-one-out cross-validation of ridge regression
==================================================

The leave-one-out errors of ridge regression need one decomposition and no refits: the error of a left-out row
is its residual divided by one minus its leverage. Generalised cross-validation uses the mean leverage for
every row.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import tractable

rng = np.random.default_rng(1)
x = np.sort(rng.uniform(-1, 1, 40))[:, None]
y = np.sin(2.5 * x[:, 0]) + 0.25 * rng.standard_normal(40)
alphas = np.logspace(-7, 1, 41)


def polynomial(model):
    return make_pipeline(PolynomialFeatures(12, include_bias=False), model).fit(x, y)


models = {method: polynomial(tractable.RidgeCV(alphas, method=method)) for method in ("loo", "gcv")}
for method, model in models.items():
    ridge = model[-1]
    print(f"{method}: alpha {ridge.alpha_:.2g}, {ridge.effective_dof_:.1f} of 13 parameters left free")

# %%
# Both curves fall as the penalty takes out variance, and rise once it brings bias in.
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
tractable.plot(models["loo"][-1].cv_curve_, ax=axes[0])
curve = models["gcv"][-1].cv_curve_
axes[0].plot(curve.alphas, curve.scores, color="0.5", linestyle="--", label="generalised cross-validation")
axes[0].legend(frameon=False)

grid = np.linspace(-1, 1, 200)[:, None]
axes[1].scatter(x, y, s=12, color="0.5", label="data")
for alpha, colour in ((0.0, "#E69F00"), (models["loo"][-1].alpha_, "#0072B2")):
    fitted = polynomial(tractable.Ridge(alpha)).predict(grid)
    axes[1].plot(grid, fitted, color=colour, label=f"alpha = {alpha:.2g}")
axes[1].plot(grid, np.sin(2.5 * grid), color="0.6", linewidth=0.8, label="truth")
axes[1].set(xlabel="x", ylabel="y", ylim=(-2, 2))
axes[1].legend(frameon=False)
plt.show()
