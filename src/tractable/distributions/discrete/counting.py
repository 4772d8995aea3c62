"""Distributions of whole numbers: supports, distribution functions, quantiles and expectations."""

from abc import abstractmethod
from collections.abc import Callable
from math import prod
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.batched import diagonal_matrix
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.distributions.distribution import Distribution, Univariate
from tractable.distributions.tails import log_of_parts
from tractable.engines.quadrature import gauss_legendre
from tractable.engines.roots import bisect
from tractable.statistics.counts import Totals

_MANY = 256  # numbers from which on a table may pay


class Counting(Univariate):
    """A distribution of the whole numbers from 0 on, up to the end of its support.

    A family writes `_log_mass` for numbers inside the support; `_cdf` and `_survival` below its end are sums
    unless it knows better. Events are floating arrays of whole numbers; any other number has probability 0.
    """

    discrete: ClassVar[bool] = True

    @abstractmethod
    def _log_mass(self, k: Array) -> Array:
        """Return log P(X = k), a smooth function of k between the ends of the support."""

    def _cdf(self, k: Array) -> Array:
        """Return P(X ≤ k) for whole k from 0 to below the end of the support."""
        return self._sum(self._mass, 0.0 * k, k)

    def _survival(self, k: Array) -> Array:
        """Return P(X > k) for whole k from 0 to below the end of the support."""
        return self._sum(self._mass, k + 1.0, self._last(k))

    @property
    def _end(self) -> Any:
        assert self.support is not None
        return self.support[1]

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`; -inf for what is not a whole number of the support."""
        x = self._event(x)
        xp = namespace_of(x)
        possible = (x >= 0) & (x <= self._end) & (x == xp.floor(x)) & xp.isfinite(x)
        found = self._tabled(self._log_mass, xp.where(possible, x, xp.zeros_like(x)))
        return only_where(possible, found, -np.inf, xp.isnan(x))

    def _icdf(self, q: Array) -> Array:
        """See `Univariate.icdf`: the least whole number k with P(X ≤ k) ≥ q, by bisection."""
        xp = namespace_of(q)
        q, inner = self._inner(q)
        low, high = self._bracket(inner / (1.0 - inner), q > 0.0)
        high = bisect(lambda k: self.cdf(k) >= q, low, high, whole=True)
        return xp.where((q == 1.0) & (self.stddev > 0), self._end + 0.0 * q, high)

    def _isf(self, q: Array) -> Array:
        """See `Univariate.isf`: the least whole number k with P(X > k) ≤ q, by bisection."""
        xp = namespace_of(q)
        q, inner = self._inner(q)
        low, high = self._bracket((1.0 - inner) / inner, q < 1.0)
        high = bisect(lambda k: self.survival(k) <= q, low, high, whole=True)
        return xp.where((q == 0.0) & (self.stddev > 0), self._end + 0.0 * q, high)

    def _inner(self, q: Array) -> tuple[Array, Array]:
        """Return probabilities for each member of the batch, and the same with neither 0 nor 1 among them."""
        xp = namespace_of(q)
        q = xp.broadcast_to(q, np.broadcast_shapes(tuple(q.shape), self.batch_shape))
        return q, xp.clip(q, float(xp.finfo(q.dtype).smallest_normal), 1.0 - float(xp.finfo(q.dtype).eps))

    def _log_cdf(self, k: Array) -> Array:
        """Return log P(X ≤ k) for whole k from 0 to below the end of the support."""
        return self._log_sum(k, log_of_parts(self._cdf(k), self._survival(k)), 0.0 * k, k, k)

    def _log_survival(self, k: Array) -> Array:
        """Return log P(X > k) for whole k from 0 to below the end of the support."""
        found = log_of_parts(self._survival(k), self._cdf(k))
        return self._log_sum(k, found, k + 1.0, self._last(k + 1.0), k + 1.0)

    def _log_sum(self, k: Array, found: Array, low: Array, high: Array, top: Array) -> Array:
        """Return log Σ P(X = j) over j = low, …, high where what was found of it is out of range.

        The largest term is that of `top`, and the others are added up relative to it.
        """
        xp = namespace_of(found)
        far = found < float(np.log(1e16 * float(xp.finfo(found.dtype).smallest_normal)))
        if not bool(xp.any(far)):
            return found
        top = xp.broadcast_to(top, found.shape)
        peak = self._log_mass(xp.where(far, top, self.mode + 0.0 * top))
        peak = xp.where(xp.isfinite(peak), peak, xp.zeros_like(peak))
        low, high = (xp.where(far, end, top) for end in (low, high))
        with np.errstate(over="ignore", divide="ignore"):
            total = self._sum(lambda j: xp.exp(self._log_mass(j) - peak), low, high)
            return xp.where(far, peak + xp.log(total), found)

    def entropy(self) -> Array:
        return self._expected(lambda k: -self._log_mass(k))

    def _bracket(self, odds: Array, some: Array) -> tuple[Array, Array]:
        """Return whole numbers below and not below the quantile of q, by Cantelli's inequality on q/(1 - q).

        Where there is not some probability up to it, the first is -1.
        """
        xp = namespace_of(odds)
        root = xp.sqrt(odds)
        most = 0.25 * float(xp.finfo(odds.dtype).max)  # of which sums are finite
        with np.errstate(over="ignore"):
            low = xp.floor(self.mean - 1.01 * self.stddev / root) - 2.0
            high = xp.ceil(self.mean + 1.01 * self.stddev * root) + 1.0
        high = xp.where(high < most, high, xp.full_like(high, most))
        low = xp.where((low > -1.0) & some, low, xp.full_like(low, -1.0))
        return low, xp.where(high < self._end, high, self._end + 0.0 * high)

    def _on_support(self, formula: Callable[[Array], Array], x: Any, below: float, above: float) -> Array:
        """Return a formula at floor(x), its values below and from the end of the support on, NaN for NaN."""
        x = self._event(x)
        xp = namespace_of(x)
        k = xp.floor(x)
        within = (k >= 0) & (k < self._end)
        found = self._tabled(formula, xp.where(within, k, xp.zeros_like(k)))
        outside = xp.where(k < 0, xp.full_like(found, below), xp.full_like(found, above))
        return only_where(within, found, outside, xp.isnan(x))

    def _tabled(self, f: Callable[[Array], Array], k: Array) -> Array:
        """Return f(k), once for each number where one distribution is asked for the same few many times."""
        xp = namespace_of(k)
        if self.batch_shape or prod(k.shape) < _MANY:
            return f(k)
        low = xp.min(k)
        n = int(xp.max(k) - low) + 1
        if n > prod(k.shape) // 4:
            return f(k)
        table = f(low + xp.arange(n, dtype=k.dtype, device=device(k)))
        return looked_up(table, k - low)

    def _expected(self, f: Callable[[Array], Array]) -> Array:
        """Return E[f(X)] to rounding."""

        def term(k: Array) -> Array:
            mass = self._mass(k)
            xp = namespace_of(mass)
            return xp.where(mass > 0, mass * f(k), xp.zeros_like(mass))

        with np.errstate(invalid="ignore"):
            return self._sum(term, *self._bulk())

    def _mass(self, k: Array) -> Array:
        return namespace_of(k).exp(self._log_mass(k))

    def _sum(self, f: Callable[[Array], Array], low: Array, high: Array) -> Array:
        """Return Σ f(k) over k = low, …, high; the ranges broadcast with the batch."""
        xp = namespace_of(low)
        arrays = xp.broadcast_arrays(low, high, self.mean, self.stddev)
        return sum_over_counts(f, *arrays)

    def _bulk(self) -> tuple[Array, Array]:
        """Return whole numbers between which light-tailed probability lies, up to rounding."""
        xp = namespace_of(self.mean)
        low = xp.floor(self.mean - 40.0 * self.stddev - 100.0)
        low = xp.where(low > 0, low, xp.zeros_like(low))
        return low, self._last(low)

    def _last(self, k: Array) -> Array:
        """Return the whole number beyond which terms are negligible beside those after k."""
        xp = namespace_of(k)
        start = xp.where(k > self.mean, k, self.mean + 0.0 * k)
        reach = xp.ceil(start + 40.0 * (self.stddev + xp.sqrt(start - self.mean)) + 100.0)
        return xp.where(reach < self._end, reach, self._end + 0.0 * reach)


class EitherForm(Counting):
    """A family that is given by probabilities or by their logits."""

    given: str

    def _arrays(self) -> dict[str, Array]:
        return {self.given: getattr(self, self.given)}

    _parameters = _arrays


class FittedCounting(Counting):
    """A family of counts that is fitted from a statistic: `from_statistic`."""

    #: What :meth:`from_statistic` learns from.
    statistic: ClassVar[Any]

    @classmethod
    @abstractmethod
    def from_statistic(cls, statistic: Any) -> Self:
        """Return the maximum likelihood estimate."""

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None) -> Self:
        """Return the maximum likelihood estimate from whole numbers X (n, *batch); see `from_statistic`."""
        return cls.from_statistic(cls.statistic.of(X, sample_weight))


def only_where(possible: Array, found: Array, otherwise: Any, missing: Array) -> Array:
    """Return what was found where it is possible, something else elsewhere, and NaN where x was missing."""
    xp = namespace_of(found)
    other = otherwise if hasattr(otherwise, "dtype") else xp.full_like(found, otherwise)
    return xp.where(missing, xp.full_like(found, xp.nan), xp.where(possible, found, other))


def looked_up(table: Array, k: Array, n_batch: int | None = None) -> Array:
    """Return entries (*sample, *batch, *rest) of tables (*batch, m, *rest) at whole k (*sample, *batch).

    The tables have `n_batch` batch axes; all but the last when not given.
    """
    xp = namespace_of(table)
    n_batch = table.ndim - 1 if n_batch is None else n_batch
    batch, n, rest = tuple(table.shape[:n_batch]), table.shape[n_batch], tuple(table.shape[n_batch + 1 :])
    members = xp.reshape(xp.arange(prod(batch), dtype=xp.int64, device=device(table)), batch)
    index = n * members + xp.astype(k, xp.int64)
    rows = xp.reshape(table, (prod(batch) * n, *rest))
    return xp.reshape(xp.take(rows, xp.reshape(index, (-1,)), axis=0), (*index.shape, *rest))


def check_whole(name: str, x: Array) -> None:
    """Refuse what is not a whole number from 0 on."""
    xp = namespace_of(x)
    good = (x >= 0) & (x == xp.floor(x)) & xp.isfinite(x)
    if not bool(xp.all(good)):
        worst = xp.reshape(x, (-1,))[xp.argmin(xp.astype(xp.reshape(good, (-1,)), xp.int8))]
        raise ValueError(f"{name} must be whole numbers from 0 on, got {float(worst)!r}")


def as_counts(draws: np.ndarray, like: Array) -> Array:
    """Return draws of whole numbers as an array of `like`'s library, dtype and device."""
    xp = namespace_of(like)
    return xp.asarray(draws.astype(np.float64), dtype=like.dtype, device=device(like))


_FEW = 2**15  # so many terms are added one by one
_EDGE = 1024  # terms added one by one at either end of a longer sum, where the summand may have a singularity
_CHUNK = 2**18  # numbers held at a time
_N_NODES = 20  # of a panel

Summand = Callable[[Array], Array]


def sum_over_counts(f: Summand, low: Array, high: Array, center: Array, spread: Array) -> Array:
    """Return Σ f(k) over k = low, …, high, for arrays of ranges of one shape.

    Long sums are integrals by the midpoint rule read backwards (Euler and Maclaurin), Σ f(k) = ∫ f(x) dx -
    f'(x)/24 between half-integers, over panels that double in length away from both ends and are at most
    `spread` wide about the centre. What is left out is of the order of f''''/f at `_EDGE` terms from the end,
    below rounding.

    ``f(k)`` takes arrays (m, *shape), also of numbers that are not whole; the sum over an empty range is 0.
    """
    xp = namespace_of(low)
    longest = float(xp.max(high - low)) + 1.0 if prod(low.shape) else 0.0
    if longest <= _FEW:
        return _one_by_one(f, low, high, int(longest))
    is_long = high - low >= 2 * _EDGE
    first, last = low + _EDGE, high - _EDGE
    # A short range among long ones has its ends meet, and no middle.
    first, last = xp.where(is_long, first, high + 1.0), xp.where(is_long, last, high)
    ends = _one_by_one(f, low, first - 1.0, 2 * _EDGE + 1) + _one_by_one(f, last + 1.0, high, _EDGE)
    inner = _smooth(f, first, xp.where(is_long, last, first), _edges(low, high, center, spread))
    return ends + xp.where(is_long, inner, xp.zeros_like(inner))


def _one_by_one(f: Summand, low: Array, high: Array, n: int) -> Array:
    xp = namespace_of(low)
    total = xp.zeros_like(low)
    step = max(1, _CHUNK // max(1, prod(low.shape)))
    for start in range(0, n, step):
        k = low + _column(np.arange(start, min(start + step, n)), low)
        inside = k <= high
        terms = f(xp.where(inside, k, low))
        total = total + xp.sum(xp.where(inside, terms, xp.zeros_like(terms)), axis=0)
    return total


def _smooth(f: Summand, first: Array, last: Array, edges: Array) -> Array:
    """Return Σ f(k) over first, …, last as an integral over the panels that the edges cut."""
    xp = namespace_of(first)
    a, b = first - 0.5, last + 0.5
    cuts = xp.concat([a[None, ...], xp.sort(xp.clip(edges, a, b), axis=0), b[None, ...]], axis=0)
    rule = gauss_legendre(cuts[:-1, ...], cuts[1:, ...], _N_NODES)
    points, measure = (xp.reshape(xp.moveaxis(x, -1, 0), (-1, *first.shape)) for x in rule)
    total = xp.zeros_like(first)
    step = max(1, _CHUNK // max(1, prod(first.shape)))
    for start in range(0, points.shape[0], step):
        some = slice(start, min(start + step, points.shape[0]))
        total = total + xp.sum(measure[some, ...] * f(points[some, ...]), axis=0)
    slopes = f(xp.stack([b + 0.5, b - 0.5, a + 0.5, a - 0.5]))
    return total - ((slopes[0, ...] - slopes[1, ...]) - (slopes[2, ...] - slopes[3, ...])) / 24.0


def _edges(low: Array, high: Array, center: Array, spread: Array) -> Array:
    """Return where panels end: at doubling distances from both ends, and every spread about the centre."""
    xp = namespace_of(low)
    far = _column(_EDGE * 2.0 ** np.arange(1, 52), low)
    near = _column(np.arange(-40, 41), low)
    return xp.concat([low + far, high - far, center + near * spread], axis=0)


def _column(steps: np.ndarray, like: Array) -> Array:
    """Return steps on a first axis, in front of the shape of `like`."""
    xp: Any = namespace_of(like)
    column = xp.asarray(steps.astype(np.float64), dtype=like.dtype, device=device(like))
    return xp.reshape(column, (-1,) + (1,) * like.ndim)


class CountVectors(Distribution):
    """A distribution of K counts that add up to `n_trials`.

    A family writes `_log_mass` for vectors of the support, the `expected_probabilities`, how much larger than
    a multinomial's its covariance is, and the distribution of each count by itself.
    """

    discrete: ClassVar[bool] = True

    n_trials: Array

    @property
    @abstractmethod
    def expected_probabilities(self) -> Array:
        """Expected probability of each category, (*batch, K)."""

    @property
    @abstractmethod
    def marginals(self) -> Counting:
        """The distribution of each count by itself: a batch (*batch, K) of distributions of numbers."""

    @abstractmethod
    def _log_mass(self, x: Array) -> Array:
        """Return the log probability of counts that add up to n."""

    @property
    def n_classes(self) -> int:
        """Number of categories K."""
        return int(self.expected_probabilities.shape[-1])

    @property
    def event_shape(self) -> tuple[int, ...]:
        return (self.n_classes,)

    @property
    def support(self) -> tuple[float, Array]:
        """Least and greatest count; of such vectors, those whose entries add up to n."""
        return 0.0, self.n_trials

    @property
    def mean(self) -> Array:
        return self.n_trials[..., None] * self.expected_probabilities

    @property
    def variance(self) -> Array:
        return self.marginals.variance

    @property
    def covariance(self) -> Array:
        """Covariance of the counts, (*batch, K, K); they add up to n, so its rows add up to 0."""
        p = self.expected_probabilities
        xp = namespace_of(p)
        across = -(self.n_trials * self._inflation)[..., None, None] * p[..., :, None] * p[..., None, :]
        eye = diagonal_matrix(xp.ones_like(p))
        return xp.where(eye > 0, diagonal_matrix(self.variance), across)

    @property
    def _inflation(self) -> Array:
        """How many times the covariance of a multinomial of the same probabilities."""
        return namespace_of(self.n_trials).ones_like(self.n_trials)

    def interval(self, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return the equal-tailed interval (low, high) of each count by itself, (*batch, K) both."""
        return self.marginals.interval(coverage)

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`; -inf for what are not whole numbers that add up to n."""
        x = self._event(x)
        xp = namespace_of(x)
        whole = xp.all((x >= 0) & (x == xp.floor(x)) & xp.isfinite(x), axis=-1)
        total = xp.sum(xp.where(whole[..., None], x, xp.zeros_like(x)), axis=-1)
        possible = whole & (total == self.n_trials)
        p = self.expected_probabilities
        is_first = xp.cumulative_sum(xp.ones_like(p), axis=-1) == 1.0
        first = xp.where(is_first, self.n_trials[..., None], xp.zeros_like(p))
        found = self._log_mass(xp.where(possible[..., None], x, first))
        return only_where(possible, found, -np.inf, xp.any(xp.isnan(x), axis=-1))

    def _summed(self, f: Callable[[Array], Array]) -> Array:
        """Return Σ_k E[f(x)_k], where f treats every count by itself."""
        found = self.marginals._expected(f)  # noqa: SLF001
        return namespace_of(found).sum(found, axis=-1)


def one_total(statistic: Totals, n_trials: Any) -> Array:
    """Return how many counts there are in every row, as far as the totals show."""
    xp = namespace_of(statistic.total)
    mean = xp.sum(statistic.mean, axis=-1)
    n = xp.round(mean) if n_trials is None else xp.asarray(n_trials, dtype=mean.dtype)
    if not bool(xp.all((xp.abs(mean - n) <= 1e-9 * (1.0 + n)) & (n > 0))):
        raise ValueError("X must have rows that add up to one and the same n_trials, at least 1")
    return n
