"""Bayesian linear regression with a known Gaussian prior, and a noise that is known or learned."""

import warnings
from math import inf, lgamma, log, nan, pi
from typing import Any, Self

from tractable.arrays.batched import as_reals, diagonal_matrix
from tractable.arrays.limits import check_squarable
from tractable.arrays.linalg import cholesky, column_lengths, solve_triangular
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.base import NotYetDetermined
from tractable.base.parameters import check_number
from tractable.distributions import InverseGamma
from tractable.engines import CovarianceRoot, LinearEstimate, least_squares
from tractable.linear_model.bayes.gibbs import linear_sampler
from tractable.linear_model.bayes.posterior import BayesianLinearModel
from tractable.linear_model.noise_floor import NoiseVanishedWarning, is_rounding, noise_floor
from tractable.linear_model.rows import LinearFit, check_penalized_intercept
from tractable.primitives.linear import triangle
from tractable.statistics import LinearFactor
from tractable.value import value

#: How the noise may be learned, where it is not known.
NOISES = ("ml", "conjugate")


@value
class GaussianPrior:
    """The prior N(m, (KᵀK)⁻¹) of p parameters, the intercept first; flat in the null space of K."""

    mean: Array  # (p,)
    root: Array  # (r, p), K, a factor of the precision, of full row rank
    log_det: float  # log of the product of the eigenvalues of KᵀK that are not zero

    @property
    def n_flat(self) -> int:
        """Number of directions in which the prior is flat."""
        return int(self.root.shape[1]) - int(self.root.shape[0])


@value
class LinearPosterior(LinearEstimate):
    """The posterior of offset and coefficients, and what the evidence needs besides."""

    rest: float  # minimum of Σ r² + σ² |K (w - m)|², the penalised residual sum of squares
    weight: float  # number of rows, as their frequencies count them
    n_flat: int  # number of directions in which the prior is flat
    # Log determinant of the prior precision less that of the posterior, both in units of the noise
    log_det_ratio: float
    log_noise: float = 0.0  # sum over rows of the log of their noise variances, relative to σ²

    @property
    def residual_dof(self) -> float:
        """Degrees of freedom for the noise, n less the flat directions of the prior."""
        return self.weight - self.n_flat

    def log_evidence(self, noise_variance: float) -> float:
        """Return log ∫ p(y | w, σ²) p(w) dw; a flat prior has density one."""
        level = self.residual_dof * log(2.0 * pi * noise_variance) + self.rest / noise_variance
        return 0.5 * (self.log_det_ratio - self.log_noise - level)


class BayesianLinearRegression(BayesianLinearModel, LinearFit):
    """Bayesian linear regression: y = xᵀw + noise of variance σ², with the prior w ~ N(m₀, S₀).

    The posterior is N(m, S) with S⁻¹ = S₀⁻¹ + XᵀX/σ² and m = S (S₀⁻¹m₀ + Xᵀy/σ²). Exact in one pass, with the
    digits of a QR of all rows and of the prior below them; `partial_fit` takes the posterior as the prior of
    later rows. m is the mode too, and ridge regression with α = σ² S₀⁻¹.

    Parameters
    ----------
    prior_mean : float or array (d,), optional
        m₀, zero by default.
    prior_covariance : float, array (d,) or (d, d), optional
        S₀: of every coefficient, of each, or of all together.
    prior_precision : float, array (d,) or (d, d), optional
        S₀⁻¹ in its place, 1 by default. It may be singular or zero: the prior is flat there, and the rows
        must determine the coefficients.
    noise_variance : float or {"conjugate", "ml"}
        σ² if it is known. "conjugate": unknown, with an inverse gamma prior; the prior of the coefficients is
        then in units of the noise, w ~ N(m₀, σ² S₀), and all predictions are Student's t. "ml": plugged in,
        the mean squared residual of least squares; predictions are Student's t of its degrees of freedom.
        Where the fit is without error it is 1e-16 of the mean square of y, with a warning.
    noise_shape, noise_scale : float
        Of the inverse gamma prior of a "conjugate" noise; both zero (default) is the scale-free prior 1/σ².
    fit_intercept : bool
        Whether to fit an intercept.
    penalize_intercept : bool
        Whether the intercept has a prior like the coefficients: the arrays above then have d + 1 entries, the
        intercept first. Else its prior is flat, and shifting the targets shifts the predictions.

    Attributes
    ----------
    posterior_ : MultivariateNormal or MultivariateStudentT
        Of the intercept, where there is one, and the coefficients.
    noise_posterior_ : InverseGamma or None
        Of σ², where the noise is "conjugate"; None also while there are too few rows.
    coef_ : array of shape (n_features,)
        Posterior mean of the coefficients.
    intercept_ : float
        Posterior mean of the intercept.
    noise_variance_ : float
        σ²; for a "conjugate" noise 1 / E[1/σ²], NaN while there are too few rows.
    log_evidence_ : float
        log p(y | X). Where the prior is flat its density counts as one, the scale-free one of the noise as
        1/σ²: such evidences compare only models that are flat in the same directions.
    statistic_ : LinearFactor
        The sufficient statistic of the rows.
    residual_dof_ : float
        Degrees of freedom that the rows leave for the noise, n less the directions in which the prior is
        flat. Predictions with a "conjugate" noise are Student's t of 2 noise_shape + residual_dof_.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

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
        self.prior_covariance, self.prior_precision = prior_covariance, prior_precision
        self.noise_variance, self.noise_shape, self.noise_scale = noise_variance, noise_shape, noise_scale
        self.fit_intercept, self.penalize_intercept = fit_intercept, penalize_intercept

    @classmethod
    def from_precisions(cls, *, noise_precision: float, prior_precision: Any, **options: Any) -> Self:
        """Return the model with noise precision a and prior precision b: Q = a XᵀX + b I, m = a Q⁻¹ Xᵀy.

        Parameters
        ----------
        noise_precision : float
            a, one over the noise variance.
        prior_precision : float or array
            b, of the coefficients.
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
            α, the prior precision.
        noise_variance : float
            σ², of the noise.
        **options
            Other parameters of the estimator.
        """
        check_number("alpha", alpha, least=0.0)
        return cls(prior_precision=alpha, noise_variance=noise_variance, **options)

    def _posterior_sampler(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Return how the posterior is sampled, by Gibbs sampling: see `tractable.sample_posterior`."""
        if self.noise_variance != "conjugate" or self.penalize_intercept:
            raise ValueError(
                'model must have noise_variance="conjugate" and no prior of the intercept to be sampled; '
                "elsewhere posterior_ is exact"
            )
        d, first = self.n_features_in_, int(bool(self.fit_intercept))
        prior = gaussian_prior(
            d,
            n_free=0,
            mean=self.prior_mean,
            covariance=self.prior_covariance,
            precision=self.prior_precision,
            like=self.statistic_.mean,
        )
        fields = {
            "prior_precision": prior.root.T @ prior.root,
            "prior_mean": prior.mean,
            "noise_shape": float(self.noise_shape),
            "noise_scale": float(self.noise_scale),
        }
        approximation = {"coef": (self.posterior_.mean[first:], self.posterior_.stddev[first:])}
        return linear_sampler(self, (X, y, sample_weight), fields, approximation, "exact posterior")

    def _check_parameters(self) -> None:
        check_penalized_intercept(self)
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
                check_number(f"{name}, where noise_shape and noise_scale are not both 0,", x, above=0.0)

    def _learn(self, statistic: Any) -> None:
        self.statistic_ = statistic = self._check_factor(statistic, some=self.noise_variance == "ml")
        if isinstance(self.noise_variance, str):
            check_squarable("y", statistic.root_mean_square[statistic.dim :], nonzero=True)
        n_intercepts = int(bool(self.fit_intercept))
        n_free = 0 if self.penalize_intercept else n_intercepts
        prior = gaussian_prior(
            statistic.dim + n_intercepts - n_free,
            n_free=n_free,
            mean=self.prior_mean,
            covariance=self.prior_covariance,
            precision=self.prior_precision,
            like=statistic.mean,
        )
        self._plug_in_ = None
        if self.noise_variance == "conjugate":
            posterior = linear_posterior(statistic, prior)
            self._set_conjugate_noise(posterior)
        else:
            self.noise_variance_ = self._known_noise(statistic)
            posterior = linear_posterior(statistic, prior, noise_variance=self.noise_variance_)
            self._predictive_dof_, self.noise_posterior_ = inf, None
            self.log_evidence_ = posterior.log_evidence(self.noise_variance_)
        self.residual_dof_ = posterior.residual_dof
        self._set_posterior(posterior)

    def _known_noise(self, statistic: LinearFactor) -> float:
        """Return the noise variance that is given, or its maximum likelihood estimate."""
        if self.noise_variance != "ml":
            return float(self.noise_variance)
        found = least_squares(statistic, fit_intercept=bool(self.fit_intercept))
        variance = float(found.noise_variance_ml[0])
        if is_rounding(variance, statistic):
            return noise_floor(statistic)
        self._plug_in_ = float(found.noise_variance[0]), found.residual_dof
        return variance

    def _set_conjugate_noise(self, posterior: LinearPosterior) -> None:
        """Update the inverse gamma: shape + ½ residual_dof, scale + ½ of the penalised residuals."""
        a, b = float(self.noise_shape), float(self.noise_scale)
        shape, scale = a + 0.5 * posterior.residual_dof, b + 0.5 * posterior.rest
        proper = shape > 0.0
        self._predictive_dof_ = 2.0 * shape if proper else nan
        self.noise_variance_ = scale / shape if proper else nan
        if proper and b == 0.0 and is_rounding(self.noise_variance_, self.statistic_):
            self.noise_variance_ = noise_floor(self.statistic_)
            scale = shape * self.noise_variance_
        self.noise_posterior_ = InverseGamma(shape=shape, scale=scale) if proper else None
        log_prior = a * log(b) - lgamma(a) if a > 0.0 else 0.0
        log_posterior = lgamma(shape) - shape * log(scale) if proper else nan
        level = posterior.log_noise + posterior.residual_dof * log(2.0 * pi)
        log_likelihood = 0.5 * (posterior.log_det_ratio - level)
        self.log_evidence_ = log_prior + log_posterior + log_likelihood

    def _report(self) -> None:
        learned = isinstance(self.noise_variance, str)
        lost = is_rounding(self.noise_variance_, self.statistic_)
        if learned and (lost or self.noise_variance_ == noise_floor(self.statistic_)):
            warnings.warn(
                "y is fitted without error, so the noise vanished, and predictive intervals are too narrow: "
                "a known noise_variance, or noise_shape and noise_scale above 0, would bound it",
                NoiseVanishedWarning,
                stacklevel=4,
            )


def gaussian_prior(
    n_coef: int, *, n_free: int, mean: Any, covariance: Any, precision: Any, like: Array
) -> GaussianPrior:
    """Return the prior of `n_free` parameters with a flat prior, followed by `n_coef` others.

    A covariance or a precision, of every parameter, of each, or of all together; a precision may be singular.
    """
    if covariance is not None and precision is not None:
        raise ValueError("give prior_covariance or prior_precision, not both")
    if covariance is not None:
        root, log_det = _of_covariance(_square("prior_covariance", covariance, n_coef, like))
    else:
        precision = 1.0 if precision is None else precision
        root, log_det = _of_precision(_square("prior_precision", precision, n_coef, like))
    xp = namespace_of(like)
    centre = _vector("prior_mean", 0.0 if mean is None else mean, n_coef, like)
    flat = xp.zeros((root.shape[0], n_free), dtype=root.dtype, device=device(root))
    return GaussianPrior(
        mean=xp.concat([xp.zeros(n_free, dtype=root.dtype, device=device(root)), centre]),
        root=xp.concat([flat, root], axis=1),
        log_det=log_det,
    )


def _of_covariance(matrix: Array) -> tuple[Array, float]:
    """Return L⁻¹ of C = L Lᵀ, and -log |C|."""
    xp = namespace_of(matrix)
    lower = cholesky(matrix, name="prior_covariance")
    identity = xp.eye(matrix.shape[0], dtype=matrix.dtype, device=device(matrix))
    return solve_triangular(lower, identity), -2.0 * float(xp.sum(xp.log(xp.linalg.diagonal(lower))))


def _of_precision(matrix: Array) -> tuple[Array, float]:
    """Return a factor of the precision and its log determinant, over the directions that are not flat."""
    xp = namespace_of(matrix)
    # The rank is that of the correlations: a precision is not flat because another is far greater.
    size = xp.linalg.diagonal(matrix)
    size = xp.sqrt(xp.where(size > 0, size, xp.ones_like(size)))
    values, vectors = xp.linalg.eigh(0.5 * (matrix + matrix.T) / size / size[:, None])
    least = 10.0 * matrix.shape[0] * float(xp.finfo(values.dtype).eps) * float(xp.max(xp.abs(values)))
    if float(values[0]) < -least:
        raise ValueError(f"prior_precision must not be negative in any direction, got {float(values[0]):g}")
    if float(values[0]) > least:
        lower = cholesky(matrix, name="prior_precision")
        return lower.T, 2.0 * float(xp.sum(xp.log(xp.linalg.diagonal(lower))))
    n_flat = values.shape[0] - int(xp.sum(xp.astype(values > least, xp.int64)))
    root = xp.sqrt(values[n_flat:])[:, None] * vectors[:, n_flat:].T * size
    return root, 2.0 * float(xp.sum(xp.log(xp.linalg.svdvals(root))))


def _vector(name: str, x: Any, n: int, like: Array) -> Array:
    xp = namespace_of(like)
    x = xp.astype(as_reals(name, x, like), xp.float64)
    if not bool(xp.all(xp.isfinite(x))):
        raise ValueError(f"{name} contains NaN or infinity")
    if x.ndim > 1 or (x.ndim == 1 and x.shape[0] != n):
        raise ValueError(f"{name} must be a number or have {n} entries, got shape {tuple(x.shape)}")
    return xp.broadcast_to(x, (n,))


def _square(name: str, x: Any, n: int, like: Array) -> Array:
    """Return a matrix from a number for all, numbers for each, or the matrix itself."""
    xp = namespace_of(like)
    given = xp.astype(as_reals(name, x, like), xp.float64)
    if given.ndim < 2:
        each = _vector(name, given, n, like)
        if bool(xp.any(each < 0)) or (name == "prior_covariance" and bool(xp.any(each == 0))):
            raise ValueError(f"{name} must be positive, got {x!r}")
        return diagonal_matrix(each)
    if tuple(given.shape) != (n, n):
        raise ValueError(f"{name} must have shape ({n}, {n}), got {tuple(given.shape)}")
    if not bool(xp.all(xp.isfinite(given))):
        raise ValueError(f"{name} contains NaN or infinity")
    if float(xp.max(xp.abs(given - given.T))) > 1e-10 * float(xp.max(xp.abs(given))):
        raise ValueError(f"{name} must be symmetric")
    return given


def linear_posterior(
    statistic: LinearFactor, prior: GaussianPrior, *, noise_variance: float = 1.0
) -> LinearPosterior:
    """Return the posterior of offset and coefficients after rows with noise of variance σ².

    The prior is rows σK, with targets σKm, under the factor of the rows: the QR of both has the condition of
    the columns, not its square. There is one parameter more than columns where there is an intercept; σ² is
    one where the prior is in units of the noise.
    """
    factor = statistic.factor
    xp = namespace_of(factor)
    d, p = statistic.dim, int(prior.mean.shape[0])
    centre = statistic.mean[:d] if p > d else xp.zeros_like(statistic.mean[:d])
    prior_rows = noise_variance**0.5 * prior.root
    prior_targets = prior_rows @ prior.mean
    root_weight = xp.sqrt(xp.asarray(statistic.weight, dtype=factor.dtype))
    mean = root_weight * statistic.mean
    if p > d:
        shifted = prior_rows[:, 1:] - prior_rows[:, :1] * centre
        prior_rows = xp.concat([prior_rows[:, :1], shifted], axis=1)
        top = xp.concat([xp.reshape(root_weight, (1,)), xp.zeros_like(mean[:d]), mean[d:]])
        factor = xp.concat([xp.zeros_like(factor[:, :1]), factor], axis=1)
    else:
        top = mean
    below = xp.concat([prior_rows, prior_targets[:, None]], axis=1)
    stacked = xp.concat([top[None, :], factor, below])
    r = triangle(stacked)
    _check_determined(r[:p, :p], stacked[:, :p], certain=prior.n_flat <= p - d)
    identity = xp.eye(p, dtype=r.dtype, device=device(r))
    log_scale = prior.root.shape[0] * log(noise_variance)
    location = solve_triangular(r[:p, :p].T, r[:p, p:], transposed=True)[:, 0]
    return LinearPosterior(
        centre=centre,
        coef=location[None, p - d :],
        offset=location[: p - d] if p > d else xp.zeros_like(location[:1]),
        root=CovarianceRoot(factor=solve_triangular(r[:p, :p].T, identity, transposed=True)),
        scale=xp.ones_like(location[:1]) * noise_variance,
        has_intercept=p > d,
        rest=float(r[p, p]) ** 2,
        weight=statistic.n_rows,
        n_flat=prior.n_flat,
        log_noise=statistic.log_noise,
        log_det_ratio=prior.log_det + log_scale - 2.0 * float(xp.sum(xp.log(xp.linalg.diagonal(r[:p, :p])))),
    )


def _check_determined(r: Array, rows: Array, *, certain: bool) -> None:
    """Refuse directions that neither the prior nor the rows determine."""
    xp = namespace_of(r)
    tol = 0.0 if certain else 10.0 * r.shape[0] * float(xp.finfo(r.dtype).eps)
    length = column_lengths(rows)
    if bool(xp.any(xp.linalg.diagonal(r) <= tol * length)):
        raise NotYetDetermined(
            "the prior is flat in directions in which X does not vary: more rows, linearly independent "
            "columns, or a positive prior_precision are needed"
        )
