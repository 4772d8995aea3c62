"""Beta and Dirichlet distributions of a probability and of several."""

from collections.abc import Callable, Mapping, Sequence
from math import log, pi
from typing import Any, ClassVar, Self

from tractable.arrays.batched import as_reals, diagonal_matrix
from tractable.arrays.gamma import (
    betaln,
    digamma,
    log_minus_digamma,
    stirling_error,
    trigamma,
    trigamma_excess,
)
from tractable.arrays.incomplete import betainc, betaincc, betaincinv
from tractable.arrays.log_space import LOG_2PI, sigmoid, softmax
from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.random import log_standard_gamma
from tractable.arrays.saddle_point import deviance, log_beta_kernel
from tractable.covariance import other_dims
from tractable.distributions.checks import (
    check_positive,
    check_probabilities,
    check_probability,
    check_sample_weight,
    check_varies,
)
from tractable.distributions.distribution import ScalarFamily, as_parameters
from tractable.distributions.gamma import log_gamma_bregman
from tractable.distributions.tails import upper_quantile
from tractable.distributions.vectors import VectorDistribution, taken
from tractable.engines.mode_search import Ascent, newton_ascent
from tractable.engines.newton import newton
from tractable.statistics.log_moments import LogMoments, UnitLogMoments
from tractable.value import value


@value
class Beta(ScalarFamily):
    """The Beta distribution of a number from 0 to 1.

    Beta(x | α, β) = Γ(α + β) / (Γ(α) Γ(β)) x^(α-1) (1 - x)^(β-1) for x from 0 to 1.

    The mean is α / (α + β), and α + β how concentrated x is about it: as a prior of a probability it is
    worth so many observations. (The ratio α / β is not the mean but the odds.)

    Parameters
    ----------
    alpha, beta : array (*batch,)
        Positive.

    Examples
    --------
    >>> d = Beta.from_mean_strength(mean=0.3, strength=10.0)
    >>> d
    Beta(alpha=array(3.), beta=array(7.))
    >>> float(d.mean), float(d.mode)
    (0.3, 0.25)
    >>> low, high = d.interval(0.9)
    >>> float(low.round(3)), float(high.round(3))
    (0.098, 0.55)
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"alpha": 0, "beta": 0}
    support = (0.0, 1.0)
    statistic: ClassVar[type[UnitLogMoments]] = UnitLogMoments

    alpha: Array
    beta: Array

    def __post_init__(self) -> None:
        self._settle(alpha=check_positive, beta=check_positive)

    @classmethod
    def from_mean_strength(cls, mean: Any, strength: Any) -> Self:
        """Return the distribution with a mean α / (α + β) and a strength α + β.

        The mean is above 0 and below 1; the strength is how many observations it is worth.
        """
        given = as_parameters({"mean": 0, "strength": 0}, mean=mean, strength=strength)
        check_probability("mean", given["mean"])
        check_positive("strength", given["strength"])
        m, n = given["mean"], given["strength"]
        if not bool(namespace_of(m).all((m > 0.0) & (m < 1.0))):
            raise ValueError("mean must be above 0 and below 1")
        return cls(alpha=m * n, beta=(1.0 - m) * n)

    @classmethod
    def from_statistic(cls, statistic: UnitLogMoments) -> Self:
        """Return the maximum likelihood estimate of each column, by Newton's method.

        ψ(α) - ψ(α + β) is the mean of log x, and ψ(β) - ψ(α + β) that of log(1 - x).
        """
        alpha, beta = fitted_beta(statistic)
        return cls(alpha=alpha, beta=beta)

    @property
    def strength(self) -> Array:
        """α + β."""
        return self.alpha + self.beta

    @property
    def mean(self) -> Array:
        return self.alpha / self.strength

    @property
    def variance(self) -> Array:
        return self.mean * (self.beta / self.strength) / (self.strength + 1.0)

    @property
    def mode(self) -> Array:
        """(α - 1) / (α + β - 2) where both exceed 1; else the end of the smaller of α and β.

        Where that one is below 1 the density grows without bound at its end; where both are, at both ends.
        Where α = β ≤ 1 the mode is not unique: ½ is given for the flat Beta(1, 1), and 0 below.
        """
        xp = namespace_of(self.alpha)
        inside = (self.alpha > 1.0) & (self.beta > 1.0)
        one = xp.ones_like(self.alpha)
        above = xp.where(inside, self.alpha - 1.0, one)
        peak = above / (above + xp.where(inside, self.beta - 1.0, one))
        end = xp.where(self.alpha <= self.beta, 0.0 * one, one)
        flat = (self.alpha == 1.0) & (self.beta == 1.0)
        return xp.where(inside, peak, xp.where(flat, 0.5 * one, end))

    def _log_density(self, x: Array) -> Array:
        xp = namespace_of(x)
        inside = (x > 0.0) & (x < 1.0)
        safe = xp.where(inside, x, xp.full_like(x, 0.5))
        found = log_beta_kernel(self.alpha, self.beta, safe) - (xp.log(safe) + xp.log1p(-safe))
        infinity, nowhere = xp.full_like(found, xp.inf), xp.full_like(found, -xp.inf)
        end = xp.where(x == 0.0, self.alpha, self.beta) + 0.0 * found
        edge = xp.where(end < 1.0, infinity, xp.where(end > 1.0, nowhere, -betaln(self.alpha, self.beta)))
        return xp.where(inside, found, edge)

    def _cdf(self, x: Array) -> Array:
        return betainc(self.alpha, self.beta, x)

    def _survival(self, x: Array) -> Array:
        return betaincc(self.alpha, self.beta, x)

    def _icdf(self, q: Array) -> Array:
        return betaincinv(self.alpha, self.beta, q)

    def _isf(self, q: Array) -> Array:
        """See `Univariate.isf`: 1 less the quantile of the reflected distribution; a search below ½."""
        found = 1.0 - betaincinv(self.beta, self.alpha, q)
        xp = namespace_of(found)
        small = found < 0.5
        return xp.where(small, upper_quantile(self, q), found) if bool(xp.any(small)) else found

    def entropy(self) -> Array:
        return beta_entropy(self.alpha, self.beta)

    def _divergence(self, other: "Beta") -> Array:
        return beta_divergence(self.alpha, self.beta, other.alpha, other.beta)

    def _sample(self, n: int, rng: Any) -> Array:
        # The fraction that one of two Gammas is of both, in logarithms: shapes near zero do not end in 0 / 0.
        return sigmoid(log_standard_gamma(rng, self.alpha, n) - log_standard_gamma(rng, self.beta, n))


_LEAST_GAP = 1e-29  # a relative spread of some 1e-14: of numbers that differ by rounding alone
_SHORT = 1e-9  # the last step, relative to the start: the error is its square


def beta_entropy(alpha: Array, beta: Array) -> Array:
    """Return log B(α, β) - (α-1) ψ(α) - (β-1) ψ(β) + (α+β-2) ψ(α+β), the entropy of Beta(α, β)."""
    xp = namespace_of(alpha)
    n = alpha + beta
    logs = 0.5 * (xp.log(alpha) + xp.log(beta) + log(2.0 * pi)) - 1.5 * xp.log(n)
    rest = stirling_error(alpha) + stirling_error(beta) - stirling_error(n)
    slopes = (alpha - 1.0) * log_minus_digamma(alpha) + (beta - 1.0) * log_minus_digamma(beta)
    return logs + rest + slopes - (n - 2.0) * log_minus_digamma(n)


def beta_divergence(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Return KL(Beta(a, b), Beta(c, d))."""
    xp = namespace_of(a, b, c, d)
    a, b, c, d = xp.broadcast_arrays(a, b, c, d)
    n, m = a + b, c + d
    # The leading terms together are m times the divergence of the mean c/m from a/n.
    means = deviance(xp.stack([c, d]), m * (xp.stack([a, b]) / n))
    rest = log_gamma_bregman(xp.stack([c, d, m]), xp.stack([a, b, n]))
    return means[0, ...] + means[1, ...] + rest[0, ...] + rest[1, ...] - rest[2, ...]


def fitted_beta(statistic: UnitLogMoments) -> tuple[Array, Array]:
    """Return α and β by Newton's method on the concave log likelihood."""
    xp = namespace_of(statistic.mean)
    gaps = xp.stack([statistic.gap, statistic.other_gap], axis=-1)
    check_varies((xp.max(gaps, axis=-1) > _LEAST_GAP) & (xp.min(gaps, axis=-1) > 0.0))
    means = xp.stack([statistic.mean, 1.0 - statistic.mean], axis=-1)
    strength = 0.5 / xp.sqrt(statistic.gap) / xp.sqrt(statistic.other_gap)  # Stirling
    gaps, means, start = (xp.reshape(x, (-1, 2)) for x in (gaps, means, means * strength[..., None]))

    def ascent(factor: Array, rows: Array) -> Ascent:
        unit, *given = (xp.take(part, rows, axis=0) for part in (start, gaps, means))
        at = _beta_ascent(unit * factor, *given)
        return Ascent(at.value, unit * at.gradient, at.step / unit)

    found = start * newton_ascent(ascent, xp.ones_like(start), tol=_SHORT)[0]
    found = xp.reshape(found, (*statistic.mean.shape, 2))
    return found[..., 0], found[..., 1]


def _beta_ascent(x: Array, gaps: Array, means: Array) -> Ascent:
    """Return the gradient of the mean log density by α and β, (n, 2), and Newton's step; no value."""
    xp = namespace_of(x)
    n = xp.sum(x, axis=-1)
    gradient = log_minus_digamma(x) - log_minus_digamma(n)[:, None] - gaps - xp.log(x / n[:, None] / means)
    excess, g = trigamma_excess(x), trigamma_excess(n)
    a, b, e, f = x[:, 0], x[:, 1], excess[:, 0], excess[:, 1]
    # ψ'(x) = 1/x + e(x)/x²: the leading terms of the determinant cancel, and are left out.
    determinant = (e + f - g) / n + e * f / (a * b) - g / n**2 * (e * b / a + f * a / b)
    own = xp.stack([a / (n * b) + f / b**2 - g / n**2, b / (n * a) + e / a**2 - g / n**2], axis=-1)
    both = (1.0 / n + g / n**2)[:, None]
    step = (a * b / determinant)[:, None] * (own * gradient + both * xp.flip(gradient, axis=-1))
    # A step may not leave the positive numbers, nor run away from a start that is far off.
    ratio = xp.max(xp.maximum(-step / (0.8 * x), step / (4.0 * x)), axis=-1)
    return Ascent(xp.zeros_like(n), gradient, step / xp.clip(ratio, min=1.0)[:, None])


@value
class Dirichlet(VectorDistribution):
    """The Dirichlet distribution of K probabilities that sum to one.

    Dir(x | α) = Γ(Σ α_k) / Π Γ(α_k) · Π x_k^(α_k - 1) on the simplex, x_k ≥ 0 with Σ x_k = 1.

    The density is with respect to any K - 1 of the probabilities. Points off the simplex, by more than half
    the digits, have log probability -inf. Where an entry is 0 the density is 0 if its α_k > 1 and infinite if
    α_k < 1; where both occur it is taken as 0.

    Parameters
    ----------
    concentration : array (*batch, K)
        α, positive, K ≥ 2. The mean is α / Σ α, and Σ α how concentrated x is about it.

    Examples
    --------
    >>> d = Dirichlet(concentration=[4.0, 2.0, 2.0])
    >>> d.mean, d.mode
    (array([0.5 , 0.25, 0.25]), array([0.6, 0.2, 0.2]))
    >>> float(d.prob([0.5, 0.25, 0.25]).round(9))
    6.5625
    >>> d.aggregate([[0], [1, 2]]).concentration
    array([4., 4.])
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"concentration": 1}
    support = None  # the simplex is no box

    #: What :meth:`from_statistic` learns from.
    statistic: ClassVar[type[LogMoments]] = LogMoments

    concentration: Array

    def __post_init__(self) -> None:
        self._settle(concentration=check_positive)
        if self.concentration.shape[-1] < 2:
            raise ValueError("concentration must have at least two entries on its last axis")

    @classmethod
    def from_mean_strength(cls, mean: Any, strength: Any) -> Self:
        """Return the distribution with the given mean (*batch, K) and Σ α = strength (*batch,).

        Examples
        --------
        >>> Dirichlet.from_mean_strength([0.5, 0.25, 0.25], 8.0).concentration
        array([4., 2., 2.])
        """
        given = as_parameters({"mean": 1, "strength": 0}, mean=mean, strength=strength)
        check_probabilities("mean", given["mean"])
        check_positive("mean", given["mean"])
        check_positive("strength", given["strength"])
        return cls(concentration=given["strength"][..., None] * given["mean"])

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None) -> Self:
        """Return the maximum likelihood estimate from probabilities X (n, K), all of them positive."""
        X = as_reals("X", X)
        if X.ndim != 2 or not X.shape[0] or X.shape[1] < 2:
            raise ValueError(f"X must be rows of shape (n, K) with K at least 2, got {tuple(X.shape)}")
        check_probabilities("X", X)
        check_positive("X", X)
        weights = check_sample_weight(sample_weight, X.shape[0], X)
        found = cls.from_statistic(LogMoments.of(X, weights))
        return cls(concentration=namespace_of(X).astype(found.concentration, X.dtype))

    @classmethod
    def from_statistic(cls, statistic: LogMoments) -> Self:
        """Return the maximum likelihood estimate, ψ(α_k) - ψ(Σ α) = mean of log x_k, by Newton's method."""
        return cls(concentration=fitted_concentration(statistic))

    @property
    def dim(self) -> int:
        """Number of probabilities K."""
        return int(self.concentration.shape[-1])

    @property
    def strength(self) -> Array:
        """Σ α, (*batch,)."""
        return namespace_of(self.concentration).sum(self.concentration, axis=-1)

    @property
    def mean(self) -> Array:
        return self.concentration / self.strength[..., None]

    @property
    def mean_log(self) -> Array:
        """E log x_k = ψ(α_k) - ψ(Σ α), (*batch, K)."""
        return digamma(self.concentration) - digamma(self.strength)[..., None]

    @property
    def variance(self) -> Array:
        """See `Distribution.variance`: m (1 - m) / (Σ α + 1)."""
        strength = self.strength[..., None]
        rest = strength - self.concentration
        return self.mean * (rest / strength) / (strength + 1.0)

    @property
    def covariance(self) -> Array:
        """(diag(m) - m mᵀ) / (Σ α + 1), of rank K - 1, (*batch, K, K)."""
        mean = self.mean
        spread = diagonal_matrix(mean) - mean[..., :, None] * mean[..., None, :]
        return spread / (self.strength + 1.0)[..., None, None]

    @property
    def mode(self) -> Array:
        """(α_k - 1) / Σ (α_j - 1), with probabilities of α_k ≤ 1 left out: they are 0.

        Where some α_k < 1 the density is unbounded, and this is where its other factors are greatest. Where
        no α_k is above 1, the mode is not unique: the centre of those with α_k = 1 is given or, where all are
        below 1, the corner of the greatest.
        """
        xp = namespace_of(self.concentration)
        alpha = self.concentration
        excess = xp.where(alpha > 1, alpha - 1.0, xp.zeros_like(alpha))
        flat = xp.astype(alpha == 1, alpha.dtype)
        corner = xp.astype(alpha == xp.max(alpha, axis=-1, keepdims=True), alpha.dtype)
        corner = corner * xp.astype(xp.cumulative_sum(corner, axis=-1) == 1, alpha.dtype)
        for fallback in (flat, corner):
            excess = xp.where(xp.any(excess > 0, axis=-1, keepdims=True), excess, fallback)
        return excess / xp.sum(excess, axis=-1, keepdims=True)

    def log_prob(self, x: Any) -> Array:
        x = self._event(x)
        xp = namespace_of(x)
        log_prob = dirichlet_log_density(x, self.concentration)
        empty = x == 0
        off = xp.abs(xp.sum(x, axis=-1) - 1.0) > float(xp.finfo(x.dtype).eps) ** 0.5
        infinite = xp.any(empty & (self.concentration < 1), axis=-1)
        impossible = off | xp.any((x < 0) | (empty & (self.concentration > 1)), axis=-1)
        log_prob = xp.where(infinite, xp.full_like(log_prob, xp.inf), log_prob)
        log_prob = xp.where(impossible, xp.full_like(log_prob, -xp.inf), log_prob)
        unknown = xp.any(xp.isnan(x), axis=-1)
        return xp.where(unknown, xp.full_like(log_prob, xp.nan), log_prob)

    def entropy(self) -> Array:
        """See `Distribution.entropy`: log B(α) + (Σα - K) ψ(Σα) - Σ (α_k - 1) ψ(α_k)."""
        xp = namespace_of(self.concentration)
        return _log_beta(self.concentration) - xp.sum((self.concentration - 1.0) * self.mean_log, axis=-1)

    def _divergence(self, other: "Dirichlet") -> Array:
        return dirichlet_divergence(self.concentration, other.concentration)

    def marginal(self, dims: Any) -> "Beta | Dirichlet":
        """Return the distribution of one entry, a Beta, or of several and the rest, a Dirichlet.

        Entries come in the order given; of several that are not all of them the rest are added up in one
        more, the last.
        """
        keep = self._resolved(dims)
        if not keep:
            raise ValueError("dims must name at least one entry")
        rest = other_dims(keep, self.dim)
        if len(keep) > 1:
            return self.aggregate([*([k] for k in keep), *([rest] if rest else [])])
        alpha = self.aggregate([keep, rest]).concentration
        return Beta(alpha=alpha[..., 0], beta=alpha[..., 1])

    def aggregate(self, groups: Sequence[Sequence[int]]) -> "Dirichlet":
        """Return the distribution of the sums of groups of probabilities: their α add up.

        Every entry is in exactly one group.
        """
        xp = namespace_of(self.concentration)
        parts = [self._resolved(group) for group in groups]
        if sorted(k for part in parts for k in part) != list(range(self.dim)) or not all(parts):
            raise ValueError(
                f"groups must hold every one of the {self.dim} probabilities once, got {groups!r}"
            )
        totals = [xp.sum(taken(self.concentration, part), axis=-1) for part in parts]
        return Dirichlet(concentration=xp.stack(totals, axis=-1))

    def interval(self, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return the equal-tailed interval (low, high) of each entry by itself, (*batch, K) both."""
        rest = self.strength[..., None] - self.concentration
        return Beta(alpha=self.concentration, beta=rest).interval(coverage)

    def _sample(self, n: int, rng: Any) -> Array:
        # As logarithms: of very small α all gamma variables of a draw may underflow together.
        return softmax(log_standard_gamma(rng, self.concentration, n))


def _log_beta(alpha: Array) -> Array:
    """Return log Π Γ(α_k) / Γ(Σ α), entry by entry: B(α₁, α₂) B(α₁ + α₂, α₃) …"""
    xp = namespace_of(alpha)
    return xp.sum(betaln(xp.cumulative_sum(alpha, axis=-1)[..., :-1], alpha[..., 1:]), axis=-1)


def dirichlet_divergence(alpha: Array, beta: Array) -> Array:
    """Return KL(Dir(α), Dir(β)) = log B(β)/B(α) + Σ (α_k - β_k) (ψ(α_k) - ψ(Σα)), over the last axis."""
    xp = namespace_of(alpha, beta)
    alpha, beta = xp.broadcast_arrays(alpha, beta)
    mean_log = digamma(alpha) - digamma(xp.sum(alpha, axis=-1, keepdims=True))
    return _log_beta(beta) - _log_beta(alpha) + xp.sum((alpha - beta) * mean_log, axis=-1)


def dirichlet_log_density(x: Array, alpha: Array) -> Array:
    """Return log Γ(Σα) - Σ log Γ(α_k) + Σ (α_k - 1) log x_k for Σ x_k = 1, in Loader's form.

    Large terms cancel on paper, so large α keep their digits. An entry of 0 counts as the limit for α_k = 1,
    where x_k^(α_k - 1) = 1 throughout.
    """
    xp = namespace_of(x)
    strength = xp.sum(alpha, axis=-1)
    inside = x > 0
    some = xp.where(inside, x, xp.ones_like(x))
    kernel = -deviance(alpha, strength[..., None] * some) - xp.log(some)
    kernel = xp.where(inside, kernel, 1.0 + xp.log(strength)[..., None])
    scale = 0.5 * xp.log(alpha) - stirling_error(alpha)
    whole = stirling_error(strength) - 0.5 * xp.log(strength) - 0.5 * (alpha.shape[-1] - 1) * LOG_2PI
    return xp.sum(kernel + scale, axis=-1) + whole


def fitted_concentration(statistic: Any) -> Array:
    """Return the α that maximises log Γ(Σα) - Σ log Γ(α_k) + Σ α_k l_k, where l_k is the mean of log x_k.

    The maximum exists unless all rows are equal: Σ exp(l_k) < 1, by Jensen's inequality.
    """
    xp = namespace_of(statistic.mean)
    gap = -xp.sum(statistic.mean * xp.expm1(-statistic.gap))
    if not float(gap) > 8.0 * float(xp.finfo(gap.dtype).eps):
        raise ValueError("X must hold rows that differ: the likelihood of equal ones has no maximum")
    # Stirling: the best strength is near (K - 1) / 2 log(1 / Σ exp(l_k)), its probabilities near exp(l_k).
    probabilities = xp.exp(statistic.mean_log)
    strength = -0.5 * (statistic.dim - 1) / xp.log1p(-gap)
    result = newton(
        lambda alpha: _expansion(alpha, statistic),
        strength * probabilities / xp.sum(probabilities),
        value=lambda alpha: _loss(alpha, statistic),
        tol=1e-14,
        max_iter=200,
    )
    if not result.converged:
        raise ValueError("X has no concentration that could be found: its rows are too nearly equal")
    return result.x


def _loss(alpha: Array, statistic: Any) -> Any:
    """Return minus the mean log density: that at the mean row, and what is lost by the spread of rows."""
    xp = namespace_of(alpha)
    if not bool(xp.all(alpha > 0)):
        return float("inf")
    return xp.sum((alpha - 1.0) * statistic.gap) - dirichlet_log_density(statistic.mean, alpha)


def _expansion(alpha: Array, statistic: Any) -> tuple[Any, Array, Callable[[Array], Array]]:
    xp = namespace_of(alpha)
    total = xp.sum(alpha)
    # ψ(α_k) - ψ(Σα) - l_k, with the logarithms taken together: their differences are small when α is large.
    log_ratio = xp.log1p((alpha - total * statistic.mean) / (total * statistic.mean))
    gradient = log_ratio + statistic.gap - log_minus_digamma(alpha) + log_minus_digamma(total)
    own, common = trigamma(alpha), trigamma(total)

    def solve(g: Array) -> Array:
        """Return (diag(own) - common 1 1ᵀ)⁻¹ g."""
        shift = common * xp.sum(g / own) / (1.0 - common * xp.sum(1.0 / own))
        return (g + shift) / own

    return _loss(alpha, statistic), gradient, solve
