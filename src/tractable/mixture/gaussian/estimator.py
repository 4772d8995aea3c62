"""Gaussian mixtures."""

import warnings
from typing import Any

import numpy as np

from tractable.base import ModelTags, Rows, check_choice, check_number
from tractable.covariance.shapes import COVARIANCE_TYPES, Shape, collapsed, shape_of
from tractable.distributions import Mixture, MultivariateNormal
from tractable.mixture.base import EMMixture, StepwiseMixin
from tractable.mixture.gaussian.initial import (
    INIT_PARAMS,
    as_covariance_prior,
    as_floor,
    as_start,
    first_rows,
    first_shares,
    given_start,
    in_units,
    out_of_units,
)
from tractable.mixture.gaussian.model import CovarianceAttributes, GaussianParameters, GaussianSums
from tractable.mixture.gaussian.steps import GaussianSteps
from tractable.mixture.units import Units, seen_in, survey

__all__ = ["CollapsedComponentWarning", "GaussianMixture"]


class CollapsedComponentWarning(UserWarning):
    """A component has shrunk on a few points, a line or a plane, or has lost all its points."""


class GaussianMixture(CovarianceAttributes, StepwiseMixin, EMMixture):
    """A density of several Gaussians, p(x) = Σ_k π_k N(x | μ_k, Σ_k), fitted by EM.

    Bishop, section 9.2. Beyond the usual: weights of rows, missing entries (NaN; marginalised exactly in both
    steps, not imputed), rows in files and streams (every iteration is a pass; :meth:`partial_fit` takes them
    once and is approximate), and a fitted `distribution_` that conditions and marginalises. The search runs
    on columns of mean 0 and variance 1, so neither units nor origin change its answer.

    Parameters
    ----------
    n_components : int
    covariance_type : {"full", "tied", "diag", "spherical", "low_rank"}
        Each component its own matrix, one matrix for all, a diagonal, one variance, or factors plus a
        diagonal (a mixture of factor analysers, Σ_k = F_k F_kᵀ + D_k).
    rank : int
        Number of factors, of "low_rank".
    tol : float
        EM ends when an iteration raises the mean log likelihood of a row by less.
    reg_covar : float, optional
        Added to the variances of every component. When not given, 1e-6 of each column's variance. Both steps
        climb the likelihood of rows that are clouds of this variance.
    covariance_prior : {"data"} or array of shape (n_features, n_features), optional
        The scale Ψ of an inverse Wishart prior on every covariance, which keeps components from collapsing:
        Σ_k = (S_k + Ψ) / (N_k + ν + d + 1). "data" is the columns' variances over K^(2/d), after Fraley and
        Raftery (2007).
    degrees_of_freedom_prior : float, optional
        ν; d + 2 when not given.
    max_iter : int
    n_init : int
        Searches from different starts; the best is kept. One in which a component collapsed wins only where
        all do.
    init_params : {"kmeans", "k-means++", "random_from_data", "random"}
        Where a search begins: at k-means clusters, at the rows nearest to k-means++ or random centres, or at
        random responsibilities. It looks at 16,384 rows at most.
    weights_init, means_init, precisions_init : arrays, optional
        Parts of the start that are given, in the shapes of the attributes.
    warm_start : bool
        Begin at the earlier fit.
    random_state : None, int, RandomState or Generator

    Attributes
    ----------
    distribution_ : Mixture
        It conditions, marginalises, samples and finds modes, by column name where it has names.
    weights_ : array of shape (n_components,)
    means_ : array of shape (n_components, n_features)
    covariances_ : array
        Matrices (n_components, n_features, n_features); one matrix if tied, (n_components, n_features) if
        diag, (n_components,) if spherical.
    precisions_, precisions_cholesky_ : arrays, likewise
    converged_ : bool
    n_iter_ : int
    lower_bound_ : float
        The penalised log likelihood of a row, on average, at the end of the best search.
    lower_bounds_ : list of float
        At its start and after each iteration; never falling.
    n_parameters_ : int
    collapsed_ : array of bool, shape (n_components,)
        Which components have shrunk to what `reg_covar` holds them at, or have lost all their points. A
        component without points keeps its place and has weight zero.
    n_unseen_ : float
        Weight of the rows in which every entry was missing. They change nothing.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    Examples
    --------
    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0.0, 1.0, (300, 2)), rng.normal([6.0, 3.0], 1.0, (100, 2))])
    >>> X[::7, 1] = np.nan
    >>> model = tractable.GaussianMixture(2, random_state=0).fit(X)
    >>> model.weights_.round(2), model.means_.round(0) + 0.0
    (array([0.75, 0.25]), array([[0., 0.],
           [6., 3.]]))

    The fitted density conditions: what is the second column where the first is 6?

    >>> model.condition([0], [6.0]).mean.round(1)
    array([3.])
    """

    model_tags = ModelTags(
        kind="generative", parametric=True, streaming="exact over several passes", missing_values=True
    )

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        rank: int = 1,
        tol: float = 1e-4,
        reg_covar: float | None = None,
        covariance_prior: Any = None,
        degrees_of_freedom_prior: float | None = None,
        max_iter: int = 500,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.rank = rank
        self.tol = tol
        self.reg_covar = reg_covar
        self.covariance_prior = covariance_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.warm_start = warm_start
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("covariance_type", self.covariance_type, COVARIANCE_TYPES)
        check_choice("init_params", self.init_params, INIT_PARAMS)
        check_number("rank", self.rank, least=1, whole=True)
        if self.reg_covar is not None:
            check_number("reg_covar", self.reg_covar, least=0.0)

    def _survey(self, rows: Rows) -> Units:
        return survey(rows, common=self._shape().round)

    def _shape(self) -> Shape:
        return shape_of(self.covariance_type, min(self.rank, self.n_features_in_))

    def _problem(self, rows: Rows, units: Units) -> "_GaussianProblem":
        return _GaussianProblem(self, rows, units)

    def _look_again(self, rows: Rows) -> Units:
        return seen_in(rows, self.units_)

    def _restart(self, units: Units) -> GaussianParameters:
        if not self._is_like(units):
            raise ValueError(
                "n_components, covariance_type, rank and columns must be as they were in the earlier fit, to "
                "go on from it; fit with warm_start=False to begin anew"
            )
        if units is self.units_:
            return self.params_  # nothing is rounded on the way out and back
        return in_units(self.weights_, self.means_, self._structure(), units)

    def _is_like(self, units: Units) -> bool:
        """Whether the earlier fit is of the kind that the parameters now ask for."""
        earlier, d = self.params_, len(units.shift)
        return earlier.means.shape == (self.n_components, d) and self._shape().has(earlier.structure)

    def _require_statistic(self, statistic: Any) -> None:
        wanted = (self.n_components, self.n_features_in_)
        if not (isinstance(statistic, GaussianSums) and statistic.first.shape == wanted):
            raise ValueError(
                "statistic must be what summarize returns, of as many components and columns as the model has"
            )
        if not self._shape().has(statistic.params.structure):
            raise ValueError(f'statistic must be of covariances of type "{self.covariance_type}"')

    def _adopt(self, params: GaussianParameters, units: Units) -> None:
        self.params_ = params
        self.weights_, self.means_, structure = out_of_units(params, units)
        names = getattr(self, "feature_names_in_", None)
        components = MultivariateNormal(
            mean=self.means_, covariance=structure, names=None if names is None else tuple(names)
        )
        self.distribution_ = Mixture(weights=self.weights_, components=components)
        K, d = self.means_.shape
        self.n_parameters_ = K - 1 + K * d + self._shape().n_free(K, d)
        self.n_unseen_ = units.unseen
        self.collapsed_ = collapsed(params, as_floor(self.reg_covar, units), units.varies)

    def _sound(self, params: GaussianParameters, units: Units) -> bool:
        return not bool(np.any(collapsed(params, as_floor(self.reg_covar, units), units.varies)))

    def _complain(self) -> None:
        which = np.flatnonzero(self.collapsed_).tolist()
        if which:
            warnings.warn(
                f"components {which} collapsed: without points, or on points, a line or a plane, "
                'where the likelihood has no bound; use fewer components, covariance_prior="data", a larger '
                "reg_covar or another covariance_type",
                CollapsedComponentWarning,
                stacklevel=5,
            )


class _GaussianProblem(GaussianSteps):
    """The steps, and where they begin."""

    def __init__(self, model: GaussianMixture, rows: Rows, units: Units) -> None:
        super().__init__(
            rows,
            units,
            shape=model._shape(),  # noqa: SLF001
            reg=as_floor(model.reg_covar, units),
            prior=as_covariance_prior(model, units),
        )
        self.model = model

    def start(self, rng: np.random.Generator) -> GaussianParameters:
        """Return parameters to begin at: what the user gave, and the rest from the rows."""
        model, K = self.model, self.model.n_components
        given = given_start(model, self.units)
        if given is not None:
            return given
        z, weights = first_rows(self.rows, self.units, K, rng)
        found = self.begin(z, weights, first_shares(model.init_params, z, weights, K, rng))
        return as_start(model, found, self.units)
