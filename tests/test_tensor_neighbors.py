"""Nearest neighbours of arrays of other libraries: those of the host, ties included, without all pairs."""

import numpy as np
import pytest

import tractable
from conftest import BACKENDS
from tractable.arrays.namespace import to_numpy
from tractable.neighbors import tensor_search
from tractable.primitives.neighbors import agnostic

OTHERS = [b for b in BACKENDS if not b.name.startswith("numpy")]
libraries = pytest.mark.parametrize("library", OTHERS, ids=lambda b: b.name)


def lattice(rng, n, d):
    """Rows on a lattice, some of them twice: many are at equal distances."""
    rows = np.round(rng.standard_normal((n, d)))
    rows[: n // 4] = rows[n // 4 : 2 * (n // 4)]
    return rows


def far_apart(rng, n, d):
    """Rows far from the origin, and one that hides their differences from a product."""
    rows = rng.standard_normal((n, d)) + 1e6
    rows[n // 2] = 1e9
    return rows


@libraries
@pytest.mark.parametrize("rows", [lattice, far_apart], ids=lambda f: f.__name__)
@pytest.mark.parametrize("d", [3, 20])
@pytest.mark.parametrize("metric", ["euclidean", "chebyshev"])
def test_neighbours_are_those_of_the_host(library, rows, d, metric, rng, monkeypatch):
    monkeypatch.setattr(tensor_search, "POINTS", 64)  # several blocks of points
    points, x = rows(rng, 300, d), rows(rng, 25, d)
    for weights in (None, rng.integers(0, 3, 300).astype(float)):
        given = None if weights is None else library.asarray(weights)
        host = tractable.NearestNeighbors(n_neighbors=7, metric=metric).fit(points, sample_weight=weights)
        other = tractable.NearestNeighbors(n_neighbors=7, metric=metric)
        other.fit(library.asarray(points), sample_weight=given)
        for asked in (x, None):
            wanted = host.kneighbors(asked)
            found = other.kneighbors(None if asked is None else library.asarray(asked))
            assert all(library.owns(part) for part in found)
            np.testing.assert_array_equal(to_numpy(found[1]), wanted[1])
            np.testing.assert_allclose(to_numpy(found[0]), wanted[0], rtol=1e-12)
        np.testing.assert_array_equal(other.numpy().kneighbors(x)[1], host.kneighbors(x)[1])


@libraries
def test_products_alone_would_not_do(library, rng):
    """The law above rejects a search that takes what the products say."""
    points = far_apart(rng, 300, 3)
    x = library.asarray(points[:20])
    _, _, doubtful = agnostic._of_candidates(x, library.asarray(points), 7, 23, 64)
    assert to_numpy(doubtful).any()


@libraries
def test_what_is_of_the_host_alone_is_refused(library, rng):
    X = library.asarray(rng.standard_normal((20, 2)))
    with pytest.raises(ValueError, match="index must be one of"):
        tractable.NearestNeighbors(index="kd_tree").fit(X)
    with pytest.raises(ValueError, match="metric must be one of"):
        tractable.NearestNeighbors(metric="cosine").fit(X)
    model = tractable.NearestNeighbors().fit(X)
    with pytest.raises(ValueError, match=r"use model\.numpy"):
        model.radius_neighbors(X)
    with pytest.raises(ValueError, match=r"use model\.numpy"):
        model.kneighbors_graph()
