"""
Two machines, one fit
=====================

Two hospitals may not exchange their rows. The sufficient statistic of a model is a few sums, which can be
sent and merged: the result is the fit to all rows, up to rounding.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(0)


def patients(n, youngest, oldest):
    """Ages and blood pressures."""
    age = rng.uniform(youngest, oldest, n)
    return age[:, None], 95.0 + 0.6 * age + rng.normal(0.0, 9.0, n)


here, there = patients(25, 20.0, 45.0), patients(40, 55.0, 80.0)

# %%
# Each fits its own rows and writes a file. It holds numbers and no rows, and can run nothing when it is read.
post = Path(tempfile.mkdtemp())
for name, (X, y) in (("here", here), ("there", there)):
    tractable.save(tractable.BayesianLinearRegression().fit(X, y), post / f"{name}.tractable")
    print(f"{name}.tractable: {(post / f'{name}.tractable').stat().st_size} bytes for {len(X)} rows")

# %%
# One of them reads both, and merges. The rows of all patients in one place would have said the same.
fits = {name: tractable.load(post / f"{name}.tractable") for name in ("here", "there")}
fits["merged"] = fits["here"].merge(fits["there"])
whole = tractable.BayesianLinearRegression().fit(
    np.concatenate([here[0], there[0]]), np.concatenate([here[1], there[1]])
)
for name, fit in {**fits, "all rows": whole}.items():
    print(f"{name:>8}: {fit.coef_[0]:.10f} a year, log evidence {fit.log_evidence_:.6f}")

# %%
# Each alone is sure of little beyond its own ages; together they are sure of the whole line.
ages = np.linspace(15.0, 85.0, 100)[:, None]
fig, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained", sharey=True)
for ax, (name, fit), rows in zip(axes, fits.items(), ([here], [there], [here, there]), strict=True):
    low, high = fit.predict_interval(ages, coverage=0.9, include_noise=False).T
    ax.fill_between(ages[:, 0], low, high, color="#0072B2", alpha=0.25, lw=0, label="the line, 90 %")
    ax.plot(ages, fit.predict(ages), color="#0072B2")
    for X, y in rows:
        ax.scatter(X, y, s=12, color="0.4", lw=0)
    ax.set(title=name, xlabel="age", ylim=(85, 165))
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("blood pressure")
axes[0].legend(frameon=False, loc="upper left")
plt.show()
