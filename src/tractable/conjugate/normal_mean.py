"""A normal likelihood of known variance with a normal prior of its mean."""

from collections.abc import Sequence
from math import log
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.log_space import LOG_2PI
from tractable.arrays.namespace import Array, namespace_of
from tractable.conjugate.checks import as_numbers, check_moments, check_strength, some_weight
from tractable.conjugate.model import ConjugateModel, Search
from tractable.covariance import Covariance, Isotropic, as_structure
from tractable.distributions.checks import check_positive, exactly_one
from tractable.distributions.distribution import Distribution
from tractable.distributions.multivariate_normal import MultivariateNormal
from tractable.distributions.normal import Normal
from tractable.statistics.moments import Moments
from tractable.value import set_fields, value

__all__ = ["NormalMeanModel"]


@value
class NormalMeanModel(ConjugateModel):
    """x ~ N(μ, Σ) with Σ known and μ ~ N(μ₀, Σ₀).

    The posterior precision is the sum of the precisions, Σₙ⁻¹ = Σ₀⁻¹ + n Σ⁻¹, and the posterior mean is the
    precision-weighted average μₙ = Σₙ (Σ₀⁻¹ μ₀ + n Σ⁻¹ x̄). The next row is N(μₙ, Σ + Σₙ). Mode and mean of
    the posterior are the same.

    Parameters
    ----------
    prior : Normal or MultivariateNormal
        Of the mean, a number or a vector.
    variance : float
        σ², known, of numbers.
    covariance : array (d, d) or Covariance
        Σ, known, of vectors; structures are kept where both sides have them.

    Examples
    --------
    >>> from tractable.distributions import Normal
    >>> model = NormalMeanModel(prior=Normal(mean=0.0, variance=1.0), variance=4.0)
    >>> model = model.update_rows([5.0, 7.0, 6.0, 6.0])
    >>> model.prior
    Normal(mean=array(3.), variance=array(0.5))
    >>> model.predictive()
    Normal(mean=array(3.), variance=array(4.5))
    """

    unknown: ClassVar[str] = "mean"
    prior_families: ClassVar[tuple[type[Distribution], ...]] = (Normal, MultivariateNormal)

    prior: Normal | MultivariateNormal
    noise: Covariance

    def __init__(self, *, prior: Any, variance: Any = None, covariance: Any = None) -> None:
        set_fields(self, prior=prior)
        self._check_prior()
        name, noise = exactly_one(variance=variance, covariance=covariance)
        if (name == "variance") != isinstance(prior, Normal):
            raise ValueError("give variance with a Normal prior and covariance with a MultivariateNormal one")
        structure = _number(noise, prior.mean) if name == "variance" else as_structure(noise, like=prior.mean)
        dim = 1 if isinstance(prior, Normal) else prior.dim
        if structure.batch_shape or structure.dim != dim:
            raise ValueError(f"{name} must be of one distribution of {dim} coordinates")
        set_fields(self, noise=structure)

    def _parameters(self) -> dict[str, Any]:
        if isinstance(self.prior, Normal):
            return {"prior": self.prior, "variance": self.noise.diagonal[0]}
        return {"prior": self.prior, "covariance": self.noise}

    @classmethod
    def from_mean_strength(
        cls, mean: Any, strength: float, *, variance: Any = None, covariance: Any = None
    ) -> Self:
        """Return the model that expects `mean` as if after `strength` observations: Σ₀ = Σ / strength.

        Examples
        --------
        >>> NormalMeanModel.from_mean_strength(1.0, 2.0, variance=4.0).prior
        Normal(mean=array(1.), variance=array(2.))
        """
        strength = check_strength(strength)
        if variance is not None:
            noise = _number(variance, as_reals("mean", mean))
            return cls(prior=Normal(mean=mean, variance=noise.diagonal[0] / strength), variance=variance)
        structure = as_structure(covariance, like=mean)
        prior = MultivariateNormal(mean=mean, covariance=structure.scaled(1.0 / strength))
        return cls(prior=prior, covariance=structure)

    def likelihood(self, parameter: Any) -> Distribution:
        """See `ConjugateModel.likelihood`: N(x | parameter, Σ)."""
        if isinstance(self.prior, Normal):
            return Normal(mean=parameter, variance=self.noise.diagonal[0])
        return MultivariateNormal(mean=parameter, covariance=self.noise)

    def _summarize(self, X: Any, weights: Any) -> Moments:
        return Moments.of(as_numbers(X, self.noise.dim), weights)

    def update(self, statistic: Moments) -> Self:
        """See `ConjugateModel.update`; of numbers, σₙ² = σ² σ₀² / (σ² + n σ₀²)."""
        check_moments(statistic, self.noise.dim)
        if float(statistic.weight) == 0.0:
            return self
        if isinstance(self.prior, MultivariateNormal):
            return self._with_prior(self.prior.product(self._seen(statistic))[0])
        noise, spread = self.noise.diagonal[0], statistic.weight * self.prior.variance
        step = statistic.mean[0] - self.prior.mean
        mean = self.prior.mean + spread / (noise + spread) * step
        return self._with_prior(Normal(mean=mean, variance=self.prior.variance * (noise / (noise + spread))))

    def predictive(self) -> Distribution:
        """See `ConjugateModel.predictive`: N(x | μ₀, Σ + Σ₀)."""
        if isinstance(self.prior, Normal):
            return Normal(mean=self.prior.mean, variance=self.prior.variance + self.noise.diagonal[0])
        return MultivariateNormal(
            mean=self.prior.mean, covariance=self.prior.structure + self.noise, names=self.prior.names
        )

    def log_evidence(self, statistic: Moments) -> float:
        """See `ConjugateModel.log_evidence`: log N(x̄ | μ₀, Σ₀ + Σ/n), and what scatters about x̄."""
        check_moments(statistic, self.noise.dim)
        n = float(statistic.weight)
        if n == 0.0:
            return 0.0
        scatter = namespace_of(statistic.mean).linalg.trace(self.noise.solve(statistic.scatter))
        per_row = self.noise.dim * LOG_2PI + float(self.noise.log_det)
        about_mean = -0.5 * (float(scatter) + (n - 1.0) * per_row + self.noise.dim * log(n))
        if isinstance(self.prior, MultivariateNormal):
            return float(self.prior.product(self._seen(statistic))[1]) + about_mean
        of_mean = Normal(mean=self.prior.mean, variance=self.prior.variance + self.noise.diagonal[0] / n)
        return float(of_mean.log_prob(statistic.mean[0])) + about_mean

    def maximum_likelihood(self, statistic: Moments) -> Array:
        """See `ConjugateModel.maximum_likelihood`: the mean of the rows."""
        check_moments(statistic, self.noise.dim)
        some_weight(statistic)
        return statistic.mean[0] if isinstance(self.prior, Normal) else statistic.mean

    def interval(self, coverage: float = 0.9) -> tuple[Array, Array]:
        return Normal(mean=self.prior.mean, variance=self.prior.variance).interval(coverage)

    def _search(self, statistics: Sequence[Moments]) -> Search:
        """Group means are N(x̄ | μ₀, σ₀² + σ²/n); free are μ₀, in units of their spread, and log σ₀²."""
        if not isinstance(self.prior, Normal):
            return super()._search(statistics)
        groups = [s for s in statistics if float(s.weight) > 0.0]
        means, weights = np.array([[float(s.mean[0]), float(s.weight)] for s in groups]).T
        known, centre = float(self.noise.diagonal[0]) / weights, float(self.prior.mean)
        within = sum(self.log_evidence(s) for s in groups) - _normal_terms(
            means - centre, float(self.prior.variance) + known
        )
        unit = np.sqrt(np.mean((means - means.mean()) ** 2) + known.mean())

        def objective(free: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
            between = np.exp(free[1])
            step, total = means - centre - unit * free[0], between + known
            slope = np.array(
                [np.sum(unit * step / total), 0.5 * between * np.sum((step**2 / total - 1) / total)]
            )
            across = -unit * between * np.sum(step / total**2)
            along = between**2 * np.sum((0.5 - step**2 / total) / total**2) + slope[1]
            bend = np.array([[-(unit**2) * np.sum(1 / total), across], [across, along]])
            return -(within + _normal_terms(step, total)), -slope, -bend

        def model(free: np.ndarray) -> NormalMeanModel:
            return self._with_prior(Normal(mean=centre + unit * free[0], variance=np.exp(free[1])))

        return Search(
            start=np.array([0.0, np.log(float(self.prior.variance))]), objective=objective, model=model
        )

    def _seen(self, statistic: Moments) -> MultivariateNormal:
        """Return N(x̄ | μ, Σ/n) as a density of μ."""
        return MultivariateNormal(
            mean=statistic.mean, covariance=self.noise.scaled(1.0 / float(statistic.weight))
        )


def _normal_terms(step: np.ndarray, variance: np.ndarray) -> float:
    return float(-0.5 * np.sum(LOG_2PI + np.log(variance) + step**2 / variance))


def _number(variance: Any, like: Array) -> Isotropic:
    given = as_reals("variance", variance, like)
    if given.ndim:
        raise ValueError(f"variance must be one number, got shape {tuple(given.shape)}")
    check_positive("variance", given)
    return Isotropic(variance=given, dim=1)
