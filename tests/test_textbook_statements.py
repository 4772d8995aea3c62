"""Statements of the courses on densities, clusters and classifiers, each shown as it is said."""

from importlib import import_module

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import multivariate_normal, norm

import tractable
from tractable import GaussianMixture, KernelDensity, KMeans, NearestNeighborDensity

kmeans_engine = import_module("tractable.engines.kmeans")


@pytest.mark.slow
@pytest.mark.spec("DENS-14")
def test_bandwidths_too_small_right_and_too_large(rng):
    """Mean ∫ (p̂ - p)² of 100 rows of N(0, 1): 0.0549, 0.0071 and 0.0828 at h = 0.05, 0.337 and 2."""
    grid = np.linspace(-8.0, 8.0, 801)
    step, truth = grid[1] - grid[0], norm.pdf(grid)
    errors = {h: [] for h in (0.05, 0.337, 2.0)}
    for _ in range(150):
        x = rng.standard_normal((100, 1))
        for h, found in errors.items():
            model = KernelDensity(bandwidth=h).fit(x)
            estimate = np.exp(model.score_samples(grid[:, None]))
            found.append(np.sum((estimate - truth) ** 2) * step)
            np.testing.assert_allclose(model.distribution_.variance, x.var() + h**2, rtol=1e-9)
    for (_, found), expected in zip(errors.items(), (0.0549, 0.0071, 0.0828), strict=True):
        assert abs(np.mean(found) - expected) < 4.0 * np.std(found) / np.sqrt(len(found)) + 5e-5


@pytest.mark.slow
@pytest.mark.spec("DENS-04", "DENS-05")
def test_a_region_of_fixed_volume_counts_a_binomial_number_of_rows(rng):
    """With V fixed, K ~ Bin(N, P) and p̂ = K / (N V), of mean P / V; so is a window and a bin."""
    N, h, trials = 50, 0.4, 2000
    P = norm.cdf(h) - norm.cdf(-h)
    counts = []
    for _ in range(trials):
        x = rng.standard_normal((N, 1))
        inside = np.sum(np.abs(x) <= h)
        window = np.exp(KernelDensity(bandwidth=h, kernel="tophat").fit(x).score_samples([[0.0]]))[0]
        np.testing.assert_allclose(window, inside / (N * 2.0 * h), rtol=1e-9)
        counts.append(inside)
    bins = tractable.Histogram(bins=np.array([-9.0, -h, h, 9.0])).fit(x)
    np.testing.assert_allclose(np.exp(bins.score_samples([[0.0]])), inside / (N * 2.0 * h), rtol=1e-9)
    fraction = np.array(counts) / N
    assert abs(fraction.mean() - P) < 4.0 * np.sqrt(P * (1.0 - P) / N / trials)
    # The variance of K / N is P (1 - P) / N; that of a sample variance is about 2 σ⁴ / trials.
    variance = P * (1.0 - P) / N
    assert abs(fraction.var() - variance) < 4.0 * variance * np.sqrt(2.0 / trials)


@pytest.mark.spec("DENS-05", "DENS-04")
def test_a_fixed_count_finds_its_volume(rng):
    """With K fixed, V is that of the ball of the K-th neighbour; where rows are rare it is large."""
    x, K = rng.standard_normal((400, 1)), 20
    at = np.array([[0.0], [2.5]])
    radius = np.sort(np.abs(x.T - at), axis=1)[:, K - 1]
    model = NearestNeighborDensity(K, correct_bias=False).fit(x)
    np.testing.assert_allclose(np.exp(model.score_samples(at)), K / (400 * 2.0 * radius), rtol=1e-9)
    assert radius[1] > 3.0 * radius[0]


@pytest.mark.spec("DENS-05")
def test_regions_are_large_for_counts_and_small_for_constancy(rng):
    """K / (N V) of a larger region varies less and is farther from p: both errors by their formulas."""
    N, trials, widths = 100, 400, (0.1, 0.5, 2.0)
    found = np.array(
        [
            [
                np.exp(KernelDensity(bandwidth=h, kernel="tophat").fit(x).score_samples([[0.0]]))[0]
                for h in widths
            ]
            for x in rng.standard_normal((trials, N, 1))
        ]
    )
    P, V = np.array([norm.cdf(h) - norm.cdf(-h) for h in widths]), 2.0 * np.array(widths)
    variance, bias = P * (1.0 - P) / N / V**2, norm.pdf(0.0) - P / V
    assert np.all(np.abs(found.mean(axis=0) - P / V) < 4.0 * np.sqrt(variance / trials))
    # A sample variance has about the relative standard error √(2 / trials), of counts a little more.
    assert np.all(np.abs(found.var(axis=0) / variance - 1.0) < 4.0 * np.sqrt(2.2 / trials))
    assert np.all(np.diff(bias) > 0.0)
    assert np.all(np.diff(variance) < 0.0)
    errors = np.mean((found - norm.pdf(0.0)) ** 2, axis=0)
    assert np.argmin(errors) == 1  # the one between


@pytest.mark.spec("CLS-12")
def test_two_classes_of_any_densities_have_sigmoids_of_log_odds(rng):
    """p(C1 | x) = σ(a), a = ln p(x | C1) p(C1) / p(x | C2) p(C2), of densities of two kinds."""
    low, high = rng.standard_normal((60, 2)), 1.5 + rng.standard_normal((140, 2))
    X, y = np.concatenate([low, high]), np.repeat([0, 1], [60, 140])
    densities = {0: tractable.GaussianDensity(), 1: KernelDensity(bandwidth=0.7)}
    model = tractable.GenerativeClassifier(densities).fit(X, y)
    first, second = tractable.GaussianDensity().fit(low), KernelDensity(bandwidth=0.7).fit(high)
    a = second.score_samples(X) + np.log(0.7) - first.score_samples(X) - np.log(0.3)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(a), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), (a > 0.0).astype(int))


@pytest.mark.spec("CLS-36")
def test_neighbours_learn_by_storing_rows(rng):
    """What a fit holds are the rows and their labels: it grows with them, and nothing else is computed."""
    for n in (50, 500):
        X, y = rng.standard_normal((n, 3)), rng.integers(0, 2, n)
        model = tractable.KNeighborsClassifier(5, index="brute").fit(X, y)
        order = np.lexsort(np.asarray(model.index_.points).T)
        np.testing.assert_array_equal(np.asarray(model.index_.points)[order], X[np.lexsort(X.T)])
        learned = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
        stored = {"index_", "row_indices_", "sample_weight_", "targets_", "codes_"}
        described = {"classes_", "n_neighbors_", "n_samples_fit_", "n_samples_given_", "n_features_in_"}
        described |= {"outputs_2d_"}
        assert learned <= stored | described | {"class_count_", "label_codes_"}, learned
    assert not tractable.tags(tractable.KNeighborsClassifier()).parametric


def separated(rng):
    """Three groups so far apart that k-means has one answer."""
    centres = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]])
    X = np.concatenate(
        [
            c + s * rng.standard_normal((n, 2))
            for c, s, n in zip(centres, (1, 2, 0.5), (40, 60, 100), strict=True)
        ]
    )
    return X, np.repeat([0, 1, 2], [40, 60, 100])


@pytest.mark.spec("GMM-09")
def test_a_mixture_begins_at_the_clusters_of_k_means(rng):
    """Means, variances, fractions of clusters that overlap: their likelihood is where the search begins."""
    x = np.sort(np.concatenate([rng.standard_normal(80), 2.5 + 1.5 * rng.standard_normal(120)]))
    # On a line clusters are what is left and right of a cut, midway between their means where k-means ends.
    cuts = [c for c in range(1, 200) if x[c - 1] < 0.5 * (x[:c].mean() + x[c:].mean()) <= x[c]]
    starts = [
        sum(len(part) / 200 * norm.pdf(x, part.mean(), part.std()) for part in (x[:c], x[c:])) for c in cuts
    ]
    model = GaussianMixture(2, reg_covar=0.0, random_state=0).fit(x[:, None])
    found = np.mean(np.log(starts), axis=1)
    assert np.min(np.abs(found / model.objective_trace_[0] - 1.0)) < 1e-9
    assert model.objective_trace_[-1] > model.objective_trace_[0] + 0.01


@pytest.mark.spec("GMM-14", "GMM-04")
@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_m_steps_of_restricted_covariances(covariance_type, rng):
    """One M-step from given responsibilities, by the formula of each restriction; then the likelihood."""
    X, _ = separated(rng)
    X = X + 6.0 * rng.standard_normal(X.shape)
    model = GaussianMixture(3, covariance_type=covariance_type, reg_covar=0.0, random_state=0).fit(X)
    r = model.predict_proba(X)
    following = model.from_statistic(model.summarize(X))
    total = r.sum(axis=0)
    means = (r.T @ X) / total[:, None]
    scatter = np.einsum("nk,nki,nkj->kij", r, X[:, None] - means, X[:, None] - means)
    expected = {
        "full": scatter / total[:, None, None],
        "tied": scatter.sum(axis=0) / len(X),
        "diag": np.diagonal(scatter, axis1=1, axis2=2) / total[:, None],
        "spherical": np.trace(scatter, axis1=1, axis2=2) / (2.0 * total),
    }[covariance_type]
    np.testing.assert_allclose(following.covariances_, expected, rtol=1e-8)
    np.testing.assert_allclose(following.means_, means, rtol=1e-8)
    dense = {
        "full": lambda k: expected[k],
        "tied": lambda k: expected,
        "diag": lambda k: np.diag(expected[k]),
        "spherical": lambda k: expected[k] * np.eye(2),
    }[covariance_type]
    parts = [following.weights_[k] * multivariate_normal(means[k], dense(k)).pdf(X) for k in range(3)]
    np.testing.assert_allclose(
        following.score_samples(X).sum(), np.log(np.sum(parts, axis=0)).sum(), rtol=1e-9
    )


@pytest.mark.spec("GMM-22")
def test_parameters_of_a_mixture_do_not_grow_with_the_rows(rng):
    """Five numbers of two components in one column, of 100 rows and of 5,000; windows grow with the rows."""
    sizes, windows = [], []
    for n in (100, 5000):
        X = np.where(rng.random((n, 1)) < 0.4, 0.0, 5.0) + rng.standard_normal((n, 1))
        model = GaussianMixture(2, reg_covar=0.0, tol=1e-10, random_state=0).fit(X)
        sizes.append(model.weights_.size + model.means_.size + model.covariances_.size - 1)
        windows.append(len(KernelDensity(bandwidth=0.3).fit(X).distribution_.points))
    assert sizes == [5, 5]
    assert windows == [100, 5000]
    # The estimate is where Σ ln p(x_n; θ) is greatest: steps along every mean lower it.
    best = model.score_samples(X).sum()
    for k in range(2):
        for move in (-0.05, 0.05):
            moved = model.means_ + move * np.eye(2)[k][:, None]
            parts = model.weights_ * norm.pdf(X, moved.T, np.sqrt(model.covariances_.ravel()))
            assert np.log(parts.sum(axis=1)).sum() < best


class TestLimitationsOfKMeans:
    """Data on which k-means fails and a mixture of Gaussians does not."""

    @staticmethod
    def agreement(labels, group):
        return max(np.mean(labels == group), np.mean(labels != group))

    def both(self, X, group):
        hard = KMeans(2, n_init=10, random_state=0).fit_predict(X)
        soft = GaussianMixture(2, n_init=5, random_state=0).fit(X).predict(X)
        return self.agreement(hard, group), self.agreement(soft, group)

    @pytest.mark.spec("CLU-11")
    def test_long_clusters(self, rng):
        X = rng.standard_normal((400, 2)) * [10.0, 0.5] + np.repeat([[0.0, 0.0], [0.0, 4.0]], 200, axis=0)
        hard, soft = self.both(X, np.repeat([0, 1], 200))
        assert hard < 0.7
        assert soft > 0.97

    @pytest.mark.slow
    @pytest.mark.spec("CLU-11")
    def test_unequal_sizes_and_densities(self, rng):
        X = np.concatenate(
            [5.0 * rng.standard_normal((950, 2)), [16.0, 0.0] + 0.3 * rng.standard_normal((50, 2))]
        )
        hard, soft = self.both(X, np.repeat([0, 1], [950, 50]))
        assert hard < 0.85
        assert soft > 0.97

    @pytest.mark.spec("CLU-11")
    def test_outliers(self, rng):
        X = np.concatenate([rng.standard_normal((200, 1)), 5.0 + rng.standard_normal((200, 1)), [[1000.0]]])
        labels = KMeans(2, n_init=10, random_state=0).fit_predict(X)
        assert len(set(labels[:400].tolist())) == 1

    @pytest.mark.spec("CLU-11")
    def test_the_number_is_to_be_known_and_assignments_are_hard(self, rng):
        X = np.concatenate([rng.standard_normal((200, 1)), 2.0 + rng.standard_normal((200, 1))])
        errors = [KMeans(k, n_init=3, random_state=0).fit(X).inertia_ for k in (1, 2, 3, 4, 5)]
        assert np.all(np.diff(errors) < 0.0)  # no number is best by what is minimised
        middle = KMeans(2, n_init=3, random_state=0).fit(X).cluster_centers_.mean(axis=0, keepdims=True)
        assert GaussianMixture(2, random_state=0).fit(X).predict_proba(middle).max() < 0.9


@pytest.mark.spec("CLU-09")
@pytest.mark.filterwarnings("ignore:k-means did not converge")
@pytest.mark.parametrize("growing", ["N", "K", "D"])
def test_an_iteration_of_k_means_costs_no_more_than_the_product(growing, rng, monkeypatch):
    """An iteration compares every row once with every centre: at most K N D products of numbers."""
    products = []

    def counted(name):
        step = getattr(kmeans_engine, name)

        def measured(x, weights, shift, scale, centers, *state):
            products.append(len(x) * centers.size)
            return step(x, weights, shift, scale, centers, *state)

        monkeypatch.setattr(kmeans_engine, name, measured)

    counted("assign")
    counted("reassign")

    def cost(N, K, D):
        products.clear()
        X = rng.standard_normal((N, D))
        model = KMeans(K, init=X[:K], n_init=1, max_iter=6, tol=0.0).fit(X)
        # Beside the iterations, a pass before the first and one for the labels at the end.
        assert 0 < sum(products) <= (model.n_iter_ + 2) * K * N * D
        return sum(products) / model.n_iter_

    small = {"N": 3000, "K": 16, "D": 16}
    assert cost(**{**small, growing: 8 * small[growing]}) <= 8.0 * cost(**small)


@pytest.mark.spec("DIST-24")
def test_a_diagonal_covariance_is_linear_in_the_columns_and_less_expressive(rng):
    """D variances and no D² entries: 200,000 columns, whose full matrix would have 320 GB."""
    D = 200_000
    variances = rng.uniform(0.5, 2.0, D)
    diagonal = tractable.covariance.Diagonal(variances=variances)
    p = tractable.MultivariateNormal(mean=np.zeros(D), covariance=diagonal)
    x = rng.standard_normal((2, D))
    expected = norm.logpdf(x, scale=np.sqrt(variances)).sum(axis=1)
    np.testing.assert_allclose(p.log_prob(x), expected, rtol=1e-10)
    assert diagonal.n_free == D
    fitted = tractable.GaussianDensity(covariance_type="diag").fit(x)  # and so is its statistic
    np.testing.assert_allclose(fitted.distribution_.variance, x.var(axis=0), rtol=1e-9)
    assert fitted.statistic_.scatter.shape == (D,)
    correlated = rng.multivariate_normal([0.0, 0.0], [[1.0, 0.9], [0.9, 1.0]], 2000)
    scores = {
        kind: GaussianMixture(1, covariance_type=kind, random_state=0).fit(correlated).score(correlated)
        for kind in ("full", "diag")
    }
    rho = np.corrcoef(correlated.T)[0, 1]
    # What the diagonal one cannot say is the mutual information of the columns.
    np.testing.assert_allclose(scores["full"] - scores["diag"], -0.5 * np.log(1.0 - rho**2), rtol=1e-3)
