"""Bernoulli and binomial distributions of successes in one and in several trials."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.incomplete import betainc, betaincc
from tractable.arrays.log_space import log_sigmoid, sigmoid
from tractable.arrays.log_space import logit as log_odds
from tractable.arrays.namespace import Array, freeze, is_numpy_array, namespace_of, to_numpy
from tractable.arrays.saddle_point import count_deviance, factorial_rest
from tractable.distributions.checks import check_finite, check_probability, exactly_one
from tractable.distributions.discrete.counting import Counting, EitherForm, as_counts, check_whole
from tractable.distributions.distribution import as_parameters
from tractable.distributions.probabilities import divergence_term, entropy_term, log_or_minus_inf
from tractable.statistics.counts import Totals
from tractable.value import set_fields, value


@value
class Bernoulli(EitherForm):
    """The Bernoulli distribution of one trial that succeeds with probability μ.

    Bern(x | μ) = μˣ (1 - μ)¹⁻ˣ for x = 0 or 1: one trial that succeeds with probability μ.

    The logit log μ - log(1 - μ) is equivalent, and keeps probabilities that are too near 0 or 1 for a
    floating number. The mean is μ and the variance μ (1 - μ); of two modes, at μ = ½, the smaller is given.

    Parameters
    ----------
    probability : array (*batch,)
        μ, from 0 to 1, both included; give this or `logit`.
    logit : array (*batch,)
        log(p / (1 - p)), an alternative to the probability.

    Examples
    --------
    >>> d = Bernoulli(probability=0.25)
    >>> float(d.mean), float(d.variance), d.prob([0, 1])
    (0.25, 0.1875, array([0.75, 0.25]))
    >>> float(Bernoulli(logit=1000.0).log_prob(0))
    -1000.0
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"probability": 0, "logit": 0}
    support = (0.0, 1.0)
    statistic: ClassVar[type] = Totals

    probability: Array
    logit: Array
    given: str

    def __init__(self, *, probability: Any = None, logit: Any = None) -> None:
        name, x = exactly_one(probability=probability, logit=logit)
        x = as_parameters({name: 0}, **{name: x})[name]
        (check_probability if name == "probability" else check_finite)(name, x)
        set_fields(self, given=name)
        for other, function in {"probability": sigmoid, "logit": log_odds}.items():
            object.__setattr__(self, other, x if other == name else freeze(function(x)))

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None) -> Self:
        """Return the maximum likelihood estimate, the relative frequency of ones in X (n, *batch)."""
        statistic = Totals.of(X, sample_weight)
        xp = namespace_of(X)
        if not bool(xp.all(xp.asarray(X) <= 1)):
            raise ValueError("X must be zeros and ones")
        return cls.from_statistic(statistic)

    @classmethod
    def from_statistic(cls, statistic: Totals) -> Self:
        """Return the maximum likelihood estimate from the totals of zeros and ones."""
        p = statistic.mean
        if not bool(namespace_of(p).all(p <= 1.0 + 1e-12)):
            raise ValueError("X must be zeros and ones, and their totals at most their weight")
        return cls(probability=namespace_of(p).clip(p, 0.0, 1.0))

    @property
    def mean(self) -> Array:
        return self.probability

    @property
    def variance(self) -> Array:
        return self.probability * self._failure

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: 1 where μ > ½, else 0."""
        xp = namespace_of(self.logit)
        return xp.astype(self.logit > 0, self.logit.dtype)

    def entropy(self) -> Array:
        """See `Distribution.entropy`: -μ log μ - (1 - μ) log(1 - μ)."""
        ones, zeros = (entropy_term(*p) for p in self._probabilities())
        return ones + zeros

    def _divergence(self, other: "Bernoulli") -> Array:
        """Return μ log μ/μ' + (1 - μ) log (1 - μ)/(1 - μ')."""
        pairs = zip(self._probabilities(), other._probabilities(), strict=True)  # noqa: SLF001
        ones, zeros = (divergence_term(*own, *its) for own, its in pairs)
        return ones + zeros

    @property
    def _failure(self) -> Array:
        return 1.0 - self.probability if self.given == "probability" else sigmoid(-self.logit)

    def _probabilities(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Return μ and log μ, and the same of 1 - μ."""
        success, failure = self._log_probabilities()
        return (self.probability, success), (self._failure, failure)

    def _log_probabilities(self) -> tuple[Array, Array]:
        """Return log μ and log(1 - μ)."""
        if self.given == "logit":
            return log_sigmoid(self.logit), log_sigmoid(-self.logit)
        xp, p = namespace_of(self.probability), self.probability
        below = xp.log1p(-xp.where(p < 1, p, xp.zeros_like(p)))
        return log_or_minus_inf(p), xp.where(p < 1, below, xp.full_like(p, -xp.inf))

    def _log_mass(self, k: Array) -> Array:
        success, failure = self._log_probabilities()
        return namespace_of(k).where(k > 0.5, success, failure)

    def _cdf(self, k: Array) -> Array:
        return self._failure + 0.0 * k

    def _survival(self, k: Array) -> Array:
        return self.probability + 0.0 * k

    def _sample(self, n: int, rng: Any) -> Array:
        p = to_numpy(self.probability)
        return as_counts(rng.random((n, *p.shape)) < p, like=self.probability)


@value
class Binomial(Counting):
    """The binomial distribution of successes in n independent trials.

    Bin(k | n, μ) = n! / (k! (n - k)!) μᵏ (1 - μ)ⁿ⁻ᵏ: successes in n independent trials.

    The mean is n μ and the variance n μ (1 - μ). Where (n + 1) μ is a whole number there are two modes, and
    the smaller is given. Probabilities keep their digits for any n (Loader's saddle point expansion).

    Parameters
    ----------
    n_trials : array (*batch,) of whole numbers
        Number of trials n.
    probability : array (*batch,)
        μ, from 0 to 1, both included.

    Examples
    --------
    >>> d = Binomial(n_trials=10, probability=0.25)
    >>> float(d.mean), float(d.variance), float(d.mode)
    (2.5, 1.875, 2.0)
    >>> float(d.cdf(3).round(4)), float(d.icdf(0.9))
    (0.7759, 4.0)
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"n_trials": 0, "probability": 0}
    statistic: ClassVar[type] = Totals
    known: ClassVar[tuple[str, ...]] = ("n_trials",)

    n_trials: Array
    probability: Array

    def __post_init__(self) -> None:
        self._settle(n_trials=check_whole, probability=check_probability)

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None, *, n_trials: Any) -> Self:
        """Return the maximum likelihood estimate of μ from successes: Σ x / Σ n.

        Parameters
        ----------
        X : array (n, *batch)
            Numbers of successes.
        sample_weight : array (n,), optional
            How often each row counts.
        n_trials : int or array (*batch,)
            The known number of trials behind each entry of a row.
        """
        statistic = Totals.of(X, sample_weight)
        xp = namespace_of(X)
        trials = as_parameters({"n_trials": 0}, n_trials=n_trials)["n_trials"]
        if not bool(xp.all(xp.asarray(X) <= xp.asarray(trials))):
            raise ValueError("X must not have more successes than n_trials")
        return cls.from_statistic(statistic, n_trials=n_trials)

    @classmethod
    def from_statistic(cls, statistic: Totals, *, n_trials: Any) -> Self:
        """Return the maximum likelihood estimate from the totals of successes."""
        mean = statistic.mean
        xp = namespace_of(mean)
        trials = as_parameters({"n_trials": 0}, n_trials=n_trials)["n_trials"]
        check_whole("n_trials", trials)
        trials = xp.asarray(trials, dtype=mean.dtype)
        if not bool(xp.all((mean <= trials * (1.0 + 1e-12)) & (trials > 0))):
            raise ValueError("n_trials must be at least 1 and at least the successes in X")
        return cls(n_trials=trials, probability=xp.clip(mean / trials, 0.0, 1.0))

    @property
    def support(self) -> tuple[float, Array]:
        return 0.0, self.n_trials

    @property
    def mean(self) -> Array:
        return self.n_trials * self.probability

    @property
    def variance(self) -> Array:
        return self.n_trials * self.probability * (1.0 - self.probability)

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: ⌈(n + 1) μ⌉ - 1, at least 0."""
        xp = namespace_of(self.probability)
        mode = xp.ceil((self.n_trials + 1.0) * self.probability) - 1.0
        return xp.where(mode > 0, mode, xp.zeros_like(mode))

    def _divergence(self, other: "Binomial") -> Array:
        """Return n times the divergence of one trial where both have n trials.

        Of more trials from fewer it is infinite, and of fewer from more a sum.
        """
        xp = namespace_of(self.probability)
        one = Bernoulli(probability=self.probability).kl_divergence(Bernoulli(probability=other.probability))
        n, m = xp.broadcast_arrays(self.n_trials + 0.0 * one, other.n_trials + 0.0 * one)
        closed = n * xp.where(n > 0, one, xp.zeros_like(one))
        if bool(xp.all(n == m)):
            return closed
        wide = Binomial(n_trials=n, probability=self.probability + 0.0 * n)
        fewer = Binomial(n_trials=xp.where(n < m, n, 0.0 * n), probability=wide.probability)
        summed = fewer._expected(lambda k: fewer._log_mass(k) - other._log_mass(k))  # noqa: SLF001
        found = xp.where(n == m, closed, xp.where(n < m, summed, xp.full_like(n, xp.inf)))
        # With μ = 0 all trials fail, however many.
        never = xp.broadcast_to(self.probability == 0.0, n.shape)
        return xp.where(never, -other._log_mass(0.0 * n), found)  # noqa: SLF001

    def _log_mass(self, k: Array) -> Array:
        n, p = self.n_trials, self.probability
        ways = factorial_rest(n) - factorial_rest(k) - factorial_rest(n - k)
        return ways - count_deviance(k, n * p) - count_deviance(n - k, n * (1.0 - p))

    def _cdf(self, k: Array) -> Array:
        """I_{1-μ}(n - k, k + 1), the regularised incomplete beta function; a sum where that is not native."""
        if not is_numpy_array(k):
            return super()._cdf(k)
        return betaincc(k + 1.0, self._left(k), self.probability)

    def _survival(self, k: Array) -> Array:
        if not is_numpy_array(k):
            return super()._survival(k)
        return betainc(k + 1.0, self._left(k), self.probability)

    def _left(self, k: Array) -> Array:
        """Return n - k, which is positive below the end of the support."""
        xp = namespace_of(k)
        left = self.n_trials - k
        return xp.where(left > 0, left, xp.ones_like(left))

    def _sample(self, n: int, rng: Any) -> Array:
        trials, p = to_numpy(self.n_trials), to_numpy(self.probability)
        if np.any(trials >= 2.0**63):
            raise ValueError(f"n_trials must be below 2**63 to draw from, got {float(trials.max())!r}")
        trials = trials.astype(np.int64)
        draws = rng.binomial(trials, p.astype(np.float64), size=(n, *p.shape))
        return as_counts(draws, like=self.probability)
