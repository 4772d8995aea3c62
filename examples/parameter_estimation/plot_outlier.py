"""
One outlier
===========

Twenty measurements around 10, and one typing error at 40. The mean and variance of a fitted normal
distribution change much. Student's t has heavy tails, and the location of a fitted Laplace is the median:
both are robust.
"""

import matplotlib.pyplot as plt
import numpy as np

from tractable.distributions import Laplace, Normal, StudentT

rng = np.random.default_rng(2)
clean = rng.normal(10.0, 1.0, size=20)
rows = np.append(clean, 40.0)

x = np.linspace(0.0, 42.0, 800)
fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
families = {"normal": Normal, "Laplace": Laplace, "Student-t": StudentT}
for (name, family), colour in zip(families.items(), ("#E69F00", "#009E73", "#0072B2"), strict=True):
    before, after = family.fit(clean), family.fit(rows)
    print(f"{name:9s} mode {float(before.mode):6.2f} without it, {float(after.mode):6.2f} with it")
    ax.plot(x, after.prob(x), color=colour, label=name)
ax.plot(rows, np.zeros_like(rows), "|", color="0.3", ms=12)
ax.set(xlabel="x", ylabel="density", ylim=(0, None))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)

# %%
# The fit as a function of the outlier: the mean of the normal changes without bound, the others are robust.
# Each column of the array is a sample, and each is fitted.
positions = np.array([10.0, 12.0, 15.0, 20.0, 30.0, 60.0])
samples = np.vstack([np.repeat(clean[:, None], len(positions), axis=1), positions])
fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for (name, family), colour in zip(families.items(), ("#E69F00", "#009E73", "#0072B2"), strict=True):
    ax.plot(positions, family.fit(samples).mode, "o-", ms=3, color=colour, label=name)
ax.set(xlabel="position of the outlier", ylabel="fitted centre")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
