"""The compiled passes of softmax regression equal the obvious ones, whatever blocks, weights and memory."""

import numpy as np
import pytest

from tractable.primitives.glm import agnostic as obvious
from tractable.primitives.glm import softmax_curvature, softmax_expansion, softmax_loss
from tractable.primitives.glm.compiled import softmax_curvature as compiled_curvature
from tractable.primitives.glm.compiled import two_class_expansion, two_class_loss


def problem(rng, n, d, k, located):
    x = rng.standard_normal((n, d)) * 2.0 + 1.0
    coef = rng.standard_normal((k, d + located))
    return x, rng.standard_normal(d), rng.uniform(0.5, 2.0, d), coef


@pytest.mark.parametrize("located", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize(
    ("n", "d", "k"),
    [(0, 2, 3), (1, 1, 1), (33, 1, 2), (700, 5, 2), (300, 3, 4), (700, 70, 3), (2500, 70, 3), (900, 9, 12)],
)
def test_compiled_equals_obvious(n, d, k, soft, weighted, located, rng):
    x, shift, scale, coef = problem(rng, n, d, k, located)
    t = rng.dirichlet(np.ones(k), n) * rng.uniform(0.0, 2.0, (n, 1)) if soft else rng.integers(0, k, n)
    w = rng.integers(0, 3, n).astype(float) if weighted else None
    loss, gradient = softmax_loss(x, t, w, shift, scale, coef)
    expected, slope = obvious.softmax_loss(x, t, w, shift, scale, coef)
    np.testing.assert_allclose(loss, expected, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(gradient, slope, rtol=1e-11, atol=1e-10)
    curvature = softmax_curvature(x, w, shift, scale, coef)
    np.testing.assert_allclose(
        curvature, obvious.softmax_curvature(x, w, shift, scale, coef), rtol=1e-11, atol=1e-10
    )


@pytest.mark.parametrize("d", [1, 2, 5, 6])
@pytest.mark.parametrize("located", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("soft", [False, True])
def test_two_classes_are_expanded_in_one_pass(d, located, weighted, soft, rng):
    x, shift, scale, coef = problem(rng, 500, d, 2, located)
    codes, t = rng.integers(0, 2, 500), rng.dirichlet(np.ones(2), 500) * rng.uniform(0.0, 2.0, (500, 1))
    w = rng.integers(0, 3, 500).astype(float) if weighted else None
    mass = np.sum(t, axis=1) * (1.0 if w is None else w) if soft else w
    hard = (None, t) if soft else (codes, None)
    expected = compiled_curvature(x, mass, shift, scale, coef, 64)
    value, slopes = two_class_loss(x, *hard, w, shift, scale, coef, 64)
    loss, gradient, found = two_class_expansion(x, *hard, w, shift, scale, coef, 64)
    np.testing.assert_allclose(found, expected[0], rtol=1e-12, atol=1e-12)
    assert np.array_equal(found, found.T)
    np.testing.assert_allclose(loss, value, rtol=1e-13)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-11, atol=1e-11)
    whole = softmax_expansion(x, t if soft else codes, w, shift, scale, coef)
    for ours, apart in zip(whole, (value, slopes, expected), strict=True):
        np.testing.assert_allclose(ours, apart, rtol=1e-11, atol=1e-10)


def test_a_row_that_is_far_on_its_own_side_costs_nothing_and_on_the_other_its_distance():
    x, coef = np.array([[1000.0], [-1000.0]]), np.array([[-1.0], [1.0]])
    loss, _ = softmax_loss(x, np.array([1, 0]), None, np.zeros(1), np.ones(1), coef)
    assert loss == 0.0
    loss, gradient = softmax_loss(x, np.array([0, 1]), None, np.zeros(1), np.ones(1), coef)
    assert loss == 4000.0
    assert gradient.tolist() == [[-2000.0], [2000.0]]


def test_memory_order_precision_and_protection_do_not_matter(rng):
    x, shift, scale, coef = problem(rng, 300, 3, 4, located=True)
    x = x.astype(np.float32).astype(float)
    t = rng.integers(0, 4, 300)
    loss, gradient = softmax_loss(x, t, None, shift, scale, coef)
    curvature = softmax_curvature(x, None, shift, scale, coef)
    frozen = x.copy()
    for part in (frozen, coef):
        part.setflags(write=False)
    for same in (np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], frozen, x.astype(np.float32)):
        again = softmax_loss(same, t.astype(np.uint8), None, shift, scale, np.asfortranarray(coef))
        np.testing.assert_allclose(again[0], loss, rtol=1e-13)
        np.testing.assert_allclose(again[1], gradient, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(softmax_curvature(same, None, shift, scale, coef), curvature, rtol=1e-12)


def test_other_array_libraries(backend, rng):
    x, shift, scale, coef = problem(rng, 40, 3, 2, located=True)
    t, w = rng.integers(0, 2, 40), rng.random(40)
    given = [backend.asarray(a) for a in (shift, scale, coef)]
    rows, codes, counts = (backend.asarray(a) for a in (x, t, w))
    _, gradient = softmax_loss(rows, codes, counts, *given)
    assert backend.owns(gradient)
    assert backend.owns(softmax_curvature(rows, counts, *given))
