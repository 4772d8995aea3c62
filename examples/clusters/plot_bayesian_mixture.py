"""
How many components? Variational Bayes
======================================

Maximum likelihood uses every component it is given. With a prior on weights, means and precisions,
superfluous components lose their rows and return to the prior: of six, the eruptions of Old Faithful need
two. Bishop shows these data in his figure 10.6.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

import tractable

frame = tractable.datasets.load("old_faithful").frame
X = frame.to_numpy()
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "0.75"


def ellipse(mean, covariance, radius=2.0):
    """The points at so many standard deviations."""
    angle = np.linspace(0, 2 * np.pi, 100)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    return mean[:, None] + radius * np.linalg.cholesky(covariance) @ circle


# %%
# From six k-means clusters, the search after more and more iterations. The strength of an ellipse is the
# weight of its component; those that have lost their rows are dotted, at their prior: wide, about the mean of
# all.
fig, axes = plt.subplots(1, 4, figsize=(13, 3.6), layout="constrained", sharey=True)
for ax, stop in zip(axes, (1, 10, 40, 150), strict=True):
    model = tractable.BayesianGaussianMixture(6, max_iter=stop, tol=0.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # we stop it early, to look
        model.fit(frame)
    ax.scatter(*X.T, s=7, color=GREY, lw=0)
    for weight, mean, covariance in zip(model.weights_, model.means_, model.covariances_, strict=True):
        style = (
            {"ls": ":", "color": "0.5", "lw": 1} if weight < 0.01 else {"alpha": min(1.0, 0.2 + 2 * weight)}
        )
        ax.plot(*ellipse(mean, covariance), **{"color": BLUE, **style})
    ax.set(title=f"iteration {stop}: {model.n_active_} in use", xlabel="eruption (min)", ylim=(35, 105))
axes[0].set_ylabel("waiting (min)")
plt.show()

# %%
# The lower bound of the log evidence never decreases; it rises whenever a component is emptied. Unlike a
# likelihood, which every component raises, it is highest where there are as many as the rows need.
search = tractable.BayesianGaussianMixture(6, tol=1e-9, random_state=0).fit(frame)
counts = range(1, 7)
bounds, likelihoods = [], []
for k in counts:
    prior = {"weight_concentration_prior_type": "dirichlet_distribution", "weight_concentration_prior": 1.0}
    bayes = tractable.BayesianGaussianMixture(k, random_state=0, **prior).fit(frame)
    bounds.append(len(X) * bayes.lower_bound_)
    ml = tractable.GaussianMixture(k, n_init=5, random_state=0).fit(frame)
    likelihoods.append(len(X) * ml.score(frame))

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
left.plot(len(X) * np.array(search.objective_trace_), color=BLUE)
left.set(xlabel="iteration", ylabel="lower bound of log p(X)")
right.plot(counts, likelihoods, "o-", color=ORANGE, label="log likelihood, maximum likelihood")
right.plot(counts, bounds, "o-", color=BLUE, label="lower bound of log p(X)")
right.set(xlabel="components", xticks=counts)
right.legend(frameon=False)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The posterior is made of distributions, so what was learned comes with its uncertainty: intervals of the
# waiting times of the two kinds of eruption, from twenty rows and from all. The density of a new row, with
# all that is unknown integrated out, is a mixture of Student-t: from twenty rows its tails are much heavier
# than those of the normals at the expected parameters.
few = tractable.BayesianGaussianMixture(2, random_state=0).fit(frame.iloc[:20])
whole = tractable.BayesianGaussianMixture(2, random_state=0).fit(frame)
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for row, (fit, colour) in enumerate([(few, ORANGE), (whole, BLUE)]):
    for k, component in enumerate(fit.posterior_.components.mean_marginal()):
        low, high = component.marginal([1]).interval(0.9)
        left.plot([low[0], high[0]], [row + 0.1 * k] * 2, lw=5, color=colour, solid_capstyle="butt")
left.set(yticks=[0, 1], yticklabels=["20 rows", f"{len(X)} rows"], ylim=(-0.5, 1.6))
left.set(xlabel="mean waiting time (min), 90 %")
waits = np.linspace(20, 130, 400)[:, None]
for fit, colour, name in ((few, ORANGE, "20 rows"), (whole, BLUE, f"{len(X)} rows")):
    right.plot(
        waits, fit.predictive_.marginal([1]).log_prob(waits), color=colour, label=f"{name}, predictive"
    )
    right.plot(
        waits,
        fit.distribution_.marginal([1]).log_prob(waits),
        color=colour,
        ls=":",
        label=f"{name}, expected parameters",
    )
right.set(xlabel="waiting (min)", ylabel="log density", ylim=(-18, -2))
right.legend(frameon=False, fontsize=8)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
