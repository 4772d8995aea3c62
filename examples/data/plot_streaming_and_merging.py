"""
Streaming and merging
=====================

The mean of a stream can be updated without storing the rows: each row moves it by 1/N of the difference. The
same holds for the covariance, and the statistics of two streams can be added.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable import Moments

rng = np.random.default_rng(3)
x = rng.normal(4.0, 2.0, size=500)

# %%
# A running mean and standard deviation. ``total + Moments.of(point)`` is the recursive update.
total = Moments.empty(1)
mean, stddev = [], []
for point in x:
    total = total + Moments.of([[point]])
    mean.append(total.mean[0])
    stddev.append(np.sqrt(total.covariance()[0, 0]))

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(mean, color="#0072B2", label="running mean")
ax.plot(stddev, color="#E69F00", label="running standard deviation")
ax.axhline(4.0, color="0.6", linewidth=0.8)
ax.axhline(2.0, color="0.6", linewidth=0.8)
ax.set(xlabel="points seen", ylabel="value so far", ylim=(0, 6))
ax.legend(frameon=False)

# %%
# Robbins and Monro's stochastic root finding, θ ← θ − a z with the noisy score z = (θ − x)/σ² and the step
# a = σ²/N, is the same recursion: from any start it ends on the sample mean.
theta = 123.0
for n, point in enumerate(x, start=1):
    theta = theta - (4.0 / n) * (theta - point) / 4.0
print(f"Robbins-Monro {theta:.12f}\nbatch mean    {x.mean():.12f}")

# %%
# Nothing depends on how the stream is cut: four readers, merged, are one.
readers = [tractable.GaussianDensity().fit(part[:, None]) for part in np.array_split(x, 4)]
merged = readers[0]
for reader in readers[1:]:
    merged = merged.merge(reader)
whole = tractable.GaussianDensity().fit(x[:, None])
print(f"merged {merged.distribution_.variance[0]:.12f}\nwhole  {whole.distribution_.variance[0]:.12f}")
plt.show()
