"""
A Gaussian mixture density
==========================

The eruptions of Old Faithful are of two kinds: short ones with a short waiting time, and long ones with a
long one. One Gaussian has its mode between the two, where there are few rows.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

geyser = tractable.datasets.load("old_faithful").frame
one = tractable.GaussianDensity().fit(geyser)
two = tractable.GaussianMixture(2, random_state=0).fit(geyser)
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
tractable.plot(one, ax=axes[0], data=geyser)
tractable.plot(two, ax=axes[1], data=geyser)
for ax, model in zip(axes, (one, two), strict=True):
    ax.set_title(f"{model.score(geyser):.2f} nats a row", fontsize="medium")

# %%
# **How many?** BIC weighs the likelihood against the number of parameters, for every shape of covariance. ICL
# also asks the components to be apart, and is content with two.
found = tractable.select_components(geyser, range(1, 7))
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
tractable.plot(found, ax=axes[0])
tractable.plot(found, ax=axes[1], criterion="icl")

# %%
# **What follows an eruption of so many minutes?** The fitted density conditions, and answers with a density:
# after three minutes a long wait is likely, and a short one is possible.
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for minutes, colour in ((2.0, "#0072b2"), (3.0, "#d55e00"), (4.5, "#009e73")):
    wait = two.condition({"eruptions": minutes})
    x = np.linspace(35, 105, 300)
    ax.plot(x, wait.prob(x[:, None]), color=colour, label=f"after {minutes:g} minutes")
ax.set(xlabel="waiting (minutes)", ylabel="density")
ax.legend(frameon=False)

# %%
# **Same components, other weights.** The weights alone decide where most of the mass is.
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
waits = two.marginal(["waiting"])
for share, colour in ((0.1, "#0072b2"), (0.5, "#d55e00"), (0.9, "#009e73")):
    other = tractable.Mixture(weights=[share, 1 - share], components=waits.components)
    ax.plot(x, other.prob(x[:, None]), color=colour, label=f"π = ({share:g}, {1 - share:g})")
ax.set(xlabel="waiting (minutes)", ylabel="density")
ax.legend(frameon=False)
plt.show()
