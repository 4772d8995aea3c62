"""The plain search: its compiled twin equals the agnostic one to the bit, and both NumPy's definition."""

import numpy as np
import pytest

from tractable.arrays.namespace import to_numpy
from tractable.primitives.neighbors import FORMS, distances, nearest, within
from tractable.primitives.neighbors.agnostic import nearest as obvious
from tractable.primitives.neighbors.agnostic import within as obvious_within

ORDER = 3.5


def by_definition(x, y, form):
    step = np.abs(x[:, None] - y)
    return {
        "euclidean": lambda: np.sqrt((step**2).sum(axis=2)),
        "manhattan": lambda: step.sum(axis=2),
        "chebyshev": lambda: step.max(axis=2),
        "hamming": lambda: (step != 0).mean(axis=2),
        "minkowski": lambda: (step**ORDER).sum(axis=2) ** (1 / ORDER),
    }[form]()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dim", [1, 3, 8, 33])
def test_twins_and_definition(form, dim, rng):
    x, y = np.round(rng.standard_normal((7, dim)), 1), np.round(rng.standard_normal((700, dim)), 1)
    np.testing.assert_allclose(distances(x, y, form, ORDER), by_definition(x, y, form), rtol=1e-13)
    for k in (1, 5, 300, 700):
        near, ids = nearest(x, y, k, form, ORDER)
        slow, slow_ids = obvious(x, y, k, form, ORDER)
        if form == "minkowski":  # powers of two libraries may differ in the last bit, and ties with them
            np.testing.assert_allclose(near, slow, rtol=1e-13)
        else:
            np.testing.assert_array_equal(near, slow)
            np.testing.assert_array_equal(ids, slow_ids)


@pytest.mark.parametrize("form", [f for f in FORMS if f != "minkowski"])
def test_radii(form, rng):
    x, y = np.round(rng.standard_normal((7, 3)), 1), np.round(rng.standard_normal((2000, 3)), 1)
    radii = np.sort(distances(x, y, form), axis=1)[:, [0, 3, 50, 900, 1999, 5, 700]].diagonal()
    for found, expected in zip(within(x, y, radii, form), obvious_within(x, y, radii, form), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("form", FORMS)
def test_every_library_and_read_only_arrays(form, backend, rng):
    x, y, radii = rng.standard_normal((4, 3)), rng.standard_normal((60, 3)), np.full(4, 0.7)
    near, ids = nearest(backend.asarray(x), backend.asarray(y), 5, form, ORDER)
    assert backend.owns(near)
    assert backend.owns(ids)
    np.testing.assert_allclose(to_numpy(near), np.sort(by_definition(x, y, form), axis=1)[:, :5], rtol=1e-13)
    found = within(*(backend.asarray(a) for a in (x, y, radii)), form, ORDER)
    assert found[0].shape[0] == np.sum(by_definition(x, y, form) <= 0.7)


@pytest.mark.parametrize("order", [1.0 + 1e-9, 3.0, 400.0])
def test_powers_neither_overflow_nor_vanish(order):
    x, y = np.zeros((1, 2)), np.array([[1e-150, 1e-150], [1e150, 0.0], [3e-150, 0.0]])
    near, ids = nearest(x, y, 3, "minkowski", order)
    assert ids.tolist() == [[0, 2, 1]]
    np.testing.assert_allclose(near[0], [1e-150 * 2 ** (1 / order), 3e-150, 1e150], rtol=1e-12)


@pytest.mark.parametrize("form", ["euclidean", "manhattan", "chebyshev", "minkowski"])
@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e200, 2e307])
def test_distances_neither_overflow_nor_vanish(form, size, backend):
    x, y = backend.asarray([[3.0 * size, 0.0]]), backend.asarray([[0.0, 4.0 * size], [3.0 * size, 0.0]])
    plain = distances(np.array([[3.0, 0.0]]), np.array([[0.0, 4.0], [3.0, 0.0]]), form, ORDER)
    found = to_numpy(distances(x, y, form, ORDER))
    np.testing.assert_allclose(found / size, plain, rtol=1e-3 if size < 1e-300 else 1e-14)
