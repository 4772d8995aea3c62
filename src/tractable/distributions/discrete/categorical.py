"""Labels of one trial and counts of several: categorical and multinomial distributions."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.log_space import log_softmax, softmax
from tractable.arrays.namespace import Array, as_float_array, device, freeze, namespace_of, to_numpy
from tractable.arrays.saddle_point import count_deviance, factorial_rest
from tractable.distributions.checks import check_finite, check_nonnegative, check_probabilities, exactly_one
from tractable.distributions.discrete.binomial import Binomial
from tractable.distributions.discrete.counting import (
    CountVectors,
    EitherForm,
    as_counts,
    check_whole,
    looked_up,
    one_total,
)
from tractable.distributions.distribution import as_parameters
from tractable.distributions.probabilities import (
    as_probabilities,
    divergence_term,
    entropy_term,
    log_or_minus_inf,
)
from tractable.statistics.counts import Counts, Totals
from tractable.value import set_fields, value


@value
class Categorical(EitherForm):
    """The categorical distribution of a label, one of K categories.

    Cat(k | μ) = μ_k for the labels k = 0, …, K - 1: one of K categories.

    With x the one-of-K code of the label, :func:`tractable.one_hot`, that is Π_k μ_k^(x_k). Labels count as
    numbers for the mean, the variance and the distribution function. Of several modes the smallest is given.

    Parameters
    ----------
    probabilities : array (*batch, K)
        μ, not negative, one in sum; give this or `logits`.
    logits : array (*batch, K)
        Log probabilities up to a constant, μ = softmax(logits), which may be too small for a number.

    Examples
    --------
    >>> d = Categorical(probabilities=[0.5, 0.2, 0.3])
    >>> d.prob([0, 2, 3]), float(d.mode)
    (array([0.5, 0.3, 0. ]), 0.0)
    >>> Categorical.fit([0, 2, 2, 1], smoothing="laplace").probabilities.round(4)
    array([0.2857, 0.2857, 0.4286])
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"probabilities": 1, "logits": 1}
    statistic: ClassVar[type] = Counts
    known: ClassVar[tuple[str, ...]] = ("n_classes",)

    probabilities: Array
    logits: Array
    given: str

    def __init__(self, *, probabilities: Any = None, logits: Any = None) -> None:
        name, x = exactly_one(probabilities=probabilities, logits=logits)
        x = as_parameters({name: 1}, **{name: x})[name]
        if not x.shape[-1]:
            raise ValueError(f"{name} must have at least one category")
        set_fields(self, given=name)
        if name == "probabilities":
            check_probabilities(name, x)
            x = freeze(as_probabilities(x))
            both = {"probabilities": x, "logits": freeze(log_or_minus_inf(x))}
        else:
            check_finite(name, x)
            both = {"probabilities": freeze(softmax(x)), "logits": x}
        set_fields(self, **both)

    @classmethod
    def fit(
        cls,
        X: Any,
        sample_weight: Any = None,
        *,
        n_classes: int | None = None,
        pseudocounts: Any = None,
        smoothing: str | None = None,
    ) -> Self:
        """Return relative frequencies n_k / N of labels, or smoothed ones, (n_k + c_k) / (N + Σ c).

        These are the most probable μ under a Dirichlet(c + 1) prior.

        Parameters
        ----------
        X : array (n, *batch)
            Labels, whole numbers from 0 on.
        sample_weight : array (n,), optional
            How often each row counts.
        n_classes : int, optional
            K; one more than the largest label when not given.
        pseudocounts : float or array (K,), optional
            c; zero when not given.
        smoothing : {"laplace"}, optional
            "laplace" is c = 1.
        """
        shape = np.shape(pseudocounts)  # () of None
        given = int(shape[-1]) if n_classes is None and shape else n_classes
        statistic = Counts.of(X, sample_weight, n_classes=given)
        return cls.from_statistic(statistic, pseudocounts=pseudocounts, smoothing=smoothing)

    @classmethod
    def from_statistic(
        cls,
        statistic: Counts,
        *,
        n_classes: int | None = None,
        pseudocounts: Any = None,
        smoothing: str | None = None,
    ) -> Self:
        """Return the estimate of :meth:`fit` from counts.

        Parameters
        ----------
        statistic : Counts
            How often each label was seen.
        n_classes, pseudocounts, smoothing
            As in `fit`.
        """
        if n_classes is not None:
            if statistic.n_classes > n_classes:
                raise ValueError(
                    f"X has the label {statistic.n_classes - 1}, not below n_classes={n_classes}"
                )
            statistic = statistic.padded(n_classes)
        counts = statistic.counts + _as_pseudocounts(pseudocounts, smoothing, statistic.counts)
        xp = namespace_of(counts)
        total = xp.sum(counts, axis=-1, keepdims=True)
        if not bool(xp.all(total > 0)):
            raise ValueError("X must have rows of positive weight")
        return cls(probabilities=counts / total)

    @property
    def n_classes(self) -> int:
        """Number of categories K."""
        return int(self.probabilities.shape[-1])

    @property
    def support(self) -> tuple[float, float]:
        return 0.0, self.n_classes - 1.0

    @property
    def mean(self) -> Array:
        """Mean of the label, Σ k μ_k."""
        return namespace_of(self.probabilities).sum(self.probabilities * self._labels, axis=-1)

    @property
    def variance(self) -> Array:
        """Variance of the label."""
        away = self._labels - self.mean[..., None]
        return namespace_of(away).sum(self.probabilities * away * away, axis=-1)

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: the label of the greatest probability."""
        xp = namespace_of(self.logits)
        return xp.astype(xp.argmax(self.logits, axis=-1), self.logits.dtype)

    def icdf(self, q: Any) -> Array:
        """See `Univariate.icdf`; never a label after the last of positive probability."""
        return self._up_to_last(super().icdf(q))

    def isf(self, q: Any) -> Array:
        """See `Univariate.isf`; never a label after the last of positive probability."""
        return self._up_to_last(super().isf(q))

    def _up_to_last(self, found: Array) -> Array:
        xp = namespace_of(self.probabilities)
        last = xp.max(xp.where(self.probabilities > 0, self._labels, 0.0 * self._labels), axis=-1)
        return xp.where(found < last, found, last + 0.0 * found)

    def entropy(self) -> Array:
        """See `Distribution.entropy`: -Σ μ_k log μ_k."""
        return namespace_of(self.logits).sum(
            entropy_term(self.probabilities, self._log_probabilities), axis=-1
        )

    def _divergence(self, other: "Categorical") -> Array:
        """Return Σ μ_k log μ_k/μ'_k."""
        if other.n_classes != self.n_classes:
            raise ValueError(f"other must have {self.n_classes} categories, got {other.n_classes}")
        theirs = other._log_probabilities  # noqa: SLF001
        terms = divergence_term(self.probabilities, self._log_probabilities, other.probabilities, theirs)
        return namespace_of(terms).sum(terms, axis=-1)

    @property
    def _labels(self) -> Array:
        like = self.probabilities
        return namespace_of(like).arange(self.n_classes, dtype=like.dtype, device=device(like))

    @property
    def _log_probabilities(self) -> Array:
        return self.logits if self.given == "probabilities" else log_softmax(self.logits)

    def _log_mass(self, k: Array) -> Array:
        return looked_up(self._log_probabilities, k)

    def _cdf(self, k: Array) -> Array:
        xp = namespace_of(k)
        return looked_up(xp.cumulative_sum(self.probabilities, axis=-1), k)

    def _survival(self, k: Array) -> Array:
        xp = namespace_of(k)
        above = xp.flip(xp.cumulative_sum(xp.flip(self.probabilities, axis=-1), axis=-1), axis=-1)
        return looked_up(above, k + 1.0 if self.n_classes > 1 else k)

    def _sample(self, n: int, rng: Any) -> Array:
        edges = np.cumsum(to_numpy(self.probabilities).astype(np.float64), axis=-1)
        # The last edge is 1 whatever the rounding, and draws stay below it.
        edges = edges / edges[..., -1:]
        u = rng.random((n, *self.batch_shape))
        if not self.batch_shape:
            return as_counts(np.searchsorted(edges, u, side="right"), like=self.probabilities)
        labels = sum((u >= edges[..., k] for k in range(self.n_classes - 1)), start=np.zeros(u.shape))
        return as_counts(labels, like=self.probabilities)


def _as_pseudocounts(pseudocounts: Any, smoothing: str | None, counts: Array) -> Array:
    if smoothing not in (None, "laplace"):
        raise ValueError(f"smoothing must be None or 'laplace', got {smoothing!r}")
    if smoothing is not None and pseudocounts is not None:
        raise ValueError("give pseudocounts or smoothing, not both")
    xp = namespace_of(counts)
    c = as_float_array(0.0 if pseudocounts is None else pseudocounts, xp)
    c = xp.astype(c, counts.dtype) + (1.0 if smoothing else 0.0)
    check_nonnegative("pseudocounts", c)
    if c.ndim and tuple(c.shape) != (counts.shape[-1],):
        raise ValueError(f"pseudocounts must be a number or {counts.shape[-1]} of them, got {tuple(c.shape)}")
    return c


@value
class Multinomial(CountVectors):
    """The multinomial distribution of the counts of K categories in N trials.

    Mult(n | N, μ) = N! / Π n_k! · Π μ_k^(n_k): how often each of K categories comes up in N trials.

    An event is a vector of K counts that add up to N; one label, or its one-of-K code, has the distribution
    :class:`Categorical`. The mean is N μ and the covariance N (diag μ - μ μᵀ). Of several modes the one that
    favours the first categories is given.

    Parameters
    ----------
    n_trials : array (*batch,) of whole numbers
        N.
    probabilities : array (*batch, K)
        μ, not negative, one in sum.

    Examples
    --------
    >>> d = Multinomial(n_trials=5, probabilities=[0.5, 0.3, 0.2])
    >>> float(d.prob([2, 2, 1]).round(4))
    0.135
    >>> d.mean, d.mode
    (array([2.5, 1.5, 1. ]), array([3., 1., 1.]))
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"n_trials": 0, "probabilities": 1}
    statistic: ClassVar[type] = Totals

    n_trials: Array
    probabilities: Array

    def __post_init__(self) -> None:
        self._settle(n_trials=check_whole, probabilities=check_probabilities)
        set_fields(self, probabilities=freeze(as_probabilities(self.probabilities)))

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None, *, n_trials: Any = None) -> Self:
        """Return the maximum likelihood estimate: relative frequencies, Σ n_k / Σ N.

        Parameters
        ----------
        X : array (n, *batch, K)
            Rows of counts.
        sample_weight : array (n,), optional
            How often each row counts.
        n_trials : int, optional
            The same N that all rows add up to; found from X when not given.
        """
        statistic = Totals.of(X, sample_weight)
        check_row_totals(X, one_total(statistic, n_trials))
        return cls.from_statistic(statistic, n_trials=n_trials)

    @classmethod
    def from_statistic(cls, statistic: Totals, *, n_trials: Any = None) -> Self:
        """Return the maximum likelihood estimate from the totals of rows."""
        n = one_total(statistic, n_trials)
        total = statistic.total
        return cls(n_trials=n, probabilities=total / namespace_of(total).sum(total, axis=-1, keepdims=True))

    @property
    def expected_probabilities(self) -> Array:
        return self.probabilities

    @property
    def marginals(self) -> Binomial:
        """The distribution of each count by itself: binomial, a batch (*batch, K)."""
        return Binomial(n_trials=self.n_trials[..., None], probability=self.probabilities)

    @property
    def mode(self) -> Array:
        return apportioned(self.n_trials, self.probabilities)

    def entropy(self) -> Array:
        """See `Distribution.entropy`: sums over the counts of each category."""
        each = self._summed(lambda x: factorial_rest(x) + count_deviance(x, self.mean))
        return each - factorial_rest(self.n_trials)

    def _divergence(self, other: "Multinomial") -> Array:
        """Return N Σ μ_k log μ_k/μ'_k, and infinite where N differs."""
        one = Categorical(probabilities=self.probabilities).kl_divergence(
            Categorical(probabilities=other.probabilities)
        )
        xp = namespace_of(one)
        n = self.n_trials + 0.0 * other.n_trials
        found = n * xp.where(n > 0, one, xp.zeros_like(one))
        return xp.where(self.n_trials == other.n_trials, found, xp.full_like(found, xp.inf))

    def _log_mass(self, x: Array) -> Array:
        xp = namespace_of(x)
        terms = factorial_rest(x) + count_deviance(x, self.mean)
        return factorial_rest(self.n_trials) - xp.sum(terms, axis=-1)

    def _sample(self, n: int, rng: Any) -> Array:
        p = to_numpy(self.probabilities).astype(np.float64)
        rest = np.flip(np.cumsum(np.flip(p, -1), -1), -1)
        among_rest = p / np.where(rest > 0, rest, 1.0)
        trials = np.broadcast_to(to_numpy(self.n_trials).astype(np.int64), (n, *self.batch_shape))
        return as_counts(
            drawn_in_turn(rng, trials, lambda k: among_rest[..., k], self.n_classes), self.probabilities
        )


def drawn_in_turn(
    rng: np.random.Generator, trials: np.ndarray, probability: Any, n_classes: int
) -> np.ndarray:
    """Draw the counts of one category after another: binomial, with its probability in what is left."""
    counts, left = np.empty((*trials.shape, n_classes), dtype=np.int64), trials
    for k in range(n_classes - 1):
        counts[..., k] = rng.binomial(left, probability(k), size=trials.shape)
        left = left - counts[..., k]
    counts[..., -1] = left
    return counts


def check_row_totals(X: Any, n_trials: Array) -> None:
    """Refuse rows of counts that do not add up to n."""
    xp = namespace_of(X)
    if not bool(xp.all(xp.sum(xp.asarray(X), axis=-1) == n_trials)):
        raise ValueError("X must have rows that add up to one and the same n_trials")


def apportioned(n: Array, weights: Array) -> Array:
    """Return whole numbers that add up to n and make Π w_k^(n_k) / n_k! greatest (D'Hondt's rule).

    Every next seat goes to the greatest w_k / (n_k + 1), of equals to the first; all but a few are given at
    once, since the most probable count of a category is above n p_k - 1.

    The weights (*batch, K) are not negative, with one above 0.
    """
    xp: Any = namespace_of(weights)
    p = weights / xp.sum(weights, axis=-1, keepdims=True)
    # A little less than the probability, so that rounding gives no count too many.
    counts = xp.floor(n[..., None] * p * (1.0 - 16.0 * xp.finfo(weights.dtype).eps))
    left = n - xp.sum(counts, axis=-1)
    positions = xp.arange(weights.shape[-1], dtype=xp.int64, device=device(weights))
    while bool(xp.any(left > 0)):
        best = xp.argmax(weights / (counts + 1.0), axis=-1)
        chosen = (positions == best[..., None]) & (left > 0)[..., None]
        counts = counts + xp.astype(chosen, counts.dtype)
        left = left - 1.0
    return counts
