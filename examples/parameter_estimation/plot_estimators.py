"""
Bias, variance and efficiency of estimators
===========================================

An estimator is a function of the sample, and simulation shows how it behaves: its bias, its variance beside
the Cramér-Rao bound, and whether both vanish as the sample grows.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable import Laplace, Normal, bootstrap, estimator_report

# %%
# The mean and the median of Gaussian draws. The mean reaches the bound σ²/n; the median needs π/2 times as
# many draws for the same variance. Both are consistent.
both = {"mean": np.mean, "median": np.median}
sizes = [5, 20, 80, 320]
gaussian = estimator_report(both, Normal(mean=0.0, stddev=1.0), sizes, n_repeats=1000, rng=0)
print(gaussian)
ratio = gaussian.relative_efficiency("mean", "median")
print(f"variance of the median over that of the mean: {ratio.value[-1]:.2f} (theory {np.pi / 2:.2f})")

# %%
# Of draws from a Laplace distribution it is the other way round: the median is the maximum likelihood
# estimate, and the bound is half of the mean's variance.
laplace = estimator_report(both, Laplace(location=0.0, scale=1.0), sizes, n_repeats=1000, rng=0)
fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, found, name in zip(axes, (gaussian, laplace), ("Gaussian", "Laplace"), strict=True):
    tractable.plot(found, ax=ax)
    ax.set_title(name)
plt.show()

# %%
# The variance of five draws: dividing by n is biased, and has the smaller squared error.
variances = estimator_report(
    {"1/n": np.var, "1/(n - 1)": lambda x: np.var(x, ddof=1)},
    Normal(mean=0.0, variance=4.0),
    5,
    "variance",
    n_repeats=4000,
    rng=0,
)
for name, bias, mse in zip(variances.names, variances.bias.value, variances.mse.value, strict=True):
    print(f"{name}: bias {bias[0]:+.2f}, squared error {mse[0]:.2f}")
tractable.plot(variances)
plt.show()

# %%
# Without a model, the bootstrap: the median waiting time at Old Faithful.
waiting = tractable.datasets.load("old_faithful").frame["waiting"]
median = bootstrap(np.median, waiting, n_resamples=1000, rng=0)
print(f"median {median}")
tractable.plot(median, label="median waiting time")
plt.show()
