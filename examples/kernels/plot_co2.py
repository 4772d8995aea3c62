"""
Carbon dioxide: a sum of kernels taken apart
============================================

Monthly means of carbon dioxide in the air over Mauna Loa, in parts per million: Rasmussen and Williams'
example (section 5.4.3) of a kernel that is built from what is known. A smooth kernel for the long-term rise,
a periodic one that may change its shape slowly for the seasons, a rational quadratic one for what lies
between, and noise. The evidence sets every hyper-parameter; the fit is then taken apart into its terms, each
with a band.

The months from 1959 to 1985 are fitted, and those of 1986 and 1987 predicted; months that were not measured
are missing targets. The weekly series was measured by C. D. Keeling and T. P. Whorf, Scripps Institution of
Oceanography, and comes with statsmodels.
"""

import matplotlib.pyplot as plt
import numpy as np
from statsmodels.datasets import co2

import tractable
from tractable.kernels import RBF, Periodic, RationalQuadratic, Scaled, White

months = co2.load_pandas().data["co2"].resample("MS").mean()["1959":"1987"]
time = (months.index.year + (months.index.month - 0.5) / 12.0).to_numpy()[:, None]
y = months.to_numpy()
past = time[:, 0] < 1986.0

rise = Scaled(RBF(20.0), 100.0)
season = Scaled(RBF(50.0) * Periodic(1.0, periodicity=1.0, periodicity_bounds="fixed"), 5.0)
between = Scaled(RationalQuadratic(1.0), 0.5)
model = tractable.GaussianProcessRegressor(rise + season + between + White(0.1)).fit(time[past], y[past])
print(f"noise: {model.noise_variance_**0.5:.2f} ppm, log evidence {model.log_evidence_:.1f}")

# %%
# Two years ahead, with the band that should hold nine of ten new months.
later = np.linspace(1984.0, 1988.0, 200)[:, None]
ends = model.predict_interval(later)
fig, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.fill_between(later[:, 0], *ends.T, alpha=0.25, lw=0, label="90%, new months")
ax.plot(later[:, 0], model.predict(later), label="prediction")
ax.plot(time[past], y[past], ".", color="0.4", ms=4, label="months of the fit")
ax.plot(time[~past], y[~past], "o", color="#D55E00", ms=3.5, label="months to come")
ax.set(xlim=(1984.0, 1988.0), ylim=(340.0, 354.0), xlabel="year", ylabel="CO₂, ppm")
ax.legend(frameon=False, loc="upper left", fontsize=8)

inside = model.predict_interval(time[~past])
held = np.mean((inside[:, 0] <= y[~past]) & (y[~past] <= inside[:, 1]))
error = np.sqrt(np.mean((model.predict(time[~past]) - y[~past]) ** 2))
print(f"{held:.0%} of the months to come are within the band of 90%; error {error:.2f} ppm")

# %%
# The parts of the sum: a season of about six parts per million from peak to trough, on a steady rise.
parts = model.decompose(np.linspace(1959.0, 1986.0, 400)[:, None])
fig, axes = plt.subplots(len(parts.names), 1, figsize=(8, 7), layout="constrained", sharex=True)
bands = parts.interval(0.9)
for ax, name, mean, band in zip(axes, parts.names, parts.mean, bands, strict=True):
    ax.fill_between(parts.rows[:, 0], *band.T, alpha=0.25, lw=0)
    ax.plot(parts.rows[:, 0], mean)
    ax.set(title=name, ylabel="ppm")
axes[-1].set_xlabel("year")
swing = np.ptp(parts.mean[2][-25:])
print(f"the season of the last year swings by {swing:.1f} ppm")
