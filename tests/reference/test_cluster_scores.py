"""Scores of clusterings against the courses' numbers, scikit-learn, and slow obvious definitions."""

import numpy as np
import pytest
from sklearn import metrics as sk

from tractable import metrics
from tractable.arrays import to_numpy
from tractable.mixture.partitions import best_partition

W02 = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)
PAIRS = {
    "calinski_harabasz": (metrics.calinski_harabasz_score, sk.calinski_harabasz_score),
    "davies_bouldin": (metrics.davies_bouldin_score, sk.davies_bouldin_score),
    "silhouette": (metrics.silhouette_score, sk.silhouette_score),
    "silhouettes": (metrics.silhouette_samples, sk.silhouette_samples),
}


@pytest.mark.spec("CLU-13")
@pytest.mark.parametrize(("ours", "theirs"), PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize(("n", "d", "k"), [(9, 1, 2), (60, 3, 4), (300, 5, 70), (1200, 2, 3)])
def test_without_weights_they_are_scikit_learns(ours, theirs, n, d, k, rng):
    X = rng.standard_normal((n, d))
    labels = np.r_[np.arange(k), rng.integers(k, size=n - k)]
    np.testing.assert_allclose(ours(X, labels), theirs(X, labels), rtol=1e-8, atol=1e-12)


@pytest.mark.spec("CLU-13", "CLU-14", "W-02")
def test_the_index_of_the_best_partitions_of_eight_points_is_largest_at_five():
    known = {2: 5.74547, 3: 15.0726744, 4: 14.16667, 5: 19.85795, 6: 19.75, 7: 16.625}
    found = {k: metrics.calinski_harabasz_score(W02, best_partition(W02, k).labels) for k in known}
    for k, score in known.items():
        np.testing.assert_allclose(found[k], score, atol=5.1e-6)
    assert max(found, key=found.get) == 5


def obvious_silhouettes(X, labels, w):
    """One row and one cluster at a time."""
    found = []
    for i in range(len(X)):
        away = w * np.sqrt(((X - X[i]) ** 2).sum(axis=1))
        own = labels == labels[i]
        others = w[own].sum() - min(w[i], 1.0)
        if others <= 0:
            found.append(0.0)
            continue
        a = away[own].sum() / others
        b = min(away[labels == k].sum() / w[labels == k].sum() for k in set(labels[w > 0]) - {labels[i]})
        found.append((b - a) / max(a, b) if max(a, b) > 0 else 0.0)
    return np.array(found)


def obvious_davies_bouldin(X, labels, w):
    names = np.unique(labels)
    mean = {k: np.average(X[labels == k], axis=0, weights=w[labels == k]) for k in names}
    width = {
        k: np.average(np.linalg.norm(X[labels == k] - mean[k], axis=1), weights=w[labels == k]) for k in names
    }
    return np.mean(
        [
            max((width[k] + width[l]) / np.linalg.norm(mean[k] - mean[l]) for l in names if l != k)
            for k in names
        ]
    )


def obvious_calinski_harabasz(X, labels, w):
    names, n = np.unique(labels), w.sum()
    middle = np.average(X, axis=0, weights=w)
    between = within = 0.0
    for k in names:
        x, v = X[labels == k], w[labels == k]
        mean = np.average(x, axis=0, weights=v)
        between += v.sum() * ((mean - middle) ** 2).sum()
        within += v @ ((x - mean) ** 2).sum(axis=1)
    return (n - len(names)) / (len(names) - 1) * between / within


@pytest.mark.spec("CLU-13")
@pytest.mark.parametrize("weighted", ["whole", "fractions", "some-zero"])
def test_with_weights_they_are_their_definitions(weighted, rng):
    X, labels = rng.standard_normal((50, 3)), rng.integers(4, size=50)
    w = {
        "whole": rng.integers(1, 5, 50).astype(float),
        "fractions": rng.uniform(0.0, 2.0, 50),
        "some-zero": rng.integers(0, 3, 50).astype(float),
    }[weighted]
    for ours, obvious in (
        (metrics.silhouette_samples, obvious_silhouettes),
        (metrics.davies_bouldin_score, obvious_davies_bouldin),
        (metrics.calinski_harabasz_score, obvious_calinski_harabasz),
    ):
        np.testing.assert_allclose(ours(X, labels, sample_weight=w), obvious(X, labels, w), rtol=1e-10)
    silhouettes = metrics.silhouette_samples(X, labels, sample_weight=w)
    np.testing.assert_allclose(
        metrics.silhouette_score(X, labels, sample_weight=w), np.average(silhouettes, weights=w), rtol=1e-12
    )


def test_a_row_alone_in_its_cluster_scores_nothing():
    X, labels = np.array([[0.0], [1.0], [9.0]]), np.array([0, 0, 1])
    assert metrics.silhouette_samples(X, labels)[2] == 0.0
    # Three rows in one place are not alone.
    assert metrics.silhouette_samples(X, labels, sample_weight=[1, 1, 3])[2] == 1.0
    # A row that counts for nothing is judged by those that do, if there are any in its cluster.
    found = metrics.silhouette_samples([[0.0], [1.0], [9.0], [4.0]], [0, 0, 1, 2], sample_weight=[0, 2, 2, 0])
    np.testing.assert_allclose(found, [8 / 9, 1.0, 1.0, 0.0], rtol=1e-12)


def test_silhouettes_do_not_depend_on_blocks(monkeypatch, rng):
    from tractable.metrics import clusters as silhouette

    X, labels = rng.standard_normal((101, 2)), rng.integers(3, size=101)
    whole = metrics.silhouette_samples(X, labels)
    monkeypatch.setattr(silhouette, "BLOCK_PAIRS", 1)
    np.testing.assert_array_equal(metrics.silhouette_samples(X, labels), whole)


def test_near_twins_far_apart_keep_their_digits():
    """Clusters a million times further apart than they are wide."""
    X = np.array([[0.0], [1.0], [3.0], [1e6], [1e6 + 2.0]])
    labels = np.array([0, 0, 0, 1, 1])
    expected = obvious_silhouettes(X, labels, np.ones(5))
    np.testing.assert_allclose(1.0 - metrics.silhouette_samples(X, labels), 1.0 - expected, rtol=1e-9)


def test_clusters_without_scatter():
    """Where scikit-learn says 1, the ratio is infinite; coincident centres are as bad as can be."""
    X, labels = [[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1]
    assert metrics.calinski_harabasz_score(X, labels) == np.inf
    assert metrics.davies_bouldin_score(X, labels) == 0.0
    assert metrics.silhouette_score(X, labels) == 1.0
    same = [[5.0]] * 4
    assert metrics.calinski_harabasz_score(same, labels) == 0.0
    assert metrics.davies_bouldin_score(same, labels) == 0.0
    assert metrics.silhouette_score(same, labels) == 0.0
    assert metrics.davies_bouldin_score([[-1.0], [1.0], [-2.0], [2.0]], labels) == np.inf


@pytest.mark.parametrize("as_labels", ["own", "list"])
def test_scores_of_every_array_library(backend, as_labels, rng):
    X, labels, w = rng.standard_normal((40, 3)), rng.integers(4, size=40), rng.uniform(size=40)
    given = backend.asarray(labels) if as_labels == "own" else labels.tolist()
    for score in (pair[0] for pair in PAIRS.values()):
        found = score(backend.asarray(X), given, sample_weight=backend.asarray(w))
        np.testing.assert_allclose(to_numpy(found), score(X, labels, sample_weight=w), rtol=1e-12)
    silhouettes = metrics.silhouette_samples(backend.asarray(X), given)
    assert backend.owns(silhouettes)


@pytest.mark.spec("CLU-19", "W-02")
def test_a_report_says_how_compact_and_how_separate_clusters_are():
    labels = np.array([3, 2, 1, 3, 1, 1, 2, 3])
    found = metrics.cluster_report(W02, labels)
    np.testing.assert_allclose([found.within, found.between], [14.33333, 86.41667], atol=5.1e-6)
    np.testing.assert_allclose(found.within + found.between, 100.75, rtol=1e-12)
    np.testing.assert_allclose(found.centers, [[7.0, 13 / 3], [1.5, 3.5], [11 / 3, 9.0]], rtol=1e-12)
    assert found.labels.tolist() == [1, 2, 3]
    assert found.sizes.tolist() == [3.0, 2.0, 3.0]
    for k, label in enumerate(found.labels):
        away = np.linalg.norm(W02[labels == label] - found.centers[k], axis=1)
        np.testing.assert_allclose(found.radius[k], away.max(), rtol=1e-12)
        np.testing.assert_allclose(found.spread[k], np.sqrt((away**2).mean()), rtol=1e-12)
        gaps = np.linalg.norm(found.centers - found.centers[k], axis=1)
        gaps[k] = np.inf
        assert found.nearest[k] == gaps.argmin()
        np.testing.assert_allclose(found.separation[k], gaps.min(), rtol=1e-12)


@pytest.mark.spec("CLU-19")
def test_reports_of_weights_shifts_and_single_clusters(rng):
    X, labels, counts = rng.standard_normal((30, 2)), rng.integers(3, size=30), rng.integers(0, 4, 30)
    X = np.round(X * 1024) / 1024
    a = metrics.cluster_report(X + 2.0**27, labels, sample_weight=counts)
    b = metrics.cluster_report(np.repeat(X, counts, axis=0), np.repeat(labels, counts))
    for name in ("sizes", "scatter", "spread", "radius", "separation", "nearest", "within", "between"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-10)
    one = metrics.cluster_report(X, np.zeros(30))
    assert (one.explained, one.separation.tolist(), one.nearest.tolist()) == (0.0, [np.inf], [-1])
    assert "within" in repr(one)
    assert metrics.cluster_report([[1.0], [1.0]], [0, 1]).explained == 0.0
    with pytest.raises(ValueError, match="labels"):
        metrics.cluster_report(X, labels[:5])


@pytest.mark.parametrize("size", [2.0**600, 2.0**-600, 2.0**1000])
def test_scores_of_rows_whose_squares_are_no_numbers(size):
    labels = np.array([2, 1, 0, 2, 0, 0, 1, 2])
    said = "squares overflow" if size > 1.0 else "squares underflow"
    for score in (*(ours for ours, _ in PAIRS.values()), metrics.cluster_report):
        with pytest.raises(ValueError, match=said):
            score(size * W02, labels)
    half = 2.0**490 if size > 1.0 else 2.0**-490
    for ours, _ in PAIRS.values():
        np.testing.assert_allclose(ours(half * W02, labels), ours(W02, labels), rtol=1e-12)
    one, scaled = metrics.cluster_report(W02, labels), metrics.cluster_report(half * W02, labels)
    np.testing.assert_allclose(scaled.scatter, half * one.scatter * half, rtol=1e-12)
    np.testing.assert_allclose(scaled.radius, half * one.radius, rtol=1e-12)
    np.testing.assert_allclose(scaled.separation, half * one.separation, rtol=1e-12)
    np.testing.assert_allclose(scaled.centers, half * one.centers, rtol=1e-12)
    assert scaled.explained == pytest.approx(one.explained)
