"""The Gaussian posterior of coefficients, and the predictions of the models that have one."""

from collections.abc import Callable
from typing import Any

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
from tractable.base.linear_inference import as_floats, predictive
from tractable.base.parameters import check_number
from tractable.covariance import Full, LowRankPlusDiagonal
from tractable.distributions import MultivariateNormal, MultivariateStudentT, Normal, StudentT
from tractable.engines import CovarianceRoot, LinearEstimate
from tractable.engines.linear_estimate import NotComputedError, with_offset
from tractable.linear_model.rows import (
    as_vector,
    check_factor,
    check_one_target,
    checked_factor,
)
from tractable.primitives.linear import triangle
from tractable.statistics import LinearFactor
from tractable.value import replace


def free_intercept_posterior(
    statistic: LinearFactor, coef: Array, root: Array, *, fit_intercept: bool
) -> LinearEstimate:
    """Return the posterior with given coefficients (d,) and a factor of their covariance (d, r), over σ².

    With a flat prior of the intercept, the offset at the mean of the rows has variance σ²/n and is
    independent of the coefficients. The noise variance is to be set.
    """
    xp, d = namespace_of(coef), statistic.dim
    mean = statistic.mean if fit_intercept else xp.zeros_like(statistic.mean)
    root = with_offset(root, 1.0 / float(statistic.weight)) if fit_intercept else root
    return LinearEstimate(
        coef=coef[None, :],
        centre=mean[:d],
        offset=mean[d:],
        root=CovarianceRoot(factor=root),
        scale=xp.ones_like(mean[d:]),
        has_intercept=fit_intercept,
    )


class BayesianLinearModel(RegressorMixin, OnePassEstimator):
    """A linear model of one target with a Gaussian posterior, learned from a `LinearFactor`.

    A model supplies `_check_parameters` and `_learn`, and sets `_posterior_`, its
    `noise_variance_`, and `_predictive_dof_`: the degrees of freedom of a noise that has a posterior of its
    own, infinite where the noise is taken as known and the posterior of the coefficients is Gaussian. Where
    that noise was estimated from the rows, `_plug_in_` says how.
    """

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact in one pass")
    _supervised = True
    _posterior_: LinearEstimate
    noise_variance_: float
    _predictive_dof_: float
    #: The noise variance by the degrees of freedom of the residuals, and these, where it is plugged in.
    _plug_in_: tuple[float, float] | None

    @by_blocks
    def predict(self, X: Any, return_std: bool = False, *, include_noise: bool = True) -> Any:
        if return_std:
            return super().predict(X, return_std, include_noise=include_noise)
        rows = self._rows(X)
        return self._posterior_.predict(rows)[:, 0]

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
        fit = self._predictive_estimate()
        return predictive(fit, rows, lambda x: x[:, 0], include_noise=include_noise)[0]

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
        xp, fit = namespace_of(rows), self._predictive_estimate()
        root = xp.sqrt(fit.scale) * fit.predictor_root(rows)
        if include_noise:
            variances = xp.ones_like(rows[:, 0]) * fit.scale
            covariance: Any = LowRankPlusDiagonal(factor=root, variances=variances)
        else:
            covariance = covariance_from_root(root)
        return self._around(fit.predict(rows)[:, 0], covariance, fit.dof)

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
        xp, fit = namespace_of(rows), self._predictive_estimate()
        # The triangular root: signs of eigenvectors would differ between devices.
        root = CovarianceRoot(factor=triangle(fit.covariance_root.factor.T).T).at(rows - fit.centre)
        draws = standard_normal(rng, (int(n_samples), root.shape[1]), like=rows) @ root.T
        if include_noise:
            draws = draws + standard_normal(rng, (int(n_samples), rows.shape[0]), like=rows)
        if fit.dof < float("inf"):
            half = xp.asarray(0.5 * fit.dof, dtype=rows.dtype, device=device(rows))
            draws = draws * xp.sqrt(half / standard_gamma(rng, half, int(n_samples)))[:, None]
        return fit.predict(rows)[:, 0] + xp.sqrt(fit.scale) * draws

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

    @property
    def _estimate(self) -> LinearEstimate:
        return self._predictive_estimate()

    def _set_posterior(self, posterior: LinearEstimate) -> None:
        """Set the posterior with the noise variance and the degrees of freedom that are known by now."""
        scale = namespace_of(posterior.coef).full_like(posterior.offset, self.noise_variance_)
        self._posterior_ = replace(posterior, scale=scale, dof=self._predictive_dof_)
        self.coef_, self.intercept_ = posterior.coef[0, :], posterior.intercept[0]

    def _coef_covariance(self) -> Array:
        root = self._noise() ** 0.5 * self._posterior_.slopes_root
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
        return ["intercept"] * self._posterior_.has_intercept + list(names)

    def _predictive_estimate(self) -> LinearEstimate:
        """Return the posterior with the noise variance of predictions and its degrees of freedom."""
        self._noise()
        if self._plug_in_ is None:
            return self._posterior_
        variance, dof = self._plug_in_
        if not dof > 0:
            raise ValueError(
                "X has too few rows to estimate the noise: more rows, or BayesianLinearRegression with "
                "a known noise_variance or a prior of the noise, are needed"
            )
        scale = namespace_of(self.coef_).full_like(self._posterior_.scale, variance)
        return replace(self._posterior_, scale=scale, dof=dof)

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
