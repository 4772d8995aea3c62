"""Student's t as a scale mixture of normals: the E-step of precisions, and steps to the degrees of freedom.

St(x | ν, μ, Σ) is N(x | μ, Σ/u) with the precision u ~ Gamma(ν/2, ν/2) integrated out. Given a row at the
squared distance Δ² = (x - μ)ᵀ Σ⁻¹ (x - μ), the precision has the mean (ν + d) / (ν + Δ²). Whatever (μ, Σ) are
of, a row, a component of a mixture or the noise of a regression, an M-step must know of u what
:class:`PrecisionSums` holds: its size does not depend on the rows.

Two steps change ν. EM's own maximises the expected log density of u, together with Σ (Liu, Rubin and Wu 1998:
the expanded form, in which u may have another mean than one). It is slow where tails are light. Newton's step
on the likelihood itself (ECME, Liu and Rubin 1994) is taken where it promises more.
"""

import math

from tractable.arrays.gamma import betaln, gammaln, log_minus_digamma, trigamma_excess
from tractable.arrays.namespace import Array, namespace_of
from tractable.engines.roots import log_minus_digamma_root
from tractable.value import parameters, value

#: The greatest degrees of freedom that are looked for: there tails are no heavier than those of a normal.
GREATEST_DOF = 1e6

#: The farthest that a Newton step changes log ν.
LONGEST_STEP = math.log(2.0)


@value
class PrecisionSums:
    """Weighted sums over rows of the expected precisions u, (K,) each; they merge with ``+``."""

    weight: Array  # Σ w
    precision: Array  # Σ w u
    excess: Array  # Σ w (log u - u + 1)
    spread: Array  # Σ w (u - 1)²

    def __add__(self, other: "PrecisionSums") -> "PrecisionSums":
        return PrecisionSums(**{name: x + getattr(other, name) for name, x in parameters(self).items()})


@value
class ScaleMixture:
    """Student's t of ν degrees of freedom, (K,), in d dimensions, as a mixture of normals over their scale.

    `squared` are the squared distances Δ² of rows, (K, n), and `weights` how often each counts.
    """

    dof: Array
    dim: int

    @property
    def log_peak(self) -> Array:
        """The log density at the location, where the scale is the identity, (K,)."""
        half = 0.5 * self.dim + 0.0 * self.dof
        # A beta function keeps the digits of the ratio of two gammas.
        log_volume = self.dim * (namespace_of(self.dof).log(self.dof) + math.log(math.pi))
        return gammaln(half) - betaln(0.5 * self.dof, half) - 0.5 * log_volume

    def log_fall(self, squared: Array) -> Array:
        """Return ½ (ν + d) log(1 + Δ²/ν), what the log density lacks of its peak."""
        dof = self.dof[:, None]
        return 0.5 * (dof + self.dim) * namespace_of(squared).log1p(squared / dof)

    def precisions(self, squared: Array) -> tuple[Array, Array]:
        """Return u = (ν + d) / (ν + Δ²), and u - 1 with its digits, (K, n)."""
        dof = self.dof[:, None]
        below = dof + squared
        return (dof + self.dim) / below, (self.dim - squared) / below

    def sums(self, weights: Array, u: Array, more: Array) -> PrecisionSums:
        """Return the sums of precisions u and u - 1 = more, with weights (K, n)."""
        xp = namespace_of(u)
        small = u < 0.5
        logs = xp.where(small, xp.log(u), xp.log1p(xp.where(small, xp.zeros_like(u), more)))
        return PrecisionSums(
            weight=xp.sum(weights, axis=-1),
            precision=xp.sum(weights * u, axis=-1),
            excess=xp.sum(weights * (logs - more), axis=-1),
            spread=xp.sum(weights * (more * more), axis=-1),
        )

    def expected_log_density(self, sums: PrecisionSums, dof: Array, expansion: Array) -> Array:
        """Return E log Gamma(u/α | ν/2, ν/2) of a row at other ν and an expansion α, less log u, (K,)."""
        half = 0.5 * dof
        u, log_u = self._expected(sums, expansion)
        return half * (namespace_of(half).log(half) + log_u - u) - gammaln(half)

    def expanded_dof(self, sums: PrecisionSums, expansion: Array, least: float) -> Array:
        """Return the ν of the greatest expected log density: log(ν/2) - ψ(ν/2) = E u/α - 1 - E log(u/α)."""
        xp = namespace_of(self.dof)
        u, log_u = self._expected(sums, expansion)
        # 1/ν < log(ν/2) - ψ(ν/2) < 2/ν: outside of these the root is beyond the bounds.
        gap = xp.clip(u - 1.0 - log_u, 0.5 / GREATEST_DOF, 4.0 / least)
        return xp.clip(2.0 * log_minus_digamma_root(gap), least, GREATEST_DOF)

    def likelier_dof(self, sums: PrecisionSums, least: float) -> tuple[Array, Array]:
        """Return ν after Newton's step on the log likelihood, and what it promises to add for a row, (K,).

        The slope by log ν is that of EM's objective at the same ν (Fisher's identity); the curvature has the
        spread of u besides. Where the likelihood is convex the step is the longest, its promise cautious.
        """
        xp = namespace_of(self.dof)
        some = sums.weight > 0
        n = xp.where(some, sums.weight, xp.ones_like(sums.weight))
        half, shape = 0.5 * self.dof, 0.5 * (self.dof + self.dim)
        fraction, both = half / shape, xp.stack([half, shape])
        gap, excess = log_minus_digamma(both), trigamma_excess(both)
        slope = half * (gap[0, ...] - gap[1, ...] + sums.excess / n)
        curvature = slope + excess[1, ...] * fraction**2 - excess[0, ...]
        curvature = curvature + half * fraction * sums.spread / n
        # At least the curvature at which Newton's step is the longest.
        steepness = xp.maximum(-curvature, xp.abs(slope) / LONGEST_STEP)
        steepness = xp.where(steepness > 0, steepness, xp.ones_like(steepness))
        found = xp.where(some, xp.clip(self.dof * xp.exp(slope / steepness), least, GREATEST_DOF), self.dof)
        step = xp.log(found / self.dof)
        return found, step * (slope - 0.5 * step * steepness)

    def _expected(self, sums: PrecisionSums, expansion: Array) -> tuple[Array, Array]:
        """Return E u/α and E log(u/α) of a row; u | x is Gamma with the shape (ν + d)/2."""
        xp = namespace_of(self.dof)
        some = sums.weight > 0
        n = xp.where(some, sums.weight, xp.ones_like(sums.weight))
        u, excess = sums.precision / n, sums.excess / n
        log_u = excess + (u - 1.0) - log_minus_digamma(0.5 * (self.dof + self.dim))
        return u / expansion, log_u - xp.log(expansion)
