"""Sweeps of Gibbs sampling for a Gaussian mixture: 10,000 × 2, K = 5."""

from types import SimpleNamespace

import numpy as np
from scipy import stats

from benchmarks.row import Row, under
from tractable.mixture import BayesianGaussianMixture
from tractable.sampling import sample

SWEEPS_A_SECOND = 200  # asked for


def setup(size, folder):  # noqa: ARG001  (no files)
    n, d, k, n_sweeps = size
    rng = np.random.default_rng(0)
    centers = 8.0 * np.stack([np.cos(2 * np.pi * np.arange(k) / k), np.sin(2 * np.pi * np.arange(k) / k)], 1)
    X = centers[rng.choice(k, n, p=np.arange(1, k + 1) / (0.5 * k * (k + 1)))] + rng.standard_normal((n, d))
    model = BayesianGaussianMixture(k, weight_concentration_prior_type="dirichlet_distribution")
    how = model.set_params(random_state=0).fit(X)._posterior_sampler(X, None, None)  # noqa: SLF001
    return SimpleNamespace(how=how, k=k, n_sweeps=n_sweeps)


def ours(data):
    start = data.how.start(np.random.default_rng(1), 1)
    chains = sample(data.how.step, start, data.n_sweeps, n_warm_up=0, rng=0)
    return np.sort(chains["weights"][0, data.n_sweeps // 4 :].mean(axis=0))


def by_scipy(data):
    """The same sweep by SciPy's distributions."""
    step, rng = data.how.step, np.random.default_rng(0)
    X, p = step.rows, step.prior
    now = {name: part[0] for name, part in data.how.start(np.random.default_rng(1), 1).items()}
    weights, means, covariances = now["weights"], now["means"], now["covariances"]
    drawn = []
    for _ in range(data.n_sweeps):
        densities = [
            weights[c] * stats.multivariate_normal(means[c], covariances[c]).pdf(X) for c in range(data.k)
        ]
        levels = np.cumsum(np.stack(densities, axis=1), axis=1)
        labels = np.sum(levels < rng.random((len(X), 1)) * levels[:, -1:], axis=1)
        for c in range(data.k):
            rows = X[labels == c]
            m, center = len(rows), rows.mean(axis=0)
            off = (center - p.mean)[:, None]
            scatter = (rows - center).T @ (rows - center) + p.strength * m / (p.strength + m) * off @ off.T
            covariances[c] = stats.invwishart(p.dof + m, p.scatter + scatter).rvs(random_state=rng)
            mean = (p.strength * p.mean + m * center) / (p.strength + m)
            means[c] = rng.multivariate_normal(mean, covariances[c] / (p.strength + m))
        weights = rng.dirichlet(p.concentration + np.bincount(labels, minlength=data.k))
        drawn.append(weights)
    return np.sort(np.mean(drawn[data.n_sweeps // 4 :], axis=0))


def check(mine, theirs):
    """Mean weights are within 0.01, a tenth on tiny data."""
    np.testing.assert_allclose(mine, theirs, atol=0.01 if mine.max() < 0.4 else 0.1)


ROW = Row(
    name="mixture_gibbs",
    shows="400 sweeps of Gibbs sampling, one chain, of a Gaussian mixture: 10,000 × 2, K = 5.",
    setup=setup,
    size=(10_000, 2, 5, 400),
    dry_size=(200, 2, 2, 20),
    ours=ours,
    peers={"SciPy": by_scipy},
    check=check,
    targets={"SciPy": under(400 / SWEEPS_A_SECOND)},
    limit="exponentials of 50,000 log densities a sweep.",
)
