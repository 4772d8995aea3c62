"""The compiled twin equals the agnostic one, whatever the memory of its arguments."""

import numpy as np
import pytest

from tractable.primitives.linear import squared_mahalanobis as fast
from tractable.primitives.linear.agnostic import squared_mahalanobis as obvious


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5, 8, 17, 64])
@pytest.mark.parametrize("n", [0, 1, 127, 128, 129, 1000])
def test_compiled_equals_agnostic(n, dim, rng):
    A = rng.standard_normal((dim, dim))
    lower, mean = np.linalg.cholesky(A @ A.T + np.eye(dim)), rng.standard_normal(dim)
    x = rng.standard_normal((n, dim))
    np.testing.assert_allclose(fast(x, mean, lower), obvious(x, mean, lower), rtol=1e-11)


def test_any_memory_order_and_read_only_arrays(rng):
    lower, mean, x = np.linalg.cholesky(np.eye(3) + 0.5), np.ones(3), rng.standard_normal((300, 3))
    expected = obvious(x, mean, lower)
    for other in (np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], np.repeat(x, 2, axis=1)[:, ::2]):
        np.testing.assert_allclose(fast(other, mean, lower), expected, rtol=1e-13)
    for a in (x, mean, lower):
        a.setflags(write=False)
    np.testing.assert_allclose(fast(x, mean, lower), expected, rtol=1e-13)


def test_missing_and_infinite_entries_are_seen(rng):
    lower, mean, x = np.eye(2), np.zeros(2), rng.standard_normal((200, 2))
    x[5, 1], x[150, 0] = np.nan, np.inf
    found = fast(x, mean, lower)
    assert np.isnan(found[5])
    assert not np.isfinite(found[150])
    assert np.isfinite(np.delete(found, [5, 150])).all()


def test_single_precision_stays():
    assert (
        fast(np.ones((3, 2), np.float32), np.zeros(2, np.float32), np.eye(2, dtype=np.float32)).dtype
        == np.float32
    )
