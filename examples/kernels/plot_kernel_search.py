"""
A kernel grown by evidence
==========================

Ten years of a monthly series: a trend, a season whose amplitude grows, and noise. Nobody says so. The search
begins with simple kernels, adds or multiplies one at a time, and keeps what raises the evidence by more than
its hyper-parameters cost.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import tractable

rng = np.random.default_rng(0)
years = pd.DataFrame({"year": 2000.0 + np.arange(120) / 12.0})
t = years["year"].to_numpy() - 2000.0
sales = 20.0 + 3.0 * t + (1.0 + 0.5 * t) * np.sin(2.0 * np.pi * t) + 0.5 * rng.standard_normal(120)

known = t < 8.0
found = tractable.search_kernel(years[known], sales[known], max_depth=4, beam=1)
print(found)

# %%
# The log density of left-out targets stands beside the evidence: it does not know of the penalty, and agrees.
# The path, and all that was tried on the way:
fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
tractable.plot(found, ax=ax)

# %%
# The parts of the function, each with its band, and two years that the search did not see.
fig, axes = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
tractable.plot(found.decompose(years), ax=axes[0])
mean = found.model.predict(years)
axes[1].plot(years, sales, ".", color="0.6", label="sales")
axes[1].plot(years, mean, label="prediction")
low, high = found.model.predict_interval(years, 0.9).T
axes[1].fill_between(years["year"], low, high, alpha=0.2, lw=0, label="90 %")
axes[1].axvline(2008.0, color="0.8", zorder=0)
axes[1].set(xlabel="year", ylabel="sales")
axes[1].legend()
error = np.sqrt(np.mean((mean[~known] - sales[~known]) ** 2))
inside = np.mean((sales > low)[~known] & (sales < high)[~known])
print(f"two years ahead: error {error:.2f}, inside the interval {inside:.2f}")
plt.show()
