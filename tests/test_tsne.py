"""t-SNE: probabilities, forces, maps and further rows."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn import manifold
from sklearn.datasets import load_digits

import tractable
from tractable import TSNE, trustworthiness
from tractable.manifold.tsne.estimator import distinct_rows, knn_probabilities
from tractable.manifold.tsne.steps import embed_points, joint_probabilities
from tractable.primitives.tsne import GridForces, PairForces, agnostic, neighbor_probabilities, potential


def slow_joint(X, perplexity):
    """P by the definition: the width of each row by bisection."""
    squared, n = cdist(X, X, "sqeuclidean"), len(X)
    p = np.zeros((n, n))
    for i in range(n):
        others, low, high = np.delete(squared[i], i), -50.0, 50.0
        for _ in range(200):
            beta = np.exp(0.5 * (low + high))
            row = np.exp(-beta * (others - others.min()))
            row /= row.sum()
            entropy = -np.sum(row[row > 0] * np.log2(row[row > 0]))
            low, high = (0.5 * (low + high), high) if 2**entropy > perplexity else (low, 0.5 * (low + high))
        p[i, np.arange(n) != i] = row
    return (p + p.T) / (2 * n)


def slow_kl(joint, Z):
    """KL(P‖Q), Q normalised over all ordered pairs k ≠ l."""
    near = 1.0 / (1.0 + squareform(pdist(Z, "sqeuclidean")))
    np.fill_diagonal(near, 0.0)
    q, some = near / near.sum(), joint > 0
    return np.sum(joint[some] * np.log(joint[some] / q[some]))


def slow_gradient(joint, Z):
    near = 1.0 / (1.0 + squareform(pdist(Z, "sqeuclidean")))
    np.fill_diagonal(near, 0.0)
    force = (joint - near / near.sum()) * near
    return 4.0 * np.sum(force[:, :, None] * (Z[:, None] - Z), axis=1)


@pytest.mark.spec("DR-35", "DR-36", "DR-40")
@pytest.mark.parametrize("compiled", [False, True])
def test_joint_probabilities_by_the_definition(rng, monkeypatch, compiled):
    if compiled:
        monkeypatch.setattr("tractable.primitives.COMPILED_WORK", 0)
        monkeypatch.setattr("tractable.primitives.tsne.DENSE", 0)
    X = rng.normal(size=(40, 4)) * 1e3
    model = TSNE(perplexity=7.0, max_iter=1).fit(X)
    joint = model._joint(exact=True)
    np.testing.assert_allclose(joint.dense(), slow_joint(X, 7.0), rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(joint.dense(), joint.dense().T)
    assert joint.values.sum() == pytest.approx(1.0)
    near = TSNE(perplexity=7.0, max_iter=1, method="fft").fit(X)._joint(exact=False)
    assert near.values.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(near.dense(), joint.dense(), atol=0.02 * joint.values.max())


@pytest.mark.spec("DR-40")
@pytest.mark.parametrize("perplexity", [1.5, 5.0, 19.0])
def test_every_row_has_the_perplexity(rng, perplexity):
    p = neighbor_probabilities(rng.random((30, 20)) ** 4, np.ones((30, 20)), perplexity)
    np.testing.assert_allclose(
        2 ** -np.sum(p * np.log2(np.maximum(p, 1e-300)), axis=1), perplexity, rtol=1e-9
    )


def test_perplexities_that_cannot_be_had(rng):
    """More equal neighbours than the perplexity have it all; of fewer all have the same."""
    squared = np.array([[0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 2.0, 3.0]])
    p = neighbor_probabilities(squared, np.ones((2, 4)), 2.0)
    np.testing.assert_allclose(p[0], [1 / 3, 1 / 3, 1 / 3, 0.0], atol=1e-12)
    np.testing.assert_allclose(neighbor_probabilities(squared, np.ones((2, 4)), 4.0)[1], 0.25, atol=1e-6)
    few = neighbor_probabilities(squared, np.array([[1.0, 1.0, 0.0, 0.0]] * 2), 3.0)
    assert np.all(few[:, 2:] == 0.0)
    np.testing.assert_allclose(few.sum(axis=1), 1.0)


@pytest.mark.spec("DR-40")
def test_widths_by_the_neighbour_of_a_number(rng):
    X = rng.normal(size=(30, 3))
    joint = TSNE(perplexity=5, bandwidth="knn", max_iter=1).fit(X)._joint(exact=True).dense()
    squared = cdist(X, X, "sqeuclidean")
    widths = np.sort(squared, axis=1)[:, 5]  # the fifth, itself not counted
    p = np.exp(-0.5 * squared / widths[:, None])
    np.fill_diagonal(p, 0.0)
    p /= p.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(joint, (p + p.T) / 60, rtol=1e-10)
    same = knn_probabilities(np.zeros((1, 3)), np.ones((1, 3)), 2.0)
    np.testing.assert_allclose(same, 1 / 3)


@pytest.mark.spec("DR-37", "DR-38", "E000-66")
def test_the_gradient_is_that_of_the_divergence(rng):
    """By differences; Q is normalised over all pairs, and another normaliser has another gradient."""
    X, Z = rng.normal(size=(9, 4)), rng.normal(size=(9, 2))
    joint = slow_joint(X, 3.0)
    np.fill_diagonal(joint, 0.0)
    step = 1e-6 * np.eye(18).reshape(18, 9, 2)
    slopes = np.array([(slow_kl(joint, Z + s) - slow_kl(joint, Z - s)) / 2e-6 for s in step]).reshape(9, 2)
    np.testing.assert_allclose(slow_gradient(joint, Z), slopes, atol=1e-8)
    found, z = PairForces(joint=joint, weights=np.ones(9))(Z, 1.0)
    np.testing.assert_allclose(4.0 * found, slopes, atol=1e-8)
    near = 1.0 / (1.0 + squareform(pdist(Z, "sqeuclidean"))) - np.eye(9)
    assert z == pytest.approx(near.sum())
    by_row = near / near.sum(axis=1, keepdims=True)
    symmetrised = (by_row + by_row.T) / 18
    assert np.abs(symmetrised - near / z).max() > 1e-3


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_compiled_pairs_are_those_of_numpy(rng, monkeypatch, dim):
    joint, y, weights = rng.random((90, 90)), 3.0 * rng.normal(size=(90, dim)), 1.0 + rng.random(90)
    wanted, z = PairForces(joint=joint, weights=weights)(y, 4.0)
    monkeypatch.setattr("tractable.primitives.tsne.DENSE", 0)
    found, again = PairForces(joint=joint, weights=weights)(y, 4.0)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    assert again == pytest.approx(z)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("width", [1e-4, 0.3, 4.0])
def test_the_grid_has_the_forces_of_all_pairs(rng, monkeypatch, width, compiled):
    """Splines interpolate: the error is that of the potential of a point at itself, two percent.

    Maps have about one point in a unit square, as here the widest has, and then few percent of a slope.
    """
    if compiled:
        monkeypatch.setattr("tractable.primitives.COMPILED_WORK", 0)
    y = width * rng.normal(size=(300, 2))
    weights = rng.integers(1, 4, 300).astype(float)
    p = neighbor_probabilities(rng.random((300, 6)), np.ones((300, 6)), 3.0)
    near = np.argsort(rng.random((300, 300)) + 9.0 * np.eye(300), axis=1)[:, :6]
    joint = joint_probabilities(p, near, weights)
    wanted, z = PairForces(joint=joint.dense(), weights=weights)(y, 1.0)
    found, again = GridForces(joint.indptr, joint.indices, joint.values, weights)(y, 1.0)
    assert abs(again - z) < 0.02 * np.sum(weights**2)
    assert np.abs(found - wanted).max() < 0.03 * np.abs(wanted).max()


def test_the_grid_grows_with_the_map(rng):
    y, weights = rng.normal(size=(200, 2)), np.ones(200)
    grid = GridForces(np.zeros(201, int), np.zeros(0, int), np.zeros(0), weights)
    for width in (1e-3, 1.0, 30.0, 31.0, 3000.0, 5.0):
        wanted = potential(width * y, width * y, weights)[0]
        found = grid.grid.field(width * y, weights)[1]
        # A map of thousands of widths has a coarser grid, and points in it are far from each other.
        np.testing.assert_allclose(found, wanted, rtol=0.01, atol=0.03 if width < 1000.0 else 0.5)
        assert np.all(grid.grid.nodes < 2400)


def test_potentials_of_new_points(rng, monkeypatch):
    y, z, weights = rng.normal(size=(20, 3)), rng.normal(size=(600, 3)), rng.random(600)
    wanted = agnostic.potential(y, z, weights)
    monkeypatch.setattr("tractable.primitives.COMPILED_WORK", 0)
    for found, want in zip(potential(y, z, weights), wanted, strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-10)


@pytest.mark.spec("DR-39", "DR-37")
def test_the_divergence_falls_and_is_reported(rng):
    X = rng.normal(size=(80, 5))
    fits = [TSNE(max_iter=n).fit(X) for n in (251, 300, 750)]
    divergences = [model.kl_divergence_ for model in fits]
    assert divergences == sorted(divergences, reverse=True)
    joint = slow_joint(X, fits[2].perplexity_)
    assert divergences[2] == pytest.approx(slow_kl(joint, fits[2].embedding_), rel=1e-6)
    assert np.abs(slow_gradient(joint, fits[2].embedding_)).max() < 1e-5
    peer = manifold.TSNE(perplexity=fits[2].perplexity_, method="exact", random_state=0).fit(X)
    assert divergences[2] <= 1.02 * peer.kl_divergence_


@pytest.mark.parametrize("n", [3, 4, 6])
def test_few_rows_use_no_grid(rng, n):
    X = rng.normal(size=(n, 5))
    grid, pairs = (TSNE(method=method, random_state=0).fit(X) for method in ("fft", "exact"))
    assert grid.kl_divergence_ == pairs.kl_divergence_ >= 0.0
    np.testing.assert_array_equal(grid.embedding_, pairs.embedding_)


@pytest.mark.slow
@pytest.mark.spec("DR-41")
def test_digits_by_the_grid_and_by_all_pairs():
    """Neighbours are preserved, and the grid costs less than two percent of divergence."""
    X = load_digits().data[:1200]
    fits = {method: TSNE(method=method).fit(X) for method in ("exact", "fft")}
    for model in fits.values():
        assert trustworthiness(X, model.embedding_, n_neighbors=10) > 0.98
    linear = tractable.ClassicalMDS().fit_transform(X)
    assert trustworthiness(X, linear, n_neighbors=10) < 0.9
    full = fits["exact"]._joint(exact=True)
    judged = {name: slow_kl(full.dense(), model.embedding_) for name, model in fits.items()}
    assert judged["fft"] < 1.02 * judged["exact"]


@pytest.mark.spec("DR-41")
def test_long_tails_relieve_crowding(rng):
    """Ten clusters in ten dimensions are apart in the plane, as they are not by scaling."""
    X = np.repeat(8.0 * np.eye(10), 12, axis=0) + rng.normal(size=(120, 10))
    labels = np.repeat(np.arange(10), 12)
    scores = [
        tractable.silhouette_score(model.fit_transform(X), labels)
        for model in (TSNE(), tractable.ClassicalMDS())
    ]
    assert scores[0] > 0.6 > scores[1]


@pytest.mark.parametrize("n", [150, pytest.param(2500, marks=pytest.mark.slow)])
def test_a_map_does_not_depend_on_threads(rng, monkeypatch, n):
    X = rng.normal(size=(n, 4))
    maps = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("TRACTABLE_NUM_THREADS", threads)
        maps.append(TSNE(method="fft", max_iter=60, random_state=1).fit_transform(X))
    np.testing.assert_array_equal(maps[0], maps[1])
    np.testing.assert_array_equal(maps[0], maps[2])


def test_new_rows_are_placed_where_their_divergence_is_least(rng):
    X = np.concatenate([rng.normal(size=(40, 4)), rng.normal(size=(40, 4)) + 9.0])
    model = TSNE(perplexity=10).fit(X)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    new = np.concatenate([rng.normal(size=(6, 4)), rng.normal(size=(6, 4)) + 9.0])
    placed = model.transform(new)
    for part, points in ((slice(0, 40), placed[:6]), (slice(40, 80), placed[6:])):
        far = cdist(points, model.embedding_[part]).min(axis=1)
        other = np.delete(model.embedding_, np.arange(80)[part], axis=0)
        assert np.all(far < cdist(points, other).min(axis=1))
    np.testing.assert_allclose(model.transform(new[3:4]), placed[3:4], atol=1e-6)
    nudged = model.transform(X + 1e-6)
    assert np.median(np.linalg.norm(nudged - model.embedding_, axis=1)) < 0.2 * np.ptp(model.embedding_)


def test_a_placed_point_is_at_a_minimum(rng):
    references, weights = 5.0 * rng.normal(size=(50, 2)), np.ones(50)
    near = np.argsort(cdist(rng.normal(size=(8, 2)), references), axis=1)[:, :12]
    p = neighbor_probabilities(rng.random((8, 12)), np.ones((8, 12)), 4.0)
    found = embed_points(p, near, references, weights, max_iter=1000, tol=1e-10)

    def cost(y, i):
        squares = np.sum((y - references) ** 2, axis=1)
        q = (1 / (1 + squares)) / np.sum(1 / (1 + squares))
        return np.sum(p[i] * np.log(p[i] / q[near[i]]))

    for i in range(8):
        slopes = [(cost(found[i] + s, i) - cost(found[i] - s, i)) / 2e-5 for s in 1e-5 * np.eye(2)]
        np.testing.assert_allclose(slopes, 0.0, atol=1e-4)


def test_equal_rows_have_one_position(rng):
    X = rng.normal(size=(25, 3))
    double = TSNE(perplexity=6).fit(np.concatenate([X, X, X[:5]]))
    np.testing.assert_array_equal(double.embedding_[:25], double.embedding_[25:50])
    np.testing.assert_array_equal(double.embedding_[:5], double.embedding_[50:])
    same = TSNE().fit(np.ones((12, 3)))
    assert np.all(same.embedding_ == same.embedding_[0])
    assert same.kl_divergence_ == pytest.approx(0.0)
    for method in ("exact", "fft"):
        many = TSNE(perplexity=4, method=method, max_iter=50).fit(np.repeat(X, 9, axis=0))
        assert np.isfinite(many.embedding_).all()


def test_distinct_rows_are_in_their_order(rng):
    rows = np.array([[3.0, 1.0], [1.0, 2.0], [3.0, 1.0], [0.0, 0.0]])
    group, first, counts = distinct_rows(rows, np.array([1.0, 2.0, 3.0, 4.0]))
    assert group.tolist() == [0, 1, 0, 2]
    assert first.tolist() == [0, 1, 3]
    assert counts.tolist() == [4.0, 2.0, 4.0]
    # Sums of different rows may be equal.
    assert len(distinct_rows(np.array([[np.sqrt(2.0), 0.0], [0.0, 1.0]]), None)[1]) == 2


def test_starts(rng):
    X = rng.normal(size=(30, 3))
    seeded = [TSNE(init="random", random_state=seed, max_iter=20).fit_transform(X) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(seeded[0], seeded[1])
    assert not np.array_equal(seeded[0], seeded[2])
    given = rng.normal(size=(30, 2))
    kept = TSNE(init=given, max_iter=1, learning_rate=1e-300).fit_transform(X)
    np.testing.assert_allclose(kept, given - given.mean(axis=0), atol=1e-12)
    line = TSNE(max_iter=1, learning_rate=1e-300).fit_transform(np.arange(20.0)[:, None])
    assert np.linalg.matrix_rank(line / 1e-4, tol=1e-3) == 2


@pytest.mark.parametrize("method", ["exact", "fft"])
def test_more_dimensions_than_the_rows_have(rng, method):
    model = TSNE(n_components=40, method=method, max_iter=60).fit(rng.normal(size=(30, 3)))
    assert np.isfinite(model.embedding_).all()
    assert np.all(np.std(model.embedding_, axis=0) > 0.0)
    assert np.isfinite(model.kl_divergence_)


def test_an_interrupted_descent_keeps_the_map_so_far(rng, monkeypatch):
    calls, whole = [], PairForces.__call__

    def interrupted(self, y, exaggeration):
        calls.append(1)
        if len(calls) == 30:
            raise KeyboardInterrupt
        return whole(self, y, exaggeration)

    monkeypatch.setattr(PairForces, "__call__", interrupted)
    model = TSNE()
    with pytest.raises(KeyboardInterrupt):
        model.fit(rng.normal(size=(20, 3)))
    assert model.n_iter_ == 29
    assert np.isfinite(model.kl_divergence_)


def test_progress_is_shown(rng, monkeypatch, capsys):
    monkeypatch.setenv("TRACTABLE_PROGRESS", "1")
    monkeypatch.setattr("tractable.data.progress.PATIENCE", 0.0)
    TSNE(max_iter=60).fit(rng.normal(size=(20, 3)))
    assert "KL" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (TSNE(perplexity=20), "perplexity must be at most 19.*n_samples = 20"),
        (TSNE(perplexity=-1), "perplexity"),
        (TSNE(perplexity=np.nan), "perplexity"),
        (TSNE(0), "n_components"),
        (TSNE(bandwidth="wide"), "bandwidth"),
        (TSNE(early_exaggeration=0.5), "early_exaggeration"),
        (TSNE(early_exaggeration_iter=-1), "early_exaggeration_iter"),
        (TSNE(learning_rate="fast"), "learning_rate"),
        (TSNE(learning_rate=0.0), "learning_rate"),
        (TSNE(max_iter=0), "max_iter"),
        (TSNE(min_grad_norm=-1.0), "min_grad_norm"),
        (TSNE(method="tree"), "method"),
        (TSNE(metric="miles"), "metric"),
        (TSNE(index="none"), "index"),
        (TSNE(init="best"), "init"),
        (TSNE(init=np.zeros((20, 3))), "init"),
        (TSNE(init=np.zeros((19, 2))), "init"),
        (TSNE(init=np.full((20, 2), np.nan)), "init"),
        (TSNE(random_state="seed"), "random_state"),
    ],
)
def test_refusals(model, named, rng):
    with pytest.raises(ValueError, match=named):
        model.fit(rng.normal(size=(20, 3)))
    assert not hasattr(model, "embedding_")
