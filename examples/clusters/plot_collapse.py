"""
Collapse of a component onto one point
======================================

The likelihood of a Gaussian mixture is unbounded: a component centred on a single row can have an arbitrarily
small variance. Such a maximum describes the data badly. A prior on the covariances makes the objective
bounded.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(2)
x = np.concatenate([rng.normal(0.0, 1.0, 40), [4.0]])
begin = {"means_init": [[0.0], [4.0]], "weights_init": [0.9, 0.1]}

# %%
# Forty rows about zero and one at four. Put a component on that one and make it narrower and narrower: the
# log likelihood grows by log 10 with every factor of ten, without end.
widths = np.logspace(0, -8, 60)
likelihood = []
for width in widths:
    pair = tractable.Normal(mean=[0.0, 4.0], stddev=[1.0, width])
    likelihood.append(tractable.Mixture(weights=[0.97, 0.03], components=pair).log_prob(x).sum())
gain = (likelihood[-1] - likelihood[30]) / np.log10(widths[30] / widths[-1])
print(f"gained with each factor of ten: {gain:.4f}")

# %%
# EM finds its way there. The floor under variances, `reg_covar`, keeps the numbers finite, and a warning says
# what happened: `collapsed_` names the components. With `covariance_prior="data"`, an inverse Wishart as wide
# as the data, the component stays a component.
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    fallen = tractable.GaussianMixture(2, **begin, random_state=0).fit(x[:, None])
held = tractable.GaussianMixture(2, **begin, covariance_prior="data", random_state=0).fit(x[:, None])
print(said[0].category.__name__, "and collapsed_ is", fallen.collapsed_)
for name, model in (("likelihood", fallen), ("with a prior", held)):
    print(f"{name:>12}: widths {np.sqrt(model.covariances_[:, 0, 0]).round(4)}")

# %%
# New rows decide: rows near the isolated one have almost no density under the collapsed component.
new = np.concatenate([rng.normal(0.0, 1.0, 40), [3.7, 4.2]])[:, None]
print(f"a new row: {fallen.score(new):.2f} nats after the collapse, {held.score(new):.2f} with the prior")

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
left.semilogx(widths, likelihood, color="#D55E00")
left.invert_xaxis()
left.set(xlabel="width of the component on one row", ylabel="log likelihood of all rows")
at = np.unique(np.concatenate([np.linspace(-4.0, 6.0, 500), 4.0 + np.linspace(-0.01, 0.01, 201)]))[:, None]
for name, model, colour in (("likelihood", fallen, "#D55E00"), ("with a prior", held, "#0072B2")):
    right.plot(at, np.exp(model.score_samples(at)), color=colour, label=name)
right.plot(x, np.zeros(len(x)), "|", ms=10, color="0.3", label="rows")
right.set(xlabel="x", ylabel="density", ylim=(-0.02, 0.6))
right.legend(frameon=False, loc="upper left")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
