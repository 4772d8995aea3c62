"""The binomial distribution of successes in several trials."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array, namespace_of, to_numpy
from tractable.arrays.saddle_point import count_deviance, factorial_rest
from tractable.arrays.special import betainc, betaincc
from tractable.distributions.checks import check_probability
from tractable.distributions.discrete.bernoulli import Bernoulli
from tractable.distributions.discrete.counting import Counting, as_counts, check_whole
from tractable.distributions.distribution import as_parameters
from tractable.statistics.counts import Totals
from tractable.value import value

__all__ = ["Binomial"]


@value
class Binomial(Counting):
    """Bin(k | n, μ) = n! / (k! (n - k)!) μᵏ (1 - μ)ⁿ⁻ᵏ: successes in n independent trials.

    The mean is n μ and the variance n μ (1 - μ). Where (n + 1) μ is a whole number there are two modes, and
    the smaller is given. Probabilities keep their digits for any n (Loader's saddle point expansion).

    Parameters
    ----------
    n_trials : array (*batch,) of whole numbers
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
        """Return the maximum likelihood estimate of μ from successes X (n, *batch): Σ x / Σ n.

        The number of trials behind each entry of a row, `n_trials` (*batch,), is known.
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
