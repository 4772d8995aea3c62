"""Probabilistic principal component analysis, and factor analysis."""

import warnings
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from tractable.arrays.devices import beside
from tractable.arrays.namespace import namespace_of
from tractable.arrays.random import as_generator, either_seed_name
from tractable.arrays.svd import orientation
from tractable.base import (
    CriteriaMixin,
    DegenerateCovarianceWarning,
    DensityMixin,
    EMEstimator,
    ModelTags,
    Rows,
    check_answerable,
    check_choice,
    check_number,
)
from tractable.base.by_blocks import by_blocks, keeps_float32, of_held_rows
from tractable.base.options import SklearnOptions
from tractable.base.validation import check_query, check_scores
from tractable.covariance.shapes import scale_columns
from tractable.data.dispatch import without_uncounted_missing
from tractable.decomposition.probabilistic.steps import (
    CompleteSums,
    FactorParameters,
    FactorProblem,
    FactorSums,
)
from tractable.decomposition.spectrum import bic_scores, log_evidences, n_parameters
from tractable.distributions import MultivariateNormal
from tractable.engines import EMResult, fold
from tractable.engines.principal_components import components_of
from tractable.primitives.factors import IncompleteRows, latent_posterior
from tractable.statistics import ColumnSummary, Standardizer
from tractable.value import replace

#: Directions of ARD whose loadings are below this fraction of the longest have been pruned.
PRUNED = 1e-2


class LatentFactors(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, CriteriaMixin, DensityMixin, EMEstimator
):
    """A Gaussian x = W z + μ + noise with latent z ~ N(0, I): what probabilistic PCA and factors share."""

    model_tags = ModelTags(
        kind="generative", parametric=True, streaming="exact over several passes", missing_values=True
    )
    _learns_on_host = True
    #: Whether the noise has one variance for all columns.
    _isotropic: ClassVar[bool]
    n_init = 1
    random_state = None
    n_components: Any
    mean_: np.ndarray
    loadings_: np.ndarray
    n_components_: int
    n_features_in_: int
    n_parameters_: int

    @by_blocks
    @keeps_float32
    def transform(self, X: Any) -> np.ndarray:
        """Return the posterior means of the latent z of rows, E[z | x], (n_samples, n_components_).

        Of a row with missing entries, given the others; zeros of a row without any.
        """
        return self._posterior(X)[1]

    @keeps_float32
    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return the means of rows with these latent z, W z + μ, (n_samples, n_features)."""
        check_answerable(self)
        return check_scores(X, self.n_components_) @ self.loadings_.T + self.mean_

    @of_held_rows
    def latent_posterior(self, X: Any) -> MultivariateNormal:
        """Return p(z | x) of each row, a batch of normals: N(M⁻¹WᵀD⁻¹(x - μ), M⁻¹), M = I + WᵀD⁻¹W.

        Missing entries are left out of the sums: rows of which more is missing are less certain.
        """
        _, means, covariances = self._posterior(X)
        return MultivariateNormal(mean=means, covariance=covariances)

    @either_seed_name
    @of_held_rows
    def impute(
        self, X: Any, n_draws: int | None = None, *, return_std: bool = False, random_state: Any = None
    ) -> Any:
        """Return the rows with their missing entries replaced by their means given the observed ones.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows; those of a source are read into memory.
        n_draws : int, optional
            When given, a list of so many tables, the missing entries of each row drawn jointly from their
            conditional distribution: multiple imputation, whose spread shows the uncertainty.
        return_std : bool
            Whether standard deviations of the entries are returned too: 0 of those observed.
        random_state : None, int, RandomState or Generator
            Where the randomness of draws comes from.
        """
        x, means, covariances = self._posterior(X)
        xp = namespace_of(x)
        missing = xp.isnan(x)
        if n_draws is not None:
            check_number("n_draws", n_draws, least=1, whole=True)
            rng = as_generator(random_state)
            return [self._drawn(x, means, covariances, rng) for _ in range(n_draws)]
        filled = xp.where(missing, means @ self.loadings_.T + self.mean_, x)
        if not return_std:
            return filled
        w = self.loadings_
        spread = xp.sum((w @ covariances) * w, axis=-1) + self.distribution_.structure.variances
        return filled, xp.where(missing, xp.sqrt(spread), 0.0)

    def get_covariance(self) -> np.ndarray:
        """Return the covariance W Wᵀ + D, (n_features, n_features)."""
        return self._density().covariance

    def get_precision(self) -> np.ndarray:
        """Return its inverse, (n_features, n_features)."""
        return self._density().precision

    def _log_likelihood(self, X: Any, sample_weight: Any) -> tuple[float, float]:
        """See `CriteriaMixin`."""
        rows = self._validate_rows(X, None, sample_weight, reset=False)
        weight = float(fold(ColumnSummary.of, rows.source).moments.total)
        return self.score(X, sample_weight=sample_weight) * weight, weight

    def _posterior(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rows, and the posterior means (n, r) and covariances (n, r, r) of their latent z."""
        check_answerable(self)
        x = check_query(self, X)
        noise = self.distribution_.structure.variances
        rows = IncompleteRows.of(x - self.mean_)
        return x, *latent_posterior(rows, 0.0 * noise, self.loadings_, noise, x.shape[0])

    def _drawn(
        self, x: np.ndarray, means: np.ndarray, covariances: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        xp, shapes = namespace_of(x), (tuple(means.shape), tuple(x.shape))
        latent, rest = beside(tuple(rng.standard_normal(shape) for shape in shapes), x)
        z = means + (xp.linalg.cholesky(covariances) @ latent[:, :, None])[:, :, 0]
        noise = xp.sqrt(self.distribution_.structure.variances) * rest
        return xp.where(xp.isnan(x), z @ self.loadings_.T + self.mean_ + noise, x)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _min_rows(self) -> int:
        return 2

    def _check_statistic(self, statistic: Any) -> None:
        d = self.n_features_in_
        mean = getattr(getattr(statistic, "params", None), "mean", None)
        if not isinstance(statistic, (CompleteSums, FactorSums)) or len(mean) != d:  # type: ignore[arg-type]
            raise ValueError(
                "statistic must be what summarize returns, of as many columns as the model has, got "
                f"{type(statistic).__name__}"
            )

    def _em_problem(self, rows: Rows | None, *, fitted: bool) -> FactorProblem:
        if rows is None:
            return self._problem(None, None, self._standardizer_)
        source = without_uncounted_missing(rows.source)
        summary = fold(ColumnSummary.of, source)
        summary.check_observed(getattr(self, "feature_names_in_", None))
        standardizer = self._standardizer_ if fitted else summary.standardizer(common=self._isotropic)
        return self._problem(source, summary, standardizer)

    def _problem(self, source: Any, summary: Any, standardizer: Standardizer) -> FactorProblem:
        fitted = getattr(self, "n_components_", None)
        given = self.n_components if isinstance(self.n_components, (int, np.integer)) else None
        d = len(standardizer.scale)
        most = max(d - 1, 1) if self._isotropic else d
        rank = int(given or fitted or most)
        if rank > most:
            raise ValueError(
                f"n_components={rank} must be at most {most}, "
                f"{'n_features - 1: the rest is noise' if self._isotropic else 'n_features'}"
            )
        return FactorProblem(
            source=source,
            summary=summary,
            standardizer=standardizer,
            rank=rank,
            isotropic=self._isotropic,
            ard=self.n_components == "ard",
            weight=getattr(self, "_weight_", None) or max(summary.total, 1.0),
        )

    def _fitted_params(self, problem: FactorProblem) -> FactorParameters:
        now, then = problem.standardizer, self._standardizer_
        if now is then:
            return self._params_
        structure: Any = scale_columns(self.distribution_.structure, now.scale)
        return FactorParameters(
            mean=now.transform(self.mean_), loadings=structure.factor, noise=structure.variances
        )

    def _set_fitted(self, params: FactorParameters, problem: FactorProblem) -> None:
        params = self._canonical(params)
        standardizer = problem.standardizer
        self._params_, self._standardizer_ = params, standardizer
        self.n_components_ = params.loadings.shape[1]
        self.mean_ = standardizer.inverse_transform(params.mean)
        structure: Any = scale_columns(params.structure, 1.0 / standardizer.scale)
        self.loadings_ = structure.factor
        names = getattr(self, "feature_names_in_", None)
        self.distribution_ = MultivariateNormal(
            mean=self.mean_, covariance=structure, names=None if names is None else tuple(names)
        )
        self._at_floor_ = bool(np.any((params.noise <= problem.floor) & standardizer.varies))
        self._weight_ = problem.weight
        if problem.summary is not None:
            self.n_unseen_ = problem.summary.unseen
        self._set_model(params, problem)

    @abstractmethod
    def _set_model(self, params: FactorParameters, problem: FactorProblem) -> None:
        """Set what the model has of its own."""

    def _canonical(self, params: FactorParameters) -> FactorParameters:
        """Return the same model with its factors turned: W R has the same W Wᵀ for every rotation R.

        WᵀD⁻¹W is diagonal, the largest first, and the largest loading of each factor positive.
        """
        scale = np.sqrt(params.noise)[:, None]
        u, s, _ = np.linalg.svd(params.loadings / scale, full_matrices=False)
        loadings = scale * u * s
        return replace(params, loadings=loadings * orientation(loadings))

    def _warn_fitted(self) -> None:
        if self._at_floor_:
            warnings.warn(
                "the noise has no variance left: the rows lie in the subspace of the factors, or a column "
                "follows from them; the least variance was kept, and densities are as large as it is "
                "small: use fewer components",
                DegenerateCovarianceWarning,
                stacklevel=5,
            )

    def _not_converged(self, result: EMResult) -> str:
        return f"EM did not converge in {result.n_iter} iterations; raise max_iter or tol"


class ProbabilisticPCA(LatentFactors):
    """Probabilistic principal component analysis: x = W z + μ + ε, z ~ N(0, I), ε ~ N(0, σ²I).

    A density p(x) = N(μ, WWᵀ + σ²I) whose maximum of the likelihood has the principal directions for W
    (Tipping and Bishop 1999; Bishop, section 12.2): W = U (Λ - σ²I)^½ R and σ² the mean of the eigenvalues
    that are left out. Complete rows are fitted by this closed form, in one pass. Missing entries (NaN) are
    marginalised: EM over the latent z maximises the likelihood of what was observed, and `impute` fills in
    what was not, with its uncertainty. Rows may be weighted, streamed and read from files; with missing
    entries every iteration is a pass.

    Parameters
    ----------
    n_components : int, "bic", "evidence", "ard" or None
        Number of latent dimensions, at most n_features - 1. "bic" takes the number of least BIC. "evidence"
        that of the greatest evidence, by Laplace's approximation (Minka 2000), of complete rows. "ard" begins
        with all, and a prior N(0, I/α_i) on each column of W whose α_i is estimated prunes those that are not
        needed (Bishop 1999). None is all n_features - 1.
    tol : float
        EM ends when an iteration raises the mean log likelihood of a row by less.
    max_iter : int
        Largest number of iterations.
    warm_start : bool
        Begin at the earlier fit.

    Attributes
    ----------
    distribution_ : MultivariateNormal
        p(x), with a covariance of low rank plus diagonal; it conditions, marginalises and samples.
    components_ : array of shape (n_components_, n_features)
        The principal directions, orthonormal.
    explained_variance_ : array of shape (n_components_,)
        The variances of x along them, λ_i (maximum likelihood, 1/N).
    loadings_ : array of shape (n_features, n_components_)
        W, with columns along the directions: U (Λ - σ²I)^½, R = I.
    noise_variance_ : float
        σ².
    mean_ : array of shape (n_features,)
        μ.
    n_components_ : int
        Number of latent dimensions.
    order_scores_ : array
        Where the number was chosen by "bic", the BIC of each from 1; by "evidence", the log evidences.
        Infinite where so many leave no variance to the noise: such numbers are not chosen.
    n_parameters_ : int
        Number of free parameters, for `aic` and `bic`.
    lower_bound_, objective_trace_, n_iter_, converged_
        The mean log-likelihood of a row (with "ard" penalised) at the end and in each iteration, their
        number, and whether the last changed it by less than `tol`.
    n_unseen_ : float
        Weight of the rows in which every entry was missing. They change nothing.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    PCA : the directions alone.
    FactorAnalysis : noise of its own for every column.
    GaussianMixture : mixtures of these, ``covariance_type="low_rank"``.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1)) * [1.0, 2.0, 2.0] + 0.1 * rng.normal(size=(200, 3))
    >>> X[::5, 1] = np.nan
    >>> model = tractable.ProbabilisticPCA(1).fit(X)
    >>> model.components_.round(1), round(model.noise_variance_, 3)
    (array([[0.3, 0.7, 0.7]]), 0.01)
    >>> filled, std = model.impute([[1.0, np.nan, 2.0]], return_std=True)
    >>> filled.round(1), std.round(2)
    (array([[1., 2., 2.]]), array([[0.  , 0.14, 0.  ]]))
    """

    _isotropic = True
    components_: np.ndarray

    def __init__(
        self, n_components: Any = None, *, tol: float = 1e-8, max_iter: int = 1000, warm_start: bool = False
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.n_components, str):
            check_choice("n_components", self.n_components, ("bic", "evidence", "ard"))
        elif self.n_components is not None:
            check_number("n_components", self.n_components, least=1, whole=True)

    def _validate_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Rows:
        rows = super()._validate_rows(X, y, sample_weight, reset=reset)
        if reset and self.n_features_in_ < 2:
            raise ValueError("X must have two columns at least: of 1 feature(s) there is no subspace")
        return rows

    def _search(self, problem: FactorProblem, earlier: Any) -> EMResult:
        if self.n_components == "evidence" and not problem.complete:
            raise ValueError('n_components="evidence" is for complete rows; X has missing entries: use "bic"')
        if self.n_components == "ard" and not problem.complete:
            return self._pruned(problem, super()._search(problem, earlier))
        if self.n_components not in ("bic", "evidence"):
            return super()._search(problem, earlier)
        if problem.complete:
            spectrum = components_of(problem.moments)
            variances, n = np.zeros(problem.moments.dim), float(problem.moments.weight)
            variances[: spectrum.n_components] = spectrum.variances()
            score = (
                -bic_scores(variances, n)[1:] if self.n_components == "bic" else log_evidences(variances, n)
            )
            if not np.any(np.isfinite(score)):
                raise ValueError(
                    f'X must vary in every direction for n_components="{self.n_components}": give more rows '
                    "than columns, leave out columns that follow from others, or give a number"
                )
            self.order_scores_ = -score if self.n_components == "bic" else score
            best = int(np.argmax(np.where(np.isfinite(score), score, -np.inf))) + 1
            return super()._search(replace(problem, rank=best), earlier)
        return self._least_bic(problem, earlier)

    def _pruned(self, problem: FactorProblem, found: EMResult) -> EMResult:
        """Leave out the shortest column of W while that raises the objective: a column has two maxima."""
        while not found.interrupted:
            params = self._canonical(found.params)
            lengths = np.sum(params.loadings**2, axis=0)
            if np.sum(lengths > 0.0) < 2:
                break
            shortest = int(np.argmin(np.where(lengths > 0.0, lengths, np.inf)))
            fewer = np.where(np.arange(len(lengths)) == shortest, 0.0, params.loadings)
            tried = self._run_em(problem, replace(params, loadings=fewer))
            if not tried.objective > found.objective:
                break
            found = tried
        return found

    def _least_bic(self, problem: FactorProblem, earlier: Any) -> EMResult:
        """Run EM with 1, 2, … components, until two more do not lower the BIC."""
        found, scores = [], []
        for rank in range(1, problem.rank + 1):
            found.append(super()._search(replace(problem, rank=rank), earlier))
            free = n_parameters(self.n_features_in_, rank)
            scores.append(free * np.log(problem.total) - 2.0 * found[-1].objective)
            if found[-1].interrupted or rank - int(np.argmin(scores)) > 2:
                break
        self.order_scores_ = np.asarray(scores)
        return found[int(np.argmin(scores))]

    def _set_fitted(self, params: FactorParameters, problem: FactorProblem) -> None:
        if problem.ard:
            params = self._canonical(params)
            lengths = np.sqrt(np.sum(params.loadings**2, axis=0))
            kept = max(int(np.sum(lengths > PRUNED * lengths[0])), 1)
            params = replace(params, loadings=params.loadings[:, :kept])
        super()._set_fitted(params, problem)

    def _set_model(self, params: FactorParameters, problem: FactorProblem) -> None:
        self.noise_variance_ = float(self.distribution_.structure.variances[0])
        lengths = np.sqrt(np.sum(self.loadings_**2, axis=0))
        basis = np.linalg.svd(self.loadings_, full_matrices=False)[0]
        basis = basis * orientation(basis)
        some = lengths > 0.0
        self.components_ = np.where(some, self.loadings_ / np.where(some, lengths, 1.0), basis).T
        self.explained_variance_ = lengths**2 + self.noise_variance_
        self.n_parameters_ = int(n_parameters(self.n_features_in_, self.n_components_))


class FactorAnalysis(LatentFactors):
    """Factor analysis: x = W z + μ + ε, z ~ N(0, I), ε ~ N(0, D) with a variance of its own for each column.

    It explains the correlations of the columns by a few latent factors, and leaves each its own noise; the
    units of the columns do not matter, as they do for PCA (Bishop, section 12.2.4). Complete rows are fitted
    from their covariance alone, however many they are; missing entries (NaN) are marginalised by EM over the
    latent z, and filled in by `impute`. Rows may be weighted, streamed and read from files.

    Parameters
    ----------
    n_components : int or None
        Number of factors; with None as many as columns.
    rotation : {"varimax", "quartimax"}, optional
        How factors are turned for reading: so that each has few large loadings (varimax), or each column few
        (quartimax), of columns in units of their standard deviations; the longest factor first. Without it
        WᵀD⁻¹W is diagonal, the largest first.
    tol : float
        The search ends when an iteration raises the mean log likelihood of a row by less.
    max_iter : int
        Largest number of iterations.
    warm_start : bool
        Begin at the earlier fit.

    Attributes
    ----------
    distribution_ : MultivariateNormal
        p(x), with a covariance of low rank plus diagonal; it conditions, marginalises and samples.
    components_ : array of shape (n_components_, n_features)
        The loadings, a factor a row, as scikit-learn has them: Wᵀ.
    loadings_ : array of shape (n_features, n_components_)
        W.
    noise_variance_ : array of shape (n_features,)
        The diagonal of D.
    communalities_ : array of shape (n_features,)
        The fraction of each column's variance that the factors explain.
    mean_ : array of shape (n_features,)
        μ.
    n_components_ : int
        Number of factors.
    n_parameters_ : int
        Number of free parameters, for `aic` and `bic`.
    lower_bound_, objective_trace_, n_iter_, converged_
        The mean log-likelihood of a row at the end and in each iteration, their number, and whether the last
        changed it by less than `tol`.
    n_unseen_ : float
        Weight of the rows in which every entry was missing. They change nothing.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    ProbabilisticPCA : the same noise for all columns.
    GaussianMixture : mixtures of factor analysers, ``covariance_type="low_rank"``.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(500, 1))
    >>> X = z * [1.0, 10.0, -1.0] + rng.normal(size=(500, 3)) * [0.5, 1.0, 2.0]
    >>> model = tractable.FactorAnalysis(1).fit(X)
    >>> model.communalities_.round(1)
    array([0.8, 0.9, 0.2])
    """

    _isotropic = False

    _sklearn_options = SklearnOptions(
        ignored=("svd_method", "iterated_power", "random_state", "noise_variance_init")
    )

    def __init__(
        self,
        n_components: int | None = 1,
        *,
        rotation: str | None = None,
        tol: float = 1e-8,
        max_iter: int = 1000,
        warm_start: bool = False,
    ) -> None:
        self.n_components = n_components
        self.rotation = rotation
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_components is not None:
            check_number("n_components", self.n_components, least=1, whole=True)
        if self.rotation is not None:
            check_choice("rotation", self.rotation, ("varimax", "quartimax"))

    def _canonical(self, params: FactorParameters) -> FactorParameters:
        found = super()._canonical(params)
        if self.rotation is None or found.loadings.shape[1] < 2:
            return found
        gamma = 1.0 if self.rotation == "varimax" else 0.0
        return replace(found, loadings=rotated(found.loadings, gamma))

    def _set_model(self, params: FactorParameters, problem: FactorProblem) -> None:
        self.components_ = self.loadings_.T
        self.noise_variance_ = self.distribution_.structure.variances
        self.communalities_ = np.sum(self.loadings_**2, axis=1) / self.distribution_.structure.diagonal
        self.n_parameters_ = self.n_features_in_ + self.distribution_.structure.n_free


def rotated(loadings: np.ndarray, gamma: float, *, tol: float = 1e-10, max_iter: int = 1000) -> np.ndarray:
    """Return loadings W R with the rotation R that makes the variance of their squares greatest.

    The orthomax criterion Σ_k [Σ_j w_jk⁴ - (γ/d)(Σ_j w_jk²)²], γ = 1 for varimax and 0 for quartimax, by
    Kaiser's rotations of two factors at a time, each by the best angle of all. Order and signs, which the
    criterion leaves free, are fixed: the longest factor first (of equal ones that whose largest loading is
    in the earlier row), and the largest loading of each positive.

    Parameters
    ----------
    loadings : array (d, r)
        W; rows are taken as they are.
    gamma : float
        γ.
    tol : float
        The search ends when no angle of a sweep over all pairs is larger.
    max_iter : int
        Most sweeps.

    Examples
    --------
    >>> simple = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> mixed = simple @ np.array([[0.6, 0.8], [-0.8, 0.6]])
    >>> bool(np.allclose(rotated(mixed, 1.0), simple))
    True
    """
    w = np.array(loadings, dtype=np.float64)
    r = w.shape[1]
    for _ in range(max_iter):
        angles = [_rotate_pair(w, i, j, gamma) for i in range(r) for j in range(i + 1, r)]
        if np.max(np.abs(angles), initial=0.0) < tol:
            break
    lengths, size = np.sum(w**2, axis=0), np.abs(w)
    # Rounding must not decide between equal numbers.
    rank = np.round(lengths / (np.max(lengths, initial=0.0) or 1.0), 8)
    row = np.argmax(size >= (1.0 - 1e-8) * np.max(size, axis=0), axis=0)
    w = w[:, np.lexsort((row, -rank))]
    return w * orientation(w)


def _rotate_pair(w: np.ndarray, i: int, j: int, gamma: float) -> float:
    """Rotate two columns by the angle at which the criterion is greatest (Kaiser 1958); return the angle.

    Of w_i and w_j with u = w_i² - w_j² and v = 2 w_i w_j it is a cosine of 4 (angle - best), and a constant.
    """
    x, y = w[:, i], w[:, j]
    u, v = x**2 - y**2, 2.0 * x * y
    across = 2.0 * (u @ v - gamma / len(w) * u.sum() * v.sum())
    along = u @ u - v @ v - gamma / len(w) * (u.sum() ** 2 - v.sum() ** 2)
    if np.hypot(across, along) <= 1e-12 * np.sum(x**2 + y**2) ** 2:
        return 0.0  # all angles are as good
    angle = 0.25 * float(np.arctan2(across, along))
    w[:, i], w[:, j] = np.cos(angle) * x + np.sin(angle) * y, np.cos(angle) * y - np.sin(angle) * x
    return angle
