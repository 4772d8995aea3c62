"""The native sums of windows equal the obvious ones."""

import numpy as np
import pytest

from tractable.arrays.log_space import log_sum_exp
from tractable.primitives.kernel_sums import LocalWindows, window_blocks


def fast(x, points, whiten, heights, of_rows):
    """The native sums."""
    rates = 0.5 * np.linalg.eigvalsh(np.swapaxes(whiten, 1, 2) @ whiten)[:, 0]
    given = {"points": points, "heights": heights, "blocks": window_blocks(points)}
    if of_rows:
        return LocalWindows(**given).log_sums(x, whiten, rates)
    return LocalWindows(**given, whiten=whiten, rates=rates).log_sums(x)


def obvious(x, points, whiten, heights, of_rows):
    away = (x[:, None, :] - points)[..., None]
    white = (whiten[:, None] @ away if of_rows else whiten @ away)[..., 0]
    return log_sum_exp(heights - 0.5 * np.sum(white * white, axis=-1))


def problem(rng, q, m, dim, of_rows):
    shapes = np.tril(rng.normal(size=(q if of_rows else m, dim, dim))) + 2.0 * np.eye(dim)
    return rng.normal(size=(q, dim)), rng.normal(size=(m, dim)), shapes, rng.normal(size=m), of_rows


@pytest.mark.parametrize("of_rows", [False, True])
@pytest.mark.parametrize(
    ("q", "m", "dim"), [(0, 3, 2), (1, 1, 1), (20, 30, 1), (20, 300, 3), (5, 400, 12), (3, 300, 40)]
)
def test_native_equals_agnostic(rng, q, m, dim, of_rows):
    given = problem(rng, q, m, dim, of_rows)
    np.testing.assert_allclose(fast(*given), obvious(*given), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("of_rows", [False, True])
def test_far_rows_and_tall_windows(rng, of_rows):
    x, points, shapes, heights, _ = problem(rng, 6, 9, 2, of_rows)
    for far in (1e3, 1e8, 1e150):
        given = x * far, points, shapes, 1e3 * heights, of_rows
        np.testing.assert_allclose(fast(*given), obvious(*given), rtol=1e-12)


@pytest.mark.parametrize("of_rows", [False, True])
@pytest.mark.parametrize("dim", [1, 2, 4])
def test_blocks_that_are_left_out_add_nothing(rng, dim, of_rows):
    """Windows of very different sizes: a wide one far away is not left out with the narrow ones about it."""
    x, points, shapes, heights, _ = problem(rng, 40, 700, dim, of_rows)
    shapes = shapes * 10.0 ** rng.uniform(-1.5, 2.0, (len(shapes), 1, 1))
    given = 3.0 * x, 3.0 * points, shapes, 5.0 * heights, of_rows
    np.testing.assert_allclose(fast(*given), obvious(*given), rtol=1e-12, atol=1e-12)


def test_every_point_is_in_one_block(rng):
    for points in (rng.normal(size=(500, 3)), np.zeros((100, 2)), np.zeros((1, 1))):
        blocks = window_blocks(points)
        np.testing.assert_array_equal(np.sort(blocks.order), np.arange(len(points)))
        assert blocks.first[0] == 0
        assert blocks.first[-1] == len(points)
        for b, (begin, end) in enumerate(zip(blocks.first[:-1], blocks.first[1:], strict=True)):
            inside = points[blocks.order[begin:end]]
            assert 0 < len(inside) <= 128
            np.testing.assert_array_equal(inside.min(axis=0), blocks.low[b])
            np.testing.assert_array_equal(inside.max(axis=0), blocks.high[b])


def test_read_only_arrays_of_any_memory(rng):
    x, points, shapes, heights, of_rows = problem(rng, 8, 9, 3, False)
    expected = obvious(x, points, shapes, heights, of_rows)
    for a in (x, points, shapes, heights):
        a.setflags(write=False)
    np.testing.assert_allclose(fast(np.asfortranarray(x), points, shapes, heights, of_rows), expected)
    np.testing.assert_allclose(fast(np.repeat(x, 2, axis=0)[::2], points, shapes, heights, of_rows), expected)
