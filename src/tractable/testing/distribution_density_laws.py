"""Laws of densities and distribution functions."""

from itertools import pairwise
from typing import Any

import numpy as np

from tractable.testing.monte_carlo import assert_mean

__all__ = ["DENSITY_LAWS"]


def density_integrates_to_one(d: Any, rng: np.random.Generator) -> None:
    """∫ p(x) dx = 1, or Σ p(x) = 1: numbers and pairs, by quadrature over the support."""
    if d.support is None or d.event_shape not in ((), (2,)):
        return
    x = d.sample(2000, rng=rng)
    for i in np.ndindex(d.batch_shape):
        draws, one = x[(slice(None), *i)], d[i] if d.batch_shape else d
        if d.event_shape:
            total = _plane_integral(one, draws)
        else:
            total = _mass(one, draws) if d.discrete else _line_integral(one, draws)
        np.testing.assert_allclose(total, 1.0, rtol=1e-8)


def _line_integral(d: Any, draws: np.ndarray) -> float:
    from scipy.integrate import quad

    low, middle, high = np.quantile(draws, [0.25, 0.5, 0.75])
    scale = high - low
    least, greatest = ((np.min(bound) - middle) / scale for bound in d.support)
    cuts = [least, *(c for c in (-20.0, -2.0, 0.0, 2.0, 20.0) if least < c < greatest), greatest]

    def density(t: float) -> float:
        return float(np.exp(d.log_prob(middle + scale * t) + np.log(scale)))

    pieces = pairwise(cuts)
    return sum(quad(density, a, b, epsabs=1e-11, epsrel=1e-11, limit=200)[0] for a, b in pieces)


def _mass(d: Any, draws: np.ndarray) -> float:
    spread = 60.0 * (1.0 + draws.std())
    low, high = (np.clip(np.min(bound), draws.min() - spread, draws.max() + spread) for bound in d.support)
    return float(d.prob(np.arange(np.ceil(low), np.floor(high) + 1.0)).sum())


def _plane_integral(d: Any, draws: np.ndarray) -> float:
    """Double-exponential quadrature in coordinates in which the draws are round."""
    u = np.arange(-40, 41) * 0.08
    t = np.sinh(0.5 * np.pi * np.sinh(u))
    weight = 0.08 * 0.5 * np.pi * np.cosh(u) * np.cosh(0.5 * np.pi * np.sinh(u))
    size = draws.std(axis=0)
    root = np.linalg.cholesky(np.cov((draws / size).T)) * size[:, None]
    points = np.stack(np.meshgrid(t, t, indexing="ij"), axis=-1) @ root.T + draws.mean(axis=0)
    log_jacobian = np.log(np.abs(np.diag(root))).sum()
    return float(weight @ np.exp(d.log_prob(points) + log_jacobian) @ weight)


def mode_has_the_greatest_density(d: Any, rng: np.random.Generator) -> None:
    """No draw is denser than the mode."""
    best = d.log_prob(d.mode)
    assert np.all(d.log_prob(d.sample(500, rng=rng)) <= best + 1e-9 * (1.0 + np.abs(best)))


def cdf_is_monotone(d: Any, rng: np.random.Generator) -> None:
    """The distribution function rises from 0 to 1."""
    if not hasattr(d, "cdf"):
        return
    x = np.sort(d.sample(200, rng=rng), axis=0)
    rising = d.cdf(x)
    assert np.all(np.diff(rising, axis=0) >= 0)
    assert np.all((rising >= 0) & (rising <= 1))
    np.testing.assert_array_equal(d.cdf(np.full(d.batch_shape, np.inf)), 1.0)
    np.testing.assert_array_equal(d.cdf(np.full(d.batch_shape, -np.inf)), 0.0)


def icdf_inverts_cdf(d: Any, rng: np.random.Generator) -> None:
    """icdf(q) is the least x with cdf(x) ≥ q; where there are no jumps cdf(icdf(q)) = q."""
    if not (hasattr(d, "cdf") and hasattr(d, "icdf")):
        return
    q = np.array([1e-8, 1e-3, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999])
    q = np.broadcast_to(q.reshape((-1,) + (1,) * len(d.batch_shape)), (len(q), *d.batch_shape))
    x = d.icdf(q)
    if d.discrete:
        assert np.all(d.cdf(x) >= q * (1 - 1e-10))
        assert np.all(d.cdf(x - 1) <= q * (1 + 1e-10))
        return
    # x is rounded to its own spacing, and q moves with it.
    slack = 1e-10 + 4.0 * d.prob(x) * np.spacing(np.abs(x)) / q
    assert np.all(np.abs(d.cdf(x) - q) <= slack * q)
    draws = d.sample(50, rng=rng)
    np.testing.assert_allclose(d.icdf(d.cdf(draws)), draws, rtol=1e-9, atol=1e-9 * np.max(d.stddev))


def cdf_is_the_integral_of_prob(d: Any, rng: np.random.Generator) -> None:
    """The slope of the distribution function is the density; its jumps are the probabilities."""
    if not hasattr(d, "cdf"):
        return
    x = d.sample(20, rng=rng)
    if d.discrete:
        np.testing.assert_allclose(d.cdf(x) - d.cdf(x - 1), d.prob(x), rtol=1e-8, atol=1e-13)
        return
    node, weight = np.polynomial.legendre.leggauss(10)
    half = 0.1 * np.asarray(d.stddev)
    steps = x + node.reshape((-1,) + (1,) * x.ndim) * half
    area = np.tensordot(weight, d.prob(steps), 1) * half
    np.testing.assert_allclose(d.cdf(x + half) - d.cdf(x - half), area, rtol=1e-7, atol=1e-12)


def intervals_hold_their_coverage(d: Any, rng: np.random.Generator) -> None:
    """Each entry falls within its interval with probability `coverage`, and beyond either end alike."""
    if not hasattr(d, "interval"):
        return
    x = d.sample(20_000, rng=rng)
    for coverage in (0.5, 0.95):
        low, high = d.interval(coverage)
        tail = 0.5 * (1.0 - coverage)
        assert np.all(low <= high)
        if d.discrete:
            assert np.all(d.cdf(high) - d.cdf(low - 1) >= coverage - 1e-10)
        else:
            assert_mean(x < low, tail, f"share of draws below the interval of {coverage}")
            assert_mean(x > high, tail, f"share of draws above the interval of {coverage}")
        if hasattr(d, "cdf") and not d.discrete:
            np.testing.assert_allclose(d.cdf(low), tail, rtol=1e-7)
            np.testing.assert_allclose(d.cdf(high), 1.0 - tail, rtol=1e-7)


DENSITY_LAWS = (
    density_integrates_to_one,
    mode_has_the_greatest_density,
    cdf_is_monotone,
    icdf_inverts_cdf,
    cdf_is_the_integral_of_prob,
    intervals_hold_their_coverage,
)
