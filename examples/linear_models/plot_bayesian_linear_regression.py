"""
Bayesian linear regression of a curve
=====================================

A Gaussian prior of the coefficients gives a Gaussian posterior, which is a distribution over curves: narrow
near the rows, wide elsewhere. The evidence chooses the precisions of prior and noise.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.linear_model import GaussianBasis

rng = np.random.default_rng(3)
x = np.concatenate([rng.uniform(0.0, 0.35, size=12), rng.uniform(0.7, 1.0, size=8)])[:, None]
y = np.sin(2 * np.pi * x[:, 0]) + 0.2 * rng.standard_normal(20)
grid = np.linspace(0.0, 1.0, 200)[:, None]

# %%
# The same rows, with Gaussian basis functions. `BayesianRidge` chooses the precision of the prior and of the
# noise that make the targets most probable; `gamma_` counts the directions that the rows decided.
basis = GaussianBasis(9, strategy="uniform").fit(x)
chosen = tractable.BayesianRidge().fit(basis.transform(x), y)
print(
    f"prior precision {chosen.lambda_:.2f}, noise {chosen.alpha_**-0.5:.2f}, {chosen.gamma_:.1f} of 9 decided"
)

# %%
# With those precisions, the posterior after a few rows and after all of them. Curves are draws from it; the
# band holds 90% of new observations, noise included.
figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, n in zip(axes, (4, 20), strict=True):
    model = tractable.BayesianLinearRegression.from_precisions(
        noise_precision=chosen.alpha_, prior_precision=chosen.lambda_
    ).fit(basis.transform(x[:n]), y[:n])
    low, high = model.predict_interval(basis.transform(grid), coverage=0.9).T
    ax.fill_between(grid[:, 0], low, high, alpha=0.15, linewidth=0)
    ax.plot(
        grid, model.sample_functions(basis.transform(grid), 6, random_state=0).T, linewidth=0.8, alpha=0.6
    )
    ax.plot(grid, model.predict(basis.transform(grid)), color="black")
    ax.plot(x[:n], y[:n], "o", color="black", markersize=4)
    ax.set(title=f"{n} rows, log evidence {model.log_evidence_:.1f}", xlabel="x", ylim=(-3, 3))
axes[0].set_ylabel("y")
plt.show()
