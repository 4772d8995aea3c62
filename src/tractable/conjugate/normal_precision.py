"""A normal likelihood of known mean with a Gamma or Wishart prior of its precision."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from tractable.arrays.batched import as_reals
from tractable.arrays.log_space import LOG_2PI
from tractable.arrays.namespace import Array, as_float_array, freeze, namespace_of
from tractable.conjugate.checks import as_numbers, check_moments, check_statistic, check_strength, some_weight
from tractable.conjugate.increments import gamma_gradient, gamma_hessian, gamma_increment
from tractable.conjugate.model import AdditiveModel, Search
from tractable.conjugate.wishart import seen_scale, wishart_increment, wishart_interval
from tractable.covariance import Full
from tractable.distributions.checks import check_finite, check_positive
from tractable.distributions.distribution import Distribution
from tractable.distributions.gamma import Gamma
from tractable.distributions.multivariate_normal import MultivariateNormal
from tractable.distributions.multivariate_student_t import MultivariateStudentT
from tractable.distributions.normal import Normal
from tractable.distributions.student_t import StudentT
from tractable.distributions.wishart import Wishart
from tractable.statistics.moments import Moments
from tractable.statistics.rows import Statistic, weighted_rows
from tractable.value import set_fields, value

__all__ = ["NormalPrecisionModel"]


@value
class ScatterAbout(Statistic):
    """Weight and Σ w (x - μ)(x - μ)ᵀ of rows about a known μ.

    The mean of the rows is not used: far from the origin it is rounded by more than its distance from μ.

    Parameters
    ----------
    weight : float
    point : array (d,)
        μ.
    scatter : array (d, d)
    """

    _extensive: ClassVar = ("weight", "scatter")
    _frozen: ClassVar = ("point", "scatter")

    weight: Any
    point: Array
    scatter: Array

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
    """x ~ N(μ, 1/λ) with μ known and λ ~ Gamma(a, b); of vectors, x ~ N(μ, Λ⁻¹) with Λ ~ Wishart(ν, W).

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
