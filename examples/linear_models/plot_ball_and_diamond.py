"""
The geometry of penalties
=========================

The penalty Σ|w|^q constrains the coefficients to a ball for q = 2, ridge, or a diamond for q = 1, the lasso.
The solution is where the ellipses of equal error first touch the constraint. The diamond has corners on the
axes, where coefficients are exactly zero. No other q ≥ 1 has such corners.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 2)) @ np.array([[1.0, 0.5], [0.0, 0.85]])
y = X @ [1.6, 0.35] + 0.6 * rng.standard_normal(60)
free = tractable.LinearRegression(fit_intercept=False).fit(X, y)

side = np.linspace(-1.0, 2.6, 161)
a, b = np.meshgrid(side, side)
error = np.mean((y - a[..., None] * X[:, 0] - b[..., None] * X[:, 1]) ** 2, axis=-1)


def within(q, reach=0.9):
    """The weights whose penalty amounts to reach^q: the penalty is found by halving."""
    low, high = 1e-4, 1e2
    for _ in range(40):
        alpha = np.sqrt(low * high)
        w = tractable.bridge_regression(X, y, alpha, q, fit_intercept=False).coef
        low, high = (low, alpha) if np.sum(np.abs(w) ** q) < reach**q else (alpha, high)
    return w


fig, axes = plt.subplots(1, 4, figsize=(12, 3.4), layout="constrained", sharey=True)
for ax, q in zip(axes, (1.0, 1.5, 2.0, 6.0), strict=True):
    w = within(q)
    touched = np.mean((y - X @ w) ** 2)
    least = np.mean((y - X @ free.coef_) ** 2)
    ax.contourf(a, b, np.abs(a) ** q + np.abs(b) ** q, levels=[0.0, 0.9**q], colors=["#56B4E9"], alpha=0.5)
    levels = least + (touched - least) * np.array([0.1, 0.4, 1.0])
    ax.contour(a, b, error, levels=levels, colors="0.5", linewidths=0.8)
    ax.plot(*free.coef_, "+", color="0.3", ms=9, label="least squares")
    ax.plot(*w, "o", color="#D55E00", ms=6, label="penalised")
    ax.axhline(0.0, color="0.8", lw=0.6, zorder=0)
    ax.axvline(0.0, color="0.8", lw=0.6, zorder=0)
    ax.set(title=f"q = {q:g}", xlabel="first weight", aspect="equal")
    print(f"q = {q:g}: weights {w[0]:.4f} and {w[1]:.4f}")
axes[0].set_ylabel("second weight")
axes[0].legend(frameon=False, loc="upper left", fontsize=8)

# %%
# What a penalty of one half does to a single weight, by how large it would have been. The lasso takes a fixed
# amount off and stops at zero, ridge takes a share, and larger powers cap.
column = np.array([[1.0], [-1.0]])
sizes = np.linspace(-3.0, 3.0, 49)
fig, ax = plt.subplots(figsize=(5.4, 4.4), layout="constrained")
for q, colour in zip((1.0, 1.5, 2.0, 6.0), ("#D55E00", "#E69F00", "#0072B2", "#009E73"), strict=True):
    kept = [tractable.bridge_regression(column, column[:, 0] * size, 0.5, q).coef[0] for size in sizes]
    ax.plot(sizes, kept, color=colour, label=f"q = {q:g}")
ax.plot(sizes, sizes, color="0.7", lw=0.8, zorder=0, label="no penalty")
ax.set(xlabel="weight by least squares", ylabel="weight with the penalty", aspect="equal")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
