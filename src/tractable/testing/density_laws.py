"""Laws of densities, distribution functions and tails."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from tractable.testing.assertions import SIGMAS, assert_mean, flat, laws_above


def density_integrates_to_one(d: Any, rng: np.random.Generator) -> None:
    """∫ p(x) dx = 1, or Σ p(x) = 1: numbers, and pairs of any size, by quadrature over the support."""
    x = d.sample(2000, rng=rng)
    if d.discrete:
        for i in np.ndindex(d.batch_shape):
            total = total_mass(d[i] if d.batch_shape else d, x[(slice(None), *i)])
            assert total is None or abs(total - 1.0) < 1e-8, f"probabilities add up to {total}"
        return
    if d.support is None or d.event_shape not in ((), (2,)):
        return
    if d.event_shape and not np.all(np.isinf(d.support)):
        return
    for i in np.ndindex(d.batch_shape):
        draws, one = x[(slice(None), *i)], d[i] if d.batch_shape else d
        total = _pair_integral(one, draws) if d.event_shape else _line_integral(one, draws)
        np.testing.assert_allclose(total, 1.0, rtol=1e-8)


def _line_integral(d: Any, draws: np.ndarray) -> float:
    from scipy.integrate import quad

    low, middle, high = np.quantile(draws, [0.25, 0.5, 0.75])
    scale = high - low
    least, greatest = ((np.min(bound) - middle) / scale for bound in d.support)
    # Cuts at quantiles of the draws resolve modes of any width.
    inner = [-20.0, *(np.quantile(draws, np.linspace(0.0, 1.0, 21)) - middle) / scale, 20.0]
    inner += [(point - middle) / scale for point in _breaks(d)]
    cuts = [least, *(c for c in np.unique(inner) if least < c < greatest), greatest]

    def density(t: float) -> float:
        return float(np.exp(d.log_prob(middle + scale * t) + np.log(scale)))

    def towards(end: float, gap: float) -> Callable[[float], float]:
        """Return the density of log |x - end|, which resolves a pole at the end."""

        def density(u: float) -> float:
            x = end + gap * np.exp(u)
            return 0.0 if x == end else float(np.exp(d.log_prob(x) + np.log(np.abs(gap)) + u))

        return density

    inner = cuts if np.isinf(least) else cuts[1:]
    inner = inner if np.isinf(greatest) else inner[:-1]
    pieces: list[tuple[Callable[[float], float], float, float]] = [
        (density, a, b) for a, b in pairwise(inner)
    ]
    for end, bound, cut in ((least, d.support[0], cuts[1]), (greatest, d.support[1], cuts[-2])):
        if np.isfinite(end):
            pieces.append((towards(float(np.min(bound)), scale * (cut - end)), -np.inf, 0.0))
    return sum(quad(f, a, b, epsabs=1e-11, epsrel=1e-11, limit=200)[0] for f, a, b in pieces)


def _breaks(d: Any) -> np.ndarray:
    """Return where a density jumps: its `breaks`, where it has them."""
    return np.asarray(getattr(d, "breaks", ()), dtype=np.float64)


def _pair_integral(d: Any, draws: np.ndarray) -> float:
    """Quadrature in coordinates in which the draws are round: for long tails, for many modes, for a cusp.

    Of the three rules, that is taken which changes least when its step is doubled.
    """
    size = draws.std(axis=0)
    root = np.linalg.cholesky(np.cov((draws / size).T)) * size[:, None]
    quadrants = root
    if hasattr(d, "covariance") and np.all(np.isfinite(d.covariance)):
        quadrants = np.linalg.cholesky(d.covariance)
    middle = draws.mean(axis=0)
    rules = (_double_exponential, middle, root), (_even, middle, root), (_quadrants, d.mode, quadrants)
    found = [[_quadrature(d, centre, r, *rule(step)) for step in (1, 2)] for rule, centre, r in rules]
    return min(found, key=lambda totals: abs(totals[0] - totals[1]))[0]


def _double_exponential(step: int) -> tuple[np.ndarray, np.ndarray]:
    u = np.arange(-40, 41, step) * 0.08
    t = np.sinh(0.5 * np.pi * np.sinh(u))
    return t, step * 0.08 * 0.5 * np.pi * np.cosh(u) * np.cosh(0.5 * np.pi * np.sinh(u))


def _even(step: int) -> tuple[np.ndarray, np.ndarray]:
    t = np.arange(-176, 177, step) * 0.08
    return t, np.full(len(t), step * 0.08)


def _quadrants(step: int) -> tuple[np.ndarray, np.ndarray]:
    """Integrate the four quadrants about the mode apart: a density may have an edge between them."""
    u = np.arange(-54, 55, step) * 0.07
    t = np.exp(0.5 * np.pi * np.sinh(u))
    weight = step * 0.07 * 0.5 * np.pi * np.cosh(u) * t
    return np.concatenate([-t, t]), np.concatenate([weight, weight])


def _quadrature(d: Any, centre: Any, root: np.ndarray, t: np.ndarray, weight: np.ndarray) -> float:
    points = np.stack(np.meshgrid(t, t, indexing="ij"), axis=-1) @ root.T + centre
    log_jacobian = np.log(np.abs(np.diag(root))).sum()
    return float(weight @ np.exp(d.log_prob(points) + log_jacobian) @ weight)


def mode_has_the_greatest_density(d: Any, rng: np.random.Generator) -> None:
    """No draw is denser than the mode; where there is none, the mode is NaN."""
    best = d.log_prob(d.mode)
    some = np.isfinite(flat(d, d.mode)).all(axis=-1)
    bound = np.where(some, best + 1e-9 * (1.0 + np.abs(best)), np.inf)
    assert np.all(d.log_prob(d.sample(500, rng=rng)) <= bound)


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
        assert np.all(d.cdf(just_below(x)) <= q * (1 + 1e-10))
        return
    # x is rounded to its own spacing, and q moves with it.
    slack = 1e-10 + 4.0 * d.prob(x) * np.spacing(np.abs(x)) / q
    assert np.all(np.abs(d.cdf(x) - q) <= slack * q)
    _assert_tail_quantiles(d)
    draws = d.sample(50, rng=rng)
    np.testing.assert_allclose(d.icdf(d.cdf(draws)), draws, rtol=1e-9, atol=1e-9 * np.max(_width(d)))


def _assert_tail_quantiles(d: Any) -> None:
    """Assert that far in the lower tail too cdf(icdf(q)) = q, where a number holds the quantile."""
    numbers = np.finfo(np.float64)
    for level in (1e-300, 1e-100, 1e-20):
        q = np.full(d.batch_shape, level)
        x = d.icdf(q)
        held = np.isfinite(x) & (np.abs(x) >= numbers.tiny)
        # Where none does, it lies between zero and the least, or beyond the greatest.
        last = np.where(x == -np.inf, -numbers.max, numbers.tiny)
        assert np.all(held | (d.cdf(np.where(held, d.icdf(0.5 + 0.0 * q), last)) >= q))
        x = np.where(held, x, d.icdf(0.5 + 0.0 * q))
        # The sum of a sample rises in steps of x - x_i, up to 8 times coarser than x's own.
        below, above = (d.cdf(x + side * 8.0 * np.spacing(np.abs(x))) for side in (-1.0, 1.0))
        reached = (below <= (1.0 + 1e-10) * q) & (above >= (1.0 - 1e-10) * q)
        assert np.all(~held | reached), f"cdf(icdf({level})) = {d.cdf(x)}"


def cdf_is_the_integral_of_prob(d: Any, rng: np.random.Generator) -> None:
    """The slope of the distribution function is the density; its jumps are the probabilities."""
    if not hasattr(d, "cdf"):
        return
    x = d.sample(20, rng=rng)
    if d.discrete:
        np.testing.assert_allclose(d.cdf(x) - d.cdf(just_below(x)), d.prob(x), rtol=1e-8, atol=1e-13)
        return
    node, weight = np.polynomial.legendre.leggauss(10)
    # Steps stay clear of the ends of the support, of breaks and of the mode, where a density may have edges.
    edges = [np.abs(x - point) for point in (*d.support, d.mode, *_breaks(d))]
    half = np.fmin.reduce([0.03 * _width(d) + 0.0 * x, *(0.4 * edge for edge in edges)])
    half = 0.5 * ((x + half) - (x - half))  # as rounded
    steps = x + node.reshape((-1,) + (1,) * x.ndim) * half
    area = np.tensordot(weight, d.prob(steps), 1) * half
    np.testing.assert_allclose(d.cdf(x + half) - d.cdf(x - half), area, rtol=1e-7, atol=1e-12)


def _width(d: Any) -> np.ndarray:
    """Return the standard deviations or, where those are not finite, the distances between the quartiles."""
    stddev = np.asarray(d.stddev)
    low, high = (d.icdf(np.full(d.batch_shape, q)) for q in (0.25, 0.75))
    return np.where(np.isfinite(stddev), stddev, high - low)


def intervals_hold_their_coverage(d: Any, rng: np.random.Generator) -> None:
    """Each entry falls within its interval with probability `coverage`, and beyond each end equally often."""
    if not hasattr(d, "interval"):
        return
    x = flat(d, d.sample(20_000, rng=rng))
    for coverage in (0.5, 0.95):
        ends = d.interval(coverage)
        low, high = (flat(d, end) for end in ends)
        tail = 0.5 * (1.0 - coverage)
        assert np.all(low <= high)
        if d.discrete:
            _assert_at_most(x < low, tail)
            _assert_at_most(x > high, tail)
        else:
            assert_mean(x < low, tail, f"fraction of draws below the interval of {coverage}")
            assert_mean(x > high, tail, f"fraction of draws above the interval of {coverage}")
        if hasattr(d, "cdf") and d.discrete:
            assert np.all(d.cdf(just_below(ends[0])) <= tail * (1.0 + 1e-10))
            assert np.all(d.cdf(ends[1]) >= (1.0 - tail) * (1.0 - 1e-10))
        elif hasattr(d, "cdf"):
            np.testing.assert_allclose(d.cdf(ends[0]), tail, rtol=1e-7)
            np.testing.assert_allclose(d.cdf(ends[1]), 1.0 - tail, rtol=1e-7)


DENSITY_LAWS = laws_above(globals())


def _assert_at_most(happened: np.ndarray, chance: float) -> None:
    share = happened.mean(axis=0)
    allowed = chance + SIGMAS * np.sqrt(chance * (1.0 - chance) / len(happened))
    assert np.all(share <= allowed), f"{share} of the draws are beyond the interval, not {chance}"


MOST_TAIL_POINTS = 100_000


def survival_falls_by_prob(d: Any, rng: np.random.Generator) -> None:
    """Far out, survival(a) - survival(b) is the integral of the density between, or the sum: rtol 1e-7."""
    if not hasattr(d, "survival"):
        return
    for i in np.ndindex(d.batch_shape):
        one = d[i] if d.batch_shape else d
        for a, b in _tail_steps(one):
            mass = _interval_sum(one, a, b) if d.discrete else _interval_integral(one, a, b)
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


def _interval_integral(d: Any, a: float, b: float) -> float:
    """Integrate between the breaks of a density that has them."""
    node, weight = np.polynomial.legendre.leggauss(40)
    breaks = _breaks(d)
    ends = np.unique([a, *breaks[(breaks > a) & (breaks < b)], b])
    half = 0.5 * np.diff(ends)[:, None]
    return float(np.sum(d.prob(ends[:-1, None] + half * (1.0 + node)) @ weight * half[:, 0]))


def _interval_sum(d: Any, a: float, b: float) -> float:
    if hasattr(d, "atoms"):
        return float(np.sum(d.prob(d.atoms)[(d.atoms > a) & (d.atoms <= b)]))
    assert b - a <= MOST_TAIL_POINTS, "the tail has too many numbers to add up"
    return float(np.sum(d.prob(np.arange(a + 1.0, b + 1.0))))


MOST_POINTS = 2_000_000


def total_mass(d: Any, draws: np.ndarray) -> float | None:
    """Return Σ p(x) over the events of one distribution; None where they are too many to list.

    The events are its `atoms` if it has them, else whole numbers, or vectors of them, within its support.
    """
    points = d.atoms if hasattr(d, "atoms") else _lattice(d, draws)
    return None if points is None else float(d.prob(points).sum())


def just_below(x: np.ndarray) -> np.ndarray:
    """Return the numbers before x."""
    return np.nextafter(x, -np.inf)


def _lattice(d: Any, draws: np.ndarray) -> np.ndarray | None:
    if d.support is None:
        return None
    reach = 60.0 * (1.0 + draws.std())
    low, high = (np.clip(np.min(bound), draws.min() - reach, draws.max() + reach) for bound in d.support)
    low, high, dim = np.ceil(low), np.floor(high), int(np.prod(d.event_shape))
    if (high - low + 1.0) ** dim > MOST_POINTS:
        return None
    grid = np.meshgrid(*[np.arange(low, high + 1.0)] * dim, indexing="ij")
    return np.stack(grid, axis=-1).reshape(-1, *d.event_shape)


def log_tails_are_logarithms(d: Any, rng: np.random.Generator) -> None:
    """log_cdf and log_survival are the logarithms, and where those underflow rise by the density still."""
    if not hasattr(d, "cdf"):
        return
    missing = [name for name in ("log_cdf", "log_survival", "isf") if not hasattr(d, name)]
    assert not missing, f"{type(d).__name__} has a cdf and no {', '.join(missing)}"
    x = np.concatenate([d.sample(200, rng=rng), np.full((1, *d.batch_shape), np.nan)])
    ends = np.stack([np.full(d.batch_shape, np.inf), np.full(d.batch_shape, -np.inf)])
    x = np.concatenate([x, ends])
    for log_mass, mass in ((d.log_cdf, d.cdf), (d.log_survival, d.survival)):
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(log_mass(x), np.log(mass(x)), rtol=1e-11, atol=1e-14)
        assert np.all(~(log_mass(x) > 0.0))
    for i in np.ndindex(d.batch_shape):
        one = d[i] if d.batch_shape else d
        for upper in (False, True):
            _assert_far_tail(one, upper=upper)


def _assert_far_tail(d: Any, *, upper: bool) -> None:
    """Assert that a tail far beyond the smallest number, if there is one, rises by the density: rtol 1e-7."""
    end = float(np.max(d.support[1]) if upper else np.min(d.support[0]))
    middle = float(d.icdf(0.5))
    log_mass = d.log_survival if upper else d.log_cdf
    step = float(abs(d.isf(1e-9) - middle) if upper else abs(d.icdf(1e-9) - middle))
    if not (np.isfinite(step) and step > 0.0):
        return
    direction = 1.0 if upper else -1.0
    with np.errstate(over="ignore"):
        points = middle + direction * step * 2.0 ** np.arange(1020.0)
        if np.isfinite(end):  # and half the way to the end, again and again
            points = np.append(points, end - direction * abs(end - middle) * 0.5 ** np.arange(1.0, 1060.0))
    points = points[np.isfinite(points)]
    points = points[direction * (end - points) > 0.0]
    points = np.floor(points) if d.discrete else points
    with np.errstate(over="ignore"):
        log_prob = d.log_prob(points)
    far = np.flatnonzero((log_prob < -2000.0) & (log_prob > -1e6))
    if not len(far):
        return
    a = float(points[far[0]])
    unit = _fall(d, a, direction)
    b = a + direction * (max(np.floor(unit), 1.0) if d.discrete else unit)
    top = float(log_mass(a))
    if d.discrete:
        k = np.arange(min(a, b) + 1.0, max(a, b) + 1.0)
        mass = np.sum(np.exp(d.log_prob(k) - top))
    else:
        node, weight = np.polynomial.legendre.leggauss(40)
        mass = (
            abs(b - a) / 2.0 * np.sum(weight * np.exp(d.log_prob(0.5 * (a + b) + 0.5 * (b - a) * node) - top))
        )
    drop = 1.0 - np.exp(float(log_mass(b)) - top)
    np.testing.assert_allclose(drop, mass, rtol=1e-7, err_msg=f"between {a} and {b}")


def _fall(d: Any, x: float, direction: float) -> float:
    """Return a distance, a power of two, over which the density has fallen by a factor e to e⁴ or so."""
    distances = 2.0 ** np.arange(-1070.0, 1020.0)
    with np.errstate(over="ignore"):
        fallen = np.flatnonzero(d.log_prob(x + direction * distances) < d.log_prob(x) - 1.0)
    return float(distances[fallen[0]]) if len(fallen) else abs(x)


def isf_inverts_survival(d: Any, rng: np.random.Generator) -> None:
    """isf(q) is the least x with survival(x) ≤ q; without jumps survival(isf(q)) = q, however small q is."""
    if not hasattr(d, "isf"):
        return
    for level in (1e-300, 1e-100, 1e-20, 1e-8, 1e-3, 0.1, 0.5, 0.9, 0.999):
        q = np.full(d.batch_shape, level)
        x = d.isf(q)
        if d.discrete:
            assert np.all(d.survival(x) <= q * (1 + 1e-10))
            assert np.all(d.survival(just_below(x)) >= q * (1 - 1e-10))
            continue
        held = np.isfinite(x)
        x = np.where(held, x, d.icdf(0.5 + 0.0 * q))
        # x is rounded to its own spacing, or to that of the distances it is found from.
        size = np.fmax(np.abs(x), np.abs(d.icdf(0.5 + 0.0 * q)))
        below, above = (d.survival(x + side * 8.0 * np.spacing(size)) for side in (-1.0, 1.0))
        reached = (below >= (1.0 - 1e-10) * q) & (above <= (1.0 + 1e-10) * q)
        assert np.all(~held | reached), f"survival(isf({level})) = {d.survival(x)}"


TAIL_LAWS = laws_above(globals())
