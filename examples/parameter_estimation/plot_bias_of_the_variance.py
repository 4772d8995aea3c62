"""
Bias of the maximum likelihood variance
=======================================

Five draws from a Gaussian of variance 4. The maximum likelihood variance divides by n and is too small by
σ²/n = 0.8 on average; dividing by n − 1 is unbiased, with a larger variance.
"""

import matplotlib.pyplot as plt
import numpy as np

from tractable import Moments

n, variance, repeats = 5, 4.0, 20_000
rng = np.random.default_rng(0)
samples = rng.normal(0.0, np.sqrt(variance), size=(repeats, n, 1))
moments = [Moments.of(sample) for sample in samples]
means = np.array([m.mean[0] for m in moments])
estimates = {f"ddof={ddof}": np.array([m.covariance(ddof)[0, 0] for m in moments]) for ddof in (0, 1)}

# %%
# What theory says, beside what was seen. The biased estimate has the smaller squared error.
theory = {
    "ddof=0": (-variance / n, 2 * (n - 1) * variance**2 / n**2),
    "ddof=1": (0.0, 2 * variance**2 / (n - 1)),
}
print(f"variance of the mean: {means.var():.3f} (theory {variance / n:.3f})")
for name, found in estimates.items():
    bias, spread = theory[name]
    print(
        f"{name}: bias {found.mean() - variance:+.3f} (theory {bias:+.3f}), "
        f"variance {found.var():.2f} (theory {spread:.2f}), "
        f"squared error {np.mean((found - variance) ** 2):.2f}"
    )

# %%
fig, ax = plt.subplots(figsize=(6.0, 4.2), layout="constrained")
for (name, found), colour in zip(estimates.items(), ("#0072B2", "#E69F00"), strict=True):
    ax.hist(found, bins=60, range=(0, 16), density=True, histtype="step", color=colour, label=name)
    ax.axvline(found.mean(), color=colour, linestyle="--", linewidth=0.8)
ax.axvline(variance, color="0.3", linewidth=0.8, label="truth")
ax.set(xlabel="estimated variance (dashed: its mean)", ylabel="density", xlim=(0, 16))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
