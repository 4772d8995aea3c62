"""
Counts, exposures and overdispersion
====================================

Visits to doctors of the RAND health insurance experiment. A Poisson regression has standard errors that are
too small where counts vary more than Poisson's; the negative binomial model learns by how much they vary, and
its intervals cover.
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm

import tractable

table = sm.datasets.randhie.load_pandas()
visits, columns = table.endog.astype(float), table.exog.astype(float)
train = np.random.default_rng(0).random(len(visits)) < 0.5

poisson = tractable.PoissonRegression().fit(columns[train], visits[train])
test = poisson.overdispersion_test()
print(f"overdispersion: z = {test.statistic:.1f}, dispersion {test.dispersion:.2f}")

counts = tractable.NegativeBinomialRegression().fit(columns[train], visits[train])
print(counts.summary())

# %%
# Of the other half of the rows, how many lie within intervals of 0.9? Whole numbers cover a little more.
for model in (poisson, counts):
    low, high = model.predict_interval(columns[~train], coverage=0.9).T
    inside = np.mean((low <= visits[~train]) & (visits[~train] <= high))
    print(f"{type(model).__name__}: {inside:.3f} of new counts within 0.9, AIC {model.aic_:.0f}")

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
number = np.arange(21)
axes[0].bar(
    number,
    np.bincount(visits[~train].astype(int), minlength=21)[:21] / np.sum(~train),
    color="0.85",
    label="rows",
)
for model in (poisson, counts):
    dist = model.predict_dist(columns[~train][:2000])
    mean = [float(np.mean(dist.prob(k))) for k in number]
    axes[0].plot(number, mean, "o-", ms=3, label=type(model).__name__)
axes[0].set(xlabel="visits", ylabel="fraction of rows")
axes[0].legend()
for shift, model in ((-0.12, poisson), (0.12, counts)):
    errors = model.coef_interval(0.95)
    at = np.arange(len(model.coef_)) + shift
    axes[1].errorbar(
        model.coef_, at, xerr=np.abs(errors.T - model.coef_), fmt="o", ms=4, label=type(model).__name__
    )
axes[1].set(yticks=np.arange(len(columns.columns)), yticklabels=columns.columns, xlabel="log rate ratio")
axes[1].axvline(0.0, color="0.6", lw=0.8)
plt.show()

# %%
# An exposure multiplies the mean: a rate of claims, of policies that were insured for unlike periods.
rng = np.random.default_rng(1)
age, years = rng.uniform(18.0, 80.0, 500), rng.uniform(0.1, 3.0, 500)
claims = rng.poisson(years * np.exp(1.0 - 0.03 * age))
rate = tractable.PoissonRegression().fit(age[:, None], claims, exposure=years)
print(
    f"claims a year at 30: {rate.predict([[30.0]])[0]:.2f}; in two years 90 % within",
    rate.predict_interval([[30.0]], exposure=2.0)[0],
)
