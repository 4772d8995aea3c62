"""
Weights of rows
===============

A table of counts has each distinct row once, with its frequency. With these weights any model gives the fit
of the repeated rows. Weights need not be whole numbers: a row may represent 2.5 people, as in a stratified
sample.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(0)

# %%
# Ten thousand throws of two dice and their sums, and the same as a table of a few dozen rows.
throws = rng.integers(1, 7, (10_000, 2)).astype(float)
long = np.column_stack([throws[:, 0], throws.sum(axis=1)])
short, counts = np.unique(long, axis=0, return_counts=True)
begin = {
    "means_init": [[2.0, 5.0], [5.0, 9.0]],
    "weights_init": [0.5, 0.5],
    "precisions_init": [np.eye(2)] * 2,
}
mixture = tractable.GaussianMixture(2, **begin)
for name, rows, weight in (("every throw", long, None), ("counted", short, counts)):
    line = tractable.BayesianLinearRegression().fit(rows[:, :1], rows[:, 1], sample_weight=weight)
    mixture.fit(rows, sample_weight=weight)
    print(f"{name}, {len(rows)} rows:")
    print(f"   the sum grows by {line.coef_[0]:.10f} a point; log evidence {line.log_evidence_:.6f}")
    print(f"   means of a mixture of two: {mixture.means_.round(6).tolist()}")

# %%
# A survey asked as many people in a small town as in a large one. Without weights the density of incomes is
# that of the people who were asked; with weights it is that of the country. (Weights are counts, so that
# rules for the bandwidth would take each row for many equal ones; it is given here.)
towns = tractable.Normal(mean=[24.0, 38.0], stddev=[5.0, 7.0])
asked = np.concatenate([towns[k].sample(200, rng=rng) for k in (0, 1)])[:, None]
stands_for = np.repeat([1.0, 9.0], 200)
country = tractable.Mixture(weights=[0.1, 0.9], components=towns)
x = np.linspace(5.0, 65.0, 400)
fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
ax.plot(x, country.prob(x), color="0.6", lw=4, label="the country")
for name, weight, colour in (("without weights", None, "#D55E00"), ("with weights", stands_for, "#0072B2")):
    fit = tractable.KernelDensity(bandwidth=2.5).fit(asked, sample_weight=weight)
    ax.plot(x, np.exp(fit.score_samples(x[:, None])), color=colour, label=name)
    print(
        f"{name}: mean income {float(fit.distribution_.mean[0]):.1f}, the country's {float(country.mean):.1f}"
    )
ax.set(xlabel="income, thousands", ylabel="density")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
