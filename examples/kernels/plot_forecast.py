"""
A forecast in time proportional to the rows
===========================================

Weekly measurements of carbon dioxide at Mauna Loa since 1958, 2,225 of them, with some weeks missing. A
Matérn kernel for slow changes, another for quick ones, and a year's wave with its half: the sum has a
state-space form, in which Kalman's filter needs no matrix of rows × rows.
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm

import tractable
from tractable.kernels import Cosine, Matern, White

table = sm.datasets.co2.load_pandas().data
t = 1958.0 + (table.index - table.index[0]).days.to_numpy() / 365.25
y = table["co2"].to_numpy()  # NaN where a week is missing
before = t < 1990.0
year = {"periodicity_bounds": "fixed"}
kernel = (
    100.0 * Matern(50.0, nu=1.5)
    + 0.1 * Matern(0.5, nu=0.5)
    + 5.0 * Cosine(1.0, **year)
    + Cosine(0.5, **year)
    + White(0.1)
)
model = tractable.StateSpaceGaussianProcess(kernel).fit(t[before, None], y[before])
print(f"{before.sum()} weeks, {np.isnan(y[before]).sum()} of them missing")
print(f"noise of {model.noise_variance_**0.5:.2f} ppm, log evidence {model.log_evidence_:.1f}")

# %%
# Twelve years that the model has not seen, and how much of them its band covers.
later = ~before & ~np.isnan(y)
ends = model.predict_interval(t[later, None], 0.9)
covered = np.mean((ends[:, 0] <= y[later]) & (y[later] <= ends[:, 1]))
print(f"the band of 90 % covers {covered:.0%} of the weeks after 1990")
at = np.linspace(1980.0, 2006.0, 800)[:, None]
low, high = model.predict_interval(at, 0.9).T
fig, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.fill_between(at[:, 0], low, high, alpha=0.3, lw=0, label="90 %")
ax.plot(at[:, 0], model.predict(at), lw=0.8, label="prediction")
shown = t > 1980.0
ax.plot(t[shown & before], y[shown & before], ".", ms=2, color="0.4", label="rows of the fit")
ax.plot(t[shown & ~before], y[shown & ~before], ".", ms=2, color="tab:red", label="later rows")
ax.set(xlabel="year", ylabel="CO₂ (ppm)")
ax.legend(loc="upper left")
plt.show()
