"""Normal likelihoods with a conjugate prior of the mean, of the precision, or of both."""

from collections.abc import Sequence
from math import log
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.log_space import LOG_2PI
from tractable.arrays.namespace import Array, as_float_array, freeze, namespace_of
from tractable.conjugate.checks import (
    as_numbers,
    check_moments,
    check_statistic,
    check_strength,
    one_number,
    some_weight,
)
from tractable.conjugate.increments import gamma_gradient, gamma_hessian, gamma_increment
from tractable.conjugate.model import AdditiveModel, ConjugateModel, Search
from tractable.conjugate.wishart import seen_scale, wishart_increment, wishart_interval
from tractable.covariance import Covariance, Full, Isotropic, as_structure
from tractable.distributions.checks import check_finite, check_positive, exactly_one
from tractable.distributions.distribution import Distribution
from tractable.distributions.gamma import Gamma
from tractable.distributions.mean_precision import MeanPrecision, NormalGamma, NormalWishart
from tractable.distributions.normal import MultivariateNormal, Normal
from tractable.distributions.student_t import MultivariateStudentT, StudentT
from tractable.distributions.wishart import Wishart
from tractable.statistics.moments import Moments
from tractable.statistics.rows import Statistic, weighted_rows
from tractable.value import set_fields, value


@value
class NormalMeanModel(ConjugateModel):
    """Normal likelihood of known variance with a normal prior of the mean.

    x ~ N(μ, Σ) with Σ known and μ ~ N(μ₀, Σ₀).

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

        Parameters
        ----------
        mean : float or array (d,)
            The expected mean.
        strength : float
            Number of observations behind it.
        variance, covariance : float; array (d, d) or Covariance
            The known Σ: `variance` of numbers, `covariance` of vectors.

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


@value
class ScatterAbout(Statistic):
    """Weight and Σ w (x - μ)(x - μ)ᵀ of rows about a known μ.

    The mean of the rows is not used: far from the origin it is rounded by more than its distance from μ.
    """

    _extensive: ClassVar = ("weight", "scatter")
    _frozen: ClassVar = ("point", "scatter")

    weight: Any
    point: Array  # (d,), μ
    scatter: Array  # (d, d)

    @classmethod
    def of(cls, X: Any, weights: Any, point: Array) -> "ScatterAbout":
        """Summarise a block of rows."""
        X, w, _, total = weighted_rows(X, weights)
        root = X - point if w is None else (X - point) * namespace_of(X).sqrt(w)[:, None]
        return cls(weight=total, point=point, scatter=root.T @ root)

    @property
    def dim(self) -> int:
        """Number of columns."""
        return int(self.scatter.shape[-1])

    def _merged(self, other: "ScatterAbout") -> "ScatterAbout":
        """Merge: everything adds up."""
        other.check_about(self.point)
        return ScatterAbout(
            weight=self.weight + other.weight, point=self.point, scatter=self.scatter + other.scatter
        )

    def check_about(self, point: Array) -> None:
        """Refuse the scatter about another point."""
        alike = tuple(self.point.shape) == tuple(point.shape)
        if not alike or not bool(namespace_of(point).all(self.point == point)):
            raise ValueError(f"statistic must be the scatter about {point}, got that about {self.point}")


#: What rows may be summarised as: about the known mean, or about their own.
Seen = ScatterAbout | Moments


@value
class NormalPrecisionModel(AdditiveModel):
    """Normal likelihood of known mean with a Gamma or Wishart prior of the precision.

    x ~ N(μ, 1/λ) with μ known and λ ~ Gamma(a, b); of vectors, x ~ N(μ, Λ⁻¹) with Λ ~ Wishart(ν, W).

    After n rows with scatter S = Σ (x - μ)(x - μ)ᵀ about the known mean the posterior is
    Gamma(a + n/2, b + S/2), or Wishart(ν + n, (W⁻¹ + S)⁻¹). The next row is Student-t with 2a degrees of
    freedom, or ν + 1 - d.

    Parameters
    ----------
    prior : Gamma or Wishart
        Of the precision of numbers, or of the precision matrix of vectors.
    known_mean : float or array (d,)
        μ, known.

    Examples
    --------
    >>> from tractable.distributions import Gamma
    >>> model = NormalPrecisionModel(prior=Gamma(shape=2.0, rate=3.0), known_mean=1.0)
    >>> after = model.update_rows([0.0, 3.0, 2.0, 1.0])
    >>> after.prior
    Gamma(shape=array(4.), rate=array(6.))
    >>> float(after.mode()), float(after.predictive().dof)
    (0.5, 8.0)
    """

    unknown: ClassVar[str] = "precision"
    prior_families: ClassVar[tuple[type[Distribution], ...]] = (Gamma, Wishart)

    prior: Gamma | Wishart
    known_mean: Array

    def __post_init__(self) -> None:
        self._check_prior()
        known = as_reals("known_mean", self.known_mean, self.prior.mean)
        check_finite("known_mean", known)
        if tuple(known.shape) != self.prior.event_shape[:1]:
            raise ValueError(
                f"known_mean must have shape {self.prior.event_shape[:1]}, got {tuple(known.shape)}"
            )
        set_fields(self, known_mean=freeze(known))

    @classmethod
    def from_mean_strength(cls, precision: Any, strength: float, *, known_mean: Any) -> Self:
        """Return the model that expects `precision` as if after `strength` rows.

        For a number λ that is Gamma(strength / 2, strength / 2λ), for a matrix Λ of d rows
        Wishart(strength, Λ / strength), which needs a strength above d - 1.

        Parameters
        ----------
        precision : float or array (d, d)
            The expected precision.
        strength : float
            Number of rows behind it.
        known_mean : float or array (d,)
            The mean of the rows, which is known.

        Examples
        --------
        >>> model = NormalPrecisionModel.from_mean_strength(4.0, 6.0, known_mean=0.0)
        >>> model.prior
        Gamma(shape=array(3.), rate=array(0.75))
        """
        precision, strength = as_reals("precision", precision), check_strength(strength)
        if not precision.ndim:
            check_positive("precision", precision)
            return cls(
                prior=Gamma(shape=0.5 * strength, rate=0.5 * strength / precision), known_mean=known_mean
            )
        return cls(prior=Wishart(dof=strength, scale=precision / strength), known_mean=known_mean)

    @property
    def dim(self) -> int:
        """Number of columns d."""
        return self.prior.dim if isinstance(self.prior, Wishart) else 1

    def likelihood(self, parameter: Any) -> Distribution:
        """See `ConjugateModel.likelihood`: N(x | μ, 1 / parameter)."""
        if isinstance(self.prior, Gamma):
            return Normal(mean=self.known_mean, variance=1.0 / as_float_array(parameter))
        return MultivariateNormal(mean=self.known_mean, covariance=Full.from_precision(parameter))

    def _summarize(self, X: Any, weights: Any) -> ScatterAbout:
        """See `ConjugateModel.summarize`: weight, and scatter about the known mean."""
        point = namespace_of(self.known_mean).reshape(self.known_mean, (self.dim,))
        return ScatterAbout.of(as_numbers(X, self.dim), weights, point)

    def update(self, statistic: Seen) -> Self:
        if isinstance(self.prior, Gamma):
            return super().update(statistic)
        scale, _ = seen_scale(self.prior.scale, self._scatter(statistic))
        return self._with_prior(Wishart(dof=self.prior.dof + statistic.weight, scale=scale))

    def predictive(self) -> Distribution:
        """See `ConjugateModel.predictive`: St(2a, μ, b/a), or St(ν + 1 - d, μ, W⁻¹ / (ν + 1 - d))."""
        if isinstance(self.prior, Gamma):
            scale = namespace_of(self.prior.rate).sqrt(self.prior.rate / self.prior.shape)
            return StudentT(dof=2.0 * self.prior.shape, location=self.known_mean, scale=scale)
        dof = self.prior.dof + 1.0 - self.dim
        scale = Full.from_precision(dof * self.prior.scale)
        return MultivariateStudentT(dof=dof, location=self.known_mean, scale=scale)

    def log_evidence(self, statistic: Seen) -> float:
        if isinstance(self.prior, Gamma):
            return super().log_evidence(statistic)
        _, growth = seen_scale(self.prior.scale, self._scatter(statistic))
        return float(wishart_increment(self.prior.dof, statistic.weight, self.prior.scale, growth))

    def maximum_likelihood(self, statistic: Seen) -> Array:
        """See `ConjugateModel.maximum_likelihood`: n S⁻¹, of rows that span the space."""
        covariance = self._scatter(statistic) / some_weight(statistic)
        if isinstance(self.prior, Gamma):
            check_positive("statistic's scatter about the known mean", covariance)
            return 1.0 / covariance[0, 0]
        return Full(matrix=covariance).precision()

    def mode(self) -> Array:
        """Return (a - 1) / b, for a ≥ 1, or (ν - d - 1) W, for ν ≥ d + 1.

        At equality that is zero, the end of the half-line or the corner of the cone. Below it the density
        grows without bound towards zero or towards singular matrices: a ValueError.
        """
        if isinstance(self.prior, Gamma):
            if float(self.prior.shape) < 1.0:
                raise ValueError(f"the prior has no mode: shape must be at least 1, got {self.prior.shape}")
            return (self.prior.shape - 1.0) / self.prior.rate
        if float(self.prior.dof) < self.dim + 1.0:
            raise ValueError(
                f"the prior has no mode: dof must be at least d + 1 = {self.dim + 1}, got {self.prior.dof}"
            )
        return (self.prior.dof - (self.dim + 1.0)) * self.prior.scale

    def interval(self, coverage: float = 0.9) -> tuple[Array, Array]:
        """See `ConjugateModel.interval`: of each entry by itself."""
        if isinstance(self.prior, Gamma):
            return self.prior.interval(coverage)
        return wishart_interval(self.prior.dof, self.prior.scale, coverage)

    def _scatter(self, statistic: Seen) -> Array:
        if isinstance(statistic, Moments):
            check_moments(statistic, self.dim)
            return statistic.scatter_about(self.known_mean)
        check_statistic(statistic, ScatterAbout, Moments)
        statistic.check_about(namespace_of(self.known_mean).reshape(self.known_mean, (self.dim,)))
        check_finite("statistic", statistic.scatter)
        return statistic.scatter

    def _search(self, statistics: Sequence[Seen]) -> Search:
        if isinstance(self.prior, Gamma):
            return super()._search(statistics)
        return super(AdditiveModel, self)._search(statistics)

    def _hyperparameters(self) -> Array:
        assert isinstance(self.prior, Gamma)
        return namespace_of(self.prior.rate).stack([self.prior.shape, self.prior.rate])

    def _with_hyperparameters(self, eta: Array) -> Self:
        return self._with_prior(Gamma(shape=eta[0], rate=eta[1]))

    def _added(self, statistic: Seen) -> Array:
        scatter = self._scatter(statistic)[0, 0]
        return 0.5 * namespace_of(scatter).stack([statistic.weight, scatter])

    def _log_base(self, statistic: Seen) -> float:
        return -0.5 * LOG_2PI * float(statistic.weight)

    _increment = staticmethod(gamma_increment)
    _gradient = staticmethod(gamma_gradient)
    _hessian = staticmethod(gamma_hessian)


class MeanPrecisionModel(ConjugateModel):
    """A normal of which neither is known: the parameter is a pair ``(mean, precision)``."""

    unknown: ClassVar[str] = "both"

    @property
    def dim(self) -> int:
        """Number of columns d."""
        return getattr(self.prior, "dim", 1)

    def _summarize(self, X: Any, weights: Any) -> Moments:
        return Moments.of(as_numbers(X, self.dim), weights)

    def _seen(self, statistic: Moments) -> tuple[Array, Array, Array]:
        """Return b', x̄ - m and S + (b n / b') (x̄ - m)(x̄ - m)ᵀ."""
        check_moments(statistic, self.dim)
        d, n = self.prior, statistic.weight
        strength, step = d.strength + n, statistic.mean - d.location
        between = d.strength * n / strength * step[:, None] * step[None, :]
        return strength, step, statistic.scatter + between


@value
class NormalModel(MeanPrecisionModel):
    """Normal likelihood with a normal-gamma prior of mean and precision.

    x ~ N(μ, 1/λ) with neither known: λ ~ Gamma(α, β) and μ given λ ~ N(m, 1/bλ).

    After n rows with mean x̄ and scatter S = Σ (x - x̄)² the posterior is normal-gamma again, with b' = b + n,
    m' = (b m + n x̄) / b', α' = α + n/2 and β' = β + ½ S + ½ (b n / b') (x̄ - m)². The next row is Student-t
    with 2α degrees of freedom, location m and scale² β (b + 1) / (α b). Parameters are pairs
    ``(mean, precision)``.

    Parameters
    ----------
    prior : NormalGamma
        Joint distribution of mean and precision.

    Examples
    --------
    >>> from tractable.distributions import NormalGamma
    >>> model = NormalModel(prior=NormalGamma(mean=0.0, strength=1.0, shape=2.0, rate=3.0))
    >>> after = model.update_rows([3.0, 5.0, 7.0, 9.0, 10.0])
    >>> float(after.mean().mean.round(4)), float(after.mean().precision.round(4))
    (5.6667, 0.1164)
    >>> float(after.predictive().dof), float(after.predictive().prob(6.0).round(6))
    (9.0, 0.121804)
    """

    prior_families: ClassVar[tuple[type[Distribution], ...]] = (NormalGamma,)

    prior: NormalGamma

    @classmethod
    def from_mean_strength(cls, mean: float, strength: float, *, variance: float) -> Self:
        """Return the model that expects a mean and the precision 1 / variance as if after `strength` rows.

        Parameters
        ----------
        mean, variance : float
            The expected mean, and one over the expected precision.
        strength : float
            Number of rows behind them.

        Examples
        --------
        >>> model = NormalModel.from_mean_strength(10.0, 4.0, variance=3.0)
        >>> float(model.prior.shape), float(model.prior.rate)
        (2.0, 6.0)
        """
        strength = check_strength(strength)
        location, spread = one_number("mean", mean), one_number("variance", variance)
        check_positive("variance", spread)
        return cls(
            prior=NormalGamma(
                mean=location, strength=strength, shape=0.5 * strength, rate=0.5 * strength * spread
            )
        )

    def likelihood(self, parameter: Any) -> Normal:
        """See `ConjugateModel.likelihood`: of a pair (mean, precision), or arrays of both."""
        mean, precision = parameter
        return Normal(mean=mean, variance=1.0 / as_float_array(precision))

    def update(self, statistic: Moments) -> Self:
        strength, step, scatter = self._seen(statistic)
        return self._with_prior(
            NormalGamma(
                mean=self.prior.location + statistic.weight / strength * step[0],
                strength=strength,
                shape=self.prior.shape + 0.5 * statistic.weight,
                rate=self.prior.rate + 0.5 * scatter[0, 0],
            )
        )

    def predictive(self) -> StudentT:
        d = self.prior
        squared = d.rate * (d.strength + 1.0) / (d.shape * d.strength)
        scale = namespace_of(squared).sqrt(squared)
        return StudentT(dof=2.0 * d.shape, location=d.location, scale=scale)

    def log_evidence(self, statistic: Moments) -> float:
        """See `ConjugateModel.log_evidence`.

        log Γ(α')/Γ(α) + α log β - α' log β' + ½ log b/b' - ½ n log 2π.
        """
        gain = 0.5 * self._seen(statistic)[2][0, 0]
        d, n = self.prior, statistic.weight
        xp = namespace_of(gain)
        increment = gamma_increment(xp.stack([d.shape, d.rate]), xp.stack([0.5 * n + 0.0 * gain, gain]))
        return float(increment - 0.5 * xp.log1p(n / d.strength) - 0.5 * n * LOG_2PI)

    def maximum_likelihood(self, statistic: Moments) -> MeanPrecision:
        """See `ConjugateModel.maximum_likelihood`: (x̄, n / S), of rows that differ."""
        check_moments(statistic, 1)
        variance = statistic.scatter[0, 0] / some_weight(statistic)
        check_positive("statistic's scatter", variance)
        return MeanPrecision(mean=statistic.mean[0], precision=1.0 / variance)

    def mode(self) -> MeanPrecision:
        """Return (m, (α - ½) / β), the mode of both together, for α ≥ ½.

        Below ½ the density grows without bound towards a precision of zero: a ValueError.
        """
        if float(self.prior.shape) < 0.5:
            raise ValueError(f"the prior has no mode: shape must be at least ½, got {self.prior.shape}")
        return self.prior.mode


@value
class MultivariateNormalModel(MeanPrecisionModel):
    """Multivariate normal likelihood with a normal-Wishart prior of mean and precision.

    x ~ N(μ, Λ⁻¹) with neither known: Λ ~ Wishart(ν, W) and μ given Λ ~ N(m, (bΛ)⁻¹).

    After n rows with mean x̄ and scatter S the posterior is normal-Wishart again, with b' = b + n, ν' = ν + n,
    m' = (b m + n x̄) / b' and W'⁻¹ = W⁻¹ + S + (b n / b') (x̄ - m)(x̄ - m)ᵀ. The next row is Student-t with
    ν + 1 - d degrees of freedom, location m and scale (b + 1) / (b (ν + 1 - d)) W⁻¹. Parameters are pairs
    ``(mean, precision)``.

    Parameters
    ----------
    prior : NormalWishart
        Joint distribution of mean and precision matrix.

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

    prior_families: ClassVar[tuple[type[Distribution], ...]] = (NormalWishart,)

    prior: NormalWishart

    @classmethod
    def from_mean_strength(
        cls, mean: Any, strength: float, *, covariance: Any, dof: float | None = None
    ) -> Self:
        """Return the model that expects a mean and the precision Σ⁻¹ as if after `strength` rows.

        Parameters
        ----------
        mean : array (d,)
            The expected mean.
        strength : float
            Number of rows behind the mean.
        covariance : array (d, d) or Covariance
            Σ, the inverse of the expected precision.
        dof : float, optional
            Number of rows behind the precision, above d - 1; strength + d - 1 when not given.
        """
        strength = check_strength(strength)
        known = hasattr(covariance, "precision")
        structure = covariance if known else Full(matrix=as_reals("covariance", covariance))
        dof = strength + structure.dim - 1.0 if dof is None else dof
        return cls(
            prior=NormalWishart(mean=mean, strength=strength, dof=dof, scale=structure.precision() / dof)
        )

    def likelihood(self, parameter: Any) -> MultivariateNormal:
        """See `ConjugateModel.likelihood`: of a pair (mean, precision), or arrays of both."""
        mean, precision = parameter
        return MultivariateNormal(mean=mean, covariance=Full.from_precision(precision))

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
        means = self.prior.mean_marginal().interval(coverage)
        precisions = wishart_interval(self.prior.dof, self.prior.scale, coverage)
        low, high = (MeanPrecision(*ends) for ends in zip(means, precisions, strict=True))
        return low, high
