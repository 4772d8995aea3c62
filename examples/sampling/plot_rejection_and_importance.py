"""
Rejection and importance sampling
=================================

A density that is known up to a factor, 18 x (1 - x) between 0 and 1: three times a Beta(2, 2). Rejection
sampling draws from the uniform distribution and keeps a draw in proportion to the height of the density under
a bound; two thirds are kept, and their share tells the factor. Importance sampling keeps all draws, with
weights: good where the proposal has the heavier tails, useless where it has not, and the effective sample
size and Pareto's k say which.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.sampling import importance, rejection


def log_density(x):
    return np.log(18.0 * x * (1.0 - x))


uniform = tractable.Uniform(low=0.0, high=1.0)
kept = rejection(log_density, uniform, 4.5, 5000, rng=0)
print(f"{kept.acceptance:.1%} kept; the factor is {kept.normalizer:.2f} ± {kept.normalizer_error:.2f}")

x = np.linspace(0.001, 0.999, 200)
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.hist(kept.draws, 40, density=True, color="#56B4E9", label="draws that were kept")
ax.plot(x, np.exp(log_density(x)) / kept.normalizer, color="#D55E00", label="the density, normalised")
ax.set(xlabel="x", ylabel="density")
ax.legend(frameon=False)

# %%
# Weights of draws for N(1, 1): from a wider proposal they are worth three fifths of their number, from a
# narrow one next to nothing.
target = tractable.Normal(mean=1.0, stddev=1.0)
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, stddev in zip(axes, (1.5, 0.3), strict=True):
    found = importance(target, tractable.Normal(mean=0.0, stddev=stddev), 20_000, rng=0)
    mean = found.expectation()
    tractable.plot(found, ax=ax)
    print(
        f"proposal of width {stddev}: mean weight {found.mean_weight:.2f}, worth {found.ess:.0f} draws, "
        f"mean {float(mean):.2f} ± {float(mean.standard_error):.2f}"
    )
    print(*found.complaints() or ["no complaints"], sep="\n")
