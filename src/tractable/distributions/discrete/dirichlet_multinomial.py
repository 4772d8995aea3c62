"""Counts whose probabilities are Beta or Dirichlet: beta-binomial and Dirichlet-multinomial distributions."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.gamma import digamma, trigamma
from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.arrays.saddle_point import count_deviance, factorial_rest
from tractable.distributions.checks import check_positive, row_weights
from tractable.distributions.discrete.categorical import apportioned, check_row_totals, drawn_in_turn
from tractable.distributions.discrete.counting import (
    Counting,
    CountVectors,
    as_counts,
    check_whole,
    looked_up,
    one_total,
)
from tractable.distributions.distribution import as_parameters
from tractable.engines.newton import newton
from tractable.statistics.counts import Totals
from tractable.statistics.rows import as_whole_numbers
from tractable.value import value

_LARGEST_TABLE = 2**20


@value
class BetaBinomial(Counting):
    """The beta-binomial distribution of successes in n trials whose probability is Beta.

    BB(k | n, α, β) = C(n, k) B(α + k, β + n - k) / B(α, β): successes in n trials, μ ~ Beta(α, β).

    The predictive distribution of binomial trials under a Beta prior. With m = α / (α + β) the mean is n m
    and the variance n m (1 - m) (α + β + n) / (α + β + 1). Of several modes the smallest is given.

    Parameters
    ----------
    n_trials : array (*batch,) of whole numbers
        Number of trials n.
    alpha, beta : array (*batch,)
        Positive.

    Examples
    --------
    >>> d = BetaBinomial(n_trials=4, alpha=1.0, beta=1.0)
    >>> d.prob([0, 1, 2, 3, 4]).round(4)
    array([0.2, 0.2, 0.2, 0.2, 0.2])
    >>> float(BetaBinomial(n_trials=10, alpha=3.0, beta=9.0).variance.round(4))
    3.1731
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"n_trials": 0, "alpha": 0, "beta": 0}
    known: ClassVar[tuple[str, ...]] = ("n_trials",)

    n_trials: Array
    alpha: Array
    beta: Array

    def __post_init__(self) -> None:
        self._settle(n_trials=check_whole, alpha=check_positive, beta=check_positive)

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None, *, n_trials: Any) -> Self:
        """Return the maximum likelihood estimate of α and β, by Newton's method on their logarithms.

        There is none where X is no more spread out than binomial counts, or never between 0 and n.

        Parameters
        ----------
        X, sample_weight, n_trials
            As in `Binomial.fit`.
        """
        X = as_whole_numbers(X)
        xp = namespace_of(X)
        trials = as_parameters({"n_trials": 0}, n_trials=n_trials)["n_trials"]
        check_whole("n_trials", trials)
        trials = xp.broadcast_to(xp.asarray(trials, dtype=X.dtype, device=device(X)), tuple(X.shape[1:]))
        if bool(xp.any(trials < X)):
            raise ValueError("X must not have more successes than n_trials")
        found = fitted_concentrations(xp.stack([X, trials - X], axis=-1), sample_weight)
        return cls(n_trials=trials, alpha=found[..., 0], beta=found[..., 1])

    @property
    def support(self) -> tuple[float, Array]:
        return 0.0, self.n_trials

    @property
    def mean(self) -> Array:
        return self.n_trials * (self.alpha / self._strength)

    @property
    def variance(self) -> Array:
        m, A = self.alpha / self._strength, self._strength
        return self.n_trials * m * (self.beta / A) * ((A + self.n_trials) / (A + 1.0))

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: the end where the probability rises to, or the top in between.

        From k to k + 1 it rises while k (α + β - 2) < n (α - 1) + 1 - β. With α + β < 2 it falls first, and
        the greater end wins.
        """
        xp = namespace_of(self.alpha)
        n, bend = self.n_trials, self._strength - 2.0
        top = xp.ceil((n * (self.alpha - 1.0) + 1.0 - self.beta) / xp.where(bend > 0, bend, 1.0 + 0.0 * bend))
        inner = xp.clip(top, 0.0 * n, n)
        ends = xp.where(self.alpha > self.beta, n, xp.zeros_like(n))
        return xp.where(bend > 0, inner, ends)

    def _divergence(self, other: "BetaBinomial") -> Array:
        """Return the divergence as a sum over the support, infinite from fewer trials."""
        xp = namespace_of(self.alpha)
        more = self.n_trials > other.n_trials
        n = xp.where(more, xp.zeros_like(self.n_trials), self.n_trials + 0.0 * other.n_trials)
        zero = xp.zeros_like(n)
        own = BetaBinomial(n_trials=n, alpha=self.alpha + zero, beta=self.beta + zero)
        found = own._expected(lambda k: own._log_mass(k) - other._log_mass(k))  # noqa: SLF001
        return xp.where(more, xp.full_like(found, xp.inf), found)

    @property
    def _strength(self) -> Array:
        return self.alpha + self.beta

    def _log_mass(self, k: Array) -> Array:
        n, A = self.n_trials, self._strength
        successes = category_term(k, self.alpha, n, A)
        return successes + category_term(n - k, self.beta, n, A) - whole_term(n, A)

    def _bulk(self) -> tuple[Array, Array]:
        """Return the whole support, for the tails may be as heavy as powers."""
        return 0.0 * self.n_trials, self.n_trials

    def _last(self, k: Array) -> Array:
        return self.n_trials + 0.0 * k

    @cached_property
    def _tables(self) -> tuple[Array, Array] | None:
        """P(X ≤ k) and P(X ≥ k) for every k, (*batch, n + 1); None where that is too long a table."""
        xp = namespace_of(self.n_trials)
        longest = float(xp.max(self.n_trials)) + 1.0 if 0 not in self.batch_shape else 1.0
        if longest * np.prod(self.batch_shape) > _LARGEST_TABLE:
            return None
        k = xp.arange(int(longest), dtype=self.alpha.dtype, device=device(self.alpha))
        k = xp.reshape(k, (-1,) + (1,) * len(self.batch_shape))
        inside = k <= self.n_trials
        mass = self._mass(xp.where(inside, k, 0.0 * k))
        mass = xp.moveaxis(xp.where(inside, mass, xp.zeros_like(mass)), 0, -1)
        above = xp.flip(xp.cumulative_sum(xp.flip(mass, axis=-1), axis=-1), axis=-1)
        return xp.cumulative_sum(mass, axis=-1), above

    def _cdf(self, k: Array) -> Array:
        return super()._cdf(k) if self._tables is None else looked_up(self._tables[0], k)

    def _survival(self, k: Array) -> Array:
        if self._tables is None:
            return super()._survival(k)
        xp = namespace_of(k)
        return looked_up(self._tables[1], xp.minimum(k + 1.0, self.n_trials + 0.0 * k))

    def _sample(self, n: int, rng: Any) -> Array:
        trials = to_numpy(self.n_trials).astype(np.int64)
        a, b = (to_numpy(x).astype(np.float64) for x in (self.alpha, self.beta))
        p = rng.beta(a, b, size=(n, *self.batch_shape))
        return as_counts(rng.binomial(trials, p, size=p.shape), like=self.alpha)


@value
class DirichletMultinomial(CountVectors):
    """The Dirichlet-multinomial distribution of counts whose probabilities are Dirichlet.

    DM(n | N, α) = N! Γ(A) / Γ(N + A) Π Γ(n_k + α_k) / (n_k! Γ(α_k)): N trials, μ ~ Dirichlet(α), A = Σ α.

    The predictive distribution of N trials under a Dirichlet prior; of one trial, category k comes up with
    probability α_k / A. The covariance is (N + A) / (1 + A) times that of a multinomial of these. Of
    several modes the one that favours the first categories is given.

    Parameters
    ----------
    n_trials : array (*batch,) of whole numbers
        N.
    concentration : array (*batch, K)
        α, positive, of at least two categories.

    Examples
    --------
    >>> d = DirichletMultinomial(n_trials=2, concentration=[1.0, 1.0, 2.0])
    >>> d.prob([[2, 0, 0], [0, 0, 2], [1, 0, 1]])
    array([0.1, 0.3, 0.2])
    >>> d.mean
    array([0.5, 0.5, 1. ])
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"n_trials": 0, "concentration": 1}

    n_trials: Array
    concentration: Array

    def __post_init__(self) -> None:
        self._settle(n_trials=check_whole, concentration=check_positive)
        if self.concentration.shape[-1] < 2:
            raise ValueError("concentration must have at least two categories")

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None, *, n_trials: Any = None) -> Self:
        """Return the maximum likelihood estimate of α, by Newton's method on its logarithm.

        There is none where X is no more spread out than multinomial counts, or has one category alone in
        every row.

        Parameters
        ----------
        X, sample_weight, n_trials
            As in `Multinomial.fit`.
        """
        n = one_total(Totals.of(X, sample_weight), n_trials)
        X = as_whole_numbers(X)
        check_row_totals(X, n)
        return cls(n_trials=n, concentration=fitted_concentrations(X, sample_weight))

    @property
    def expected_probabilities(self) -> Array:
        return self.concentration / self._strength[..., None]

    @property
    def marginals(self) -> BetaBinomial:
        """The distribution of each count by itself: beta-binomial, a batch (*batch, K)."""
        a = self.concentration
        xp = namespace_of(a)
        before = xp.cumulative_sum(a, axis=-1) - a
        after = xp.flip(xp.cumulative_sum(xp.flip(a, axis=-1), axis=-1), axis=-1) - a
        # A large entry must not cancel the sum of the others.
        others = xp.stack([before, after])
        others = xp.where(others > 0, others, xp.zeros_like(others))
        return BetaBinomial(n_trials=self.n_trials[..., None], alpha=a, beta=xp.sum(others, axis=0))

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: D'Hondt's rule for α - 1 where an α_k exceeds 1, else one category alone.

        The next count of category k multiplies the probability by (n_k + α_k) / (n_k + 1).
        """
        xp = namespace_of(self.concentration)
        above = self.concentration - 1.0
        above = xp.where(above > 0, above, xp.zeros_like(above))
        most = xp.max(self.concentration, axis=-1, keepdims=True)
        alone = xp.astype(self.concentration == most, above.dtype)
        first = xp.where(xp.cumulative_sum(alone, axis=-1) == 1.0, alone, xp.zeros_like(alone))
        return apportioned(self.n_trials, xp.where(most > 1.0, above, first))

    def entropy(self) -> Array:
        return whole_term(self.n_trials, self._strength) - self._summed(self._terms)

    def _divergence(self, other: "DirichletMultinomial") -> Array:
        """Return the divergence by sums over the counts, infinite where N differs."""
        xp = namespace_of(self.concentration)
        zero = 0.0 * (self.n_trials + other.n_trials)
        own = DirichletMultinomial(
            n_trials=self.n_trials + zero, concentration=self.concentration + zero[..., None]
        )
        alike = self.n_trials == other.n_trials
        there = DirichletMultinomial(n_trials=own.n_trials, concentration=other.concentration)
        each = own._summed(lambda x: own._terms(x) - there._terms(x))
        whole = whole_term(own.n_trials, own._strength) - whole_term(own.n_trials, there._strength)
        return xp.where(alike, each - whole, xp.full_like(whole, xp.inf))

    @property
    def _strength(self) -> Array:
        return namespace_of(self.concentration).sum(self.concentration, axis=-1)

    @property
    def _inflation(self) -> Array:
        return (self.n_trials + self._strength) / (1.0 + self._strength)

    def _terms(self, x: Array) -> Array:
        return category_term(x, self.concentration, self.n_trials[..., None], self._strength[..., None])

    def _log_mass(self, x: Array) -> Array:
        each = namespace_of(x).sum(self._terms(x), axis=-1)
        return each - whole_term(self.n_trials, self._strength)

    def _sample(self, n: int, rng: Any) -> Array:
        a = to_numpy(self.concentration).astype(np.float64)
        rest = np.flip(np.cumsum(np.flip(a, -1), -1), -1)
        trials = np.broadcast_to(to_numpy(self.n_trials).astype(np.int64), (n, *self.batch_shape))

        def probability(k: int) -> np.ndarray:
            return rng.beta(a[..., k], rest[..., k + 1], size=trials.shape)

        return as_counts(drawn_in_turn(rng, trials, probability, self.n_classes), like=self.concentration)


def category_term(x: Array, a: Array, n: Array, total: Array) -> Array:
    """Return the part of one category in the log probability: its count x of n, its concentration a of A."""
    fraction = (x + a) / (n + total)
    return whole_term(x, a) - count_deviance(x, n * fraction) - count_deviance(a, total * fraction)


def whole_term(n: Array, total: Array) -> Array:
    """Return rest(n + A) - rest(A) - rest(n) + log A/(n + A), taken off the sum over the categories."""
    return factorial_rest(n + total) - factorial_rest(total) - factorial_rest(n) - _log1p_ratio(n, total)


def _log1p_ratio(n: Array, total: Array) -> Array:
    """Return log(1 + n/A), however small A is."""
    xp = namespace_of(n, total)
    n, total = xp.broadcast_arrays(n, total)
    small = n <= total
    near = xp.log1p(xp.where(small, n, xp.zeros_like(n)) / total)
    return xp.where(small, near, xp.log(n + total) - xp.log(total))


def fitted_concentrations(X: Array, sample_weight: Any = None) -> Array:
    """Return the concentrations (*batch, K) that make rows of counts (n, *batch, K) most probable."""
    xp = namespace_of(X)
    if X.ndim < 2 or not X.shape[0]:
        raise ValueError(f"X must have rows of counts, got shape {tuple(X.shape)}")
    w = row_weights(sample_weight, X)
    batch, K = tuple(X.shape[1:-1]), X.shape[-1]
    rows = xp.reshape(X, (X.shape[0], int(np.prod(batch)), K))
    found = [_fitted(rows[:, j, :], w) for j in range(rows.shape[1])]
    return xp.reshape(xp.stack(found), (*batch, K))


def _fitted(X: Array, w: Array) -> Array:
    xp = namespace_of(X)
    start = _start(X, w)
    n = xp.sum(X, axis=-1, keepdims=True)
    one = w[:, None]

    def objective(log_a: Array) -> tuple[Array, Array, Array]:
        """Return minus the log likelihood with its gradient and Hessian in log α."""
        a = xp.exp(log_a)
        A = xp.sum(a)
        terms = category_term(X, a, n, A)
        value = xp.sum(one * (whole_term(n, A) - xp.sum(terms, axis=-1, keepdims=True)))
        slope = a * xp.sum(one * ((digamma(A) - digamma(A + n)) + (digamma(a + X) - digamma(a))), axis=0)
        shared = xp.sum(one * (trigamma(A) - trigamma(A + n)))
        own = xp.sum(one * (trigamma(a + X) - trigamma(a)), axis=0)
        eye = xp.eye(a.shape[0], dtype=a.dtype, device=device(a))
        hessian = a[:, None] * a[None, :] * (shared + eye * own) + eye * slope
        return value, -slope, -hessian

    return xp.exp(newton(objective, xp.log(start), tol=1e-14, max_iter=200).x)


def _start(X: Array, w: Array) -> Array:
    """Return concentrations that match the coincidences, E Σ n_k (n_k - 1)/p_k = n (n - 1) (A + K)/(A + 1).

    They exist, as does the most likely fit, while the rows are spread out more than a multinomial's and less
    than rows that fall into one category each.
    """
    xp = namespace_of(X)
    total = w @ X
    if not bool(xp.all(total > 0)):
        raise ValueError("X must have a count in every category: without one its concentration tends to 0")
    probabilities = total / xp.sum(total)
    n = xp.sum(X, axis=-1)
    pairs = w @ (X * (X - 1.0))
    ratio = float(xp.sum(pairs / probabilities)) / max(float(w @ (n * (n - 1.0))), 0.5)
    K = X.shape[-1]
    if not ratio > 1.0 + 1e-12:
        raise ValueError(
            "X is no more spread out than independent trials are: the likelihood grows with the "
            "concentration without end; fit a Binomial or Multinomial"
        )
    if not ratio < K * (1.0 - 1e-12):
        raise ValueError(
            "X has one category alone in every row: the likelihood grows as concentrations tend to 0"
        )
    return probabilities * ((K - ratio) / (ratio - 1.0))
