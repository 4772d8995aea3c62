"""
Sequential Bayesian linear regression
=====================================

The posterior of intercept and slope after 0, 1, 2 and more rows, and lines drawn from it (Bishop, figure
3.7). The posterior so far is the prior of the next row, and the result is that of all rows at once.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.statistics import LinearFactor

rng = np.random.default_rng(3)
x = rng.uniform(-1.0, 1.0, size=(20, 1))
y = -0.3 + 0.5 * x[:, 0] + 0.2 * rng.standard_normal(20)
ends = np.array([[-1.0], [1.0]])


def line():
    return tractable.BayesianLinearRegression(
        prior_precision=2.0, noise_variance=0.04, penalize_intercept=True
    )


model = line().from_statistic(LinearFactor.empty(1))  # no rows yet: the prior
fig, axes = plt.subplots(2, 4, figsize=(12, 6), layout="constrained")
for (above, below), (start, stop) in zip(axes.T, [(0, 0), (0, 1), (1, 2), (2, 20)], strict=True):
    if stop > start:
        model.partial_fit(x[start:stop], y[start:stop])
    tractable.plot(model.posterior_, ax=above, coverages=(0.5, 0.9))
    above.plot(-0.3, 0.5, "x", color="#009E73", label="truth")
    above.set(title=f"rows: {stop}", xlim=(-2, 2), ylim=(-2, 2), xlabel="intercept", ylabel="")
    above.set_aspect("equal")
    drawn = model.sample_functions(ends, 8, random_state=1)
    below.plot(ends[:, 0], drawn.T, color="#56B4E9", lw=0.9)
    below.plot(x[:stop, 0], y[:stop], "o", ms=4, color="0.2")
    below.set(xlim=(-1, 1), ylim=(-2, 2), xlabel="x")
    if stop < 20:
        above.get_legend().remove()
    intercept, slope = model.posterior_.mean
    spread = np.sqrt(np.diag(model.posterior_.covariance))
    print(
        f"{stop:2d} rows: intercept {intercept:+.3f} ± {spread[0]:.3f}, slope {slope:+.3f} ± {spread[1]:.3f}"
    )
axes[0, 0].set_ylabel("slope")
axes[1, 0].set_ylabel("y")

# %%
# All rows at once.
whole = line().fit(x, y)
print(f"largest difference {np.max(np.abs(whole.posterior_.covariance - model.posterior_.covariance)):.0e}")
plt.show()
