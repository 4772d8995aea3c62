"""Isomap: distances along the data."""

import numpy as np
import pytest
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import Isomap as Peer

from tractable import ClassicalMDS, Isomap, tags
from tractable.manifold.isomap import symmetric
from tractable.primitives.shortest_paths import shortest_paths


def floyd_warshall(indptr, indices, lengths):
    """All paths by the definition: through one more vertex at a time."""
    n = len(indptr) - 1
    far = np.full((n, n), np.inf)
    far[np.repeat(np.arange(n), np.diff(indptr)), indices] = lengths
    np.fill_diagonal(far, 0.0)
    for v in range(n):
        np.minimum(far, far[:, v : v + 1] + far[v], out=far)
    return far


def random_graph(rng, n, degree):
    rows = np.repeat(np.arange(n), degree)
    return symmetric((rows, rng.integers(0, n, n * degree), rng.random(n * degree)), n)


@pytest.mark.parametrize(("n", "degree"), [(1, 1), (5, 1), (60, 1), (90, 2), (150, 8)])
@pytest.mark.parametrize("degrees", [(160, 15), (3, 2)], ids=["all eliminated", "a core left"])
def test_paths_are_the_shortest(rng, monkeypatch, n, degree, degrees):
    """In graphs that are connected and not, with and without a core, from all vertices and from some."""
    edges = random_graph(rng, n, degree)
    wanted = floyd_warshall(*edges)
    np.testing.assert_allclose(shortest_paths(*edges), wanted, rtol=1e-13)
    monkeypatch.setattr("tractable.primitives.COMPILED_WORK", 0)
    monkeypatch.setattr("tractable.primitives.shortest_paths.DEGREES", degrees)
    np.testing.assert_allclose(shortest_paths(*edges), wanted, rtol=1e-13)
    some = rng.permutation(n)[: max(1, (2 * n) // 3)]
    np.testing.assert_allclose(shortest_paths(*edges, some), wanted[some], rtol=1e-13)


@pytest.mark.parametrize("n", [80, pytest.param(1200, marks=pytest.mark.slow)])
def test_scikit_learn_finds_the_same(n):
    X, _ = make_swiss_roll(n, random_state=0)
    ours, theirs = Isomap(n_neighbors=10).fit(X), Peer(n_neighbors=10).fit(X)
    np.testing.assert_allclose(ours.geodesic_distances_, theirs.dist_matrix_, rtol=1e-10)
    signs = np.sign(np.sum(ours.embedding_ * theirs.embedding_, axis=0))
    size = np.abs(theirs.embedding_).max()
    np.testing.assert_allclose(ours.embedding_ * signs, theirs.embedding_, atol=1e-6 * size)
    new = make_swiss_roll(5, random_state=1)[0]
    np.testing.assert_allclose(ours.transform(new) * signs, theirs.transform(new), atol=1e-6 * size)


@pytest.mark.spec("DR-33")
def test_a_swiss_roll_is_unrolled():
    """The first coordinate is the length along the roll, the second the width."""
    X, t = make_swiss_roll(1000, random_state=0)
    model = Isomap(n_neighbors=10).fit(X)
    along = 0.5 * (t * np.sqrt(1 + t**2) + np.arcsinh(t))
    assert abs(np.corrcoef(model.embedding_[:, 0], along)[0, 1]) > 0.99
    assert abs(np.corrcoef(model.embedding_[:, 1], X[:, 1])[0, 1]) > 0.9
    assert model.residual_variance_[1] < 0.01
    assert model.residual_variance_[0] > 2 * model.residual_variance_[1]
    assert np.abs(np.corrcoef(ClassicalMDS().fit_transform(X)[:, 0], along)[0, 1]) < 0.6


@pytest.mark.spec("DR-33")
def test_of_all_neighbours_it_is_classical_scaling(rng):
    X = rng.normal(size=(30, 4))
    for model in (Isomap(n_neighbors=29, n_components=3), Isomap(radius=100.0, n_components=3)):
        wanted = ClassicalMDS(3).fit(X)
        np.testing.assert_allclose(model.fit(X).embedding_, wanted.embedding_, atol=1e-9)
        np.testing.assert_allclose(model.eigenvalues_, wanted.eigenvalues_, rtol=1e-9)


def test_new_rows_are_placed_among_their_neighbours(rng):
    angles = rng.uniform(0.0, 4.0, 400)
    X = np.column_stack([np.cos(angles), np.sin(angles), rng.uniform(0.0, 2.0, 400)])
    model = Isomap(n_neighbors=8).fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8)
    left_out = Isomap(n_neighbors=8).fit(X[::2])
    placed = left_out.transform(X)
    signs = np.sign(np.sum(placed * model.embedding_, axis=0))
    apart = np.linalg.norm(placed * signs - model.embedding_, axis=1)
    assert np.median(apart) < 0.1 * np.abs(model.embedding_).max()


def test_residual_variance_is_that_of_the_pairs(rng):
    X = rng.normal(size=(20, 3))
    model = Isomap(n_neighbors=6, n_components=3).fit(X)
    above = np.triu_indices(20, 1)
    for p in (1, 2, 3):
        points = model.embedding_[:, :p]
        far = np.linalg.norm(points[:, None] - points, axis=2)
        wanted = 1 - np.corrcoef(far[above], model.geodesic_distances_[above])[0, 1] ** 2
        assert model.residual_variance_[p - 1] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("shift", [20.0, 1e6])
def test_parts_are_joined_and_said(rng, shift):
    parts = [rng.normal(size=(20, 2)), rng.normal(size=(15, 2)) + shift, rng.normal(size=(9, 2)) - shift]
    X = np.concatenate(parts)
    with pytest.warns(UserWarning, match="3 parts.*n_neighbors"):
        model = Isomap(n_neighbors=4).fit(X)
    assert model.n_connected_components_ == 3
    assert np.isfinite(model.geodesic_distances_).all()
    nearest = np.linalg.norm(parts[0][:, None] - parts[1], axis=2).min()
    between = model.geodesic_distances_[:20, 20:35].min()
    assert between == pytest.approx(nearest)
    alone = Isomap(n_neighbors=4).fit(parts[0])
    np.testing.assert_allclose(model.geodesic_distances_[:20, :20], alone.geodesic_distances_, rtol=1e-12)
    assert alone.n_connected_components_ == 1


def test_landmarks_give_nearly_the_same_map():
    X, _ = make_swiss_roll(800, random_state=0)
    whole = Isomap(n_neighbors=10).fit(X)
    some = [Isomap(n_neighbors=10, n_landmarks=150, random_state=seed).fit(X) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(some[0].embedding_, some[1].embedding_)
    assert not np.array_equal(some[0].landmarks_, some[2].landmarks_)
    assert some[0].geodesic_distances_.shape == (800, 150)
    for model in some[1:]:
        signs = np.sign(np.sum(model.embedding_ * whole.embedding_, axis=0))
        apart = np.abs(model.embedding_ * signs - whole.embedding_).max()
        assert apart < 0.15 * np.abs(whole.embedding_).max()
        np.testing.assert_allclose(model.transform(X[:20]), model.embedding_[:20], atol=1e-8)
        assert model.residual_variance_[1] < 0.01


def test_duplicated_rows_coincide(rng):
    X = rng.normal(size=(30, 3))
    model = Isomap(n_neighbors=8).fit(np.concatenate([X, X]))
    np.testing.assert_allclose(model.embedding_[:30], model.embedding_[30:], atol=1e-9)


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (Isomap(n_neighbors=0), "n_neighbors"),
        (Isomap(n_neighbors=20), "n_neighbors must be at most.*n_samples"),
        (Isomap(radius=-1.0), "radius"),
        (Isomap(n_components=0), "n_components"),
        (Isomap(n_landmarks=2), "n_landmarks"),
        (Isomap(n_landmarks="some"), "n_landmarks"),
        (Isomap(metric="precomputed"), "metric"),
        (Isomap(index="none"), "index"),
    ],
)
def test_refusals(model, named, rng):
    with pytest.raises(ValueError, match=named):
        model.fit(rng.normal(size=(20, 2)))
    assert not hasattr(model, "embedding_")
    assert tags(model).kind == "mapping"
