"""The compiled pass of EM equals the obvious one, whatever its blocks, weights and memory."""

import numpy as np
import pytest

from tractable.primitives.em import (
    LINEAR,
    PRODUCTS,
    SQUARES,
    SUM_OF_SQUARES,
    mixture_pass,
    n_features,
)
from tractable.primitives.em.agnostic import features
from tractable.primitives.em.agnostic import mixture_pass as obvious


@pytest.mark.parametrize("kind", [LINEAR, SUM_OF_SQUARES, SQUARES, PRODUCTS])
@pytest.mark.parametrize(("n", "d", "k"), [(0, 2, 3), (1, 1, 1), (63, 3, 4), (700, 5, 2), (1500, 9, 17)])
@pytest.mark.parametrize("weighted", [False, True])
def test_compiled_equals_obvious(kind, n, d, k, weighted, rng):
    x, w = rng.standard_normal((n, d)), rng.integers(0, 3, n).astype(float) if weighted else None
    natural = rng.standard_normal((k, n_features(d, kind)))
    shift, scale = rng.standard_normal(d), rng.uniform(0.5, 2.0, d)
    assert features(x, kind).shape == (n, n_features(d, kind))
    sums, evidence = mixture_pass(x, w, shift, scale, natural, kind)
    expected, total = obvious(x, w, shift, scale, natural, kind)
    np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(evidence, total, rtol=1e-12, atol=1e-12)


def test_far_components_are_flushed_to_zero(rng):
    x = rng.standard_normal((200, 2))
    natural = np.zeros((2, 3))
    natural[1, 0] = -300.0
    sums, evidence = mixture_pass(x, None, np.zeros(2), np.ones(2), natural, LINEAR)
    assert np.all(sums[1] == 0.0)
    np.testing.assert_allclose(evidence, 0.0, atol=1e-12)


def test_memory_order_and_protection_do_not_matter(rng):
    x, natural = rng.standard_normal((300, 3)), rng.standard_normal((2, 4))
    expected = mixture_pass(x, None, np.zeros(3), np.ones(3), natural, LINEAR)[0]
    frozen = x.copy()
    frozen.setflags(write=False)
    natural.setflags(write=False)
    for same in (np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], frozen):
        np.testing.assert_allclose(
            mixture_pass(same, None, np.zeros(3), np.ones(3), natural, LINEAR)[0], expected, rtol=1e-13
        )


def test_other_array_libraries(backend, rng):
    x, natural = rng.standard_normal((40, 3)), rng.standard_normal((2, 10))
    given = [backend.asarray(a) for a in (x, rng.random(40), np.zeros(3), np.ones(3), natural)]
    sums, _ = mixture_pass(*given, PRODUCTS)
    assert backend.owns(sums)
