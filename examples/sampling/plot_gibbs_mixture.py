"""
Gibbs sampling of a mixture
===========================

Eruptions of Old Faithful, a mixture of two normals. Variational Bayes gives a posterior in closed form, of a
family that was chosen for that; Gibbs sampling draws from the posterior itself: labels of all rows given the
components, then weights, means and covariances given the labels. Here the two agree, and one sweep takes
about a millisecond.
"""

import matplotlib.pyplot as plt

import tractable

eruptions = tractable.datasets.load("old_faithful").frame
model = tractable.BayesianGaussianMixture(
    2, weight_concentration_prior_type="dirichlet_distribution", random_state=0
)
found = tractable.sample_posterior(model, eruptions, n_samples=500, n_warm_up=100, rng=0)
print(found.comparison().round(3).to_string())
print(found.chains.summary().loc[:, ["mean", "sd", "ess_bulk", "r_hat"]].round(3).to_string())

fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
axes[0].plot(*eruptions.to_numpy().T, ".", color="0.7", ms=4)
for k, colour in enumerate(("#0072B2", "#D55E00")):
    axes[0].plot(*found.chains.flat("means")[:, k].T, ".", ms=2, color=colour, label=f"mean of component {k}")
axes[0].set(xlabel="eruption, minutes", ylabel="waiting, minutes")
axes[0].legend(frameon=False)
tractable.plot(found.chains, ax=axes[1], variable="weights", show="ranks")
