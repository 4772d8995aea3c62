"""Gaussian process regression."""

from typing import Any, Self

import numpy as np

from tractable.arrays.batched import positions
from tractable.arrays.limits import check_squarable
from tractable.arrays.linalg import symmetrize
from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of, to_numpy
from tractable.arrays.random import as_generator, either_seed_name
from tractable.base import (
    Estimator,
    FitInterrupted,
    ModelTags,
    RegressorMixin,
    all_or_nothing,
    check_answerable,
    check_columns,
    check_number,
    check_targets,
    check_weights,
    refuse_foreign,
)
from tractable.base.by_blocks import by_blocks, of_held_rows
from tractable.base.options import SklearnOptions
from tractable.base.validation import as_rows_source, check_names, check_row_noise, require_targets
from tractable.covariance import Full
from tractable.data import is_frame, is_streamed
from tractable.data.frames import split_frame
from tractable.distributions import MultivariateNormal, MultivariateStudentT, Normal, StudentT
from tractable.gaussian_process.explain import (
    FunctionParts,
    KernelDiagnosis,
    Relevance,
    column_relevance,
    function_parts,
    kernel_diagnosis,
)
from tractable.gaussian_process.mean import MeanFunction, check_mean
from tractable.gaussian_process.model import FittedTargets, GaussianProcess, Prior, normal_draws
from tractable.gaussian_process.noise import split_noise
from tractable.gaussian_process.posteriors.exact import Observations
from tractable.gaussian_process.rows import TrainingRows
from tractable.gaussian_process.search import (
    check_search,
    checked_theta,
    default_kernel,
    hyperparameter_sampler,
    most_probable,
    warn_of_search,
)
from tractable.gaussian_process.words import WordColumns
from tractable.kernels import Kernel, White
from tractable.sampling import PosteriorSampler
from tractable.statistics.moments import DiagonalMoments
from tractable.statistics.rows import counts
from tractable.statistics.standardizer import Standardizer
from tractable.value import replace


def known_noise(alpha: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return the known variance of the noise; that of a kernel with a white term is learned."""
    if np.ndim(alpha):
        raise ValueError("alpha of GaussianProcessRegressor, one a row, is fit(…, noise_variance=alpha) here")
    return {} if getattr(given.get("kernel"), "has_noise", False) else {"noise_variance": alpha}


class GaussianProcessRegressor(WordColumns, RegressorMixin, Estimator):
    """Gaussian process regression: y = f(x) + h(x)ᵀβ + ε, f ~ GP(0, k), ε ~ N(0, σ²).

    The hyper-parameters of the kernel and σ² maximise the evidence log p(y | X), or its sum with the log
    densities of their priors where the kernel has any (MAP); the coefficients β of the mean have a flat prior
    and are integrated out. Given them all answers are exact: Rasmussen and Williams, chapters 2 and 5.

    With several targets each is a function of its own, with the same kernel and noise. A missing target (NaN)
    is no evidence for that target, and none against the others of its row. A frame may have columns of words
    and categories: kernels see them as codes 0, 1, …, and each category that was not in the fit as one that
    equals no other; `partial_fit` learns it.

    A fit needs the memory of about one matrix of rows × rows. A kernel with fewer features than there are
    rows (`Linear`, `Polynomial`, sums and products of them) is fitted in the space of its features. Rows with
    equal x are joined, exactly, so that repetitions cost nothing.

    Where hyper-parameters are known (``optimizer=None``, or fixed) predictions are normal. Where p of them
    were learned from n targets, which they fit better than new ones, predictions are Student's t of
    ν = n - m - p degrees of freedom (m those of the mean) with variances (n - m)/ν times those of known
    hyper-parameters, as of a regression with so many coefficients: so intervals cover nearly what they say
    of few rows, too. A hyper-parameter that has a prior counts for a half.

    Of a kernel that is given, a warning names hyper-parameters that end at a bound beyond which the evidence
    rises. There is none where it is level beyond the bound, as at the length scale of a column that does not
    matter (see `relevance`), nor of noise that was added to the kernel, of targets without noise.

    Constant targets, and that of one row, have no spread: the default kernel and noise then begin with the
    mean square of the targets, or 1 where they are zero, and variances of predictions are of that size.

    Parameters
    ----------
    kernel : Kernel, optional
        The covariance function k with starting values of its hyper-parameters. A term `White` of a sum is the
        noise, a scaled one too; within a product, noise may depend on x. By default a squared-exponential
        kernel with a length scale for each column of numbers, times one of equality for each column of
        categories, with starting values and bounds in units of X and y.
    mean : {"constant", "zero", "linear"} or basis
        h: a constant, nothing, a constant and the columns, or a constant and a transformer such as
        :class:`tractable.PolynomialBasis`. A function that is linearly dependent on those before it at the
        rows is left out.
    noise_variance : float, optional
        σ² where it is known; zero interpolates. By default it is learned: that of the kernel's `White`, or
        of one that is added where the kernel has no noise.
    optimizer : {"fmin_l_bfgs_b"} or None
        The search for hyper-parameters; None keeps those of the kernel.
    n_restarts_optimizer : int
        Number of further searches, from starting values drawn within the bounds; the best is kept.
    normalize_y : bool
        Whether targets are brought to mean 0 and variance 1 first, as for several targets of unlike units;
        the hyper-parameters are then in these units.
    tol : float
        Relative change of the objective at which a search stops.
    max_iter : int
        Maximum number of iterations of a search.
    random_state : None, int, RandomState or Generator
        Where starting values of restarts come from.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel at its hyper-parameters, with noise where `kernel` has a term for it: 2 (k + White) is
        2 k + 2 White.
    noise_variance_ : float or array of shape (n_targets,)
        σ², in the units of y, without the noise within products of the kernel.
    log_evidence_ : float
        log p(y | X) with f and β integrated out, summed over targets. A flat prior counts as density one:
        compare models of the same mean.
    theta_ : array of shape (p,)
        Logarithms of the free hyper-parameters, of the kernel and then of the noise.
    residual_dof_ : float
        ν, the number of targets less those of coefficients and hyper-parameters, three at least; without
        hyper-parameters that were learned, the number of targets less that of coefficients.
    loo_log_density_ : float
        Mean log density of a target given the other rows, at the hyper-parameters of the fit; -inf where a
        row alone determines a coefficient of the mean, as the only row does.
    dual_coef_ : array of shape (n_samples,) or (n_samples, n_targets)
        α of the posterior mean f(x) = Σ αᵢ k(x, xᵢ), of targets in units of `normalize_y`; αᵢ of equal rows
        is that of all of them, at the first.
    mean_coef_ : array of shape (n_functions,) or (n_functions, n_targets)
        Posterior mean of β in the units of X and y: of the constant, and of the columns or functions of the
        basis that are not dependent on those before them.
    jitter_ : float
        What was added to the diagonal of the covariance of the targets, zero where it had a Cholesky factor.
    objective_trace_ : array
        The objective of the best search, an entry an improvement.
    converged_ : bool
        Whether the best search ended by its tolerance.
    n_iter_ : int
        Improvements of the objective in the best search, one at least.
    X_train_, y_train_ : array
        The rows of the fit as numbers, and their targets.
    categories_ : dict
        The categories of each column that has any, in the order of their codes.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    BayesianLinearRegression : the same with the kernel of a linear model.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> from tractable.kernels import RBF
    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0], [4.5]]), np.array([3.0, 5.0, 7.0, 9.0, 10.0])
    >>> model = tractable.GaussianProcessRegressor(RBF(), mean="zero", noise_variance=0.1, optimizer=None)
    >>> model.fit(X, y).predict([[3.5]], return_std=True)[0].round(4)
    array([7.9642])
    >>> round(model.log_evidence_, 4)
    -61.1162
    """

    model_tags = ModelTags(kind="discriminative", parametric=False, streaming="no")
    _several_targets = True

    _sklearn_options = SklearnOptions(ignored=("n_targets",), rewritten={"alpha": known_noise})

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        mean: Any = "constant",
        noise_variance: float | None = None,
        optimizer: str | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        normalize_y: bool = False,
        tol: float = 1e-10,
        max_iter: int = 500,
        random_state: Any = None,
    ) -> None:
        self.kernel, self.mean, self.noise_variance = kernel, mean, noise_variance
        self.optimizer, self.n_restarts_optimizer, self.normalize_y = (
            optimizer,
            n_restarts_optimizer,
            normalize_y,
        )
        self.tol, self.max_iter, self.random_state = tol, max_iter, random_state

    @all_or_nothing(afresh=True, square=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, noise_variance: Any = None) -> Self:
        """Learn hyper-parameters and the posterior from rows, which are read into memory.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,) or (n_samples, n_targets), or column name
            Targets, NaN where one is missing.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        noise_variance : float or array of shape (n_samples,), optional
            Variance of the noise of each row, relative to σ²; with ``noise_variance=1.0`` of the
            estimator they are the variances themselves. Predictions are of rows with a noise variance of σ².
        """
        self._check_parameters()
        rows = self._training_rows(X, y, sample_weight, noise_variance, reset=True)
        with np.errstate(over="ignore", under="ignore"):
            self._learn(rows)
        return self

    def _posterior_sampler(self, X: Any, y: Any, sample_weight: Any) -> PosteriorSampler:
        """Return how the log hyper-parameters are sampled: see `tractable.sample_posterior`."""
        process = self._process_
        return hyperparameter_sampler(process.prior, [part.posterior.rows for part in process.parts])

    @all_or_nothing(afresh=False, square=True)
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, noise_variance: Any = None
    ) -> Self:
        """Add rows to the posterior, exactly, at the hyper-parameters of `fit`; the first call is `fit`.

        The Cholesky factor gets a block more: O(n² k) for k rows beside n, and not O((n + k)³). `fit` on all
        rows finds new hyper-parameters. The units of `normalize_y` and a basis of the mean stay those of the
        first rows.

        Parameters
        ----------
        X, y, sample_weight, noise_variance
            As in `fit`.
        """
        if not hasattr(self, "_process_"):
            return self.fit(X, y, sample_weight, noise_variance=noise_variance)
        rows = self._training_rows(X, y, sample_weight, noise_variance, reset=False)
        process, before = self._process_, self._training_rows_
        both = before + rows
        standardized = _standardized(both, process.shift, process.scale)
        with np.errstate(over="ignore", under="ignore"):
            self._set_fitted(process.extended(standardized, before.x.shape[0]), both)
        return self

    @by_blocks
    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, *, include_noise: bool = True
    ) -> Any:
        """Return the posterior mean, and on request the standard deviation or the covariance.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        return_std : bool
            Whether to return the standard deviation of each row too.
        return_cov : bool
            Whether to return the covariance of all rows too, (n_samples, n_samples), with a last axis for
            several targets.
        include_noise : bool
            Whether the spread is that of new observations (default) or of the function.
        """
        rows = self._query(X)
        if return_std and return_cov:
            raise ValueError("return_std and return_cov must not both be True")
        if return_cov:
            found = self._spread() * self._process_.covariances(rows, include_noise=include_noise)
            xp = namespace_of(found)
            covariance = found[0, ...] if self._one_target_ else xp.moveaxis(found, 0, -1)
            return self._shaped(self._process_.predict_mean(rows)), covariance
        if not return_std:
            return self._shaped(self._process_.predict_mean(rows))
        mean, variance = self._process_.moments(rows, include_noise=include_noise)
        return self._shaped(mean), self._shaped(namespace_of(mean).sqrt(self._spread() * variance))

    @of_held_rows
    def predict_dist(self, X: Any, *, include_noise: bool = True) -> Normal | StudentT:
        """Return the predictive distribution of each row's target, N(m(x), k(x, x) - kᵀC⁻¹k + σ²).

        Where hyper-parameters were learned it is Student's t of `residual_dof_` degrees of freedom.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        include_noise : bool
            Whether it is the distribution of a new target (default) or of the function.

        Returns
        -------
        Normal or StudentT
            Of batch shape (n_samples,), with a second axis for several targets.
        """
        found = self._process_of().moments(self._query(X), include_noise=include_noise)
        mean, variance = map(self._shaped, found)
        if not self._process_.n_learned:
            return Normal(mean=mean, variance=variance)
        scale = namespace_of(variance).sqrt(variance)
        return StudentT(dof=self._process_.dof, location=mean, scale=scale)

    def predict_joint(
        self, X: Any, *, include_noise: bool = True
    ) -> MultivariateNormal | MultivariateStudentT:
        """Return the joint predictive distribution of the targets of all rows, of event shape (n_samples,).

        With several targets it has a batch axis for them. Where rows determine each other the covariance is
        singular and gets a jitter.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        include_noise : bool
            Whether it is the distribution of new targets (default) or of the function.
        """
        rows = self._query(X)
        covariance = self._process_.covariances(rows, include_noise=include_noise)
        mean = self._process_.predict_mean(rows).T
        if self._one_target_:
            mean, covariance = mean[0, :], covariance[0, ...]
        structure = Full.jittered(covariance)
        if not self._process_.n_learned:
            return MultivariateNormal(mean=mean, covariance=structure)
        return MultivariateStudentT(dof=self._process_.dof, location=mean, scale=structure)

    @either_seed_name
    def sample_functions(
        self, X: Any, n_samples: int = 1, *, random_state: Any = None, include_noise: bool = False
    ) -> Array:
        """Draw functions from the posterior; return each at all rows, (n_samples, number of rows).

        With one more axis for several targets.

        Parameters
        ----------
        X : array or frame of shape (number of rows, n_features)
            Rows.
        n_samples : int
            Number of functions.
        random_state : None, int, RandomState or Generator
            Where randomness comes from; a seed gives the same draws every time.
        include_noise : bool
            Whether noise is added at every row: draws of new targets.
        """
        rows = self._query(X)
        check_number("n_samples", n_samples, least=1, whole=True)
        rng = as_generator(random_state, name="random_state")
        drawn = self._process_.sample(rows, int(n_samples), rng, include_noise=include_noise)
        return drawn[..., 0] if self._one_target_ else drawn

    @either_seed_name
    def sample_prior(
        self, X: Any, n_samples: int = 1, *, random_state: Any = None, include_noise: bool = False
    ) -> Array:
        """Draw functions from the prior GP(0, k), before or after a fit; return each at all rows.

        Coefficients of the mean, whose prior is flat, are zero. Before a fit the kernel is the one given, or
        the default for one target of variance one; after it they are in the units of y, with one more axis
        for several targets.

        Parameters
        ----------
        X, n_samples, random_state, include_noise
            As in `sample_functions`.
        """
        check_number("n_samples", n_samples, least=1, whole=True)
        rng = as_generator(random_state, name="random_state")
        scale = None
        if hasattr(self, "_process_"):
            rows, prior, scale = self._query(X), self._process_.prior, self._process_.scale
        else:
            self._check_parameters()
            fresh = type(self)(**self.get_params(deep=False))
            rows = fresh._float_rows(X, reset=True)  # noqa: SLF001
            prior = fresh._prior(rows, None, 1.0)  # noqa: SLF001
        covariance = prior.kernel(rows) if include_noise else symmetrize(prior.kernel(rows, rows))
        xp = namespace_of(covariance)
        if include_noise:
            covariance = covariance + prior.noise_variance * xp.eye(
                rows.shape[0], dtype=covariance.dtype, device=device(covariance)
            )
        if scale is None:
            return normal_draws(covariance, int(n_samples), rng)
        t = scale.shape[0]
        drawn = xp.stack([normal_draws(covariance, int(n_samples), rng) for _ in range(t)], axis=-1) * scale
        return drawn[..., 0] if self._one_target_ else drawn

    def leave_one_out(self) -> Normal:
        """Return the predictive distribution of each row's target given all other rows, in closed form.

        Of hyper-parameters that stay as they are: N(yᵢ - αᵢ / Pᵢᵢ, 1 / Pᵢᵢ), Rasmussen and Williams (5.12).
        Its `log_prob` at `y_train_` is the leave-one-out log density of each row. A row with a weight is left
        out with all of it; where a target is missing, it is the prediction of it. A row that alone determines
        a coefficient of the mean, as the only row does, has no distribution without it: ValueError.
        """
        process = self._process_of()
        rows = _standardized(self._training_rows_, process.shift, process.scale)
        mean, variance = process.leave_one_out(rows)
        alone = to_numpy(~namespace_of(variance).isfinite(variance)).any(axis=1)
        if alone.any():
            raise ValueError(
                f"leave_one_out has no distribution of row {int(np.argmax(alone))}: without it the mean "
                f"{self.mean!r} is not determined"
            )
        return Normal(mean=self._shaped(mean), variance=self._shaped(variance))

    @property
    def loo_log_density_(self) -> float:
        """Mean of the leave-one-out log densities of the targets, each row counted as often as it weighs.

        It is -inf where a row alone determines a coefficient of the mean: its density is flat without it.
        """
        process = self._process_of()
        rows = _standardized(self._training_rows_, process.shift, process.scale)
        mean, variance = process.leave_one_out(rows)
        xp, y = namespace_of(mean), self._training_rows_.y
        known = ~xp.isnan(y)
        gap = xp.where(known, y - mean, xp.zeros_like(y))
        variance = xp.where(known, variance, xp.ones_like(y))
        weights = self._training_rows_.weights[:, None] * xp.astype(known, xp.float64)
        densities = -0.5 * (gap**2 / variance + xp.log(2.0 * np.pi * variance))
        return float(xp.sum(weights * densities) / xp.sum(weights))

    def decompose(self, X: Any) -> FunctionParts:
        """Return the posterior of the mean and of each term of a kernel that is a sum, at rows.

        Their means add up to `predict`. The parts are those of the hyper-parameters of the fit.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        """
        rows = self._query(X)
        if self._training_rows_.y.shape[1] != 1:
            raise ValueError(f"decompose is of one target, and y had {self._training_rows_.y.shape[1]}")
        return function_parts(self._process_, rows, self._column_names())

    def relevance(self) -> Relevance:
        """Return how much each column matters to the prediction (automatic relevance determination).

        A column that does not matter has a long length scale, in its units; this is a number from 0 to about
        1 whatever the kernel and the units.
        """
        process = self._process_of()
        refuse_foreign(self._training_rows_.x)
        return column_relevance(process.predict_mean, self._training_rows_.x, self._column_names())

    def kernel_diagnosis(self) -> KernelDiagnosis:
        """Return whether the matrix of the kernel at the rows is near a diagonal or a constant one."""
        process = self._process_of()
        refuse_foreign(self._training_rows_.x)
        return kernel_diagnosis(process.prior.kernel, self._training_rows_.x)

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False) -> Any:
        """Return the log evidence at other hyper-parameters, and on request its gradient.

        Parameters
        ----------
        theta : array (p,), optional
            Logarithms of the free hyper-parameters, of the kernel and then of the noise; those of the fit
            when not given.
        eval_gradient : bool
            Whether to return the gradient too.
        """
        process = self._process_of()
        prior = process.prior
        if theta is not None:
            prior = prior.with_theta(checked_theta(theta, prior.theta))
        elif not eval_gradient:
            return self.log_evidence_
        found = [prior.log_evidence(p.posterior.rows, gradient=eval_gradient) for p in process.parts]
        constant = process.log_evidence - sum(
            p.posterior.log_evidence(process.prior.noise_variance) for p in process.parts
        )
        total = constant + sum(part.value for part in found)
        return (total, sum(prior.gradient_of(part) for part in found)) if eval_gradient else total

    @property
    def theta_(self) -> np.ndarray:
        """Logarithms of the free hyper-parameters, of the kernel and then of the noise, (p,)."""
        return self._process_of().prior.theta

    # -- rows -------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_search(self)
        check_mean(self.mean)
        if self.noise_variance is not None:
            check_number("noise_variance", self.noise_variance, least=0.0)

    def _training_rows(
        self, X: Any, y: Any, sample_weight: Any, noise_variance: Any, *, reset: bool
    ) -> TrainingRows:
        """Return checked rows, targets (n, t), weights and noise, those of weight zero left out."""
        if is_frame(X):
            X, y, sample_weight = split_frame(X, y, sample_weight)
        elif is_streamed(X) or isinstance(y, str) or isinstance(sample_weight, str):
            source = as_rows_source(X, y, sample_weight)
            names, held = source.feature_names, source.collect()
            check_names(self, names, source.n_features, reset=reset)
            X, y, sample_weight = held.X, held.y, held.weights
            if names is not None and is_numpy_array(X):
                import pandas as pd

                X = pd.DataFrame(np.asarray(X), columns=list(names))
        require_targets(self, y)
        x = self._float_rows(X, reset=reset, keep=True)
        targets = check_targets(self, y, x, allow_nan=True)
        xp = namespace_of(x)
        targets = check_squarable("y", xp.astype(targets, xp.float64), nonzero=reset)
        if reset:
            self._one_target_ = targets.ndim == 1
        elif (targets.ndim == 1) != self._one_target_ or (
            targets.ndim == 2 and targets.shape[1] != self._training_rows_.y.shape[1]
        ):
            raise ValueError(f"y must have the targets of the fit, got shape {tuple(targets.shape)}")
        targets = targets[:, None] if targets.ndim == 1 else targets
        weights = counts(check_weights(sample_weight, x), x)
        scale = xp.ones_like(x[:, 0]) if noise_variance is None else check_row_noise(noise_variance, x)
        known = xp.any(~xp.isnan(targets), axis=1) & (weights > 0)
        if not bool(xp.any(known)):
            raise ValueError("y must have a target of some row: all are missing, or of rows of weight zero")
        found = TrainingRows(x=x, y=targets, weights=xp.astype(weights, xp.float64), noise_scale=scale)
        if bool(xp.all(known)):
            return found
        return found.only(np.flatnonzero(to_numpy(known)))

    def _float_rows(self, X: Any, *, reset: bool, keep: bool = False) -> Array:
        """Return rows as float64 numbers, words and categories of frames by their codes."""
        X = self._coded(X, reset=reset, keep=keep)
        x = check_columns(self, X, reset=reset)
        xp = namespace_of(x)
        x = xp.astype(x, xp.float64)
        return np.ascontiguousarray(x) if is_numpy_array(x) else x

    def _query(self, X: Any) -> Array:
        self._process_of()
        return self._float_rows(X, reset=False)

    def _process_of(self) -> GaussianProcess:
        check_answerable(self)
        return self._process_

    def _spread(self) -> float:
        """Return the variance of a prediction over its squared scale."""
        dof = self._process_.dof
        return dof / (dof - 2.0) if self._process_.n_learned else 1.0

    def _shaped(self, found: Array) -> Array:
        return found[:, 0] if self._one_target_ else found

    # -- learning ---------------------------------------------------------------------------------------

    def _learn(self, rows: TrainingRows) -> None:
        columns = DiagonalMoments.of(rows.x, rows.weights)
        standardizer = Standardizer.from_moments(columns)
        shift, scale, variance = self._target_units(rows)
        rows_used = _standardized(rows, shift, scale)
        mean = MeanFunction.learned(
            self.mean, rows.x, rows.weights, standardizer, self._numeric(rows.x.shape[1])
        )
        prior = self._prior(rows.x, standardizer, 1.0 if self.normalize_y else variance)
        join = not prior.kernel.has_noise  # equal rows with noise of their own are not one
        mean, groups = _observed(rows_used, mean, prior, join=join)
        search = most_probable(
            prior,
            [own for _, _, own in groups],
            optimize=self.optimizer is not None,
            shorter=self.kernel is None,
            n_restarts=self.n_restarts_optimizer,
            rng=as_generator(self.random_state),
            tol=self.tol,
            max_iter=self.max_iter,
        )
        prior = prior.with_theta(search.x)
        parts = tuple(
            FittedTargets(targets=targets, rows=which, posterior=prior.posterior(own))
            for targets, which, own in groups
        )
        self.objective_trace_, self.converged_ = -search.trace, search.converged
        self.n_iter_ = max(search.n_iter, 1)
        process = GaussianProcess(
            prior=prior,
            mean=mean,
            parts=parts,
            shift=shift,
            scale=scale,
            join=join,
            n_learned=0.0 if self.optimizer is None else prior.n_learned,
        )
        self._set_fitted(process, rows)
        if search.interrupted:
            raise FitInterrupted
        searched = self.optimizer is not None
        warn_of_search(
            search,
            self.max_iter,
            prior.parts,
            given=searched and self.kernel is not None,
            added_noise=isinstance(prior.noise, White) and not prior.noise_is_term,
        )

    def _target_units(self, rows: TrainingRows) -> tuple[Array, Array, float]:
        """Return shift and scale of each target, and their mean variance about their means."""
        xp = namespace_of(rows.y)
        known = xp.astype(~xp.isnan(rows.y), xp.float64)
        weights = rows.weights[:, None] * known
        total = xp.sum(weights, axis=0)
        y = xp.where(known > 0, rows.y, xp.zeros_like(rows.y))
        centre = xp.sum(weights * y, axis=0) / xp.where(total > 0, total, xp.ones_like(total))
        square = xp.sum(weights * y**2, axis=0) / xp.where(total > 0, total, xp.ones_like(total))
        spread = xp.sum(weights * (y - centre) ** 2, axis=0) / xp.where(total > 0, total, xp.ones_like(total))
        # Constant targets have no spread of their own.
        spread = xp.where(spread > 1e-24 * square, spread, square)
        spread = xp.where(spread > 0, spread, xp.ones_like(spread))
        if self.normalize_y:
            return centre, xp.sqrt(spread), 1.0
        return xp.zeros_like(centre), xp.ones_like(centre), float(xp.mean(spread))

    def _prior(self, x: Array, standardizer: Standardizer | None, variance: float) -> Prior:
        """Return the kernel and the noise with their starting values."""
        if standardizer is None:
            standardizer = Standardizer.from_moments(DiagonalMoments.of(x))
        if self.kernel is None:
            kernel, white = default_kernel(standardizer, self._numeric(x.shape[1]), variance), None
        else:
            names = getattr(self, "feature_names_in_", None)
            kernel, white = split_noise(self.kernel if names is None else self.kernel.with_columns(names))
        return Prior.learned(kernel, white, self.noise_variance, variance)

    def _set_fitted(self, process: GaussianProcess, rows: TrainingRows) -> None:
        prior = process.prior
        self._process_, self._training_rows_ = process, rows
        self.kernel_ = prior.given_kernel
        noise = process.noise_variances
        self.noise_variance_ = float(noise[0]) if self._one_target_ or not self.normalize_y else noise
        self.log_evidence_ = process.log_evidence
        self.jitter_ = process.jitter
        self.residual_dof_ = float(process.dof if process.n_learned else process.n_residuals)
        self.X_train_, self.y_train_ = rows.x, self._shaped(rows.y)
        self.dual_coef_ = self._shaped(_scattered(process, rows.x.shape[0]))
        self.mean_coef_ = self._shaped(_mean_coefficients(process))


def _standardized(rows: TrainingRows, shift: Array, scale: Array) -> TrainingRows:
    return replace(rows, y=(rows.y - shift) / scale)


def _observed(
    rows: TrainingRows, mean: MeanFunction, prior: Prior, *, join: bool
) -> tuple[MeanFunction, list[tuple[tuple[int, ...], np.ndarray | None, Observations]]]:
    """Return the mean in functions that the rows tell apart, and the rows of targets that share theirs.

    With `join` equal rows are one.
    """
    if not join and not bool(namespace_of(rows.x).all(rows.weights == 1.0)):
        raise ValueError(
            "sample_weight cannot be combined with white noise inside a product of kernels: make White a "
            "term of a sum"
        )
    by_target = list(rows.by_target())
    for _, _, own in by_target:
        mean = mean.independent(mean(own.x))
    return mean, [
        (targets, which, own.observations(mean, join=join, noise=prior.noise_variance))
        for targets, which, own in by_target
    ]


def _scattered(process: GaussianProcess, n: int) -> Array:
    """Return the dual coefficients at all rows of the fit, zero where a target is missing."""
    columns: dict[int, Any] = {}
    for part in process.parts:
        dual = part.posterior.dual
        xp, m = namespace_of(dual), dual.shape[0]
        joined = part.posterior.rows.joined
        first = np.arange(m) if joined is None else np.unique(to_numpy(joined), return_index=True)[1]
        slots = np.full(n, m)
        slots[first if part.rows is None else part.rows[first]] = np.arange(m)
        found = xp.take(xp.concat([dual, xp.zeros_like(dual[:1, :])]), positions(slots, dual), axis=0)
        columns |= {j: found[:, k] for k, j in enumerate(part.targets)}
    return xp.stack([columns[j] for j in range(len(columns))], axis=1)


def _mean_coefficients(process: GaussianProcess) -> Array:
    """Return the coefficients of the mean in the units of X and y, (m, t)."""
    xp = namespace_of(process.shift)
    columns: dict[int, Any] = {}
    for part in process.parts:
        m = part.posterior.rows.basis.shape[1]
        found = process.mean.natural(part.posterior.coef[:m, :])
        columns |= {j: found[:, k] for k, j in enumerate(part.targets)}
    coef = process.scale * xp.stack([columns[j] for j in range(len(columns))], axis=1)
    return xp.concat([coef[:1, :] + process.shift, coef[1:, :]]) if process.mean.constant else coef
