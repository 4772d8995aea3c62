"""A Gaussian density."""

import warnings
from collections.abc import Callable
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.devices import beside, on_host
from tractable.arrays.incomplete import gammaincc
from tractable.arrays.namespace import Array, namespace_of
from tractable.base import (
    DegenerateCovarianceWarning,
    DensityMixin,
    FitInterrupted,
    ModelTags,
    NotYetDetermined,
    OnePassEstimator,
    check_choice,
    check_columns,
    check_number,
)
from tractable.base.by_blocks import by_blocks
from tractable.covariance import Covariance, Diagonal, Isotropic
from tractable.covariance.shapes import constant_columns, regular
from tractable.distributions import MultivariateNormal
from tractable.engines.incomplete_gaussian import fit_incomplete
from tractable.statistics import DiagonalMoments, IncompleteMoments
from tractable.value import replace, value


class GaussianDensity(DensityMixin, OnePassEstimator):
    """Gaussian density estimation: p(x) = N(x | location, covariance), by maximum likelihood.

    Exact in one pass, so rows may be streamed, merged and read from files
    larger than memory. Missing entries (NaN) are marginalised, not imputed: the statistic holds the moments
    of every pattern of observed columns, and EM on the statistic finds the maximum of the observed-data
    likelihood. That too is exact for streams and merges. It costs one d × d matrix and, each iteration, one
    factorisation for every pattern: cheap for some thousands of patterns, slow where nearly every row has one
    of its own.

    Parameters
    ----------
    covariance_type : {"full", "diag", "spherical"}
        The shape of the covariance.
    ddof : float
        The covariance is scatter / (weight - ddof): 0 is maximum likelihood, biased by -covariance/n;
        1 is unbiased.
    tol : float
        With missing values and a full covariance: relative growth of the log-likelihood that ends EM.
    max_iter : int
        Likewise, the most iterations.

    Attributes
    ----------
    distribution_ : MultivariateNormal
        The fitted distribution; it conditions, marginalises and samples, by column name where it has names.
    location_ : array of shape (n_features,)
        The mean.
    covariance_ : array of shape (n_features, n_features)
        The covariance matrix.
    precision_ : array of shape (n_features, n_features)
        Its inverse.
    jitter_ : array of shape (n_features,)
        What was added to the variances because the covariance was singular; zeros when it was not.
    statistic_ : IncompleteMoments or DiagonalMoments
        The sufficient statistic of the rows.
    n_unseen_ : float
        Weight of the rows in which every entry was missing; they do not affect the fit.
    n_iter_ : int
        EM iterations taken; 0 where none was needed.
    converged_ : bool
        Whether EM converged within `max_iter`.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    tractable.MultivariateNormal : the distribution itself.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[0.0, 1.0], [2.0, np.nan], [4.0, 5.0], [6.0, 8.0]])
    >>> model = tractable.GaussianDensity().fit(X)
    >>> model.location_.round(3)
    array([3.   , 4.286])
    >>> model.condition([0], [2.0]).mean.round(3)
    array([3.143])

    Half of the rows here and half there make the same model:

    >>> a, b = (tractable.GaussianDensity().partial_fit(half) for half in (X[:2], X[2:]))
    >>> bool(np.allclose(a.merge(b).covariance_, model.covariance_))
    True
    """

    model_tags = ModelTags(
        kind="generative", parametric=True, streaming="exact in one pass", missing_values=True
    )
    _min_rows = 2

    def __init__(
        self,
        *,
        covariance_type: str = "full",
        ddof: float = 0.0,
        tol: float = 1e-12,
        max_iter: int = 1000,
    ) -> None:
        self.covariance_type = covariance_type
        self.ddof = ddof
        self.tol = tol
        self.max_iter = max_iter

    @property
    def precision_(self) -> Array:
        """Inverse of the covariance."""
        return self._density().precision

    @property
    def covariance_(self) -> Array:
        """The covariance as a dense matrix."""
        return self._density().covariance

    @by_blocks
    def tail_probability(self, X: Any) -> Array:
        """Return the probability of a row of lower density: near 0 for outliers, uniform under the model."""
        distribution = self._density()
        X = check_columns(self, X)
        xp = namespace_of(X)
        squared = distribution.mahalanobis(X, squared=True)
        observed = xp.astype(xp.sum(xp.astype(~xp.isnan(X), xp.int64), axis=1), squared.dtype)
        some = observed > 0
        tail = gammaincc(xp.where(some, observed, xp.ones_like(observed)) / 2.0, squared / 2.0)
        return xp.where(some, tail, xp.ones_like(tail))

    def _check_parameters(self) -> None:
        check_choice("covariance_type", self.covariance_type, SHAPES)
        check_number("ddof", self.ddof, least=0.0)
        check_number("tol", self.tol, above=0.0)
        check_number("max_iter", self.max_iter, least=1, whole=True)

    def _statistic(self) -> Callable[..., Any]:
        return SHAPES[self.covariance_type][0].of

    def _learn(self, statistic: Any) -> None:
        fit = SHAPES[self.covariance_type][1](statistic, ddof=self.ddof, tol=self.tol, max_iter=self.max_iter)
        names = getattr(self, "feature_names_in_", None)
        self.statistic_ = statistic
        self.distribution_ = MultivariateNormal(
            mean=fit.mean, covariance=fit.structure, names=None if names is None else tuple(names)
        )
        self.location_ = self.distribution_.mean
        self.jitter_ = fit.jitter
        self.n_unseen_ = float(statistic.unseen)
        self.n_iter_, self.converged_ = fit.n_iter, fit.converged
        if fit.interrupted:
            raise FitInterrupted

    def _report(self) -> None:
        if not self.converged_:
            warnings.warn(
                f"EM over missing values did not converge in {self.max_iter} iterations; raise max_iter, tol",
                ConvergenceWarning,
                stacklevel=5,
            )
        if bool(namespace_of(self.jitter_).any(self.jitter_ > 0)):
            warnings.warn(
                "the covariance is singular: columns are constant or follow from others, or rows are few; "
                "the smallest variance that makes it regular was added and is in jitter_",
                DegenerateCovarianceWarning,
                stacklevel=5,
            )


@value
class GaussianFit:
    """A fitted Gaussian and how it was found."""

    mean: Array  # (d,)
    structure: Covariance
    jitter: Array  # (d,), what was added to the variances
    n_iter: int = 0
    converged: bool = True
    interrupted: bool = False


def fit_full(statistic: IncompleteMoments, *, ddof: float, tol: float, max_iter: int) -> GaussianFit:
    """Return the mean and covariance that maximise the likelihood, by EM where entries are missing."""
    moments, search = statistic.complete, None
    if moments is None:
        held = on_host(statistic)
        _check_observed(held.columns()[0])
        (moments,), search = fit_incomplete([held], tol=tol, max_iter=max_iter)
    structure, jitter = regular(_over(moments.scatter, moments.weight, ddof), moments.mean)
    found = GaussianFit(mean=moments.mean, structure=structure, jitter=jitter)
    if search is None:
        return found
    found = replace(found, n_iter=search.n_iter, converged=search.converged, interrupted=search.interrupted)
    return beside(found, next(iter(statistic.parts.values())).mean)


def fit_diagonal(statistic: DiagonalMoments, *, ddof: float, **_: Any) -> GaussianFit:
    """Return the mean and variance of each column, over its observed entries."""
    _check_observed(statistic.weight)
    variances = _over(statistic.scatter, statistic.weight, ddof)
    floor, constant = constant_columns(variances, statistic.mean)
    variances = namespace_of(variances).where(constant, floor, variances)
    return GaussianFit(mean=statistic.mean, structure=Diagonal(variances=variances), jitter=floor)


def fit_spherical(statistic: DiagonalMoments, *, ddof: float, **_: Any) -> GaussianFit:
    """Return the mean of each column and one variance for all."""
    _check_observed(statistic.weight)
    xp, dim = namespace_of(statistic.mean), statistic.dim
    variance = _over(xp.sum(statistic.scatter), xp.sum(statistic.weight), ddof * dim)
    size = xp.sqrt(xp.sum(statistic.mean**2) / dim)
    floor, constant = constant_columns(variance[None], size[None])
    variance = xp.where(constant, floor, variance[None])[0]
    jitter = floor[0] + xp.zeros_like(statistic.mean)
    return GaussianFit(mean=statistic.mean, structure=Isotropic(variance=variance, dim=dim), jitter=jitter)


#: The statistic that each shape of covariance needs, and how it is fitted.
SHAPES: dict[str, tuple[Any, Callable[..., GaussianFit]]] = {
    "full": (IncompleteMoments, fit_full),
    "diag": (DiagonalMoments, fit_diagonal),
    "spherical": (DiagonalMoments, fit_spherical),
}


def _over(scatter: Array, weight: Array, ddof: float) -> Array:
    """Return scatter / (weight - ddof); a single row has no scatter, and no covariance yet."""
    xp = namespace_of(scatter)
    dof = weight - ddof
    if bool(xp.any(dof <= 0)) and bool(xp.any(scatter != 0)):
        raise NotYetDetermined(f"ddof={ddof} needs a total weight above it, got {float(xp.min(weight)):g}")
    return scatter / xp.where(dof > 0, dof, xp.ones_like(dof))


def _check_observed(weight: Array) -> None:
    if not bool(namespace_of(weight).all(weight > 0)):
        empty = [j for j in range(weight.shape[0]) if not bool(weight[j] > 0)]
        raise NotYetDetermined(f"X has no observed value in the columns {empty}")
