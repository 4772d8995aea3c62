"""Densities by neighbours: worked numbers, mass and tails, cross-validation, edges."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal

import tractable
from quick import some
from tractable.base import Rows
from tractable.density import DegenerateCovarianceWarning, InfiniteDensityWarning
from tractable.density.adaptive_kernel_density.cross_validation import (
    candidates,
    cross_validated,
    sample_point_scores,
)
from tractable.density.adaptive_kernel_density.windows import unique_rows
from tractable.spatial import Mahalanobis

TEN = np.array([8.2075, 9.8171, 0.1442, 8.8333, 9.4084, 9.0987, 0.7269, 1.0454, -0.1108, 9.4905])[:, None]
EIGHT = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)


@pytest.mark.spec("DENS-20", "W-18")
def test_three_neighbours_of_ten_points():
    model = tractable.NearestNeighborDensity(3).fit(TEN)
    found = np.exp(model.score_samples([[0.5], [5.0], [9.0]]))
    np.testing.assert_allclose(found, [0.275028, 0.037931, 0.367287], atol=5e-7)


@pytest.mark.spec("DENS-20", "DENS-04", "W-19")
def test_three_neighbours_of_the_course_points():
    model = tractable.NearestNeighborDensity(3).fit(EIGHT)
    assert np.exp(model.score_samples([[4.0, 6.0]])) == pytest.approx(3 / (8 * np.pi * 8), rel=1e-14)
    corrected = tractable.NearestNeighborDensity(3, correct_bias=True).fit(EIGHT)
    assert np.exp(corrected.score_samples([[4.0, 6.0]])) == pytest.approx(2 / (8 * np.pi * 8), rel=1e-14)


@pytest.mark.parametrize(
    ("metric", "volume"),
    [
        ("manhattan", lambda r: (2 * r) ** 2 / 2),
        ("chebyshev", lambda r: (2 * r) ** 2),
        (tractable.spatial.Minkowski(m=2), lambda r: np.pi * r**2),
        (Mahalanobis(covariance=[[4.0, 1.0], [1.0, 2.0]]), lambda r: np.pi * r**2 * np.sqrt(7.0)),
    ],
)
def test_balls_of_other_metrics(rng, metric, volume):
    X, at = rng.normal(size=(40, 2)), rng.normal(size=(5, 2))
    model = tractable.NearestNeighborDensity(4, metric=metric).fit(X)
    radius = tractable.NearestNeighbors(n_neighbors=4, metric=metric).fit(X).kneighbors(at)[0][:, -1]
    np.testing.assert_allclose(np.exp(model.score_samples(at)), 4 / (40 * volume(radius)), rtol=1e-12)


@pytest.mark.spec("DENS-04", "EST-14")
def test_the_share_of_rows_in_a_region_is_binomial(rng):
    """E[K/N] = P, var(K/N) = P (1 - P) / N, which vanishes: K/(N V) tends to the region's mean density."""
    low, high, repeats = 0.0, 0.5, 4000
    P = float(np.diff(tractable.Normal(mean=0.0, variance=1.0).cdf([low, high]))[0])
    for n in (20, 200):
        draws = rng.normal(size=(repeats, n))
        share = np.sum((draws > low) & (draws < high), axis=1) / n
        spread = np.sqrt(P * (1 - P) / n)
        assert abs(share.mean() - P) < 5 * spread / np.sqrt(repeats)
        assert abs(share.var() / spread**2 - 1) < 5 * np.sqrt(2 / repeats) + 5 / np.sqrt(n * P * repeats)


@pytest.mark.spec("E000-29")
def test_the_estimate_is_too_high_by_k_over_k_minus_one_inside_uniform_rows(rng):
    """For uniform rows V is a Beta(K, N - K + 1) variable: E[K/(N V)] = K/(K - 1) up to the edges."""
    k, n, repeats = 5, 100, 4000
    X = rng.uniform(-0.5, 0.5, (repeats, n))
    radius = np.sort(np.abs(X), axis=1)[:, k - 1]
    found = k / (n * 2 * radius)
    assert abs(found.mean() - k / (k - 1)) < 5 * found.std() / np.sqrt(repeats)
    one = tractable.NearestNeighborDensity(k).fit(X[0][:, None]).score_samples([[0.0]])
    assert np.exp(one[0]) == pytest.approx(found[0])
    corrected = tractable.NearestNeighborDensity(k, correct_bias=True).fit(X[0][:, None])
    assert np.exp(corrected.score_samples([[0.0]])[0] - one[0]) == pytest.approx((k - 1) / k)


@pytest.mark.spec("E000-29", "DENS-05")
def test_the_estimate_has_no_integral_and_says_so(rng):
    model = tractable.NearestNeighborDensity(3).fit(rng.normal(size=(20, 2)))
    far = np.array([[1e6, 0.0], [1e9, 0.0]])
    np.testing.assert_allclose(np.exp(model.score_samples(far)) * np.pi * far[:, 0] ** 2, 3 / 20, rtol=1e-5)
    assert model.normalized_ is False
    assert not hasattr(model, "sample")
    assert not hasattr(model, "distribution_")
    # Each factor of e in radius adds 2 π K / (N π): the mass grows with the logarithm of the disc.
    line = tractable.NearestNeighborDensity(3).fit(rng.normal(size=(20, 1)))
    masses = [
        quad(lambda t: 2 * np.exp(t + line.score_samples([[np.exp(t)]])[0]), np.log(a), np.log(10 * a))[0]
        for a in (1e3, 1e6)
    ]
    np.testing.assert_allclose(masses, 3 / 20 * np.log(10), rtol=1e-2)


@pytest.mark.spec("E000-29")
def test_infinite_density_is_said():
    X = np.array([[0.0], [0.0], [0.0], [1.0]])
    with pytest.warns(InfiniteDensityWarning, match="1 points hold n_neighbors=3 rows"):
        model = tractable.NearestNeighborDensity(3).fit(X)
    assert model.n_infinite_ == 1
    assert model.score_samples([[0.0]]).tolist() == [np.inf]
    assert np.isfinite(model.score_samples([[0.5]])).all()
    assert tractable.NearestNeighborDensity(4).fit(X).n_infinite_ == 0


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"n_neighbors": 9}, "n_neighbors.*n_samples = 8"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"n_neighbors": 1, "correct_bias": True}, "n_neighbors"),
        ({"metric": "cosine"}, "metric"),
        ({"metric": "none"}, "metric"),
        ({"index": "none"}, "index"),
    ],
)
def test_bad_parameters_of_the_neighbour_density(options, named):
    with pytest.raises(ValueError, match=named):
        tractable.NearestNeighborDensity(**options).fit(EIGHT)


def slow_sample_point(X, at, k, shrinkage):
    """The formula, row by row, in standard units."""
    z, q = X / X.std(axis=0), at / X.std(axis=0)
    total = np.zeros(len(q))
    for i in range(len(z)):
        near = np.argsort(np.linalg.norm(z - z[i], axis=1))[1 : k + 1]
        away = z[near] - z[i]
        sigma = away.T @ away / k
        sigma = (1 - shrinkage) * sigma + shrinkage * np.trace(sigma) / z.shape[1] * np.eye(z.shape[1])
        total += multivariate_normal(z[i], sigma).pdf(q) / len(z)
    return total / np.prod(X.std(axis=0))


@pytest.mark.parametrize(("k", "shrinkage"), [(1, 0.1), (4, 0.1), (10, 0.0), (10, 1.0)])
@pytest.mark.spec("DENS-22")
def test_windows_are_shaped_by_the_neighbours_of_their_row(rng, k, shrinkage):
    X, at = rng.normal(size=(30, 2)) * [1.0, 100.0], rng.normal(size=(7, 2)) * [1.0, 100.0]
    model = tractable.AdaptiveKernelDensity(k, shrinkage=shrinkage).fit(X)
    np.testing.assert_allclose(
        np.exp(model.score_samples(at)), slow_sample_point(X, at, k, shrinkage), rtol=1e-9
    )
    np.testing.assert_allclose(model.distribution_.log_prob(at), model.score_samples(at), rtol=1e-9)


@pytest.mark.spec("DENS-22", "E000-30")
def test_the_sample_point_form_integrates_to_one_and_the_balloon_form_does_not(rng):
    X = rng.normal(size=(25, 1))
    sample_point = tractable.AdaptiveKernelDensity(5).fit(X)
    balloon = tractable.AdaptiveKernelDensity(5, variant="balloon").fit(X)
    assert sample_point.mass(-60, 60, 40_000) == pytest.approx(1.0, abs=1e-6)
    assert (sample_point.normalized_, sample_point.mass_) == (True, 1.0)
    assert not balloon.normalized_
    assert balloon.mass_ > 1.2
    masses = [balloon.mass(-reach, reach, 40_000) for reach in (60, 600, 6000)]
    assert 2.0 < masses[0] < 3.0
    # 0.242/|x| on either side: another ln 10 for each ten times the reach.
    tail = np.exp(-0.5) / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(np.diff(masses), 2 * tail * np.log(10), rtol=2e-2)
    assert not hasattr(balloon, "sample")
    assert not hasattr(balloon, "distribution_")
    assert hasattr(sample_point, "condition")


@pytest.mark.spec("E000-30", "DENS-22")
def test_the_tail_of_the_balloon_form(rng):
    balloon = tractable.AdaptiveKernelDensity(4, variant="balloon").fit(rng.normal(size=(30, 1)))
    far = np.array([[1e5], [-1e6], [1e7]])
    np.testing.assert_allclose(
        np.exp(balloon.score_samples(far)) * np.abs(far[:, 0]), 0.24197072451914337, rtol=1e-4
    )


@pytest.mark.spec("DENS-22")
def test_the_balloon_form_is_its_formula(rng):
    X, at, k = rng.normal(size=(30, 2)), rng.normal(size=(5, 2)), 6
    model = tractable.AdaptiveKernelDensity(k, variant="balloon", shrinkage=0.0).fit(X)
    z, q = X / X.std(axis=0), at / X.std(axis=0)
    for row, found in zip(q, np.exp(model.score_samples(at)), strict=True):
        away = z[np.argsort(np.linalg.norm(z - row, axis=1))[:k]] - row
        density = multivariate_normal(row, away.T @ away / k).pdf(z).mean()
        assert found == pytest.approx(density / np.prod(X.std(axis=0)), rel=1e-9)


@pytest.mark.spec("DENS-23")
def test_the_number_of_neighbours_is_that_of_the_best_likelihood_left_out(rng):
    X = np.concatenate([rng.normal(size=(150, 2)) * [0.1, 1.0], rng.normal(size=(50, 2)) * 3.0 + 8.0])
    model = tractable.AdaptiveKernelDensity().fit(X)
    assert model.n_neighbors_ == model.cv_n_neighbors_[np.argmax(model.cv_scores_)]
    assert model.cv_n_neighbors_[0] < model.n_neighbors_ < model.cv_n_neighbors_[-1]
    fresh = np.concatenate([rng.normal(size=(1500, 2)) * [0.1, 1.0], rng.normal(size=(500, 2)) * 3.0 + 8.0])
    ends = [tractable.AdaptiveKernelDensity(int(k)).fit(X) for k in model.cv_n_neighbors_[[0, -1]]]
    assert all(model.score(fresh) > other.score(fresh) for other in ends)
    assert model.score(fresh) > tractable.GaussianDensity().fit(X).score(fresh)


@pytest.mark.slow
@pytest.mark.spec("DENS-23")
def test_one_search_judges_every_number_as_a_model_of_its_own_would(rng):
    X = rng.normal(size=(40, 2))
    unique = unique_rows(Rows(data=X))
    tried = candidates(unique)
    found = cross_validated(unique, tried, 0.1, sample_point_scores)
    fold = np.random.default_rng(0).permutation(40) % 5
    for k, score in zip(tried, found, strict=True):
        total = 0.0
        for f in range(5):
            train = unique.points[fold != f]
            # Units are those of all rows; a copy of a density in the units of the folds would differ.
            near = [np.argsort(np.linalg.norm(train - row, axis=1))[1 : k + 1] for row in train]
            for x in unique.points[fold == f]:
                density = 0.0
                for row, own in zip(train, near, strict=True):
                    away = train[own] - row
                    sigma = away.T @ away / len(own)
                    sigma = 0.9 * sigma + 0.1 * np.trace(sigma) / 2 * np.eye(2)
                    density += multivariate_normal(row, sigma).pdf(x) / len(train)
                total += np.log(density)
        assert score == pytest.approx(total / 40, rel=1e-9)
        if k > 6:
            break


def squared_error(model, at, truth, volume):
    return volume * np.mean((np.exp(model.score_samples(at)) - truth) ** 2)


@pytest.mark.spec("DENS-23", "E000-30")
@pytest.mark.parametrize(("dim", "n"), some([(1, 300), (2, 200)], several=True))
def test_the_balloon_form_is_chosen_by_its_squared_error(rng, dim, n):
    """Its mass is not one, and its likelihood is best with two neighbours, at forty times the error."""
    side = np.linspace(-4.0, 4.0, 1001 if dim == 1 else 61)
    at = np.stack(np.meshgrid(*[side] * dim), axis=-1).reshape(-1, dim)
    truth = multivariate_normal(np.zeros(dim)).pdf(at)
    X = rng.standard_normal((n, dim))
    chosen = tractable.AdaptiveKernelDensity(variant="balloon").fit(X)
    tried = [
        tractable.AdaptiveKernelDensity(int(k), variant="balloon").fit(X) for k in chosen.cv_n_neighbors_[::2]
    ]
    others = [squared_error(model, at, truth, 8.0**dim) for model in tried]
    found = squared_error(chosen, at, truth, 8.0**dim)
    assert found < 2.0 * min(others)
    assert found < 0.1 * others[0]
    assert chosen.cv_scores_[0] < chosen.cv_scores_.max()


@pytest.mark.slow
def test_the_scores_of_the_balloon_form_are_in_the_units_of_the_rows(rng):
    X = rng.standard_normal((60, 2))
    one, other = (tractable.AdaptiveKernelDensity(variant="balloon").fit(X * u) for u in (1.0, [10.0, 0.5]))
    assert one.n_neighbors_ == other.n_neighbors_
    np.testing.assert_allclose(other.cv_scores_ * 5.0, one.cv_scores_, rtol=1e-8)


@pytest.mark.spec("DENS-23")
def test_of_many_rows_a_thousand_are_left_out(rng):
    X = rng.standard_normal((2600, 1))
    seen = []

    def counting(unique, x, tried, shrinkage):
        seen.append((len(unique.points), len(x)))
        return sample_point_scores(unique, x, tried, shrinkage)

    unique = unique_rows(Rows(data=X))
    found = cross_validated(unique, np.array([100, 200]), 0.1, counting)
    assert seen == [(2080, 520)] * 2
    truth = -0.5 * np.log(2 * np.pi * np.e)
    assert np.all(np.abs(found - truth) < 5 * np.sqrt(0.5 / 1040))


def test_windows_lie_along_the_rows(rng):
    t = rng.uniform(0, 6, 400)
    X = np.column_stack([t, np.sin(t)]) + 0.01 * rng.normal(size=(400, 2))
    model = tractable.AdaptiveKernelDensity(25).fit(X)
    place = np.argmin(np.abs(model.distribution_.components.mean[:, 0] - np.pi))
    values, vectors = np.linalg.eigh(model.window_covariances_[place])
    assert values[1] > 5 * values[0]
    assert abs(vectors[:, 1] @ [1, -1]) / np.sqrt(2) > 0.95  # the slope of the sine at π


def test_copies_are_one_place_that_counts_twice(rng):
    X = rng.normal(size=(20, 2))
    twice = tractable.AdaptiveKernelDensity(4).fit(np.concatenate([X, X]))
    weighted = tractable.AdaptiveKernelDensity(4).fit(X, sample_weight=np.full(20, 2.0))
    np.testing.assert_allclose(twice.score_samples(X), weighted.score_samples(X))
    assert twice.distribution_.n_components == 20
    halves = tractable.AdaptiveKernelDensity(2).fit(X, sample_weight=np.ones(20))
    np.testing.assert_allclose(weighted.score_samples(X), halves.score_samples(X))


def test_draws_follow_the_rows(rng):
    X = rng.normal(size=(100, 2)) @ [[1.0, 0.5], [0.0, 0.3]] + [5.0, -3.0]
    model = tractable.AdaptiveKernelDensity().fit(X)
    draws = model.sample(4000, random_state=0)
    error = 5 * draws.std(axis=0) / np.sqrt(4000)
    assert np.all(np.abs(draws.mean(axis=0) - X.mean(axis=0)) < error)


def test_constant_columns_are_said(rng):
    X = np.column_stack([rng.normal(size=20), np.full(20, 7.0)])
    with pytest.warns(DegenerateCovarianceWarning, match=r"\[1\]"):
        model = tractable.AdaptiveKernelDensity(3).fit(X)
    assert np.isfinite(model.score_samples(X)).all()


@pytest.mark.parametrize(
    ("options", "X", "named"),
    [
        ({"n_neighbors": 8}, EIGHT, "n_neighbors"),
        ({"n_neighbors": 0}, EIGHT, "n_neighbors"),
        ({"n_neighbors": "loo"}, EIGHT, "n_neighbors"),
        ({"variant": "both"}, EIGHT, "variant"),
        ({"shrinkage": -0.1}, EIGHT, "shrinkage"),
        ({"shrinkage": 1.5}, EIGHT, "shrinkage"),
        ({"shrinkage": 0.0, "n_neighbors": 1}, EIGHT, "shrinkage"),
        ({}, EIGHT[:1], "X"),
        ({}, EIGHT * 1e200, "X has values so large"),
        ({}, EIGHT * 1e-200, "X has columns that vary by so little"),
        ({}, EIGHT[[0, 0, 0]], "X"),
    ],
)
def test_bad_input_of_the_adaptive_density(options, X, named):
    with pytest.raises(ValueError, match=named):
        tractable.AdaptiveKernelDensity(**options).fit(X).score_samples(X)


@pytest.mark.parametrize("n_neighbors", ["cv", 1])
def test_weights_that_hold_no_neighbour_are_refused(rng, n_neighbors):
    """Weights are frequencies: a total of one is one row, whatever their number."""
    model = tractable.AdaptiveKernelDensity(n_neighbors)
    with pytest.raises(ValueError, match="n_neighbors must be at most"):
        model.fit(rng.standard_normal((200, 2)), sample_weight=np.full(200, 1 / 200))


def test_bad_boxes():
    model = tractable.AdaptiveKernelDensity(2).fit(EIGHT)
    for low, high in (([0, 0], [1, 0]), (0.0, np.inf)):
        with pytest.raises(ValueError, match="low"):
            model.mass(low, high)
    with pytest.raises(ValueError, match="n_points"):
        model.mass(0.0, 1.0, 0)


@pytest.mark.parametrize("shrinkage", [0.1, 1.0])
def test_windows_of_fewer_neighbours_than_columns_are_of_low_rank(shrinkage, rng):
    """Their densities are those of the dense covariances, and 1,000 columns make no (1,000, 1,000) matrix."""
    X, at = rng.standard_normal((30, 12)), rng.standard_normal((9, 12))
    model = tractable.AdaptiveKernelDensity(4, shrinkage=shrinkage).fit(X)
    assert model.distribution_.components.structure.rank == 4
    np.testing.assert_allclose(
        np.exp(model.score_samples(at)), slow_sample_point(X, at, 4, shrinkage), rtol=1e-9
    )
    assert model.window_covariances_.shape == (30, 12, 12)
    wide = tractable.AdaptiveKernelDensity().fit(rng.standard_normal((50, 1000)))
    assert wide.distribution_.components.structure.factor.nbytes < 2e7  # of 4e8 in dense matrices
    with pytest.raises(ValueError, match="shrinkage must be larger"):
        tractable.AdaptiveKernelDensity(4, shrinkage=0.0).fit(X)
