"""Mixtures in their limits: k-means where a shared width vanishes, the kernel density where K = N."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KernelDensity

from tractable import GaussianMixture, KMeans, Mixture, MultivariateNormal
from tractable.covariance import Isotropic

W02 = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)
FIRST, SECOND = [[7.5, 4.5], [3.0, 11 / 3], [11 / 3, 9.0]], [[7.0, 13 / 3], [1.5, 3.5], [11 / 3, 9.0]]


def round_mixture(means, variances):
    """Equal weights, and covariance ε I: one ε, or one for each component."""
    means = np.asarray(means, dtype=float)
    variances = np.broadcast_to(variances, len(means))
    return Mixture(
        components=MultivariateNormal(
            mean=means, covariance=Isotropic(variance=variances, dim=means.shape[1])
        )
    )


def em_step(x, means, width):
    """E-step and M-step of the means, with equal weights and a fixed shared width."""
    share = round_mixture(means, width).responsibilities(x)
    return share.T @ x / share.sum(axis=0)[:, None]


def squared_distances(x, means):
    return ((x[:, None] - means) ** 2).sum(axis=2)


@pytest.mark.spec("CLU-16", "E000-23", "W-02")
def test_steps_of_a_narrow_mixture_are_lloyds_steps():
    means = W02[[4, 5, 7]]
    for expected in (FIRST, SECOND, SECOND):
        means = em_step(W02, means, 1e-2)
        np.testing.assert_allclose(means, expected, atol=1e-12)
    np.testing.assert_allclose(KMeans(3, init=W02[[4, 5, 7]]).fit(W02).cluster_centers_, means, atol=1e-12)


@pytest.mark.spec("CLU-16", "W-02")
def test_the_first_step_of_a_gaussian_mixture_from_there_is_lloyds():
    """The estimator itself: its means and weights after one iteration are k-means'."""
    model = GaussianMixture(
        3,
        init_params="random",
        covariance_type="spherical",
        means_init=W02[[4, 5, 7]],
        weights_init=np.full(3, 1 / 3),
        precisions_init=np.full(3, 1e2),
        reg_covar=0.0,
        max_iter=1,
        random_state=0,
    )
    with pytest.warns(ConvergenceWarning):
        model.fit(W02)
    np.testing.assert_allclose(model.means_, FIRST, atol=1e-12)
    np.testing.assert_allclose(model.weights_, np.array([2, 3, 3]) / 8, atol=1e-12)


@pytest.mark.spec("CLU-16")
def test_shares_harden_at_the_rate_of_the_gap(rng):
    """The share of all components but the nearest is at most (K - 1) exp(-gap / 2ε)."""
    x, means = rng.standard_normal((60, 2)), rng.standard_normal((4, 2))
    away = squared_distances(x, means)
    nearest = np.eye(4)[away.argmin(axis=1)]
    gap = np.diff(np.sort(away, axis=1)[:, :2], axis=1)[:, 0]
    worst = []
    for width in (1.0, 0.1, 0.01, 1e-3, 1e-4):
        share = round_mixture(means, width).responsibilities(x)
        lost = 1.0 - (share * nearest).sum(axis=1)
        assert (lost <= 3.0 * np.exp(-gap / (2.0 * width)) + 1e-12).all()
        worst.append(np.abs(share - nearest).mean())
    assert (np.diff(worst) < 0).all()


@pytest.mark.spec("CLU-16", "CLU-04")
def test_the_likelihood_becomes_the_objective(rng):
    """J - 2εn log K ≤ -2ε Σ log Σ_k exp(-|x - μ_k|² / 2ε) ≤ J, so that both have the same maximum."""
    x, means = rng.standard_normal((50, 3)), rng.standard_normal((5, 3))
    inertia = squared_distances(x, means).min(axis=1).sum()
    for width in (1.0, 1e-2, 1e-4, 1e-8):
        bare = round_mixture(means, width).log_prob(x).sum()
        bare += len(x) * (1.5 * np.log(2.0 * np.pi * width) + np.log(5))
        found = -2.0 * width * bare
        assert inertia - 2.0 * width * len(x) * np.log(5) - 1e-9 <= found <= inertia + 1e-9
    np.testing.assert_allclose(found, inertia, rtol=1e-5)


@pytest.mark.spec("E000-23")
def test_widths_that_vanish_at_unlike_rates_give_another_limit():
    """With Σ_k = ε a_k I a row goes to the least |x - μ_k|² / a_k, not to the nearest."""
    means, rates, x = np.array([[0.0], [10.0]]), np.array([1.0, 9.0]), np.array([[4.0]])
    np.testing.assert_allclose(round_mixture(means, 1e-3).responsibilities(x), [[1.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(
        round_mixture(means, 1e-3 * rates).responsibilities(x), [[0.0, 1.0]], atol=1e-12
    )


def kernel_density(x, rows, width):
    """(1/N) Σ_i N(x | x_i, width² I), one term after another."""
    d = rows.shape[1]
    terms = [np.exp(-((x - row) ** 2).sum(axis=1) / (2 * width**2)) for row in rows]
    return sum(terms) / len(rows) / (2 * np.pi * width**2) ** (d / 2)


@pytest.mark.spec("CLU-17", "E000-24")
@pytest.mark.parametrize("width", [0.1, 0.337, 2.0])
def test_one_equal_component_on_every_row_is_the_kernel_density(width, rng):
    rows, x = rng.standard_normal((40, 2)), rng.standard_normal((25, 2))
    model = round_mixture(rows, width**2)
    np.testing.assert_allclose(model.prob(x), kernel_density(x, rows, width), rtol=1e-11)
    theirs = KernelDensity(bandwidth=width, atol=0.0, rtol=0.0).fit(rows).score_samples(x)
    np.testing.assert_allclose(model.log_prob(x), theirs, rtol=1e-9)


@pytest.mark.spec("CLU-17", "E000-24")
def test_only_a_fixed_width_keeps_it_so(rng):
    """EM begins at the kernel density and leaves it: on its own rows any narrower mixture is likelier."""
    rows = rng.standard_normal((15, 2))
    model = GaussianMixture(
        15,
        init_params="random",
        covariance_type="spherical",
        means_init=rows,
        weights_init=np.full(15, 1 / 15),
        precisions_init=np.full(15, 4.0),
        reg_covar=0.0,
        max_iter=1,
        random_state=0,
    )
    with pytest.warns(ConvergenceWarning):
        model.fit(rows)
    density = np.log(kernel_density(rows, rows, 0.5)).mean()
    np.testing.assert_allclose(model.objective_trace_[0], density, rtol=1e-10)
    assert model.objective_trace_[1] > density
    # k-means with a centre on every row has nothing left to minimise, and says nothing of the density.
    assert KMeans(15, init=rows).fit(rows).inertia_ == pytest.approx(0.0, abs=1e-20)
