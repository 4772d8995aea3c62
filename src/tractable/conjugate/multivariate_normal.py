"""A normal likelihood of vectors with a normal-Wishart prior of its mean and precision matrix."""

from typing import Any, ClassVar, Self

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, namespace_of
from tractable.conjugate.checks import as_numbers, check_moments, check_strength, some_weight
from tractable.conjugate.model import ConjugateModel
from tractable.conjugate.wishart import seen_scale, wishart_increment, wishart_interval
from tractable.covariance import Full
from tractable.distributions.distribution import Distribution
from tractable.distributions.mean_precision import MeanPrecision, NormalWishart
from tractable.distributions.multivariate_normal import MultivariateNormal
from tractable.distributions.multivariate_student_t import MultivariateStudentT
from tractable.distributions.student_t import StudentT
from tractable.statistics.moments import Moments
from tractable.value import value

__all__ = ["MultivariateNormalModel"]


@value
class MultivariateNormalModel(ConjugateModel):
    """x ~ N(μ, Λ⁻¹) with neither known: Λ ~ Wishart(ν, W) and μ given Λ ~ N(m, (bΛ)⁻¹).

    After n rows with mean x̄ and scatter S the posterior is normal-Wishart again, with b' = b + n, ν' = ν + n,
    m' = (b m + n x̄) / b' and W'⁻¹ = W⁻¹ + S + (b n / b') (x̄ - m)(x̄ - m)ᵀ. The next row is Student-t with
    ν + 1 - d degrees of freedom, location m and scale (b + 1) / (b (ν + 1 - d)) W⁻¹. Parameters are pairs
    ``(mean, precision)``.

    Parameters
    ----------
    prior : NormalWishart

    Examples
    --------
    >>> import numpy as np
    >>> model = MultivariateNormalModel.from_mean_strength([0.0, 0.0], 1.0, covariance=np.eye(2))
    >>> after = model.update_rows([[1.0, 2.0], [3.0, 2.0], [2.0, 5.0]])
    >>> after.prior.location, float(after.prior.dof)
    (array([1.5 , 2.25]), 5.0)
    >>> after.predictive().location, float(after.predictive().dof)
    (array([1.5 , 2.25]), 4.0)
    """

    unknown: ClassVar[str] = "both"
    prior_families: ClassVar[tuple[type[Distribution], ...]] = (NormalWishart,)

    prior: NormalWishart

    def __post_init__(self) -> None:
        self._check_prior()

    @classmethod
    def from_mean_strength(
        cls, mean: Any, strength: float, *, covariance: Any, dof: float | None = None
    ) -> Self:
        """Return the model that expects a mean and the precision Σ⁻¹ as if after `strength` rows.

        Parameters
        ----------
        mean : array (d,)
        strength : float
            Rows behind the mean.
        covariance : array (d, d) or Covariance
            Σ, whose inverse is the expected precision.
        dof : float, optional
            Rows behind the precision, above d - 1; strength + d - 1 by default.
        """
        strength = check_strength(strength)
        known = hasattr(covariance, "precision")
        structure = covariance if known else Full(matrix=as_reals("covariance", covariance))
        dof = strength + structure.dim - 1.0 if dof is None else dof
        return cls(
            prior=NormalWishart(mean=mean, strength=strength, dof=dof, scale=structure.precision() / dof)
        )

    @property
    def dim(self) -> int:
        """Number of columns d."""
        return self.prior.dim

    def likelihood(self, parameter: Any) -> MultivariateNormal:
        """See `ConjugateModel.likelihood`: of a pair (mean, precision), or arrays of both."""
        mean, precision = parameter
        return MultivariateNormal(mean=mean, covariance=Full.from_precision(precision))

    def _summarize(self, X: Any, weights: Any) -> Moments:
        return Moments.of(as_numbers(X, self.dim), weights)

    def update(self, statistic: Moments) -> Self:
        strength, step, scatter = self._seen(statistic)
        scale, _ = seen_scale(self.prior.scale, scatter)
        return self._with_prior(
            NormalWishart(
                mean=self.prior.location + statistic.weight / strength * step,
                strength=strength,
                dof=self.prior.dof + statistic.weight,
                scale=scale,
            )
        )

    def predictive(self) -> MultivariateStudentT:
        d = self.prior
        dof = d.dof + 1.0 - self.dim
        scale = Full.from_precision(d.scale * (dof * d.strength / (d.strength + 1.0)))
        return MultivariateStudentT(dof=dof, location=d.location, scale=scale)

    def log_evidence(self, statistic: Moments) -> float:
        _, _, scatter = self._seen(statistic)
        d, xp = self.prior, namespace_of(scatter)
        _, growth = seen_scale(d.scale, scatter)
        increment = wishart_increment(d.dof, statistic.weight, d.scale, growth)
        return float(increment - 0.5 * self.dim * xp.log1p(statistic.weight / d.strength))

    def maximum_likelihood(self, statistic: Moments) -> MeanPrecision:
        """See `ConjugateModel.maximum_likelihood`: (x̄, n S⁻¹), of rows that span the space."""
        check_moments(statistic, self.dim)
        some_weight(statistic)
        return MeanPrecision(mean=statistic.mean, precision=Full(matrix=statistic.covariance()).precision())

    def mode(self) -> MeanPrecision:
        """Return (m, (ν - d) W), the mode of both together, for ν ≥ d.

        Below it the density grows without bound towards singular precisions: a ValueError.
        """
        if float(self.prior.dof) < self.dim:
            raise ValueError(
                f"the prior has no mode: dof must be at least d = {self.dim}, got {self.prior.dof}"
            )
        return self.prior.mode

    def interval(self, coverage: float = 0.9) -> tuple[MeanPrecision, MeanPrecision]:
        """See `ConjugateModel.interval`: of each entry of the mean and of the precision by itself."""
        means = self.prior.mean_marginal()
        xp = namespace_of(means.location)
        one = StudentT(dof=means.dof, location=means.location, scale=xp.sqrt(means.structure.diagonal))
        precisions = wishart_interval(self.prior.dof, self.prior.scale, coverage)
        low, high = (MeanPrecision(*ends) for ends in zip(one.interval(coverage), precisions, strict=True))
        return low, high

    def _seen(self, statistic: Moments) -> tuple[Array, Array, Array]:
        """Return b', x̄ - m and W'⁻¹ - W⁻¹."""
        check_moments(statistic, self.dim)
        d, n = self.prior, statistic.weight
        strength, step = d.strength + n, statistic.mean - d.location
        between = d.strength * n / strength * step[:, None] * step[None, :]
        return strength, step, statistic.scatter + between
