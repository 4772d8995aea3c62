"""Gaussian process regression of counts: a Poisson likelihood behind a latent function."""

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import column_or_1d

from tractable.arrays.gamma import digamma, trigamma
from tractable.arrays.limits import check_squarable
from tractable.base import ModelTags, RegressorMixin, all_or_nothing, check_targets
from tractable.base.by_blocks import of_held_rows
from tractable.distributions import Gamma, NegativeBinomial
from tractable.engines.glm.losses import Poisson
from tractable.gaussian_process.comparison import WeighedLatent
from tractable.gaussian_process.latent import Approximation, LatentGaussianProcess
from tractable.gaussian_process.posteriors.latent import LikelihoodExpansion, latent_process
from tractable.kernels import Kernel

#: The variance of the logarithm of the rate that the default kernel begins with.
LATENT_VARIANCE = 1.0
#: Steps of Newton's method for the shape of a gamma distribution; its convergence is quadratic.
STEPS = 12


class GaussianProcessPoissonRegressor(RegressorMixin, LatentGaussianProcess):
    """Gaussian process regression of counts: y ~ Poisson(e exp(μ + f(x))), f ~ GP(0, k), by Laplace.

    A log-Gaussian Cox process of counts in cells: over time, over space, or over both (Rasmussen and
    Williams, section 3.3; Møller, Syversveen and Waagepetersen 1998). The rate of a row is its exposure e
    (the length of its period, the area of its cell, the persons at risk) times exp(μ + f(x)); μ is the
    logarithm of all counts over all exposures.

    The posterior of f at the rows is approximated by a normal distribution at its mode, which Newton's method
    finds; the hyper-parameters of the kernel maximise the approximate evidence, with their priors where they
    have any. It is approximate where counts are small and f varies much: the true posterior is skew, and
    `compare_to_exact` measures it.

    A new count has a negative binomial distribution: that of a Poisson count whose rate has the gamma
    distribution, of which the logarithm has the mean and the variance of μ + f(x). `include_noise=False` is
    that gamma distribution, of the rate. Intervals of counts hold whole numbers, and so cover no less than
    they say. Columns of words and categories of a frame are codes, as in `GaussianProcessRegressor`. A fit
    takes O(n³) time.

    Parameters
    ----------
    kernel : Kernel, optional
        The covariance function k of the logarithm of the rate, with starting values of its hyper-parameters;
        a term `White` is noise of each row's own, by which counts vary more than Poisson's. By default a
        squared exponential with a length scale for each column, in units of X, and weak priors.
    optimizer : {"fmin_l_bfgs_b"} or None
        The search for hyper-parameters; None keeps those of the kernel.
    n_restarts_optimizer : int
        Number of further searches, from starting values drawn within the bounds; the best is kept.
    tol : float
        Relative change of the objective at which a search stops.
    max_iter : int
        Maximum number of iterations of a search.
    random_state : None, int, RandomState or Generator
        Where starting values of restarts come from.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel at its hyper-parameters.
    offset_ : float
        μ.
    log_evidence_ : float
        log p(y | X) by Laplace's approximation.
    theta_ : array of shape (p,)
        Logarithms of the free hyper-parameters.
    latent_mode_ : array of shape (n_samples,)
        The mode of f at the rows.
    converged_ : bool
        Whether the searches for hyper-parameters and for the mode ended by their tolerances.
    n_iter_ : int
        Improvements of the objective in the best search, one at least.
    X_train_, y_train_ : array
        The rows of the fit, those of positive weight, and their counts.
    exposure_ : array of shape (n_samples,)
        Their exposures.
    sample_weight_ : array of shape (n_samples,) or None
        How often each counts; None where none were given.
    categories_ : dict
        The categories of each column of words that has any, in the order of their codes.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    GaussianProcessRegressor : targets with normal noise.
    GaussianProcessClassifier : the same approximation of classes.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> X = np.arange(40.0)[:, None]
    >>> y = rng.poisson(5.0 + 4.0 * np.sin(X[:, 0] / 6.0))
    >>> model = tractable.GaussianProcessPoissonRegressor().fit(X, y)
    >>> model.predict([[9.0], [28.0]]).round()
    array([10.,  2.])
    >>> model.predict_interval([[9.0]], coverage=0.9)
    array([[ 5., 16.]])
    """

    model_tags = ModelTags(kind="discriminative", parametric=False, streaming="no")
    _of_each_row = ("y_train_", "exposure_")

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        found.target_tags.positive_only = True
        return found

    @all_or_nothing(afresh=True, square=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, exposure: Any = None) -> Self:
        """Learn hyper-parameters and the posterior of the latent function from rows, read into memory.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,) or column name
            Counts, not negative.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        exposure : float or array of shape (n_samples,), optional
            What each row was exposed to, positive: its period, area or population. By default 1.
        """
        self._check_parameters()
        rows = self._stored(X, y, sample_weight, drop=False)
        counts = column_or_1d(check_targets(self, rows.y, rows.data), warn=True).astype(np.float64)
        if counts.min(initial=0.0) < 0.0:
            raise ValueError(f"y must be counts: it has a negative entry, {counts.min():g}")
        exposures = _check_exposure(exposure, len(counts))
        some = np.ones(len(counts), dtype=bool) if rows.weights is None else rows.weights > 0.0
        if not some.any():
            raise ValueError("sample_weight must have a positive entry, all are zero")
        self.X_train_, self.y_train_ = rows.data[some], check_squarable("y", counts)[some]
        self.exposure_ = exposures[some]
        self.sample_weight_ = None if rows.weights is None else rows.weights[some]
        weights = self._weights()
        # Half a count where there is none: a rate of zero has no logarithm.
        total = max(float(weights @ self.y_train_), 0.5)
        self.offset_ = float(np.log(total) - np.log(float(weights @ self.exposure_)))
        kernel = self._kernel(LATENT_VARIANCE)
        each = self._one_row_for_each(kernel)
        self.y_train_, self.exposure_ = self.y_train_[each], self.exposure_[each]
        self._learn(kernel)
        (model,) = self._models_
        self.kernel_: Kernel = model.kernel
        self.latent_mode_ = model.process.mode
        self._warn_of_searches()
        return self

    @of_held_rows
    def predict_dist(
        self, X: Any, *, include_noise: bool = True, exposure: Any = None
    ) -> NegativeBinomial | Gamma:
        """Return the predictive distribution of each row's count, of batch shape (n_samples,).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        include_noise : bool
            Whether it is the distribution of a new count (default) or of the rate.
        exposure : float or array of shape (n_samples,), optional
            What each row is exposed to; by default 1.
        """
        mean, variance = self.latent_mean_and_variance(X)
        shape = _gamma_shape(variance)
        rate = np.exp(digamma(shape) - self.offset_ - mean) / _check_exposure(exposure, len(mean))
        if not include_noise:
            return Gamma(shape=shape, rate=rate)
        return NegativeBinomial(shape=shape, mean=shape / rate)

    def latent_mean_and_variance(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean and the variance of f, the log rate less μ, at rows, (n_samples,) each.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        """
        rows = self._query(X)
        (model,) = self._models_
        return model.moments(rows)

    def _approximations(self) -> list[Approximation]:
        return [partial(_counts, y=self.y_train_, weights=self._weights(), offset=self._offset())]

    def _log_likelihoods(self) -> list[Any]:
        offset, weights, terms = self._offset(), self._weights(), Poisson().terms
        return [lambda f: -(terms(offset + f[..., 0], self.y_train_).value @ weights)]

    def _predicted_and_exact(
        self, x: np.ndarray, weighed: list[WeighedLatent]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return logarithms of the mean rate at an exposure of one, less μ."""
        mean, variance = self._models_[0].moments(x)
        shape = _gamma_shape(variance)
        (each,) = weighed
        # In units of the rate at the mean of f, where that of a normal f is exp(v/2).
        exact = np.exp(0.5 * variance) + each.shift(np.exp(each.gaps[..., 0]))
        return mean + np.log(shape) - digamma(shape), mean + np.log(exact)

    def _offset(self) -> np.ndarray:
        """Return what is added to the latent function, (n,)."""
        return self.offset_ + np.log(self.exposure_)


def _counts(
    matrix: np.ndarray,
    start: np.ndarray | None,
    *,
    y: np.ndarray,
    weights: np.ndarray,
    offset: np.ndarray,
) -> Any:
    loss = Poisson()
    base = loss.log_base_measure(y)
    return latent_process(
        matrix, lambda f: LikelihoodExpansion.of(loss.terms(offset + f, y), weights, base), start=start
    )


def _gamma_shape(variance: np.ndarray) -> np.ndarray:
    """Return the shape a of gamma distributions whose logarithm has a variance, ψ′(a) = v, by Newton.

    In u = 1/a the variance is near u + u²/2, and nowhere concave: from there steps do not pass the root.
    """
    from scipy.special import polygamma

    v = np.maximum(variance, 1e-12)
    a = 0.5 + 1.0 / v
    for _ in range(STEPS):
        value = trigamma(a)
        # Newton's step of 1/ψ′, which is convex and nearly linear in a.
        a = a + value * (1.0 - value / v) / polygamma(2, a)
    return a


def _check_exposure(exposure: Any, n: int) -> np.ndarray:
    """Return an exposure for each of n rows."""
    if exposure is None:
        return np.ones(n)
    try:
        found = np.asarray(exposure, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if found.shape not in ((), (n,)):
        raise ValueError(f"exposure must be one number or one for each of {n} rows, got shape {found.shape}")
    if not np.all((found > 0.0) & np.isfinite(found)):
        raise ValueError("exposure must be positive and finite")
    return np.broadcast_to(found, (n,)).copy()
