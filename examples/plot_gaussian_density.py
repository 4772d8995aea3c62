"""
A density that answers questions
================================

Old Faithful erupts, and then one waits. A Gaussian fitted to both columns tells how long, once the length
of the eruption is known, and how sure it is.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

geyser = tractable.datasets.load("old_faithful").frame
density = tractable.GaussianDensity().fit(geyser)

# %%
# The picture shows the ellipses that hold half, and 95 %, of the fitted density.
ax = tractable.plot(density)
ax.scatter(geyser["eruptions"], geyser["waiting"], s=8, color="0.4")

# %%
# Conditioning on the eruption gives a distribution of the wait at every length: a regression line, and a band
# that should hold nine waits in ten.
length = np.linspace(1.5, 5.2, 50)
wait = density.condition(["eruptions"], length[:, None])
low, high = (wait.mean[:, 0] + sign * 1.645 * wait.stddev[:, 0] for sign in (-1, 1))

fig, ax = plt.subplots()
ax.scatter(geyser["eruptions"], geyser["waiting"], s=8, color="0.4")
ax.plot(length, wait.mean[:, 0])
ax.fill_between(length, low, high, alpha=0.2)
ax.set(xlabel="eruption (minutes)", ylabel="wait (minutes)")

inside = density.condition(["eruptions"], geyser[["eruptions"]].to_numpy())
share = np.mean(np.abs(geyser["waiting"] - inside.mean[:, 0]) < 1.645 * inside.stddev[:, 0])
print(f"{share:.0%} of the waits lie inside the 90 % band")
plt.show()
