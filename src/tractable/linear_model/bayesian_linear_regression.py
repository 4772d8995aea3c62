"""Linear regression with a Gaussian prior."""

import warnings
from collections.abc import Callable
from math import inf, lgamma, log, nan, pi
from typing import Any, Self

from sklearn.base import RegressorMixin

from tractable.base import Estimator, ModelTags
from tractable.base.parameters import check_number
from tractable.distributions import InverseGamma
from tractable.engines import least_squares
from tractable.linear_model.gaussian_prior import gaussian_prior
from tractable.linear_model.linear_posterior import LinearPosterior, linear_posterior
from tractable.linear_model.noise_floor import (
    NoiseVanishedWarning,
    check_squares,
    no_noise,
    noise_floor,
)
from tractable.linear_model.one_target import OneTargetMixin
from tractable.linear_model.plane_answers import PlaneAnswers
from tractable.statistics import LinearFactor

__all__ = ["BayesianLinearRegression"]

#: How the noise may be learned, where it is not known.
NOISES = ("ml", "conjugate")


class BayesianLinearRegression(OneTargetMixin, PlaneAnswers, RegressorMixin, Estimator):
    """A belief of a plane: y = xᵀw + noise of variance σ², with w ~ N(m₀, S₀) before the rows.

    After them S⁻¹ = S₀⁻¹ + XᵀX/σ² and m = S (S₀⁻¹m₀ + Xᵀy/σ²): the precision of the prior and of the data
    add up. Exact in one pass, in the digits of a QR of all rows and of the prior below them; rows that come
    later find the posterior of those before as their prior. m is the mode too, and ridge regression with
    α = σ² S₀⁻¹.

    Parameters
    ----------
    prior_mean : float or array (d,), optional
        m₀, zero by default.
    prior_covariance : float, array (d,) or (d, d), optional
        S₀: of every coefficient, of each, or of all together.
    prior_precision : float, array (d,) or (d, d), optional
        S₀⁻¹ in its place, 1 by default. It may be singular or zero: nothing is said there, and the rows must
        decide.
    noise_variance : float or {"conjugate", "ml"}
        σ² if it is known. "conjugate": unknown, with an inverse gamma prior; the prior of the coefficients is
        then in units of the noise, w ~ N(m₀, σ² S₀), and all predictions are Student's t. "ml": plugged in,
        the mean squared residual of least squares. Where nothing is left for the noise it is 1e-16 of the
        mean square of y, with a warning.
    noise_shape, noise_scale : float
        Of the inverse gamma prior of a "conjugate" noise; both zero (default) is the scale-free prior 1/σ².
    fit_intercept : bool
        Whether the plane may miss the origin.
    penalize_intercept : bool
        Whether the intercept has a prior like the coefficients: the arrays above then have d + 1 entries, the
        intercept first. Else nothing is said of it, and moving the targets moves the plane.

    Attributes
    ----------
    posterior_ : MultivariateNormal or MultivariateStudentT
        Of the intercept, where there is one, and the coefficients.
    noise_posterior_ : InverseGamma or None
        Of σ², where the noise is "conjugate"; None also while there are too few rows.
    coef_ : array of shape (n_features,)
    intercept_ : float
    noise_variance_ : float
        σ²; for a "conjugate" noise 1 / E[1/σ²], NaN while there are too few rows.
    log_evidence_ : float
        log p(y | X). Where the prior is flat its density counts as one, the scale-free one of the noise as
        1/σ²: such evidences compare only models that are flat in the same directions.
    statistic_ : LinearFactor
        Everything the model knows about the rows.
    belief_ : LinearPosterior
    noise_dof_ : float
        Degrees of freedom of the predictions; infinite where they are Gaussian.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    See Also
    --------
    BayesianRidge : learns the precision of the prior as well.

    Examples
    --------
    Hours studied and marks:

    >>> import numpy as np, tractable
    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0], [4.5]]), np.array([3.0, 5.0, 7.0, 9.0, 10.0])
    >>> model = tractable.BayesianLinearRegression(prior_covariance=1e6, noise_variance=1.0).fit(X, y)
    >>> model.posterior_.covariance.round(4)
    array([[ 1.2256, -0.3537],
           [-0.3537,  0.122 ]])
    >>> mean, spread = model.predict([[3.5]], return_std=True)
    >>> mean.round(4), spread.round(4)
    (array([8.]), array([1.1153]))
    """

    noise_posterior_: InverseGamma | None
    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact in one pass")

    def __init__(
        self,
        *,
        prior_mean: Any = None,
        prior_covariance: Any = None,
        prior_precision: Any = None,
        noise_variance: Any = "conjugate",
        noise_shape: float = 0.0,
        noise_scale: float = 0.0,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
    ) -> None:
        self.prior_mean = prior_mean
        self.prior_covariance = prior_covariance
        self.prior_precision = prior_precision
        self.noise_variance = noise_variance
        self.noise_shape = noise_shape
        self.noise_scale = noise_scale
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept

    @classmethod
    def from_precisions(cls, *, noise_precision: float, prior_precision: Any, **options: Any) -> Self:
        """Return the model with noise precision a and prior precision b: Q = a XᵀX + b I, m = a Q⁻¹ Xᵀy.

        Parameters
        ----------
        noise_precision : float
            a = 1/σ².
        prior_precision : float, array (d,) or (d, d)
            b.
        **options
            Other parameters of the estimator.
        """
        check_number("noise_precision", noise_precision, above=0.0)
        return cls(prior_precision=prior_precision, noise_variance=1.0 / noise_precision, **options)

    @classmethod
    def from_alpha(cls, *, alpha: float, noise_variance: float, **options: Any) -> Self:
        """Return the model with prior precision α of every coefficient: S⁻¹ = α I + XᵀX/σ².

        Parameters
        ----------
        alpha : float
        noise_variance : float
            σ².
        **options
            Other parameters of the estimator.
        """
        check_number("alpha", alpha, least=0.0)
        return cls(prior_precision=alpha, noise_variance=noise_variance, **options)

    def _statistic(self) -> Callable[..., Any]:
        if isinstance(self.noise_variance, str):
            if self.noise_variance not in NOISES:
                raise ValueError(
                    f"noise_variance must be a number or one of {[*NOISES]}, got {self.noise_variance!r}"
                )
        else:
            check_number("noise_variance", self.noise_variance, above=0.0)
        both = (self.noise_shape, self.noise_scale)
        if both != (0.0, 0.0):
            for name, x in zip(("noise_shape", "noise_scale"), both, strict=True):
                check_number(f"{name}, where one of both is not 0,", x, above=0.0)
        return LinearFactor.of

    def _learn(self, statistic: Any) -> None:
        self._statistic()
        self.statistic_ = statistic = self._checked(statistic, some=self.noise_variance == "ml")
        check_squares(statistic, small=isinstance(self.noise_variance, str))
        located = int(bool(self.fit_intercept))
        n_free = 0 if self.penalize_intercept else located
        prior = gaussian_prior(
            statistic.dim + located - n_free,
            n_free=n_free,
            mean=self.prior_mean,
            covariance=self.prior_covariance,
            precision=self.prior_precision,
            like=statistic.mean,
        )
        if self.noise_variance == "conjugate":
            belief = linear_posterior(statistic, prior)
            self._believe_noise(belief)
        else:
            self.noise_variance_ = self._plugged_in(statistic)
            belief = linear_posterior(statistic, prior, noise_variance=self.noise_variance_)
            self.noise_dof_, self.noise_posterior_ = inf, None
            self.log_evidence_ = belief.log_evidence(self.noise_variance_)
        self._name(belief)

    def _plugged_in(self, statistic: LinearFactor) -> float:
        """Return the noise that is known, or its maximum likelihood estimate."""
        if self.noise_variance != "ml":
            return float(self.noise_variance)
        found = float(least_squares(statistic, fit_intercept=bool(self.fit_intercept)).sigma2_ml[0])
        return noise_floor(statistic) if no_noise(found, statistic) else found

    def _report(self) -> None:
        learned = isinstance(self.noise_variance, str)
        lost = no_noise(self.noise_variance_, self.statistic_)
        if learned and (lost or self.noise_variance_ == noise_floor(self.statistic_)):
            warnings.warn(
                "y is fitted without error, so the noise vanished, and predictions are surer than they "
                "should be: a known noise_variance, or noise_shape and noise_scale above 0, would say how "
                "large it can be",
                NoiseVanishedWarning,
                stacklevel=4,
            )

    def _believe_noise(self, belief: LinearPosterior) -> None:
        """Update the inverse gamma: half a row each to the shape, half of what is left to the scale."""
        a, b = float(self.noise_shape), float(self.noise_scale)
        shape, scale = a + 0.5 * belief.n_told, b + 0.5 * belief.rest
        told = shape > 0.0
        self.noise_dof_ = 2.0 * shape if told else nan
        self.noise_variance_ = scale / shape if told else nan
        if told and b == 0.0 and no_noise(self.noise_variance_, self.statistic_):
            self.noise_variance_ = noise_floor(self.statistic_)
            scale = shape * self.noise_variance_
        self.noise_posterior_ = InverseGamma(shape=shape, scale=scale) if told else None
        prior = a * log(b) - lgamma(a) if a > 0.0 else 0.0
        rise = lgamma(shape) - shape * log(scale) if told else nan
        self.log_evidence_ = prior + rise + 0.5 * (belief.log_det_ratio - belief.n_told * log(2.0 * pi))
