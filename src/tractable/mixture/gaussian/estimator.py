"""Gaussian mixtures."""

from typing import Any

import numpy as np

from tractable.arrays import Array
from tractable.arrays.namespace import namespace_of
from tractable.base import (
    ModelTags,
    Rows,
    all_or_nothing,
    check_choice,
    check_number,
    check_values,
)
from tractable.covariance import Covariance, Diagonal, Full, Isotropic, LowRankPlusDiagonal
from tractable.covariance.diagonal import Uncorrelated
from tractable.covariance.shapes import (
    SHAPES,
    CovarianceShape,
    collapsed_components,
    compact_form,
    rounding_columns,
    scale_columns,
    shape_of,
    variance_floor,
)
from tractable.data.dispatch import without_uncounted_missing
from tractable.distributions import Mixture, MultivariateNormal
from tractable.engines import fold
from tractable.engines.kmeans import INIT_PARAMS
from tractable.mixture.base import EMMixture, standardized_prior
from tractable.mixture.gaussian.model import (
    GaussianParameters,
    GaussianSums,
    destandardize,
    standardize,
)
from tractable.mixture.gaussian.steps import GaussianProblem
from tractable.statistics import ColumnSummary, Standardizer

#: In stepwise EM the statistic of batch t has the weight (t + 2)^-POWER: averages forget, and converge.
POWER = 0.7


class BaseGaussianMixture(EMMixture):
    """What mixtures of Gaussians, by maximum likelihood and by variational Bayes, have in common."""

    model_tags = ModelTags(
        kind="generative", parametric=True, streaming="exact over several passes", missing_values=True
    )
    _learns_on_host = True
    covariance_type: str
    init_params: str
    _covariance_types: tuple[str, ...] = tuple(SHAPES)
    _params_: Any
    _standardizer_: Standardizer

    @property
    def covariances_(self) -> Array:
        """Covariances of the components, in the shape of `covariance_type`."""
        structure = self._structure()
        return compact_form(structure, structure.dense())

    @property
    def precisions_(self) -> Array:
        """Inverses of the covariances."""
        structure = self._structure()
        return compact_form(structure, structure.precision())

    @property
    def precisions_cholesky_(self) -> Array:
        """Upper factors P of the inverses, Σ⁻¹ = P Pᵀ; square roots where they are diagonal."""
        xp = namespace_of(self.means_)
        if issubclass(self._shape().structure, Uncorrelated):
            return xp.sqrt(self.precisions_)
        return xp.matrix_transpose(xp.linalg.inv(xp.linalg.cholesky(self.covariances_)))

    @property
    def lower_bounds_(self) -> np.ndarray:
        """The same as `objective_trace_`, under scikit-learn's name."""
        return self.objective_trace_

    def _structure(self) -> Covariance:
        found: Covariance = self._density().components.structure
        return found[0] if self._shape().shared and found.batch_shape else found

    def _shape(self) -> CovarianceShape:
        return shape_of(self.covariance_type)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("covariance_type", self.covariance_type, self._covariance_types)
        check_choice("init_params", self.init_params, INIT_PARAMS)

    def _check_statistic(self, statistic: Any) -> None:
        wanted = (self.n_components, self.n_features_in_)
        if not (isinstance(statistic, GaussianSums) and statistic.first.shape == wanted):
            raise ValueError(
                "statistic must be what summarize returns, of as many components and columns as the model has"
            )
        if not self._shape().matches(statistic.params.structure):
            raise ValueError(f'statistic must be of covariances of type "{self.covariance_type}"')

    def _standardized(
        self, rows: Rows | None, *, fitted: bool
    ) -> tuple[Any, ColumnSummary | None, Standardizer]:
        """Return the rows as a source, their summary, and the standardizer of the search."""
        if rows is None:
            return None, None, self._standardizer_
        source = without_uncounted_missing(rows.source)
        summary = fold(ColumnSummary.of, source)
        if fitted:
            return source, summary, self._standardizer_
        return source, summary, summary.standardizer(common=self._shape().common_scale)

    def _rounding_columns(self) -> np.ndarray:
        return rounding_columns(self._params_.structure.diagonal, self._standardizer_.varies)

    def _set_components(self, params: GaussianParameters, problem: GaussianProblem) -> None:
        """Set what the components of both models have."""
        self._params_, self._standardizer_ = params, problem.standardizer
        self.weights_, self.means_, structure = destandardize(params, problem.standardizer)
        components = MultivariateNormal(mean=self.means_, covariance=structure, names=self._names())
        self.distribution_ = Mixture(weights=self.weights_, components=components)
        K, d = self.means_.shape
        self.n_parameters_ = K - 1 + K * d + self._shape().n_free(K, d)
        if not hasattr(self, "n_unseen_") and problem.summary is not None:
            self.n_unseen_ = problem.summary.unseen


class GaussianMixture(BaseGaussianMixture):
    """Gaussian mixture density, p(x) = Σ_k π_k N(x | μ_k, Σ_k), fitted by EM.

    Bishop, section 9.2. Supports weights of rows, missing entries (NaN; marginalised exactly in both
    steps, not imputed), rows in files and streams (every iteration is a pass; :meth:`partial_fit` takes them
    once and is approximate), and a fitted `distribution_` that conditions and marginalises. The search runs
    on columns of mean 0 and variance 1, so neither units nor origin change its answer.

    Parameters
    ----------
    n_components : int
        Number of components K.
    covariance_type : {"full", "tied", "diag", "spherical", "low_rank"}, or one of mclust's fourteen names
        Each component its own matrix, one matrix for all, a diagonal, one variance, or factors plus a
        diagonal (a mixture of factor analysers, Σ_k = F_k F_kᵀ + D_k). "EII", "VII", "EEI", "VEI", "EVI",
        "VVI", "EEE", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV" and "VVV" say of volume, shape and orientation
        in Σ_k = λ_k D_k A_k D_kᵀ whether each is equal (E), varies (V) or is the identity (I).
    rank : int
        Number of factors of "low_rank".
    tol : float
        EM ends when an iteration raises the mean log likelihood of a row by less.
    reg_covar : float, optional
        Added to the variances of every component. When not given, 1e-6 of each column's variance. Both steps
        raise the likelihood penalised by -½ reg_covar tr Σ_k⁻¹ in the log density of each component.
    covariance_prior : {"data"} or array of shape (n_features, n_features), optional
        The scale Ψ of an inverse Wishart prior on every covariance, which keeps components from collapsing:
        Σ_k = (S_k + Ψ) / (N_k + ν + d + 1). "data" is the columns' variances over K^(2/d), after Fraley and
        Raftery (2007).
    degrees_of_freedom_prior : float, optional
        ν; d + 2 when not given.
    max_iter : int
        Largest number of iterations of one search.
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
        Source of randomness; with a seed the result is repeatable.

    Attributes
    ----------
    distribution_ : Mixture
        It conditions, marginalises, samples and finds modes, by column name where it has names.
    weights_ : array of shape (n_components,)
        Mixing weights π.
    means_ : array of shape (n_components, n_features)
        μ.
    covariances_ : array
        Σ: matrices (n_components, n_features, n_features); one matrix if tied, (n_components, n_features) if
        diag, (n_components,) if spherical.
    precisions_, precisions_cholesky_ : arrays
        Their inverses, and the upper factors P of these, Σ⁻¹ = P Pᵀ, likewise.
    converged_ : bool
        Whether the best search ended by `tol`.
    n_iter_ : int
        Its number of iterations.
    lower_bound_ : float
        The penalised log-likelihood of a row, on average, at its end.
    objective_trace_ : array of shape (n_iter_ + 1,)
        The same at its start and after each iteration; never falling.
    lower_bounds_ : array of shape (n_iter_ + 1,)
        `objective_trace_` under scikit-learn's name.
    n_parameters_ : int
        Number of free parameters, for `aic` and `bic`.
    collapsed_ : array of bool, shape (n_components,)
        Which components have shrunk to what `reg_covar` holds them at, or have lost all their points. A
        component without points keeps its position and has weight zero.
    n_unseen_ : float
        Weight of the rows in which every entry was missing. They change nothing.
    statistic_ : GaussianSums
        With `partial_fit`: the running average of the expected statistics of a row.
    n_batches_, weight_seen_ : int and float
        With `partial_fit`: number of batches, and their weight.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

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

    _collapse = (
        "without points, or on points, a line or a plane, where the likelihood has no bound; use fewer "
        'components, covariance_prior="data", a larger reg_covar or another covariance_type'
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
        super().__init__(n_components, tol, max_iter, n_init, warm_start, random_state)
        self.covariance_type = covariance_type
        self.rank = rank
        self.reg_covar = reg_covar
        self.covariance_prior = covariance_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init

    @all_or_nothing(afresh=False)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn from a batch of rows that will not be seen again, by stepwise EM; approximate.

        The first batch is fitted by EM. From then on (Cappé and Moulines 2009) expected statistics of a row
        follow s ← (1 - ρ) s + ρ s_batch with ρ = (t + 2)^-0.7, and each batch ends with an M-step. Give
        batches of hundreds of rows, in random order. For exact fits of data larger than memory give
        :meth:`fit` a source.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; y is ignored.
        """
        self._check_parameters()
        if not hasattr(self, "distribution_"):
            self.fit(X, sample_weight=sample_weight)
            self.n_batches_, self.weight_seen_ = 1, self._weight_
            return self
        batches = getattr(self, "n_batches_", 1)
        before = getattr(self, "weight_seen_", self._weight_)
        rows = self._validate_rows(X, y, sample_weight, reset=False)
        problem = self._em_problem(rows, fitted=True)
        params = self._fitted_params(problem)
        batch = problem.data.reduce(problem.expect(params), label="E-step")
        weight = float(batch.weight.sum())
        if weight > 0.0:
            rate, seen = (batches + 2.0) ** -POWER, before + weight
            if not hasattr(self, "statistic_"):
                self.statistic_ = problem.implied(params, before).discount(1.0 / before)
            self.statistic_ = self.statistic_.discount(1.0 - rate) + batch.discount(rate / weight)
            self._set_fitted(problem.maximize(self.statistic_.discount(seen)), problem)
            self._forget(*self._SEARCH_ATTRIBUTES)
            self.lower_bound_ = batch.objective / weight
            self.weight_seen_ = seen
        self.n_batches_ = batches + 1
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("rank", self.rank, least=1, whole=True)

    def _shape(self) -> CovarianceShape:
        return shape_of(self.covariance_type, min(self.rank, self.n_features_in_))

    def _em_problem(self, rows: Rows | None, *, fitted: bool) -> GaussianProblem:
        source, summary, standardizer = self._standardized(rows, fitted=fitted)
        return GaussianProblem(
            source=source,
            summary=summary,
            standardizer=standardizer,
            shape=self._shape(),
            floor=variance_floor(self.reg_covar, standardizer),
            prior=standardized_prior(
                self.covariance_prior, self.degrees_of_freedom_prior, standardizer.scale, self.n_components
            ),
            n_components=self.n_components,
            init_params=self.init_params,
            given=self._given_parameters(standardizer),
        )

    def _fitted_params(self, problem: GaussianProblem) -> GaussianParameters:
        same = self.means_.shape == (self.n_components, len(problem.standardizer.shift))
        if not (same and problem.shape.matches(self._params_.structure)):
            raise ValueError(
                "n_components, covariance_type, rank and columns must be as they were in the earlier fit, to "
                "go on from it; fit with warm_start=False to begin anew"
            )
        if problem.standardizer is self._standardizer_:
            return self._params_  # without rounding on the way out and back
        return standardize(self.weights_, self.means_, self._structure(), problem.standardizer)

    def _set_fitted(self, params: GaussianParameters, problem: GaussianProblem) -> None:
        self._set_components(params, problem)
        self.collapsed_ = self._collapsed(params, problem)
        if not hasattr(self, "_weight_"):
            self._weight_ = problem.total

    def _collapsed(self, params: GaussianParameters, problem: GaussianProblem) -> np.ndarray:
        varies = problem.standardizer.varies
        return collapsed_components(params.weights, params.structure, problem.floor, varies)

    def _is_regular(self, params: GaussianParameters, problem: GaussianProblem) -> bool:
        return not bool(np.any(self._collapsed(params, problem)))

    def _given_parameters(self, standardizer: Standardizer) -> dict[str, Any]:
        """Return the initial parameters that the user gave, checked and standardized."""
        K, d = self.n_components, len(standardizer.scale)
        given: dict[str, Any] = {}
        if self.weights_init is not None:
            given["weights"] = weights = check_values("weights_init", self.weights_init, (K,))
            if np.any(weights < 0) or abs(float(weights.sum()) - 1.0) > 1e-6:
                raise ValueError(
                    f"weights_init must be probabilities that sum to one, got {weights.tolist()}"
                )
        if self.means_init is not None:
            given["means"] = standardizer.transform(check_values("means_init", self.means_init, (K, d)))
        if self.precisions_init is not None:
            structure = _from_precisions(self.precisions_init, self.covariance_type, K, d)
            given["structure"] = scale_columns(structure, standardizer.scale)
        return given


def _from_precisions(precisions: Any, covariance_type: str, K: int, d: int) -> Covariance:
    """Return `precisions_init` as a structure."""
    shape = shape_of(covariance_type)
    if issubclass(shape.structure, LowRankPlusDiagonal):
        raise ValueError(f'precisions_init has no meaning for covariance_type="{covariance_type}"')
    matrices = issubclass(shape.structure, Full)
    one = (d, d) if matrices else (d,) if issubclass(shape.structure, Diagonal) else ()
    name = "precisions_init"
    found = check_values(name, precisions, one if shape.shared else (K, *one), definite=matrices)
    if matrices:
        return Full.from_precision(found)
    if not np.all(found > 0):
        raise ValueError(f"{name} must be positive")
    variances = 1.0 / found
    return Diagonal(variances=variances) if found.ndim == 2 else Isotropic(variance=variances, dim=d)
