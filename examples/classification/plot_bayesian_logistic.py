"""
Bayesian logistic regression
============================

A logistic curve fitted to a dozen rows is uncertain. The predictive probability averages over the posterior
of the coefficients; far from the rows it is closer to one half.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(4)


def rows(n):
    """Hours of practice, and whether the test was passed."""
    hours = rng.uniform(0.0, 6.0, (n, 1))
    return hours, rng.random(n) < 1.0 / (1.0 + np.exp(-1.5 * (hours[:, 0] - 3.0)))


# %%
# Draws from the posterior are curves; the band holds 90 % of them at each place. The predictive probability
# is their mean, which is nearer to a half than the most probable curve is.
grid = np.linspace(-4.0, 10.0, 141)[:, None]
fig, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", sharey=True)
for ax, n in zip(axes, (12, 200), strict=True):
    X, passed = rows(n)
    model = tractable.BayesianLogisticRegression().fit(X, passed)
    curves = model.sample_functions(grid, 2000, random_state=0)[..., 1]
    low, high = np.quantile(curves, [0.05, 0.95], axis=0)
    p = model.predict_proba(grid)[:, 1]
    best = 1.0 / (1.0 + np.exp(-(grid[:, 0] * model.coef_[0] + model.intercept_)))
    ax.fill_between(grid[:, 0], low, high, color="#0072B2", alpha=0.15, lw=0, label="90 % of the curves")
    ax.plot(grid, curves[:12].T, color="#0072B2", lw=0.4, alpha=0.6)
    ax.plot(grid, best, color="0.4", ls="dashed", label="most probable curve")
    ax.plot(grid, p, color="#D55E00", lw=2, label="predictive probability")
    ax.scatter(X, passed, s=14, color="0.3", zorder=3)
    ax.set(xlabel="hours of practice", title=f"{n} rows")
    slope, error = model.coef_[0, 0], model.coef_std_errors_[0, 0]
    print(f"{n:3} rows: slope {slope:.2f} ± {error:.2f}")
    print(f"          at nine hours {p[130]:.4f}; the most probable curve says {best[130]:.4f}")
axes[0].set_ylabel("probability of passing")
axes[0].legend(frameon=False, loc="upper left", fontsize=8)
plt.show()
