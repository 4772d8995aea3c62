"""
Conditioning a Gaussian density
===============================

A Gaussian fitted to the durations of the eruptions of Old Faithful and the waiting times gives the
distribution of the waiting time, given the duration.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

geyser = tractable.datasets.load("old_faithful").frame
density = tractable.GaussianDensity().fit(geyser)

# %%
# The picture shows the regions that hold most of the fitted density, over the eruptions themselves.
ax = tractable.plot(density, data=geyser)

# %%
# Conditioning on the eruption gives a distribution of the wait at every length: a regression line, and a band
# that should hold nine waits in ten.


def wait_after(minutes):
    """Distribution of the wait after eruptions of these lengths."""
    return density.condition(["eruptions"], np.asarray(minutes)[:, None])


length = np.linspace(1.5, 5.2, 50)
wait = wait_after(length)
low, high = np.hstack(wait.interval(0.9)).T

fig, ax = plt.subplots()
ax.scatter(geyser["eruptions"], geyser["waiting"], s=8, color="0.4")
ax.plot(length, wait.mean[:, 0])
ax.fill_between(length, low, high, alpha=0.2)
ax.set(xlabel="eruption (minutes)", ylabel="wait (minutes)")

low, high = np.hstack(wait_after(geyser["eruptions"]).interval(0.9)).T
share = np.mean((low < geyser["waiting"]) & (geyser["waiting"] < high))
print(f"{share:.0%} of the waits lie inside the 90 % band")
plt.show()
