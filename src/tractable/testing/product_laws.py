"""Laws of products: independent columns."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.random import as_generator

__all__ = ["PRODUCT_LAWS", "check_product"]


def density_is_the_product_of_the_parts(d: Any, rng: np.random.Generator) -> None:
    """The log density of a row is the sum of its columns'."""
    x = d.sample(5, rng=rng)
    total, start = np.zeros((5, *d.batch_shape)), 0
    for part in d.parts:
        width = part.event_shape[0] if part.event_shape else 1
        columns = x[..., start : start + width] if part.event_shape else x[..., start]
        total, start = total + part.log_prob(columns), start + width
    assert start == d.event_shape[0]
    np.testing.assert_allclose(d.log_prob(x), total, rtol=1e-13, atol=1e-13)


def surprises_of_parts_add_up(d: Any, rng: np.random.Generator) -> None:
    """Entropies and divergences are sums over the parts."""
    np.testing.assert_allclose(d.entropy(), sum(part.entropy() for part in d.parts), rtol=1e-13)
    if d.batch_shape:
        other = d[np.roll(np.arange(d.batch_shape[0]), 1)]
        parts = zip(d.parts, other.parts, strict=True)
        np.testing.assert_allclose(
            d.kl_divergence(other), sum(p.kl_divergence(q) for p, q in parts), rtol=1e-13, atol=1e-13
        )


def a_part_says_nothing_of_the_others(d: Any, rng: np.random.Generator) -> None:
    """Given the columns of one part, the others are distributed as before."""
    if len(d.parts) < 2:
        return
    width = d.parts[0].event_shape[0] if d.parts[0].event_shape else 1
    given, rest = list(range(width)), list(range(width, d.event_shape[0]))
    x = d.sample(3, rng=rng)
    conditional = d.condition(given, x[0][..., given])
    np.testing.assert_array_equal(conditional.log_prob(x[..., rest]), d.marginal(rest).log_prob(x[..., rest]))
    assert np.all(d.covariance[..., given, :][..., rest] == 0)


PRODUCT_LAWS: tuple[Callable[[Any, np.random.Generator], None], ...] = (
    density_is_the_product_of_the_parts,
    surprises_of_parts_add_up,
    a_part_says_nothing_of_the_others,
)


def check_product(product: Any, rng: Any = 0) -> None:
    """Run every law of products on one.

    Examples
    --------
    >>> from tractable import Normal, Product
    >>> check_product(Product(parts=[Normal(mean=0.0, variance=1.0), Normal(mean=1.0, variance=2.0)]))
    """
    for law in PRODUCT_LAWS:
        law(product, as_generator(rng))
