"""
The running mean and the Robbins–Monro algorithm
================================================

The mean can be updated row by row: a step of 1/N of the difference. The Robbins–Monro algorithm, which finds
the root of a function observed with noise, gives the same steps: gradients of the log-likelihood of one row
at a time, with step sizes σ²/N.
"""

import matplotlib.pyplot as plt
import numpy as np

from tractable import Moments
from tractable.engines import StepSize, sequential_mle

rng = np.random.default_rng(15)
variance = 4.0
rows = rng.normal(4.0, np.sqrt(variance), size=2000)


def score(mean, x):
    """The slope of log N(x; mean, variance) in the mean."""
    return (x - mean) / variance


# %%
# Three ways to one number. The start, 123, does not matter: the first step has length one.
running = Moments.of(rows[:1, None])
for x in rows[1:]:
    running = running + Moments.of(np.array([[x]]))
found = sequential_mle(score, 123.0, rows, step=StepSize(scale=variance))
print(f"all rows at once       {rows.mean():.12f}")
print(f"running mean           {running.mean[0]:.12f}")
print(f"Robbins–Monro from 123 {float(found.x):.12f}")

# %%
# Convergence needs Σ a_N = ∞, so that any distance can be covered, and Σ a_N² < ∞, so that the noise averages
# out. With steps a fifth as long the influence of the start falls as N to the power of -1/5; constant steps
# do not converge; steps of 1/√N converge slowly.
steps = {
    "σ²/N": StepSize(scale=variance),
    "σ²/5N": StepSize(scale=variance / 5),
    "σ²/√N": StepSize(scale=variance, power=0.5, unchecked=True),
    "constant": StepSize(scale=0.1 * variance, power=0.0, unchecked=True),
}
fig, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
n = np.arange(1, len(rows) + 1)
for (name, step), colour in zip(steps.items(), ("#0072B2", "#E69F00", "#009E73", "0.7"), strict=True):
    path = sequential_mle(score, 10.0, rows, step=step).history[1:]
    ax.plot(n, path, lw=1.2, color=colour, label=name, zorder=1 if name == "constant" else 2)
    print(f"step {name:8s} ends {path[-1] - 4.0:+.3f} from the truth")
ax.axhline(4.0, color="0.3", lw=0.8)
ax.set(xscale="log", xlabel="rows seen", ylabel="mean")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper right", title="step")
plt.show()
