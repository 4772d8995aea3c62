"""Multidimensional scaling, classical and metric."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.manifold import MDS
from sklearn.manifold import ClassicalMDS as Peer

from tractable import ClassicalMDS, MetricMDS
from tractable.kernels import RBF
from tractable.manifold.classical_scaling import classical_scaling
from tractable.manifold.metric_mds import smacof
from tractable.primitives.stress import agnostic, guttman_transform
from tractable.spatial import Minkowski

#: Eight points whose eigenvalues are known.
EIGHT = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)


def apart(points):
    return cdist(points, points)


def aligned(found, wanted):
    """Coordinates with the signs of others."""
    return found * np.sign(np.sum(found * wanted, axis=0))


@pytest.mark.spec("DR-31", "DR-32", "W-20")
def test_eight_points():
    model = ClassicalMDS(metric="precomputed").fit(apart(EIGHT))
    np.testing.assert_allclose(model.eigenvalues_, [58.38378424, 42.36621576], rtol=1e-9)
    variances, axes = np.linalg.eigh(np.cov(EIGHT.T, ddof=0))
    np.testing.assert_allclose(model.eigenvalues_ / 8, variances[::-1], rtol=1e-12)
    scores = (EIGHT - EIGHT.mean(axis=0)) @ axes[:, ::-1]
    np.testing.assert_allclose(aligned(model.embedding_, scores), scores, atol=1e-12)
    np.testing.assert_allclose(apart(model.embedding_), apart(EIGHT), atol=1e-12)


@pytest.mark.spec("DR-32")
@pytest.mark.parametrize("n", [30, 700])
def test_euclidean_distances_give_principal_components(rng, n):
    """By all eigenvalues, and by Lanczos' method."""
    X = rng.normal(size=(n, 6)) @ np.diag([5.0, 3.0, 2.0, 1.0, 1.0, 0.5]) + 1e4
    model = ClassicalMDS(3).fit(X)
    centred = X - X.mean(axis=0)
    _, singular, axes = np.linalg.svd(centred, full_matrices=False)
    scores = centred @ axes[:3].T
    np.testing.assert_allclose(model.eigenvalues_, singular[:3] ** 2, rtol=1e-8)
    np.testing.assert_allclose(aligned(model.embedding_, scores), scores, atol=1e-6)
    new = rng.normal(size=(5, 6)) + 1e4
    placed = (new - X.mean(axis=0)) @ axes[:3].T
    signs = np.sign(np.sum(model.embedding_ * scores, axis=0))
    np.testing.assert_allclose(model.transform(new), placed * signs, atol=1e-6)


@pytest.mark.spec("DR-34")
def test_kernel_distances_give_kernel_principal_components(rng):
    """|φ - φ'|² = k + k' - 2k(x, x'): B is the centred kernel matrix."""
    X = rng.normal(size=(25, 3))
    gram = RBF(1.5)(X)
    squared = np.diag(gram)[:, None] + np.diag(gram) - 2.0 * gram
    model = ClassicalMDS(4, metric="precomputed").fit(np.sqrt(squared * (1.0 - np.eye(25))))
    centre = np.eye(25) - 1.0 / 25
    values, vectors = np.linalg.eigh(centre @ gram @ centre)
    np.testing.assert_allclose(model.eigenvalues_, values[::-1][:4], rtol=1e-10)
    scores = (vectors * np.sqrt(np.abs(values)))[:, ::-1][:, :4]
    np.testing.assert_allclose(aligned(model.embedding_, scores), scores, atol=1e-8)


@pytest.mark.spec("DR-31")
def test_scikit_learn_finds_the_same(rng):
    X = rng.normal(size=(40, 5))
    for metric, ours in (("euclidean", "euclidean"), ("cityblock", "manhattan"), ("cosine", "cosine")):
        wanted = Peer(n_components=3, metric=metric).fit(X)
        found = ClassicalMDS(3, metric=ours).fit(X)
        np.testing.assert_allclose(found.eigenvalues_, wanted.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(aligned(found.embedding_, wanted.embedding_), wanted.embedding_, atol=1e-8)


def test_distances_that_are_not_euclidean_have_no_more_axes():
    """The distances of a star, all leaves 2 apart and 1 from the middle, fit no Euclidean space."""
    star = np.full((5, 5), 2.0)
    star[0, :] = star[:, 0] = 1.0
    np.fill_diagonal(star, 0.0)
    model = ClassicalMDS(5, metric="precomputed").fit(star)
    assert model.eigenvalues_[-1] < -0.1
    assert np.all(model.embedding_[:, model.eigenvalues_ < 1e-9] == 0.0)
    np.testing.assert_allclose(model.transform(star), model.embedding_, atol=1e-12)


@pytest.mark.parametrize("model", [ClassicalMDS(3), MetricMDS(3), MetricMDS(2, metric=Minkowski(m=3))])
def test_a_row_of_the_fit_is_placed_where_it_is(model, rng):
    X = rng.normal(size=(30, 4))
    points = model.fit_transform(X)
    np.testing.assert_allclose(model.transform(X), points, atol=1e-9)
    np.testing.assert_allclose(model.transform(X[7:8]), points[7:8], atol=1e-9)
    assert np.isfinite(model.transform(rng.normal(size=(4, 4)))).all()


def test_a_new_point_has_its_distances(rng):
    """In a plane distances of a fourth point determine it, by both."""
    X, new = rng.normal(size=(12, 2)), rng.normal(size=(3, 2))
    for model in (ClassicalMDS(), MetricMDS(eps=1e-12, max_iter=1000)):
        points = model.fit_transform(X)
        placed = model.transform(new)
        np.testing.assert_allclose(cdist(placed, points), cdist(new, X), atol=1e-5)
    given = MetricMDS(metric="precomputed", eps=1e-12, max_iter=1000).fit(cdist(X, X))
    np.testing.assert_allclose(given.transform(cdist(new, X)), placed, atol=1e-9)


@pytest.mark.spec("DR-31")
def test_stress_never_rises_and_is_the_one_of_scikit_learn(rng):
    X = rng.normal(size=(60, 5))
    ours = MetricMDS(eps=0.0, max_iter=40).fit
    with pytest.warns(UserWarning, match="max_iter"):
        model = ours(X)
    assert np.all(np.diff(model.objective_trace_) >= -1e-9)
    assert model.n_iter_ == 40
    assert not model.converged_
    found = apart(model.embedding_)
    np.testing.assert_allclose(model.stress_, 0.5 * np.sum((apart(X) - found) ** 2), rtol=1e-10)
    np.testing.assert_allclose(model.normalized_stress_**2, 2 * model.stress_ / np.sum(apart(X) ** 2))
    start = ClassicalMDS().fit_transform(X)
    peer = MDS(n_init=1, init="classical_mds", max_iter=40, eps=0.0).fit(X)
    np.testing.assert_allclose(model.stress_, peer.stress_, rtol=1e-9)
    assert model.stress_ < 0.5 * np.sum((apart(X) - apart(start)) ** 2)


def test_the_map_is_a_stationary_point_of_stress(rng):
    X = rng.normal(size=(15, 3))
    model = MetricMDS(eps=1e-14, max_iter=20_000).fit(X)

    def stress(points):
        return 0.5 * np.sum((apart(X) - apart(points)) ** 2)

    step = 1e-5 * np.eye(30).reshape(30, 15, 2)
    slopes = [(stress(model.embedding_ + s) - stress(model.embedding_ - s)) / 2e-5 for s in step]
    np.testing.assert_allclose(slopes, 0.0, atol=2e-4)


def test_random_starts_are_repeatable_and_the_best_is_kept(rng):
    X = rng.normal(size=(25, 6))
    fits = [MetricMDS(init="random", n_init=n, random_state=3).fit(X) for n in (1, 1, 6)]
    np.testing.assert_array_equal(fits[0].embedding_, fits[1].embedding_)
    assert fits[2].stress_ <= fits[0].stress_


def test_compiled_steps_are_those_of_numpy(rng, monkeypatch):
    points, references, weights = rng.normal(size=(70, 3)), rng.normal(size=(600, 3)), rng.random(600)
    points[0] = references[0]
    distances = rng.random((70, 600))
    wanted = agnostic.guttman_transform(distances, points, weights, references)
    monkeypatch.setattr("tractable.primitives.COMPILED_WORK", 0)
    for found, want in zip(guttman_transform(distances, points, weights, references), wanted, strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-10, atol=1e-10)


def test_an_interrupted_search_keeps_the_best_so_far(rng, monkeypatch):
    X, calls = rng.normal(size=(20, 4)), []

    def interrupted(*given):
        calls.append(1)
        if len(calls) > 6:
            raise KeyboardInterrupt
        return guttman_transform(*given)

    monkeypatch.setattr("tractable.manifold.metric_mds.guttman_transform", interrupted)
    model = MetricMDS(eps=0.0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert model.n_iter_ == 5
    assert model.embedding_.shape == (20, 2)


GIVEN = {
    "square": (np.zeros((3, 2)), "square"),
    "negative": (np.array([[0.0, -1.0], [-1.0, 0.0]]), "negative"),
    "diagonal": (np.array([[0.5, 1.0], [1.0, 0.0]]), "distance of 0 from itself is 0.5"),
    "not symmetric": (np.array([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
    "missing": (np.array([[0.0, np.nan], [np.nan, 0.0]]), "NaN"),
    "tiny": (np.array([[0.0, 1e-170], [1e-170, 0.0]]), "so small that their squares underflow"),
}


@pytest.mark.parametrize(("X", "named"), GIVEN.values(), ids=GIVEN)
@pytest.mark.parametrize("kind", [ClassicalMDS, MetricMDS])
def test_what_are_no_distances_is_refused(kind, X, named):
    model = kind(metric="precomputed")
    with pytest.raises(ValueError, match=f"X.*{named}"):
        model.fit(X)
    assert not hasattr(model, "embedding_")


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (ClassicalMDS(0), "n_components"),
        (ClassicalMDS(metric="miles"), "metric.*precomputed"),
        (MetricMDS(init="best"), "init"),
        (MetricMDS(max_iter=0), "max_iter"),
        (MetricMDS(eps=-1.0), "eps"),
        (MetricMDS(n_init=1.5), "n_init"),
    ],
)
def test_parameters_are_checked(model, named):
    with pytest.raises(ValueError, match=named):
        model.fit(EIGHT)


@pytest.mark.parametrize("model", [ClassicalMDS(), MetricMDS()], ids=["classical", "metric"])
def test_rows_too_small_to_square_are_refused(model):
    with pytest.raises(ValueError, match="X has values so small that their squares underflow"):
        model.fit(1e-170 * EIGHT)  # whose distances would all be zero, and the map one point
    scales = [aligned(model.fit(scale * EIGHT).embedding_ / scale, EIGHT) for scale in (1.0, 1e-100, 1e100)]
    np.testing.assert_allclose(scales[1:], [scales[0]] * 2, rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("error")
def test_a_row_far_from_all_others_is_placed_as_far():
    model = MetricMDS().fit(EIGHT)
    for far in (1e3, 1e60, 1e100):
        found = model.transform([[far, far]])
        assert np.linalg.norm(found) == pytest.approx(far * np.sqrt(2.0), rel=1e-2)


def test_negative_distances_of_new_objects_are_refused():
    model = ClassicalMDS(metric="precomputed").fit(apart(EIGHT))
    with pytest.raises(ValueError, match=r"X.*negative"):
        model.transform(-apart(EIGHT))


def test_weights_of_distances_are_repetitions(rng):
    times = rng.integers(0, 3, 8)
    whole = apart(EIGHT)
    repeated = np.repeat(np.repeat(whole, times, axis=0), times, axis=1)
    for kind in (ClassicalMDS, MetricMDS):
        weighted = kind(metric="precomputed").fit(whole, sample_weight=times)
        wanted = kind(metric="precomputed").fit_transform(repeated)
        np.testing.assert_allclose(np.repeat(weighted.embedding_, times, axis=0), wanted, atol=1e-8)


def test_engines_of_one_point():
    assert classical_scaling(np.zeros((1, 1)), 2).points.tolist() == [[0.0, 0.0]]
    assert smacof(np.zeros((1, 1)), np.zeros((1, 2)), np.ones(1), max_iter=5, tol=0.1).converged
