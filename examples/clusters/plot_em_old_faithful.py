"""
EM, one iteration after another
===============================

The eruptions of Old Faithful, from a poor start: two equal circles far from the clusters. The colour of a row
shows its responsibilities; every component moves to the mean of the rows, weighted by them.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from sklearn.exceptions import ConvergenceWarning

import tractable

geyser = tractable.datasets.load("old_faithful").frame
X = ((geyser - geyser.mean()) / geyser.std()).to_numpy()
begin = {"means_init": [[-1.5, 1.0], [1.5, -1.0]], "weights_init": [0.5, 0.5]}
between = LinearSegmentedColormap.from_list("responsibilities", ["#0072B2", "0.8", "#D55E00"])


def after(n):
    """The mixture after so many iterations; that it has not settled is no surprise here."""
    model = tractable.GaussianMixture(2, precisions_init=[4 * np.eye(2)] * 2, **begin, tol=0.0, max_iter=n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X)


# %%
# The ellipses hold half of each component. In the first panels many rows are grey: they might be of either
# kind. At the end hardly one is.
start = tractable.Mixture(
    weights=begin["weights_init"],
    components=tractable.MultivariateNormal(mean=begin["means_init"], covariance=[0.25 * np.eye(2)] * 2),
)
angle = np.linspace(0, 2 * np.pi, 100)
circle = np.sqrt(2 * np.log(2)) * np.stack([np.cos(angle), np.sin(angle)])
fig, axes = plt.subplots(2, 3, figsize=(11, 7), layout="constrained", sharex=True, sharey=True)
for ax, n in zip(axes.flat, (0, 1, 2, 5, 10, 20), strict=True):
    mixture = after(n).distribution_ if n else start
    dots = ax.scatter(*X.T, s=14, c=mixture.responsibilities(X)[:, 1], cmap=between, vmin=0, vmax=1, lw=0)
    for mean, covariance, colour in zip(
        mixture.components.mean, mixture.components.covariance, ("#0072B2", "#D55E00"), strict=True
    ):
        ax.plot(*(mean[:, None] + np.linalg.cholesky(covariance) @ circle), color=colour, lw=2)
    ax.set_title(f"iteration {n}: {mixture.log_prob(X).mean():.3f} nats a row", fontsize="medium")
fig.supxlabel("eruption, standardised")
fig.supylabel("waiting, standardised")
fig.colorbar(dots, ax=axes, shrink=0.6, label="responsibility of the second component")

# %%
# The log likelihood never falls. It does not rise evenly: slowly while both components want the same rows,
# fast once they part, and then hardly any more.
trace = np.array(after(40).objective_trace_)
print("never falls:", bool(np.all(np.diff(trace) >= -1e-12)))
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.plot(np.arange(1, len(trace)), trace[1:], ".-", color="#0072B2")
ax.set(xlabel="iteration", ylabel="log likelihood of a row, nats", xticks=range(0, len(trace), 5))
ax.spines[["top", "right"]].set_visible(False)
plt.show()
