"""The Gaussian posterior of coefficients, and the predictions of the models that have one."""

from collections.abc import Callable
from functools import cached_property
from math import prod
from typing import Any, Self

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.random import as_generator, either_seed_name, standard_gamma, standard_normal
from tractable.base import (
    ModelTags,
    OnePassEstimator,
    RegressorMixin,
    check_answerable,
    check_columns,
)
from tractable.base.by_blocks import by_blocks, of_held_rows
from tractable.base.parameters import check_number
from tractable.covariance import Full, LowRankPlusDiagonal
from tractable.distributions import MultivariateNormal, MultivariateStudentT, Normal, StudentT
from tractable.engines.linear_estimate import NotComputedError
from tractable.linear_model.rows import (
    as_floats,
    as_vector,
    check_factor,
    check_one_target,
    checked_factor,
)
from tractable.primitives.linear import triangle
from tractable.primitives.threads import blas_for_products
from tractable.statistics import LinearFactor
from tractable.value import value


@value
class CoefficientPosterior:
    """The posterior of the offset at a centre and of the coefficients, N(location, σ² G Gᵀ)."""

    centre: Array  # (d,), mean of the rows; zeros without an intercept
    # (p,), mean of the offset and the coefficients, p = d + 1, or of the coefficients alone, p = d
    location: Array
    root: Array  # (p, r), G

    @classmethod
    def with_free_intercept(
        cls, statistic: LinearFactor, coef: Array, root: Array, *, fit_intercept: bool
    ) -> Self:
        """Return the posterior with given coefficients and a factor of their covariance, (d, r).

        With a flat prior of the intercept, the offset at the mean of the rows has variance σ²/n and is
        independent of the coefficients.

        Parameters
        ----------
        statistic : LinearFactor
            The weight and the mean of the rows.
        coef : array (d,)
            The mean of the coefficients.
        root : array (d, r)
            A factor of their covariance, in units of σ².
        fit_intercept : bool
            Whether there is an intercept.
        """
        xp = namespace_of(coef)
        if not fit_intercept:
            return cls(centre=xp.zeros_like(coef), location=coef, root=root)
        d = statistic.dim
        first = xp.asarray([float(statistic.weight) ** -0.5], dtype=root.dtype, device=device(root))
        none = xp.zeros((d + 1, 1 + root.shape[1]), dtype=root.dtype, device=device(root))
        top = xp.concat([first, none[0, 1:]])[None, :]
        return cls(
            centre=statistic.mean[:d],
            location=xp.concat([statistic.mean[d:], coef]),
            root=xp.concat([top, xp.concat([none[1:, :1], root], axis=1)]),
        )

    @property
    def n_intercepts(self) -> int:
        """1 where there is an intercept, else 0."""
        return int(self.location.shape[0]) - int(self.centre.shape[0])

    def columns(self, x: Array) -> Array:
        """Return the columns that the parameters multiply, (n, p)."""
        centred = x - self.centre
        xp = namespace_of(centred)
        return xp.concat([xp.ones_like(centred[:, :1]), centred], axis=1) if self.n_intercepts else centred

    def predict(self, x: Array) -> Array:
        """Return the mean of the linear predictor at the rows of x, (n,)."""
        return self.columns(x) @ self.location

    def predictor_root(self, x: Array) -> Array:
        """Return F, (n, r): the covariance of the linear predictor at the rows of x is σ² F Fᵀ."""
        columns = self.columns(x)
        with blas_for_products(prod(columns.shape) * self.root.shape[1]):
            return columns @ self.root

    @cached_property
    def triangular_root(self) -> Array:
        """The one G that is lower triangular, (p, r), whatever library computed the posterior."""
        return triangle(self.root.T).T

    def parameters(self) -> tuple[Array, Array]:
        """Return the mean of intercept and coefficients, (p,), and a factor of their covariance, (p, r)."""
        return self._at_origin(self.location), self._at_origin(self.root)

    def _at_origin(self, part: Array) -> Array:
        """Turn the row of the offset into that of the intercept, offset - centreᵀ coef."""
        if not self.n_intercepts:
            return part
        xp = namespace_of(part)
        intercept = part[0, ...] - self.centre @ part[1:, ...]
        return xp.concat([intercept[None, ...], part[1:, ...]])


class BayesianLinearModel(RegressorMixin, OnePassEstimator):
    """A linear model of one target with a Gaussian posterior, learned from a `LinearFactor`.

    A model supplies `_check_parameters` and `_learn`, and sets `_posterior_`, its
    `noise_variance_`, and `_predictive_dof_`: the degrees of freedom of a noise that has a posterior of its
    own, infinite where the noise is taken as known and the posterior of the coefficients is Gaussian. Where
    that noise was estimated from the rows, `_plug_in_` says how.
    """

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact in one pass")
    _supervised = True
    _posterior_: CoefficientPosterior
    noise_variance_: float
    _predictive_dof_: float
    #: The noise variance by the degrees of freedom of the residuals, and these, where it is plugged in.
    _plug_in_: tuple[float, float] | None

    @by_blocks
    def predict(self, X: Any, return_std: bool = False, *, include_noise: bool = True) -> Any:
        if return_std:
            return super().predict(X, return_std, include_noise=include_noise)
        rows = self._rows(X)
        return self._posterior_.predict(rows)

    @of_held_rows
    def predict_dist(self, X: Any, *, include_noise: bool = True) -> Normal | StudentT:
        """Return the predictive distribution of each row's target, N(y | mᵀx, σ² + xᵀSx).

        m and S are the posterior mean and covariance. Where the noise variance has a posterior of its own, or
        was estimated from the rows, it is Student's t, so that its intervals cover of few rows, too.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        include_noise : bool
            Whether it is the distribution of a new target (default) or of the linear predictor, without σ².
        """
        rows = self._rows(X)
        xp = namespace_of(rows)
        root = self._posterior_.predictor_root(rows)
        noise, dof = self._predictive_noise()
        variance = noise * (xp.sum(root**2, axis=1) + float(include_noise))
        location = self._posterior_.predict(rows)
        if dof == float("inf"):
            return Normal(mean=location, variance=variance)
        return StudentT(dof=dof, location=location, scale=xp.sqrt(variance))

    def predict_joint(
        self, X: Any, *, include_noise: bool = True
    ) -> MultivariateNormal | MultivariateStudentT:
        """Return the joint predictive distribution of the targets of all rows, of event shape (n_samples,).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        include_noise : bool
            Whether it is the distribution of new targets (default) or of the linear predictor; then rows
            must be linearly independent: the linear predictor at others follows from these.
        """
        rows = self._rows(X)
        xp = namespace_of(rows)
        noise, dof = self._predictive_noise()
        root = noise**0.5 * self._posterior_.predictor_root(rows)
        if include_noise:
            variances = xp.full_like(rows[:, 0], noise)
            covariance: Any = LowRankPlusDiagonal(factor=root, variances=variances)
        else:
            covariance = covariance_from_root(root)
        return self._around(self._posterior_.predict(rows), covariance, dof)

    @either_seed_name
    def sample_functions(
        self, X: Any, n_samples: int = 1, *, random_state: Any = None, include_noise: bool = False
    ) -> Array:
        """Draw coefficients from the posterior; return the linear predictor of each at all rows.

        Parameters
        ----------
        X : array or frame of shape (number of rows, n_features)
            Rows.
        n_samples : int
            Number of draws of the coefficients.
        random_state : None, int, RandomState or Generator
            Where randomness comes from; a seed gives the same draws every time.
        include_noise : bool
            Whether noise is added to every row: draws of new targets.
        """
        rows = self._rows(X)
        check_number("n_samples", n_samples, least=1, whole=True)
        rng = as_generator(random_state)
        xp = namespace_of(rows)
        root = self._posterior_.triangular_root  # signs of eigenvectors would differ between devices
        standard = standard_normal(rng, (int(n_samples), root.shape[1]), like=rows)
        draws = (standard @ root.T) @ self._posterior_.columns(rows).T
        if include_noise:
            draws = draws + standard_normal(rng, (int(n_samples), rows.shape[0]), like=rows)
        noise, dof = self._predictive_noise()
        if dof < float("inf"):
            half = xp.asarray(0.5 * dof, dtype=rows.dtype, device=device(rows))
            draws = draws * xp.sqrt(half / standard_gamma(rng, half, int(n_samples)))[:, None]
        return self._posterior_.predict(rows) + noise**0.5 * draws

    def equivalent_kernel(self, X_query: Any, X_train: Any) -> Array:
        """Return the weight of each training target in each prediction, k(x, xᵢ) = xᵀ S xᵢ / σ².

        With a prior of mean zero, ``equivalent_kernel(X, X_train) @ y`` are the predictions at X, where
        X_train and y are all rows of the fit. At X = X_train it is the hat matrix. A training row of weight w
        counts w times.
        """
        queries, rows = self._rows(X_query), self._rows(X_train)
        return self._posterior_.predictor_root(queries) @ self._posterior_.predictor_root(rows).T

    @property
    def posterior_(self) -> Any:
        """The posterior distribution of the intercept, where there is one, and the coefficients."""
        check_answerable(self)
        mean, root = self._posterior_.parameters()
        covariance = covariance_from_root(self._noise() ** 0.5 * root)
        return self._around(mean, covariance, self._predictive_dof_, names=self._names())

    def _set_posterior(self, posterior: CoefficientPosterior) -> None:
        self._posterior_ = posterior
        mean = posterior.parameters()[0]
        self.coef_ = mean[posterior.n_intercepts :]
        self.intercept_ = mean[0] if posterior.n_intercepts else 0.0 * mean[0]

    def _coef_covariance(self) -> Array:
        root = self._noise() ** 0.5 * self._posterior_.root[self._posterior_.n_intercepts :, :]
        return root @ root.T

    def _around(self, location: Array, covariance: Any, dof: float, names: Any = None) -> Any:
        if dof == float("inf"):
            return MultivariateNormal(mean=location, covariance=covariance, names=names)
        return MultivariateStudentT(dof=dof, location=location, scale=covariance, names=names)

    def _rows(self, X: Any) -> Array:
        check_answerable(self)
        return as_floats(check_columns(self, X))

    def _names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        if names is None or "intercept" in list(names):
            return None
        return ["intercept"] * self._posterior_.n_intercepts + list(names)

    def _predictive_noise(self) -> tuple[float, float]:
        """Return the noise variance of predictions and its degrees of freedom."""
        noise = self._noise()
        if self._plug_in_ is None:
            return noise, self._predictive_dof_
        variance, dof = self._plug_in_
        if not dof > 0:
            raise ValueError(
                "X has too few rows to estimate the noise: more rows, or BayesianLinearRegression with "
                "a known noise_variance or a prior of the noise, are needed"
            )
        return variance, dof

    def _noise(self) -> float:
        """Return the noise variance if there is an estimate of it."""
        if not 0.0 < self.noise_variance_ < float("inf"):
            raise ValueError(
                "X has too few rows to estimate the noise: more rows, a known noise_variance or a prior of "
                "the noise are needed"
            )
        return self.noise_variance_

    def _fold(self, subject: Any, X: Any, y: Any, sample_weight: Any, **options: Any) -> LinearFactor:
        return checked_factor(subject, X, as_vector(y, stacklevel=5), sample_weight, **options)[1]

    def _statistic(self) -> Callable[..., Any]:
        return LinearFactor.of

    def _check_factor(self, statistic: Any, *, some: bool = False) -> LinearFactor:
        """Return a factor of one target; with `some`, refuse that of no rows: the noise needs some."""
        found = check_factor(statistic)
        if some and not found.weight > 0:
            raise ValueError("statistic must be of some rows: the noise cannot be learned from none")
        check_one_target(found.n_targets)
        return found


def covariance_from_root(root: Array) -> Full:
    """Return the covariance G Gᵀ from its factor: its Cholesky factor is the triangle of Gᵀ."""
    lower = triangle(root.T).T
    xp = namespace_of(root)
    least = 1e-13 * xp.sqrt(xp.sum(root**2, axis=1))
    if root.shape[0] > root.shape[1] or bool(xp.any(xp.linalg.diagonal(lower) <= least)):
        raise NotComputedError(
            "X has linearly dependent rows: the joint distribution of the linear predictor without noise is "
            "singular"
        )
    return Full.from_cholesky(lower)
