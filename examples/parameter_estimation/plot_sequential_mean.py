"""
Sequential estimation of a mean
===============================

Measurements with known noise, N(5, 2²), arrive in batches. The posterior of the mean becomes narrower with
each; the predictive distribution never becomes narrower than the noise.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.conjugate import NormalMeanModel
from tractable.distributions import Normal

rng = np.random.default_rng(1)
batches = [rng.normal(5.0, 2.0, size=n) for n in (3, 10, 50)]
model = NormalMeanModel(prior=Normal(mean=0.0, variance=4.0), variance=4.0)
steps = model.trace(model.summarize(batch) for batch in batches)

fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
labels = ["prior", "3 rows", "13", "63"]
tractable.plot(steps, ax=axes[0], labels=labels).set(title="posterior of the mean")
tractable.plot(steps, ax=axes[1], labels=labels, show="predictive").set(title="predictive distribution")
plt.show()

# %%
# In sequence, at once, or merged from parts that were summarised elsewhere: one posterior.
parts = [model.summarize(batch) for batch in batches]
merged = model.update(parts[2] + parts[0] + parts[1])
for name, found in {"in sequence": steps[-1], "merged": merged}.items():
    print(f"{name}: mean {found.mean():.6f}, standard deviation {found.prior.stddev:.6f}")

# %%
# Discounting old rows follows a mean that drifts, with a memory of about twenty rows.
drifting = np.concatenate([rng.normal(5.0, 2.0, 60), rng.normal(9.0, 2.0, 60)])
memory, followed = model.summarize([]), []
for x in drifting:
    memory = memory.discount(0.95) + model.summarize([x])
    followed.append(model.update(memory).interval(0.9))
low, high = np.array(followed).T
fig, ax = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
ax.plot(drifting, ".", color="0.6", markersize=4)
ax.fill_between(np.arange(120), low, high, alpha=0.4, label="90% of the posterior")
ax.set(xlabel="row", ylabel="x")
ax.legend(frameon=False)
plt.show()
