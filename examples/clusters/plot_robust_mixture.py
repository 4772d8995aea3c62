"""
Clusters with outliers
======================

Two clusters, and one row in eight uniformly distributed. Gaussian components have to cover the outliers and
become too wide, or leave a cluster for them. Student-t components have heavy tails, and give outliers a small
weight.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(1)
shape = np.array([[1.0, 0.6], [0.6, 0.8]])
means = np.array([[-2.5, 0.0], [3.0, 1.5]])
clean = np.concatenate([rng.multivariate_normal(mean, shape, 150) for mean in means])
X = np.concatenate([clean, rng.uniform(-14.0, 14.0, (40, 2))])

# %%
# The widths of the components, as square roots of the mean variance; the truth is 0.95 for both.
models = {
    "Gaussian": tractable.GaussianMixture(2, n_init=5, random_state=0).fit(X),
    "Student-t": tractable.StudentTMixture(2, n_init=5, random_state=0).fit(X),
}
spreads = {"Gaussian": models["Gaussian"].covariances_, "Student-t": models["Student-t"].scales_}
for name, spread in spreads.items():
    width = np.sqrt(np.trace(spread, axis1=1, axis2=2) / 2)
    print(f"{name:>9}: widths {width.round(2)}, {models[name].score(X):.3f} nats a row")
print("degrees of freedom:", models["Student-t"].dof_.round(1))

# %%
# Who is a stray? Rows to which the fitted density gives less than it gives to all but one in eight of its own
# draws.
density = models["Student-t"].distribution_
limit = np.quantile(density.log_prob(density.sample(20_000, rng=0)), 0.125)
stray = models["Student-t"].score_samples(X) < limit
print(f"{stray[-40:].sum()} of 40 strays found, {stray[:-40].sum()} of 300 others taken for one")

angle = np.linspace(0, 2 * np.pi, 100)
circle = 2.0 * np.stack([np.cos(angle), np.sin(angle)])
fig, axes = plt.subplots(1, 2, figsize=(10.5, 4.6), layout="constrained", sharex=True, sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    ax.scatter(*X.T, s=9, color="0.6", lw=0)
    centers = model.means_ if name == "Gaussian" else model.locations_
    for mean, spread, colour in zip(centers, spreads[name], ("#0072B2", "#D55E00"), strict=True):
        ax.plot(*(mean[:, None] + np.linalg.cholesky(spread) @ circle), color=colour, lw=2)
    ax.set(title=name, xlabel="x0")
    ax.spines[["top", "right"]].set_visible(False)
axes[1].scatter(*X[stray].T, s=26, fc="none", ec="0.2", lw=0.8, label="said to be strays")
axes[1].legend(loc="lower left", fontsize=8)
axes[0].set_ylabel("x1")
plt.show()
