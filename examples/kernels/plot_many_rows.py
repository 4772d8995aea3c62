"""
Gaussian processes of many rows
===============================

Four thousand rows, more than one wants a matrix of. Thirty inducing points see a smooth function nearly as
the exact process does; a committee of exact processes of blocks multiplies what each has learned. Both are
measured against the exact process on some of the rows.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.kernels import White

rng = np.random.default_rng(0)
X = rng.uniform(0.0, 10.0, (4000, 1))
y = np.sin(X[:, 0]) + 0.5 * np.sin(3.0 * X[:, 0]) + 0.3 * rng.standard_normal(4000)
sparse = tractable.NystromGaussianProcess(n_inducing=30, tol=1e-5, random_state=0).fit(X, y)
kernel = sparse.kernel_ + White(sparse.noise_variance_)
committee = tractable.BayesianCommittee(kernel, n_subsets=8, optimizer=None, random_state=0).fit(X, y)
measured = {"sparse": sparse.compare_to_exact(500), "committee": committee.compare_to_exact(500)}
for name, found in measured.items():
    print(f"{name}: means differ by {found.mean_difference:.3f} standard deviations, ", end="")
    print(f"standard deviations {found.stddev_ratio:.2f} times the exact ones")

# %%
# The functions with their bands, and where the inducing points are.
at = np.linspace(-1.0, 11.0, 300)[:, None]
fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained", sharey=True)
for ax, name, model in [(axes[0], "30 inducing points", sparse), (axes[1], "8 blocks", committee)]:
    ends = model.predict_interval(at, 0.9)
    ax.plot(X[:, 0], y, ".", ms=1, color="0.7")
    ax.fill_between(at[:, 0], *ends.T, alpha=0.3, lw=0)
    ax.plot(at[:, 0], model.predict(at))
    ax.set(title=name, xlabel="x", ylim=(-3.0, 3.0))
axes[0].plot(sparse.inducing_points_[:, 0], np.full(len(sparse.inducing_points_), -2.8), "|", color="black")
axes[0].set_ylabel("y")
plt.show()
