"""
Counts over space and time
==========================

Where and when people died in the Los Angeles riots of 1992: 52 deaths of nine days, counted in cells of a
twentieth of a degree and a day. A Gaussian process is the logarithm of their rate, with a length scale in
each direction; the area of a cell times a day is its exposure.
"""

import matplotlib.pyplot as plt
import numpy as np
from vega_datasets import local_data

import tractable

deaths = local_data.la_riots()
day = (deaths["death_date"] - deaths["death_date"].min()).dt.days.to_numpy()
edges = [np.arange(-118.5, -118.05, 0.05), np.arange(33.75, 34.25, 0.05), np.arange(9.0) - 0.5]
events = np.column_stack([deaths["longitude"], deaths["latitude"], day])
counts, _ = np.histogramdd(events, edges)
middle = [0.5 * (edge[1:] + edge[:-1]) for edge in edges]
X = np.stack(np.meshgrid(*middle, indexing="ij"), axis=-1).reshape(-1, 3)
area = 4.6 * 5.6  # square kilometres of a cell
model = tractable.GaussianProcessPoissonRegressor().fit(X, counts.ravel(), exposure=area)
scales = np.exp(model.theta_[1:])
print(f"{counts.sum():.0f} deaths in {len(X)} cells")
print(f"length scales of {92 * scales[0]:.0f} km, {111 * scales[1]:.0f} km and {scales[2]:.1f} days")

# %%
# The rate for 100 square kilometres and a day, on the second day, and over the days where it is highest.
at = np.stack(np.meshgrid(*(np.linspace(e[0], e[-1], 40) for e in edges[:2]), indexing="ij"), axis=-1)
rows = np.column_stack([at.reshape(-1, 2), np.ones(1600)])
rate = 100.0 * model.predict(rows).reshape(40, 40)
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
shown = left.pcolormesh(at[..., 0], at[..., 1], rate, shading="auto")
left.plot(events[day == 1, 0], events[day == 1, 1], ".", color="white")
left.set(
    xlabel="longitude", ylabel="latitude", title="30 April", xlim=edges[0][[0, -1]], ylim=edges[1][[0, -1]]
)
fig.colorbar(shown, ax=left, label="deaths for 100 km² and a day")
peak = rows[np.argmax(rate.ravel())]
days = np.column_stack([np.tile(peak[:2], (60, 1)), np.linspace(0.0, 8.0, 60)])
low, high = 100.0 * model.predict_interval(days, 0.9, include_noise=False).T
right.fill_between(days[:, 2], low, high, alpha=0.3, lw=0)
right.plot(days[:, 2], 100.0 * model.predict(days))
right.set(xlabel="days after 29 April", ylabel="deaths for 100 km² and a day", title="at the peak, with 90 %")
plt.show()
