"""
Logistic regression: intervals and separable classes
====================================================

Logistic regression models the probability of a class as the sigmoid of a linear predictor. Newton's method
finds the maximum of the likelihood in a few steps, if there is one.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.classification import SeparableClassesWarning

rng = np.random.default_rng(3)
x = np.sort(rng.uniform(-4.0, 4.0, 60))[:, None]
y = rng.random(60) < 1.0 / (1.0 + np.exp(-1.2 * x[:, 0] - 0.5))

model = tractable.LogisticRegression(C=np.inf).fit(x, y)
low, high = model.coef_interval(0.95)[0, 0]
print(f"slope {model.coef_[0, 0]:.2f}, between {low:.2f} and {high:.2f}; p-value {model.p_values_[0, 0]:.1g}")

# %%
# The band is Wald's 95% confidence interval of the probability: the linear predictor is asymptotically
# Gaussian, with the inverse of the information as covariance; transformed to probabilities, it stays within
# [0, 1].
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
grid = np.linspace(-5.0, 5.0, 200)[:, None]
band = model.proba_interval(grid)[:, 1]
ax.fill_between(grid[:, 0], *band.T, color="#0072B2", alpha=0.2, linewidth=0, label="95%, Wald")
ax.plot(grid, model.predict_proba(grid)[:, 1], color="#0072B2", label="p(yes | x)")
ax.plot(grid, 1.0 / (1.0 + np.exp(-1.2 * grid - 0.5)), color="0.6", linewidth=0.8, label="truth")
ax.scatter(x, y, s=14, color="0.4", label="rows")
ax.set(xlabel="x", ylabel="probability of yes", title="Overlapping classes")
ax.legend(frameon=False, loc="center right")

# %%
# For separable classes the likelihood has no maximum: it increases with the slope without bound, which is
# reported by a warning. With a penalty, any finite C, there is a minimum, and C determines the slope.
parted = x[:, 0] > 0.3
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always", SeparableClassesWarning)
    steep = tractable.LogisticRegression(C=np.inf).fit(x, parted)
print(f"{said[0].category.__name__}: separable_ is {steep.separable_}, the slope {steep.coef_[0, 0]:.0f}")

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(grid, steep.predict_proba(grid)[:, 1], color="#D55E00", label="no penalty: where it stopped")
for C, colour in ((10.0, "#E69F00"), (1.0, "#009E73"), (0.1, "#0072B2")):
    penalised = tractable.LogisticRegression(C).fit(x, parted)
    ax.plot(grid, penalised.predict_proba(grid)[:, 1], color=colour, label=f"C = {C:g}")
ax.scatter(x, parted, s=14, color="0.4")
ax.set(xlabel="x", ylabel="probability of yes", title="Separable classes")
ax.set_xlim(-5, 9)
ax.legend(frameon=False, loc="center right")
plt.show()
