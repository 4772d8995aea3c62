"""
Missing values, marginalised
============================

Two correlated columns; the second is mostly missing where the first is large. Dropping incomplete rows, or
imputing the mean, gives biased estimates. The likelihood of the observed entries does not.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(0)
truth = tractable.MultivariateNormal(mean=[0.0, 0.0], covariance=[[1.0, 0.8], [0.8, 1.0]])
rows = truth.sample(2_000, rng=rng)
seen = rows.copy()
seen[(rows[:, 0] > 0.0) & (rng.random(len(rows)) < 0.8), 1] = np.nan

# %%
# Three fits. Only the first is given the missing entries.
complete = seen[~np.isnan(seen).any(axis=1)]
filled = np.where(np.isnan(seen), np.nanmean(seen, axis=0), seen)
fits = {
    "marginalised": tractable.GaussianDensity().fit(seen),
    "rows dropped": tractable.GaussianDensity().fit(complete),
    "mean imputed": tractable.GaussianDensity().fit(filled),
}
for name, fit in fits.items():
    learned = fit.distribution_
    correlation = learned.covariance[0, 1] / np.prod(learned.stddev)
    print(f"{name:14} mean {learned.mean[1]:+.2f} (truth 0), correlation {correlation:.2f} (truth 0.80)")

# %%
# The same in a picture: the regions that should hold 50, 90 and 99 % of the rows, over rows as they were
# before any entry was lost.
fig, axes = plt.subplots(1, 3, figsize=(10, 3.8), sharex=True, sharey=True, layout="constrained")
for ax, (name, fit) in zip(axes, fits.items(), strict=True):
    tractable.plot(fit, ax=ax, data=rows[::4])
    ax.get_legend().remove()
    ax.set_title(name)
plt.show()
