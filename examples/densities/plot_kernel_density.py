"""
The bandwidth of a kernel density
=================================

A kernel density estimate is the mean of kernels centred at the rows. The bandwidth matters most: too small,
and every row is a mode; too large, and all modes merge.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.smoothing import loo_nll, lscv

rng = np.random.default_rng(0)
sample = rng.standard_normal((100, 1))
x = np.linspace(-6, 6, 601)
truth = tractable.Normal(mean=0.0, stddev=1.0)

fig, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained", sharey=True)
for ax, h in zip(axes, (0.05, 0.337, 2.0), strict=True):
    model = tractable.KernelDensity(bandwidth=h).fit(sample)
    ax.plot(x, truth.prob(x), color="0.7", lw=4, label="truth")
    ax.plot(x, np.exp(model.score_samples(x[:, None])), label=f"h = {h}")
    ax.plot(sample[:, 0], np.zeros(100), "|", color="0.4")
    ax.set(xlabel="x", xlim=(-4, 4), ylim=(-0.02, 0.85))
    ax.legend(frameon=False, loc="upper left")
axes[0].set_ylabel("density")

# %%
# How far from the truth is each, on average? The squared difference, integrated over x, for fifty samples.

step = x[1] - x[0]
samples = rng.standard_normal((50, 100, 1))
for h in (0.05, 0.337, 2.0):
    fits = (tractable.KernelDensity(bandwidth=h).fit(rows) for rows in samples)
    errors = [np.sum((np.exp(fit.score_samples(x[:, None])) - truth.prob(x)) ** 2) * step for fit in fits]
    print(f"h = {h:5}: mean integrated squared error {np.mean(errors):.4f}")

# %%
# Which is best can be found without the truth. Ten rows that fall into two groups: the likelihood of each row
# under the others, and the squared error up to a constant, have their minima near each other. Without leaving
# rows out both would prefer a bandwidth of zero.

ten = np.array([8.2075, 9.8171, 0.1442, 8.8333, 9.4084, 9.0987, 0.7269, 1.0454, -0.1108, 9.4905])
widths = np.geomspace(0.2, 4.0, 100)
likely, square = (tractable.KernelDensity(bandwidth=m).fit(ten[:, None]) for m in ("loo", "lscv"))

fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for ax, criterion, best, what in (
    (axes[0], loo_nll, likely, "left-out −log p"),
    (axes[1], lscv, square, "squared error"),
):
    ax.semilogx(widths, [criterion(ten, h) for h in widths])
    ax.axvline(best.bandwidth_[0], color="0.6", ls="--")
    ax.set(xlabel="bandwidth", ylabel=what, title=f"best: {best.bandwidth_[0]:.4f}")
    ax.set_xticks([0.2, 0.5, 1, 2, 4], ["0.2", "0.5", "1", "2", "4"])
    ax.minorticks_off()

# %%
# Rules by formula take the rows for one Gaussian, and smooth the two groups into each other; the improved
# Sheather-Jones bandwidth does not.

for rule in ("silverman", "scott", "isj", "loo", "lscv"):
    model = tractable.KernelDensity(bandwidth=rule).fit(ten[:, None])
    print(f"{rule:>10}: h = {model.bandwidth_[0]:.3f}, p(5) = {np.exp(model.score_samples([[5.0]]))[0]:.6f}")

# %%
# The fitted model is a distribution. Waiting times are not negative: with a bound at zero, mass that a free
# window would put beyond it is reflected, and the total stays one.

wait = rng.exponential(size=(300, 1))
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
t = np.linspace(-0.5, 4.0, 500)
for name, bounds in (("free", None), ("bound at 0", (0.0, np.inf))):
    model = tractable.KernelDensity(bounds=bounds).fit(wait)
    ax.plot(
        t, np.exp(model.score_samples(t[:, None])), label=f"{name}: P(x < 0) = {model.cdf([[0.0]])[0]:.3f}"
    )
ax.set(xlabel="waiting time", ylabel="density")
ax.legend(frameon=False)

# %%
# Two columns, drawn as the smallest regions that hold half and nine tenths of the mass.

pair = np.concatenate([rng.normal(0, 1, (150, 2)), rng.normal(3, 0.5, (150, 2))])
tractable.plot(tractable.KernelDensity(bandwidth="loo").fit(pair), data=pair)
plt.show()
