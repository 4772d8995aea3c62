"""
EM by hand: ten numbers, two components
=======================================

With known labels, means and variances are weighted sums. With known means and variances, the labels have
posterior probabilities. EM alternates between the two, and the likelihood increases in every iteration.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

import tractable

x = np.array([8.2075, 9.8171, 0.1442, 8.8333, 9.4084, 9.0987, 0.7269, 1.0454, -0.1108, 9.4905])
begin = {"weights_init": [0.5, 0.5], "means_init": [[4.0], [6.0]], "precisions_init": [[[1.0]], [[1.0]]]}

# %%
# From means 4 and 6, variances 1 and equal weights. To stop after each iteration is what this page is for, so
# the warning that the search has not settled is turned off.
fits = []
for n in range(1, 7):
    model = tractable.GaussianMixture(2, **begin, reg_covar=0.0, tol=0.0, max_iter=n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits.append(model.fit(x[:, None]))
    mean, variance = model.means_[:, 0], model.covariances_[:, 0, 0]
    likelihood = len(x) * model.score(x[:, None])
    print(
        f"iteration {n}: means {mean[0]:.6f} {mean[1]:.6f}, variances {variance[0]:.6f} {variance[1]:.6f}, "
        f"weights {model.weights_[0]:.6f} {model.weights_[1]:.6f}, log likelihood {likelihood:.6f}"
    )

# %%
# The clusters are far apart, so the first guess of the labels is nearly right, and from the second iteration
# on nothing moves in six digits. Each number then belongs to one component: EM does what k-means does.
mixtures = {
    "the start": tractable.Mixture(
        weights=[0.5, 0.5], components=tractable.Normal(mean=[4, 6], variance=[1, 1])
    ),
    "iteration 1": fits[0].marginal([0]),
    "iteration 6": fits[-1].marginal([0]),
}
at = np.linspace(-2.0, 12.0, 500)
fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharey=True)
for ax, (title, density) in zip(axes, mixtures.items(), strict=True):
    column = (slice(None), None) if density.event_shape else slice(None)
    likely = density.responsibilities(x[column]).argmax(axis=1)
    for k, colour in enumerate(("#0072B2", "#E69F00")):
        part = density.weights[k] * density.components[k].prob(at[column])
        ax.fill_between(at, part, color=colour, alpha=0.35, lw=0)
        ax.plot(x[likely == k], np.full(np.sum(likely == k), -0.02), "|", ms=14, mew=2, color=colour)
    ax.plot(at, density.prob(at[column]), color="0.3", lw=1)
    ax.set(title=title, xlabel="x", ylim=(-0.05, 0.5))
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("density")
plt.show()
