"""Gaussian mixtures by variational Bayes."""

import warnings
from typing import Any

import numpy as np

from tractable.arrays.devices import beside, on_host
from tractable.base import DegenerateCovarianceWarning, Rows, check_choice
from tractable.covariance.shapes import collapsed_components, variance_floor
from tractable.distributions import Mixture
from tractable.mixture.bayesian_gaussian.gibbs import mixture_sampler
from tractable.mixture.bayesian_gaussian.model import (
    MixturePosterior,
    VariationalParameters,
    posterior,
    predictive,
    prior_attributes,
    prior_of,
)
from tractable.mixture.bayesian_gaussian.steps import BayesianGaussianProblem
from tractable.mixture.gaussian.estimator import BaseGaussianMixture
from tractable.mixture.gaussian.model import standardize
from tractable.sampling import PosteriorSampler
from tractable.value import replace

PRIOR_TYPES = ("dirichlet_process", "dirichlet_distribution")


class _NotOfMaximumLikelihood:
    """A criterion that a model has not: absent to `hasattr`, and an error that names what there is."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        raise AttributeError(
            f"{owner.__name__} has no {self.name!r}, a criterion of maximum likelihood: compare lower_bound_"
        )


class BayesianGaussianMixture(BaseGaussianMixture):
    """A Gaussian mixture fitted by variational Bayes, which also determines the number of components.

    Bishop, section 10.2: x | k ~ N(μ_k, Λ_k⁻¹) with π ~ Dir(α₀) or a Dirichlet process, and (μ_k, Λ_k) ~
    N(μ | m₀, (β₀Λ)⁻¹) W(Λ | ν₀, W₀). The posterior is sought among q(z) q(π) Π_k q(μ_k, Λ_k), where it has
    the same families, by raising a lower bound of log p(X) in turns: responsibilities from expected log
    densities, then α_k = α₀ + N_k, β_k = β₀ + N_k, ν_k = ν₀ + N_k and so on. Components that the rows do not
    need lose all responsibility, and return to the prior. No component can collapse on a few rows. Where all
    rows lie in a plane (constant columns, or columns that follow from others), so does the default
    `covariance_prior`, and `reg_covar` alone keeps covariances regular: a warning says so.

    Rows may have weights, missing entries (NaN; they join z in q, so the bound holds), and may be in files
    and streams, of which every iteration is a pass.

    Parameters
    ----------
    n_components : int
        The largest number of components.
    covariance_type : {"full", "tied", "diag", "spherical"}
        Each component its own precision matrix, one for all, a diagonal, or one number. Columns of "diag"
        have precisions ~ Gamma(ν/2, c/2), "spherical" components Gamma(dν/2, dc/2).
    tol : float
        The search ends when an iteration raises the bound, divided by the weight of the rows, by less.
    reg_covar : float, optional
        Added to the diagonal of the covariances, as if every row were a Gaussian with this variance; it
        lowers the bound a little and regularises constant columns. When not given, 1e-6 of each column's
        variance.
    max_iter : int
        Largest number of iterations of one search.
    n_init : int
        Searches from different starts; the one of the highest bound is kept.
    init_params : {"kmeans", "k-means++", "random_from_data", "random"}
        Where a search begins, as in :class:`tractable.GaussianMixture`.
    weight_concentration_prior_type : {"dirichlet_process", "dirichlet_distribution"}
        Whether weights break a stick, v_k ~ Beta(1, α₀) and π_k = v_k Π_{j<k} (1 - v_j), so that there are
        infinitely many components of which rows may have the first `n_components`; or are Dir(α₀).
    weight_concentration_prior : float, optional
        α₀; the smaller, the fewer components. 1 / n_components when not given.
    mean_precision_prior : float, optional
        β₀, how many rows the prior mean counts for; 1 when not given.
    mean_prior : array of shape (n_features,), optional
        m₀; the mean of the rows when not given.
    degrees_of_freedom_prior : float, optional
        ν₀, how many rows the prior covariance counts for; above n_features - 1 for matrices. n_features when
        not given.
    covariance_prior : array or float, optional
        W₀⁻¹, in the shape of one component's covariance. When not given, that of the rows (with N - 1, plus
        `reg_covar`); of the columns by themselves where entries are missing.
    random_state : None, int, RandomState or Generator
        Source of randomness; with a seed the result is repeatable.
    warm_start : bool
        Begin at the earlier fit.

    Attributes
    ----------
    distribution_ : Mixture
        Normals with the expected weights, means, and inverses of the expected precisions, to which
        `score_samples`, `predict_proba` and `sample` refer; it conditions and marginalises.
    predictive_ : Mixture
        The density of a new row with the parameters integrated out, of Student-t components (for "diag",
        products of Student-t columns). Under a Dirichlet process the weight of components that no row has is
        left out. A component without rows has the heavy tails of its prior: with the default
        `degrees_of_freedom_prior` neither a mean nor a variance.
    posterior_ : MixturePosterior
        The factors of q: `weights`, a Dirichlet or the sticks' Betas, and `components`, NormalWisharts (or
        NormalGammas of columns).
    weights_ : array of shape (n_components,)
        E π_k.
    weight_concentration_ : array of shape (n_components,), or a pair of such, of the sticks
        Parameters of q(π): of the Dirichlet, or the two parameters of the Betas of the stick-breaking
        weights.
    means_, mean_precision_, degrees_of_freedom_ : arrays
        m, β and ν; `degrees_of_freedom_` is one number if tied.
    covariances_, precisions_, precisions_cholesky_ : arrays
        (ν_k W_k)⁻¹, its inverse, and the upper factors of that.
    weight_concentration_prior_, mean_precision_prior_ : float
        α₀ and β₀ of the prior that was used, with defaults filled in.
    mean_prior_, degrees_of_freedom_prior_, covariance_prior_ : array, float and array
        m₀, ν₀ and W₀⁻¹ of the prior that was used, with defaults filled in.
    n_active_ : int
        How many components have at least one row's worth of responsibility.
    lower_bound_ : float
        The bound of log p(X), all its terms, divided by the weight of the rows. It compares models of the
        same rows, whatever their `n_components`, `covariance_type` and priors.
    objective_trace_ : array of shape (n_iter_ + 1,)
        The bound at the start of the best search and after each iteration; never falling.
    lower_bounds_ : array of shape (n_iter_ + 1,)
        `objective_trace_` under scikit-learn's name.
    converged_, n_iter_, n_parameters_, n_unseen_, n_features_in_, feature_names_in_
        As in :class:`tractable.GaussianMixture`.

    Notes
    -----
    scikit-learn's estimator of this name has the same updates for "full". For "diag" and "spherical" it takes
    the expected log determinant of a Wishart matrix, and for "tied" it counts N / K rows; these are not the
    expectations of any q, and there the fits differ. Its `score_samples` is log Σ_k exp E log p(x, k), the
    log of no density.
    It has no `aic`, `bic` or `icl`, which count the parameters of a maximum likelihood fit: the prior removes
    components that are not needed, and `lower_bound_` compares fits.

    Examples
    --------
    >>> import tractable
    >>> X = tractable.datasets.load("old_faithful").frame.to_numpy()
    >>> model = tractable.BayesianGaussianMixture(6, random_state=0).fit(X)
    >>> model.n_active_, model.weights_.round(2).tolist()
    (2, [0.64, 0.36, 0.0, 0.0, 0.0, 0.0])
    """

    _covariance_types = ("full", "tied", "diag", "spherical")
    aic = bic = icl = _NotOfMaximumLikelihood()

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-6,
        reg_covar: float | None = None,
        max_iter: int = 1000,
        n_init: int = 1,
        init_params: str = "kmeans",
        weight_concentration_prior_type: str = "dirichlet_process",
        weight_concentration_prior: float | None = None,
        mean_precision_prior: float | None = None,
        mean_prior: Any = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
    ) -> None:
        super().__init__(n_components, tol, max_iter, n_init, warm_start, random_state)
        self.covariance_type = covariance_type
        self.reg_covar = reg_covar
        self.init_params = init_params
        self.weight_concentration_prior_type = weight_concentration_prior_type
        self.weight_concentration_prior = weight_concentration_prior
        self.mean_precision_prior = mean_precision_prior
        self.mean_prior = mean_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior

    @property
    def posterior_(self) -> MixturePosterior:
        """The factors of q, as distributions."""
        means, structure = on_host((self.means_, self._structure()))
        return beside(posterior(self._params_, means, structure), self.means_)

    @property
    def predictive_(self) -> Mixture:
        """The density of a new row with the parameters integrated out."""
        means, structure = on_host((self.means_, self._structure()))
        return beside(predictive(self._params_, means, structure, self._names()), self.means_)

    def _posterior_sampler(self, X: Any, y: Any, sample_weight: Any) -> PosteriorSampler:
        """Return how weights, means and covariances are sampled: see `tractable.sample_posterior`."""
        held = self._validate_rows(X, None, sample_weight, reset=False).source.collect()
        rows = np.asarray(held.X, dtype=np.float64)
        if np.any(np.isnan(rows)):
            raise ValueError("X must have no missing entries for the mixture to be sampled")
        weights = np.asarray(held.row_weights, dtype=np.float64)
        return mixture_sampler(self, self._standardizer_.transform(rows), weights)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("weight_concentration_prior_type", self.weight_concentration_prior_type, PRIOR_TYPES)

    def _warn_fitted(self) -> None:
        self._warn_constant()
        varies, floor = self._standardizer_.varies, variance_floor(self.reg_covar, self._standardizer_)
        singular = collapsed_components(np.ones(self.n_components), self._params_.structure, floor, varies)
        if self.reg_covar is None and np.any(singular):
            warnings.warn(
                "covariances are singular but for the default of reg_covar: columns of X follow from others, "
                "or rows are few, and rows in which they do not follow have a density of nearly 0; leave out "
                "columns, or give covariance_prior, reg_covar or another covariance_type",
                DegenerateCovarianceWarning,
                stacklevel=5,
            )

    def _em_problem(self, rows: Rows | None, *, fitted: bool) -> BayesianGaussianProblem:
        source, summary, standardizer = self._standardized(rows, fitted=fitted)
        floor = variance_floor(self.reg_covar, standardizer)
        if fitted or summary is None:
            prior = self._prior_
        else:
            prior = prior_of(self, source, summary, standardizer, floor)
        return BayesianGaussianProblem(
            source=source,
            summary=summary,
            standardizer=standardizer,
            shape=self._shape(),
            floor=floor,
            n_components=self.n_components,
            init_params=self.init_params,
            mixture_prior=prior,
        )

    def _fitted_params(self, problem: BayesianGaussianProblem) -> VariationalParameters:
        earlier, prior = self._params_, problem.mixture_prior
        same = earlier.means.shape == (self.n_components, len(prior.mean))
        sticks = earlier.concentration.ndim == 2
        if not (same and sticks == prior.sticks and problem.shape.matches(earlier.structure)):
            raise ValueError(
                "warm_start needs n_components, covariance_type and weight_concentration_prior_type as they "
                "were before"
            )
        if problem.standardizer is self._standardizer_:
            return earlier  # without rounding on the way out and back
        found = standardize(self.weights_, self.means_, self._structure(), problem.standardizer)
        return replace(earlier, means=found.means, structure=found.structure)

    def _set_fitted(self, params: VariationalParameters, problem: BayesianGaussianProblem) -> None:
        self._set_components(params, problem)
        prior = self._prior_ = problem.mixture_prior
        concentration = params.concentration
        self.weight_concentration_ = (concentration[0], concentration[1]) if prior.sticks else concentration
        self.mean_precision_ = params.strength
        self.degrees_of_freedom_ = float(params.dof[0]) if self._shape().shared else params.dof
        for name, given in prior_attributes(prior, problem.standardizer, self.covariance_type).items():
            setattr(self, name, given)
        self.n_active_ = int(np.sum(params.strength - prior.strength >= 1.0))
