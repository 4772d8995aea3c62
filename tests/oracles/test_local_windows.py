"""The compiled sums of windows equal the obvious ones."""

import numpy as np
import pytest

from tractable.primitives._agnostic.local_windows import log_local_windows as obvious
from tractable.primitives._compiled.local_windows import log_local_windows as fast


def problem(rng, q, m, dim, of_rows):
    shapes = np.tril(rng.normal(size=(q if of_rows else m, dim, dim))) + 2.0 * np.eye(dim)
    return rng.normal(size=(q, dim)), rng.normal(size=(m, dim)), shapes, rng.normal(size=m), of_rows


@pytest.mark.parametrize("of_rows", [False, True])
@pytest.mark.parametrize(("q", "m", "dim"), [(0, 3, 2), (1, 1, 1), (20, 30, 1), (20, 30, 3), (5, 40, 12)])
def test_compiled_equals_agnostic(rng, q, m, dim, of_rows):
    given = problem(rng, q, m, dim, of_rows)
    np.testing.assert_allclose(fast(*given), obvious(*given), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("of_rows", [False, True])
def test_far_rows_and_tall_windows(rng, of_rows):
    x, points, shapes, heights, _ = problem(rng, 6, 9, 2, of_rows)
    for far in (1e3, 1e8, 1e150):
        given = x * far, points, shapes, 1e3 * heights, of_rows
        np.testing.assert_allclose(fast(*given), obvious(*given), rtol=1e-12)


def test_read_only_arrays_of_any_memory(rng):
    x, points, shapes, heights, of_rows = problem(rng, 8, 9, 3, False)
    expected = obvious(x, points, shapes, heights, of_rows)
    for a in (x, points, shapes, heights):
        a.setflags(write=False)
    np.testing.assert_allclose(fast(np.asfortranarray(x), points, shapes, heights, of_rows), expected)
    np.testing.assert_allclose(fast(np.repeat(x, 2, axis=0)[::2], points, shapes, heights, of_rows), expected)
