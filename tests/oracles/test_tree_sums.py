"""Sums over a tree against sums over all points: near, far, heavy, light, repeated, left out."""

import numpy as np
import pytest

from tractable.primitives import native
from tractable.primitives.kernel_sums import KINDS, log_kernel_sums, tree_sums
from tractable.smoothing import WINDOWS
from tractable.smoothing.sums import WindowSums


def crowd(rng, dim):
    """Crowds of points, points alone, and more copies of one point than a leaf holds."""
    spread = np.concatenate([30.0 * rng.standard_normal((900, dim)), 0.3 * rng.standard_normal((600, dim))])
    return np.concatenate([spread, np.full((700, dim), 3.0), np.full((1, dim), 4e3)])


@pytest.mark.spec("DENS-06", "DENS-24")
@pytest.mark.parametrize("dim", [2, 3, 6])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_tree_sums_what_all_points_do(kind, dim, rng):
    x = crowd(rng, dim)
    w = rng.gamma(1.0, size=len(x)) * 10.0 ** rng.integers(-8, 4, size=len(x))
    w[::7] = 0.0
    q = np.concatenate([x[::20], 30.0 * rng.standard_normal((50, dim)), np.full((1, dim), -1e5)])
    for weights in (w, None):
        found, met = tree_sums(x, weights, kind).log_sums(q)
        expected = log_kernel_sums(q, x, weights, WINDOWS[kind].log_profile, kind)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        assert np.all(met <= len(x))


@pytest.mark.parametrize("kind", ["gaussian", "laplace", "biweight"])
def test_points_left_out_of_their_own_sums(kind, rng):
    x = crowd(rng, 2)
    w = rng.integers(0, 4, size=len(x)).astype(float)
    left = np.minimum(w, 1.0)
    for weights, out in ((w, left), (None, np.ones(len(x)))):
        found, _ = tree_sums(x, weights, kind).log_sums(x, out)
        expected = log_kernel_sums(x, x, weights, WINDOWS[kind].log_profile, kind, out)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_a_tree_is_used_where_it_leaves_points_out(rng):
    x = rng.standard_normal((12_000, 2))
    narrow, wide = (
        WindowSums(points=x / h, weights=np.ones(len(x)), window=WINDOWS["gaussian"]) for h in (0.02, 2.0)
    )
    if not native(x):  # the array API adds all pairs
        assert (narrow.path, wide.path) == ("dense", "dense")
        return
    assert (narrow.path, wide.path) == ("tree-pruned sum", "direct sum")
    q = x[::40] / 0.02
    assert narrow.tree.log_sums(q)[1].mean() < 0.2 * len(x)
    expected = log_kernel_sums(q, x / 0.02, None, WINDOWS["gaussian"].log_profile, "gaussian")
    np.testing.assert_allclose(narrow.log_sums(q), expected, rtol=1e-12, atol=1e-12)
