"""
The posterior of a Gaussian
===========================

Few rows determine a mean vector poorly, and a covariance even less. The joint posterior of both is
normal-Wishart; each draw from it is a Gaussian, an ellipse. The predictive distribution is a Student-t, which
includes the uncertainty of the parameters in its tails; the maximum likelihood Gaussian does not.
"""

import matplotlib.pyplot as plt
import numpy as np

from tractable.conjugate import MultivariateNormalModel
from tractable.distributions import MultivariateNormal

rng = np.random.default_rng(1)
truth = MultivariateNormal(mean=[0.0, 0.0], covariance=[[1.0, 0.7], [0.7, 1.0]])
rows = truth.sample(100, rng=rng)
start = MultivariateNormalModel.from_mean_strength([0.0, 0.0], 0.1, covariance=np.eye(2))
circle = np.stack([np.cos(np.linspace(0, 2 * np.pi, 100)), np.sin(np.linspace(0, 2 * np.pi, 100))])


def ellipse(mean, covariance):
    """The points that hold 90% of a Gaussian of two columns inside."""
    return mean[:, None] + np.sqrt(-2.0 * np.log(0.1)) * np.linalg.cholesky(covariance) @ circle


fig, axes = plt.subplots(1, 3, figsize=(11, 4.3), layout="constrained", sharex=True, sharey=True)
for ax, n in zip(axes, (5, 20, 100), strict=True):
    posterior = start.update_rows(rows[:n])
    drawn = posterior.prior.sample(25, rng=0)
    for mean, precision in zip(drawn.mean, drawn.precision, strict=True):
        ax.plot(*ellipse(mean, np.linalg.inv(precision)), color="#56B4E9", lw=0.6)
    fitted = MultivariateNormal.fit(rows[:n])
    ax.plot(*ellipse(fitted.mean, fitted.covariance), color="#E69F00", label="maximum likelihood")
    ax.plot(*ellipse(truth.mean, truth.covariance), color="0.2", ls="--", lw=1.0, label="truth")
    ax.plot(*rows[:n].T, ".", ms=4, color="0.3")
    ax.set(title=f"{n} rows", xlabel="first column", xlim=(-5, 5), ylim=(-5, 5), aspect="equal")
    predictive = posterior.predictive()
    fresh = truth.sample(20_000, rng=rng)
    scores = predictive.log_prob(fresh).mean(), fitted.log_prob(fresh).mean()
    print(f"{n:3d} rows: log density of new rows, Student-t {scores[0]:.3f}, plugged in {scores[1]:.3f}")
axes[0].set_ylabel("second column")
axes[0].legend(frameon=False, loc="lower right", fontsize=8)

# %%
# The posterior of the correlation after five and a hundred rows.
fig, ax = plt.subplots(figsize=(6.0, 3.8), layout="constrained")
for n, colour in ((5, "#E69F00"), (100, "#0072B2")):
    covariance = np.linalg.inv(start.update_rows(rows[:n]).prior.sample(5000, rng=0).precision)
    correlation = covariance[:, 0, 1] / np.sqrt(covariance[:, 0, 0] * covariance[:, 1, 1])
    ax.hist(
        correlation, bins=60, range=(-1, 1), density=True, histtype="step", color=colour, label=f"{n} rows"
    )
    low, high = np.quantile(correlation, [0.05, 0.95])
    print(f"{n:3d} rows: 90% interval of the correlation between {low:.2f} and {high:.2f}")
ax.axvline(0.7, color="0.3", lw=0.8)
ax.set(xlabel="correlation", ylabel="density")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")
plt.show()
