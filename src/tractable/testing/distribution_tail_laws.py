"""Laws of the upper tail: survival keeps its digits where 1 - cdf has none left."""

from typing import Any

import numpy as np

__all__ = ["TAIL_LAWS"]

MOST_POINTS = 100_000


def survival_falls_by_prob(d: Any, rng: np.random.Generator) -> None:
    """Far out, survival(a) - survival(b) is the integral of the density between, or the sum: rtol 1e-7."""
    if not hasattr(d, "survival"):
        return
    for i in np.ndindex(d.batch_shape):
        one = d[i] if d.batch_shape else d
        for a, b in _tail_steps(one):
            mass = _sum(one, a, b) if d.discrete else _integral(one, a, b)
            drop = one.survival(a) - one.survival(b)
            np.testing.assert_allclose(drop, mass, rtol=1e-7, err_msg=f"between {a} and {b}")


def _tail_steps(d: Any) -> list[tuple[float, float]]:
    """Return short steps ever farther beyond the 0.999 quantile, short of a finite end of the support."""
    start, later = (float(d.icdf(q)) for q in (0.999, 0.9999))
    unit, end = max(later - start, 1.0) if d.discrete else later - start, float(np.max(d.support[1]))
    steps = []
    for k in range(6):
        a = min(start + unit * (2.0**k - 1.0), end - (end - start) / 2.0**k)
        b = min(a + unit, 0.5 * (a + end))
        steps.append((np.floor(a), np.floor(a + unit)) if d.discrete else (a, b))
    return steps


def _integral(d: Any, a: float, b: float) -> float:
    """Integrate between the breaks of a density that has them."""
    node, weight = np.polynomial.legendre.leggauss(40)
    breaks = np.asarray(getattr(d, "breaks", ()), dtype=np.float64)
    ends = np.unique([a, *breaks[(breaks > a) & (breaks < b)], b])
    half = 0.5 * np.diff(ends)[:, None]
    return float(np.sum(d.prob(ends[:-1, None] + half * (1.0 + node)) @ weight * half[:, 0]))


def _sum(d: Any, a: float, b: float) -> float:
    if hasattr(d, "atoms"):
        return float(np.sum(d.prob(d.atoms)[(d.atoms > a) & (d.atoms <= b)]))
    assert b - a <= MOST_POINTS, "the tail has too many numbers to add up"
    return float(np.sum(d.prob(np.arange(a + 1.0, b + 1.0))))


TAIL_LAWS = (survival_falls_by_prob,)
