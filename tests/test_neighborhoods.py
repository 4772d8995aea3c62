"""Neighbourhoods that a map keeps."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.manifold import trustworthiness as peer

import tractable
from tractable.metrics import continuity, neighborhood_preservation, neighborhood_report, trustworthiness


def slow_scores(distances, near_elsewhere, k):
    """Of each row, by the definition: ranks are counted one by one."""
    n, found = len(distances), []
    for i, neighbours in enumerate(near_elsewhere):
        others = np.delete(distances[i], i)
        ranks = [1 + np.sum(others < distances[i, j]) for j in neighbours]
        found.append(1 - 2 / (k * (2 * n - 3 * k - 1)) * sum(max(0, rank - k) for rank in ranks))
    return np.array(found)


def nearest(distances, k):
    away = distances + np.diag(np.full(len(distances), np.inf))
    return np.argsort(away, axis=1, kind="stable")[:, :k]


@pytest.mark.spec("DR-41")
@pytest.mark.parametrize("k", [1, 4, 12])
def test_by_the_definition(rng, k):
    X = np.round(2.0 * rng.normal(size=(40, 3)))  # with ties
    Z = X[:, :2] + 0.01 * rng.normal(size=(40, 2))
    report = neighborhood_report(X, Z, n_neighbors=k)
    before, after = cdist(X, X), cdist(Z, Z)
    np.testing.assert_allclose(report.trustworthiness, slow_scores(before, nearest(after, k), k))
    np.testing.assert_allclose(report.continuity, slow_scores(after, nearest(before, k), k))
    shared = [len({*a} & {*b}) / k for a, b in zip(nearest(before, k), nearest(after, k), strict=True)]
    np.testing.assert_allclose(report.preservation, shared)
    assert trustworthiness(X, Z, n_neighbors=k) == pytest.approx(np.mean(report.trustworthiness))
    assert continuity(X, Z, n_neighbors=k) == pytest.approx(np.mean(report.continuity))
    assert neighborhood_preservation(X, Z, n_neighbors=k) == pytest.approx(np.mean(shared))


@pytest.mark.spec("DR-41")
def test_scikit_learn_finds_the_same(rng, monkeypatch):
    monkeypatch.setattr("tractable.metrics.neighborhoods.BLOCK_PAIRS", 1000)  # several blocks
    X = rng.normal(size=(90, 5))
    Z = X[:, :2]
    assert trustworthiness(X, Z, n_neighbors=7) == pytest.approx(peer(X, Z, n_neighbors=7), rel=1e-12)
    assert continuity(X, Z, n_neighbors=7) == pytest.approx(peer(Z, X, n_neighbors=7), rel=1e-12)
    given = trustworthiness(cdist(X, X, "cityblock"), Z, metric="precomputed")
    assert given == pytest.approx(trustworthiness(X, Z, metric="manhattan"))


def test_a_map_by_chance_has_one_half(rng):
    X, Z = rng.normal(size=(1500, 2)), rng.normal(size=(1500, 2))
    report = neighborhood_report(X, Z, n_neighbors=10)
    assert np.mean(report.trustworthiness) == pytest.approx(0.5, abs=0.02)
    assert np.mean(report.continuity) == pytest.approx(0.5, abs=0.02)


def test_tears_and_folds_are_told_apart(rng):
    """A sheet that is folded meets itself; a ring that is cut open is torn."""
    x = np.linspace(0.0, 1.0, 200)
    folded = trustworthiness(x[:, None], np.abs(x - 0.5)[:, None] + 1e-6 * x[:, None])
    angle = 2 * np.pi * x[:-1]
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    assert folded < 0.9
    assert continuity(ring, angle[:, None]) < trustworthiness(ring, angle[:, None])


def test_the_report_says_its_means():
    line = np.arange(20.0)[:, None]
    assert "trustworthiness 1, continuity 1, preservation 1" in repr(
        tractable.neighborhood_report(line, line)
    )


@pytest.mark.parametrize(
    ("X", "Z", "options", "named"),
    [
        (np.zeros((10, 2)), np.zeros((9, 2)), {}, "embedding"),
        (np.zeros((10, 2)), np.zeros((10, 2)), {"n_neighbors": 5}, "n_neighbors must be less than half"),
        (np.zeros((10, 2)), np.zeros((10, 2)), {"n_neighbors": 0}, "n_neighbors"),
        (np.zeros((10, 2)), np.full((10, 2), np.nan), {"n_neighbors": 2}, "embedding"),
        (np.full((10, 2), np.inf), np.zeros((10, 2)), {"n_neighbors": 2}, "X"),
        (np.zeros((10, 2)), np.zeros((10, 2)), {"metric": "miles", "n_neighbors": 2}, "metric"),
        (np.zeros((20, 2)), np.zeros((20, 2)), {"metric": "precomputed"}, "X must be a square"),
        (np.triu(np.ones((20, 20)), 1), np.zeros((20, 2)), {"metric": "precomputed"}, "X must be symmetric"),
        (np.ones((20, 20)), np.zeros((20, 2)), {"metric": "precomputed"}, "X must be zero on the diagonal"),
    ],
)
def test_refusals(X, Z, options, named):
    for score in (trustworthiness, continuity, neighborhood_preservation, neighborhood_report):
        with pytest.raises(ValueError, match=named):
            score(X, Z, **options)
