"""The products of few, long rows: centred and multiplied in one pass, and reflected."""

import numpy as np
import pytest

from tractable.engines.spectrum import centred_products, reflected, reflected_products


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("centred", [False, True])
def test_one_pass_centres_rows_and_multiplies_them(rng, weighted, centred):
    x = rng.standard_normal((7, 5000)) + 1e6
    weights = rng.uniform(0.5, 3.0, 7) if weighted else None
    mean, rows, products = centred_products(x, weights, centred=centred)
    expected = np.average(x, axis=0, weights=weights) if centred else np.zeros(5000)
    np.testing.assert_allclose(mean, expected, rtol=1e-15)
    plain = (x - expected) * (1.0 if weights is None else np.sqrt(weights)[:, None])
    np.testing.assert_allclose(rows, plain, atol=1e-9 * np.abs(plain).max())
    np.testing.assert_allclose(products, rows @ rows.T, rtol=1e-12, atol=1e-12 * np.trace(products))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_reflected_products_are_those_of_reflected_rows(rng, sign):
    rows, free = rng.standard_normal((6, 9)), rng.standard_normal(6)
    free *= sign * np.sign(free[0]) / np.linalg.norm(free)
    both = reflected(rows, free) @ reflected(rows, free).T
    np.testing.assert_allclose(reflected_products(rows @ rows.T, free), both, atol=1e-13 * np.trace(both))
