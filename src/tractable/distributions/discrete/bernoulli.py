"""The Bernoulli distribution of one trial."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from tractable.arrays.namespace import Array, freeze, namespace_of, to_numpy
from tractable.arrays.special import log_sigmoid, sigmoid
from tractable.arrays.special import logit as log_odds
from tractable.distributions.checks import check_finite, check_probability, exactly_one
from tractable.distributions.discrete.counting import Counting, as_counts
from tractable.distributions.distribution import as_parameters
from tractable.distributions.probabilities import divergence_term, entropy_term, log_or_minus_inf
from tractable.statistics.counts import Totals
from tractable.value import set_fields, value

__all__ = ["Bernoulli"]


@value
class Bernoulli(Counting):
    """Bern(x | μ) = μˣ (1 - μ)¹⁻ˣ for x = 0 or 1: one trial that succeeds with probability μ.

    The logit log μ - log(1 - μ) is equivalent, and keeps probabilities that are too near 0 or 1 for a
    floating number. The mean is μ and the variance μ (1 - μ); of two modes, at μ = ½, the smaller is given.

    Parameters
    ----------
    probability : array (*batch,)
        μ, from 0 to 1, both included; give this or `logit`.
    logit : array (*batch,)

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

    def _parameters(self) -> dict[str, Array]:
        return self._arrays()

    def _arrays(self) -> dict[str, Array]:
        return {self.given: getattr(self, self.given)}

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
