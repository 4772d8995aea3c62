"""The distribution of a weighted sample."""

from functools import cached_property
from math import prod
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.grouping import first_of_each, group_rows, weighted_counts
from tractable.arrays.namespace import Array, device, freeze, namespace_of, to_numpy
from tractable.distributions import tails
from tractable.distributions.checks import as_point_weights, check_finite, check_sample_weight
from tractable.distributions.discrete.counting import only_where
from tractable.distributions.distribution import Distribution, Univariate, numbers_only
from tractable.distributions.probabilities import entropy_term, log_or_minus_inf
from tractable.value import set_fields, value


@value
class Empirical(Distribution):
    """The empirical distribution: the relative frequencies of a weighted sample.

    p(x) = Σ_i w_i [x = x_i] / Σ_i w_i: relative frequencies, the distribution of the sample itself.

    Probability is on the points of the sample alone, and equal points add up. A sample of numbers has `cdf`,
    `icdf`, `survival` and `interval` too; one of vectors has not. Of several modes the first in the sample is
    given.

    Parameters
    ----------
    values : array (n, *event)
        The points.
    weights : array (n,), optional
        How often each counts; once when not given.

    Examples
    --------
    >>> d = Empirical(values=[[0.0, 1.0], [2.0, 1.0], [0.0, 1.0]], weights=[1.0, 2.0, 1.0])
    >>> d.prob([[0.0, 1.0], [2.0, 1.0], [9.0, 9.0]])
    array([0.5, 0.5, 0. ])
    >>> d.mean, d.variance
    (array([1., 1.]), array([1., 0.]))
    >>> die = Empirical(values=[1, 3, 5, 4, 4, 6])
    >>> float(die.prob(4).round(4)), die.cdf([0.0, 3.5]).round(3), float(die.icdf(0.5))
    (0.3333, array([0.   , 0.333]), 4.0)
    """

    discrete: ClassVar[bool] = True

    values: Array
    weights: Array

    def __init__(self, *, values: Any, weights: Any = None) -> None:
        x = freeze(as_reals("values", values))
        if x.ndim < 1 or 0 in x.shape:
            raise ValueError(f"values must have points on its first axis, got shape {tuple(x.shape)}")
        check_finite("values", x)
        set_fields(self, values=x, weights=freeze(as_point_weights(weights, x)))

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None) -> Self:
        """Return the distribution of the sample, the maximum likelihood estimate without any family."""
        X = as_reals("X", X)
        weights = None if sample_weight is None else check_sample_weight(sample_weight, X.shape[0], X)
        return cls(values=X, weights=weights)

    @property
    def event_shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape[1:])

    @property
    def support(self) -> tuple[Array, Array]:
        """Least and greatest value of an entry, (*event) both."""
        xp = namespace_of(self.values)
        counted = self._beside_values(self.weights) > 0
        low = xp.min(xp.where(counted, self.values, xp.full_like(self.values, xp.inf)), axis=0)
        return low, xp.max(xp.where(counted, self.values, xp.full_like(self.values, -xp.inf)), axis=0)

    @property
    def probabilities(self) -> Array:
        """w_i / Σ w of each point of the sample, (n,)."""
        return self.weights / namespace_of(self.weights).sum(self.weights)

    @property
    def atoms(self) -> Array:
        """The distinct points, (m, *event), in the order of their first coordinates."""
        return self._atoms[0]

    @property
    def masses(self) -> Array:
        """The probability of each atom, (m,)."""
        return self._atoms[1]

    @property
    def mean(self) -> Array:
        return self._averaged(self.values)

    @property
    def variance(self) -> Array:
        """See `Distribution.variance`: the mean squared deviation, not an unbiased estimate."""
        away = self.values - self.mean
        return self._averaged(away * away)

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: the heaviest point."""
        xp = namespace_of(self.values)
        return self.values[int(xp.argmax(self.log_prob(self.values))), ...]

    @property
    def covariance(self) -> Array:
        """Covariance of the entries, (*event, *event)."""
        away = self.values - self.mean
        flat = namespace_of(away).reshape(away, (away.shape[0], -1))
        found = (flat * self.probabilities[:, None]).T @ flat
        return namespace_of(away).reshape(found, self.event_shape * 2)

    def log_prob(self, x: Any) -> Array:
        """Return the log of the probability at exactly x; -inf away from the sample."""
        x = self._event(x)
        xp = namespace_of(x)
        shape = tuple(x.shape[: x.ndim - len(self.event_shape)])
        n, m = self.values.shape[0], prod(shape)
        rows = [xp.reshape(a, (k, prod(self.event_shape))) for a, k in ((self.values, n), (x, m))]
        groups = group_rows(xp.concat([rows[0], xp.astype(rows[1], self.values.dtype)], axis=0))
        own = xp.concat([self.probabilities, xp.zeros(m, dtype=self.values.dtype, device=device(x))])
        mass = xp.take(weighted_counts(groups, own, n + m), groups[n:])
        missing = xp.any(xp.isnan(rows[1]), axis=-1)
        return xp.reshape(only_where(mass > 0, log_or_minus_inf(mass), -np.inf, missing), shape)

    @numbers_only
    def cdf(self, x: Any) -> Array:
        """See `Univariate.cdf`: the fraction of the sample that is not above x."""
        return self._at_step(self._steps[1], x)

    @numbers_only
    def survival(self, x: Any) -> Array:
        """See `Univariate.survival`: the fraction of the sample that is above x."""
        return self._at_step(self._steps[2], x)

    @numbers_only
    def icdf(self, q: Any) -> Array:
        """See `Univariate.icdf`: a number of the sample."""
        q = self._quantile(q)
        xp = namespace_of(q)
        values, below, _ = self._steps
        # Level 0 is reached before the first number; the least of the sample stands for it.
        q = xp.where(q > 0, q, xp.full_like(q, xp.finfo(q.dtype).smallest_normal))
        position = _searched(below[1:], q, "left")
        return xp.reshape(xp.take(values, xp.reshape(position, (-1,))), tuple(q.shape))

    log_cdf = numbers_only(tails.log_cdf)
    log_survival = numbers_only(tails.log_survival)

    @numbers_only
    def isf(self, q: Any) -> Array:
        """See `Univariate.isf`: a number of the sample."""
        q = self._quantile(q)
        xp = namespace_of(q)
        values, _, above = self._steps
        # The fractions above the numbers fall: read backwards, they are searched from the greatest.
        position = values.shape[0] - _searched(xp.flip(above[1:]), q, "right")
        position = xp.clip(position, 0, values.shape[0] - 1)
        return xp.reshape(xp.take(values, xp.reshape(position, (-1,))), tuple(q.shape))

    probability_between = numbers_only(Univariate.probability_between)
    interval = numbers_only(Univariate.interval)

    def entropy(self) -> Array:
        """See `Distribution.entropy`: -Σ p log p over the atoms."""
        xp = namespace_of(self.masses)
        return xp.sum(entropy_term(self.masses, log_or_minus_inf(self.masses)))

    def _divergence(self, other: "Empirical") -> Array:
        """Return Σ p log p/q over the atoms: infinite where the other sample lacks one of these points."""
        xp = namespace_of(self.masses)
        ratio = log_or_minus_inf(self.masses) - other.log_prob(self.atoms)
        return xp.sum(self.masses * ratio)

    @cached_property
    def _atoms(self) -> tuple[Array, Array]:
        xp = namespace_of(self.values)
        groups = group_rows(self.values)
        n = self.values.shape[0]
        masses = weighted_counts(groups, self.probabilities, n)
        first = first_of_each(groups)
        present = xp.nonzero(xp.take(masses, xp.take(groups, first)) > 0)[0]
        rows = xp.take(first, present)
        return freeze(xp.take(self.values, rows, axis=0)), freeze(xp.take(masses, xp.take(groups, rows)))

    @cached_property
    def _steps(self) -> tuple[Array, Array, Array]:
        """The numbers in order, (m,), and the probability below, and from, each and the end, (m + 1,)."""
        xp = namespace_of(self.values)
        order = xp.argsort(self.atoms)
        masses = xp.take(self.masses, order)
        up, down = xp.cumulative_sum(masses), xp.flip(xp.cumulative_sum(xp.flip(masses)))
        none = xp.zeros_like(up[:1])
        below, above = xp.concat([none, up / up[-1]]), xp.concat([down / down[0], none])
        return xp.take(self.atoms, order), below, above

    def _at_step(self, steps: Array, x: Any) -> Array:
        """Return a function of the number of observations that are not above x."""
        x = self._event(x)
        xp = namespace_of(x)
        position = _searched(self._steps[0], xp.where(xp.isnan(x), xp.zeros_like(x), x), "right")
        found = xp.reshape(xp.take(steps, xp.reshape(position, (-1,))), tuple(x.shape))
        return only_where(~xp.isnan(x), found, 0.0, xp.isnan(x))

    def _averaged(self, x: Array) -> Array:
        xp = namespace_of(x)
        return xp.sum(self._beside_values(self.probabilities) * x, axis=0)

    def _beside_values(self, w: Array) -> Array:
        return namespace_of(w).reshape(w, (-1,) + (1,) * len(self.event_shape))

    def _sample(self, n: int, rng: Any) -> Array:
        edges = np.cumsum(to_numpy(self.weights).astype(np.float64))
        rows = np.searchsorted(edges / edges[-1], rng.random(n), side="right")
        xp = namespace_of(self.values)
        positions = xp.asarray(rows, dtype=xp.int64, device=device(self.values))
        return xp.take(self.values, positions, axis=0)


def _searched(ordered: Array, x: Array, side: str) -> Array:
    """Return the positions of x among ordered numbers; some libraries need both of one dtype."""
    xp = namespace_of(x)
    dtype = xp.result_type(ordered, x)
    return xp.searchsorted(xp.astype(ordered, dtype), xp.astype(x, dtype), side=side)
