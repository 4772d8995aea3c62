"""
Quantiles of a target whose spread changes
==========================================

Engel's households of 1857: what they spent on food, and their income. The richer, the more do they differ,
which one line with one noise variance cannot say. Quantile regression has a line for each quantile, and
intervals of its slope that do not assume equal noise.
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm

import tractable

table = sm.datasets.engel.load_pandas().data
X, food = table[["income"]], table["foodexp"]

median = tractable.QuantileRegression(0.5).fit(X, food)
print(median.summary())

# %%
# A line for each quantile; half of the households spend between those of 0.25 and 0.75.
levels = [0.05, 0.25, 0.5, 0.75, 0.95]
fits = {level: tractable.QuantileRegression(level).fit(X, food) for level in levels}
for level, fit in fits.items():
    below = np.mean(food <= fit.predict(X))
    print(f"quantile {level}: slope {fit.coef_[0]:.4f}, {below:.3f} of the households below")

fig, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
ax.plot(X["income"], food, "o", ms=3, color="0.6")
grid = X.sort_values("income").iloc[[0, -1]]
for level, fit in fits.items():
    ax.plot(grid["income"], fit.predict(grid), color=plt.cm.viridis(level), label=f"{level:g}")
ax.set(xlabel="income", ylabel="spent on food")
ax.legend(title="quantile", frameon=False)

# %%
# The slope grows with the quantile, beyond the interval of the slope of least squares: the spread changes
# with income. Were the noise equally large everywhere, all slopes would be the same.
least_squares = tractable.LinearRegression().fit(X, food)
fine = np.arange(0.1, 0.91, 0.1)
found = [tractable.QuantileRegression(q).fit(X, food) for q in fine]
slopes, (low, high) = [fit.coef_[0] for fit in found], np.array([fit.coef_interval()[0] for fit in found]).T
fig, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
ax.fill_between(fine, low, high, color="#0072B2", alpha=0.2, lw=0, label="95 % interval")
ax.plot(fine, slopes, "o-", ms=4, color="#0072B2", label="slope of the quantile")
ax.axhspan(*least_squares.coef_interval()[0], color="#D55E00", alpha=0.2, lw=0)
ax.axhline(least_squares.coef_[0], color="#D55E00", label="least squares, with its interval")
ax.set(xlabel="quantile", ylabel="food for one more unit of income")
ax.legend(frameon=False, loc="upper left")
plt.show()
