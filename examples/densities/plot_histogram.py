"""
The width of the bins
=====================

A histogram is a density: in each bin the fraction of the rows, divided by the width of the bin. Wide bins
have a large bias, narrow ones a large variance. The counts give intervals for the heights, and leave-one-out
chooses the width.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

geyser = tractable.datasets.load("old_faithful").frame
lengths = geyser[["eruptions"]]

# %%
# The same 272 eruptions of Old Faithful in 2, 20 and 150 bins. The band about each height holds it with
# probability 90 %: a count is binomial, so a narrow bin with few rows says little. Two bins are sure of a
# shape that hides the short and the long eruptions; 150 bins are sure of nothing.
fig, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained", sharex=True)
for ax, n_bins in zip(axes, (2, 20, 150), strict=True):
    model = tractable.Histogram(n_bins).fit(lengths)
    tractable.plot(model, ax=ax)
    low, high = model.distribution_.height_interval(0.9)
    seen = model.counts_ > 0
    width = np.median((high - low)[seen] / model.distribution_.heights[seen])
    ax.set_title(f"{n_bins} bins; a band is {width:.0%} of its height", fontsize="medium")

# %%
# Leave-one-out log-likelihood: too few bins score badly, and so do too many.
# Every width is counted in one pass over the rows.
chosen = tractable.Histogram("loo").fit(lengths)
ax = tractable.plot(chosen.search_)
print(f"leave-one-out takes {len(chosen.counts_)} bins")

# %%
# Scott's rule looks at the spread alone, which two groups make large, and takes too few bins. Bayesian blocks
# let every bin be as wide as the rows in it allow, and find the best division of all.
fig, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained", sharex=True)
for ax, rule in zip(axes, ("scott", "loo", "blocks"), strict=True):
    model = tractable.Histogram(rule).fit(lengths)
    tractable.plot(model, ax=ax, data=lengths)
    ax.set_title(f"{rule}: {len(model.counts_)} bins", fontsize="medium")

# %%
# Once the edges are known the rows can go: histograms of parts add up, however large the whole is.
edges = chosen.edges_[0]
parts = [tractable.Histogram(edges).fit(part) for part in (lengths[:100], lengths[100:])]
both = parts[0].merge(parts[1])
print("the same counts:", np.array_equal(both.counts_, chosen.counts_))

# %%
# Two columns make a map, and answer questions as every distribution does.
pair = tractable.Histogram((8, 10)).fit(geyser)
tractable.plot(pair, data=geyser)
after_a_short_one = pair.condition({"eruptions": 2.0})
print(f"after a short eruption one waits {after_a_short_one.mean[0]:.0f} minutes")
plt.show()
