"""
Carbon dioxide: a sum of kernels taken apart
============================================

Monthly means of carbon dioxide in the air over Mauna Loa, in parts per million: Rasmussen and Williams'
example (section 5.4.3) of a kernel that is built from what is known. A smooth kernel for the long-term rise,
a periodic one that may change its shape slowly for the seasons, a rational quadratic one for what lies
between, and noise. The evidence sets every hyper-parameter; the fit is then taken apart into its terms, each
with a band.

The months are those of 1959 to 1970; three of them were not measured. 1971 and 1972 are predicted. Measured
by C. D. Keeling, Scripps Institution of Oceanography, and published by the National Oceanic and Atmospheric
Administration of the United States (gml.noaa.gov/ccgg/trends).
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.kernels import RBF, Periodic, RationalQuadratic, Scaled, White

NONE = np.nan
MONTHS = np.array(
    [
        [315.62, 316.38, 316.71, 317.72, 318.29, 318.15, 316.54, 314.80, 313.84, 313.26, 314.80, 315.58],
        [316.43, 316.97, 317.58, 319.02, 320.03, 319.59, 318.18, 315.91, 314.16, 313.83, 315.00, 316.19],
        [316.93, 317.70, 318.54, 319.48, 320.58, 319.77, 318.57, 316.79, 314.80, 315.38, 316.10, 317.01],
        [317.94, 318.56, 319.68, 320.63, 321.01, 320.55, 319.58, 317.40, 316.26, 315.42, 316.69, 317.69],
        [318.74, 319.08, 319.86, 321.39, 322.25, 321.47, 319.74, 317.77, 316.21, 315.99, 317.12, 318.31],
        [319.57, NONE, NONE, NONE, 322.25, 321.89, 320.44, 318.70, 316.70, 316.79, 317.79, 318.71],
        [319.44, 320.44, 320.89, 322.13, 322.16, 321.87, 321.39, 318.81, 317.81, 317.30, 318.87, 319.42],
        [320.62, 321.59, 322.39, 323.87, 324.01, 323.75, 322.39, 320.37, 318.64, 318.10, 319.79, 321.08],
        [322.07, 322.50, 323.04, 324.42, 325.00, 324.09, 322.55, 320.92, 319.31, 319.31, 320.72, 321.96],
        [322.57, 323.15, 323.89, 325.02, 325.57, 325.36, 324.14, 322.03, 320.41, 320.25, 321.31, 322.84],
        [324.00, 324.42, 325.64, 326.66, 327.34, 326.76, 325.88, 323.67, 322.38, 321.78, 322.85, 324.11],
        [325.03, 325.99, 326.87, 328.13, 328.07, 327.66, 326.35, 324.69, 323.10, 323.16, 323.98, 325.13],
        [326.17, 326.68, 327.18, 327.78, 328.92, 328.57, 327.34, 325.46, 323.36, 323.57, 324.80, 326.01],
        [326.77, 327.63, 327.75, 329.72, 330.07, 329.09, 328.05, 326.32, 324.93, 325.06, 326.50, 327.55],
    ]
)
time = (1959.0 + (np.arange(MONTHS.size) + 0.5) / 12.0)[:, None]
y = MONTHS.ravel()
past = time[:, 0] < 1971.0

rise = Scaled(RBF(20.0), 100.0)
season = Scaled(RBF(50.0) * Periodic(1.0, periodicity=1.0, periodicity_bounds="fixed"), 5.0)
between = Scaled(RationalQuadratic(1.0), 0.5)
model = tractable.GaussianProcessRegressor(rise + season + between + White(0.1)).fit(time[past], y[past])
print(f"noise: {model.noise_variance_**0.5:.2f} ppm, log evidence {model.log_evidence_:.1f}")

# %%
# Two years ahead, with the band that should hold nine of ten new months.
later = np.linspace(1969.0, 1973.0, 200)[:, None]
ends = model.predict_interval(later)
fig, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.fill_between(later[:, 0], *ends.T, alpha=0.25, lw=0, label="90%, new months")
ax.plot(later[:, 0], model.predict(later), label="prediction")
ax.plot(time[past], y[past], ".", color="0.4", ms=4, label="months of the fit")
ax.plot(time[~past], y[~past], "o", color="#D55E00", ms=3.5, label="months to come")
ax.set(xlim=(1969.0, 1973.0), ylim=(320.0, 333.0), xlabel="year", ylabel="CO₂, ppm")
ax.legend(frameon=False, loc="upper left", fontsize=8)

inside = model.predict_interval(time[~past])
held = np.mean((inside[:, 0] <= y[~past]) & (y[~past] <= inside[:, 1]))
error = np.sqrt(np.mean((model.predict(time[~past]) - y[~past]) ** 2))
print(f"{held:.0%} of the months to come are within the band of 90%; error {error:.2f} ppm")

# %%
# The parts of the sum: a season of about six parts per million from peak to trough, on a steady rise.
parts = model.decompose(np.linspace(1959.0, 1971.0, 300)[:, None])
fig, axes = plt.subplots(len(parts.names), 1, figsize=(8, 7), layout="constrained", sharex=True)
bands = parts.interval(0.9)
for ax, name, mean, band in zip(axes, parts.names, parts.mean, bands, strict=True):
    ax.fill_between(parts.rows[:, 0], *band.T, alpha=0.25, lw=0)
    ax.plot(parts.rows[:, 0], mean)
    ax.set(title=name, ylabel="ppm")
axes[-1].set_xlabel("year")
swing = np.ptp(parts.mean[2][-25:])
print(f"the season of the last year swings by {swing:.1f} ppm")
