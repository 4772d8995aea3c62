"""Principal component analysis."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from tractable.arrays.namespace import Array, device, is_sparse, namespace_of, to_numpy
from tractable.base import (
    DensityMixin,
    ModelTags,
    NotYetDetermined,
    OnePassEstimator,
    all_or_nothing,
    check_answerable,
    check_choice,
    check_columns,
    check_number,
    check_rows,
)
from tractable.base.by_blocks import by_blocks, keeps_float32
from tractable.base.options import SklearnOptions
from tractable.base.validation import check_scores
from tractable.covariance import LowRankPlusDiagonal
from tractable.covariance.shapes import regular
from tractable.data import SparseSource
from tractable.decomposition.spectrum import log_evidences
from tractable.distributions import MultivariateNormal
from tractable.engines.fold import fold
from tractable.engines.principal_components import (
    SOLVERS,
    PrincipalComponents,
    components_of,
    randomized_components,
    sparse_components,
    sparse_scatter,
)
from tractable.primitives.sparse_rows import GRAM_COLUMNS, StandardizedSparse
from tractable.statistics import ScatterFactor


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DensityMixin, OnePassEstimator):
    """Principal component analysis: the directions of greatest variance, Su = λu, and rows along them.

    The subspace of the k largest eigenvalues of the covariance S keeps the most variance, Σ_{i≤k} λ_i, and
    so leaves the least squared error, Σ_{i>k} λ_i on average (Bishop, section 12.1). Exact in one pass: rows
    may be streamed, merged, weighted, and read from files larger than memory. Names and results are
    scikit-learn's; `distribution_`, `partial_fit` by exact statistics, `merge`, weights and `denoise` are
    added.

    X may be a sparse matrix or array of SciPy, and is not made dense: it is centred within products. Up to
    2,000 columns the statistic is that of the products of the columns; of more the leading components are
    found by iteration (Lanczos), `n_components` must be given, and `partial_fit` and `merge` are refused.

    Rows fewer than their columns are kept as they are, and the eigenvectors found from their Gram matrix; the
    covariance of 20,000 columns is never formed. Signs are fixed: the largest entry of each component is
    positive.

    Parameters
    ----------
    n_components : int, float, "mle" or None
        How many directions; in (0, 1), as few as have this fraction of the variance (0.9 is the 90 % rule);
        "mle", the number of greatest evidence (Minka 2000). None is all n_features, or of fewer rows than
        columns all directions in which these vary.
    whiten : bool
        Whether `transform` divides the scores by their standard deviations.
    svd_solver : {"auto", "full", "covariance_eigh", "dual", "arpack", "randomized"}
        "auto" decomposes the smaller of the covariance and the Gram matrix, by a partial eigensolver where
        few components of many columns are wanted. "full" decomposes the rows, or a triangular factor of
        them, and keeps the digits of directions of little variance. "randomized" is approximate, takes
        several passes over the rows, and keeps no statistic for `partial_fit` and `merge`. See
        :func:`tractable.engines.principal_components`.
    ddof : float
        Variances are scatter / (weight - ddof): 1 is scikit-learn's, 0 maximum likelihood, Bishop's.
    random_state : None, int, RandomState or Generator
        For "randomized"; the others are deterministic.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features)
        The directions u_i, orthonormal rows, the greatest variance first. Where the rows have fewer
        directions than were asked for, the last ones have variance 0.
    explained_variance_ : array of shape (n_components_,)
        The variances λ_i along them.
    explained_variance_ratio_ : array of shape (n_components_,)
        Their fractions of the whole variance; zeros where nothing varies.
    singular_values_ : array of shape (n_components_,)
        The singular values of the centred rows, √(λ_i (n - ddof)).
    mean_ : array of shape (n_features,)
        The mean of the rows, which `transform` subtracts.
    noise_variance_ : float
        The mean of the n_features - n_components_ eigenvalues that are left out: σ² of probabilistic PCA, 0
        where none are. (Of fewer rows than columns, scikit-learn divides by fewer.)
    projection_error_ : float
        The mean squared distance of the rows of the fit from the subspace, Σ_{i>k} λ_i (of ``ddof=0``).
    n_components_ : int
        Number of components.
    n_samples_ : float
        Weight of the rows.
    distribution_ : MultivariateNormal
        N(mean, C) with C = Σ_{i≤k} (λ_i - σ²) u_i u_iᵀ + σ²I, the density of probabilistic PCA.
    statistic_ : ScatterFactor
        The sufficient statistic of the rows; not of "randomized".
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    ProbabilisticPCA : the same with a likelihood, missing values and uncertainty.
    KernelPCA : curved directions.
    FisherDiscriminant : directions that separate classes.
    tractable.select_n_components : how many, by several criteria side by side.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[0.0, 0.1], [1.0, 2.0], [2.0, 3.9], [3.0, 6.0]])
    >>> model = tractable.PCA(n_components=1).fit(X)
    >>> model.components_.round(3), model.explained_variance_ratio_.round(4)
    (array([[0.454, 0.891]]), array([0.9999]))
    >>> model.inverse_transform(model.transform(X)).round(1)[1]
    array([1., 2.])

    Half of the rows here and half there make the same model:

    >>> a, b = (tractable.PCA(1).partial_fit(half) for half in (X[:2], X[2:]))
    >>> bool(np.allclose(a.merge(b).components_, model.components_))
    True
    """

    model_tags = ModelTags(kind="generative", parametric=True, streaming="exact in one pass")
    _min_rows = 2
    _takes_sparse = True
    _sparse_methods = ("transform",)

    _sklearn_options = SklearnOptions(
        ignored=("tol", "iterated_power", "n_oversamples", "power_iteration_normalizer", "random_state")
    )

    def __init__(
        self,
        n_components: Any = None,
        *,
        whiten: bool = False,
        svd_solver: str = "auto",
        ddof: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.ddof = ddof
        self.random_state = random_state

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the components of rows held in memory, in a file, or in a stream.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows.
        y : ignored
            Not used: there are no targets.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        """
        by_iteration = is_sparse(X) and len(X.shape) == 2 and X.shape[1] > GRAM_COLUMNS
        randomized = self.svd_solver == "randomized" and self.n_components is not None  # else all are wanted
        if not (by_iteration or randomized):
            super().fit(X, sample_weight=sample_weight)
            return self
        self._check_parameters()
        rows = check_rows(self, X, None, sample_weight, reset=True, min_rows=self._min_rows)
        if randomized:
            source = rows.data.in_sparse_blocks() if is_sparse(X) else rows.source
            self._set_components(randomized_components(source, self.n_components, rng=self.random_state))
        else:
            self._set_components(self._sparse_components(rows.data))
        return self

    @by_blocks
    @keeps_float32
    def transform(self, X: Any) -> Array:
        """Return the scores of rows, z_i = (x - mean)ᵀu_i, (n_samples, n_components_); whitened if asked."""
        check_answerable(self)
        if is_sparse(X):
            scores = StandardizedSparse(X=X.astype(np.float64), shift=self.mean_) @ self.components_.T
        else:
            X = check_columns(self, X)
            xp = namespace_of(X)
            scores = (xp.astype(X, xp.float64, copy=False) - self.mean_) @ self.components_.T
        return scores / self._scale if self.whiten else scores

    @keeps_float32
    def inverse_transform(self, X: Any) -> Array:
        """Return the rows of scores, mean + Σ z_i u_i, (n_samples, n_features)."""
        check_answerable(self)
        Z = check_scores(X, self.n_components_)
        return (Z * self._scale if self.whiten else Z) @ self.components_ + self.mean_

    @by_blocks
    @keeps_float32
    def denoise(self, X: Any) -> Array:
        """Return the rows projected on the subspace: what the components left out have of them is removed."""
        return self._projected(X)[1]

    @by_blocks
    def projection_errors(self, X: Any) -> Array:
        """Return the squared distance of each row from the subspace, (n_samples,)."""
        rows, near = self._projected(X)
        return namespace_of(rows).sum((rows - near) ** 2, axis=1)

    def get_covariance(self) -> Array:
        """Return the model's covariance, Σ (λ_i - σ²) u_i u_iᵀ + σ²I, (n_features, n_features)."""
        check_answerable(self)
        xp, u = namespace_of(self.mean_), self.components_
        excess = xp.clip(self.explained_variance_ - self.noise_variance_, 0.0, None)
        return (u.T * excess) @ u + self.noise_variance_ * xp.eye(u.shape[1], dtype=u.dtype, device=device(u))

    def get_precision(self) -> Array:
        """Return the inverse of the model's covariance, (n_features, n_features)."""
        return self._density().precision

    @property
    def distribution_(self) -> MultivariateNormal:
        """The density of probabilistic PCA with these components."""
        check_answerable(self)
        xp, u, noise = namespace_of(self.mean_), self.components_, self.noise_variance_
        names = getattr(self, "feature_names_in_", None)
        if u.shape[0] < u.shape[1] and noise > 1e-12 * float(self.explained_variance_[0]):
            excess = xp.sqrt(xp.clip(self.explained_variance_ - noise, 0.0, None))
            structure: Any = LowRankPlusDiagonal(
                factor=u.T * excess, variances=noise * xp.ones_like(self.mean_)
            )
        else:
            structure, _ = regular(self.get_covariance(), self.mean_)
        return MultivariateNormal(
            mean=self.mean_, covariance=structure, names=None if names is None else tuple(names)
        )

    @property
    def _scale(self) -> Array:
        """The standard deviations of the scores; one where there is no variance."""
        xp, variances = namespace_of(self.mean_), self.explained_variance_
        least = float(np.finfo(np.float64).eps) ** 2 * float(xp.max(variances))
        return xp.sqrt(xp.where(variances > least, variances, xp.ones_like(variances)))

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _projected(self, X: Any) -> tuple[Array, Array]:
        check_answerable(self)
        X = check_columns(self, X)
        X = namespace_of(X).astype(X, namespace_of(X).float64, copy=False)
        return X, ((X - self.mean_) @ self.components_.T) @ self.components_ + self.mean_

    def _check_parameters(self) -> None:
        check_choice("svd_solver", self.svd_solver, SOLVERS)
        check_number("ddof", self.ddof, least=0.0)
        given = self.n_components
        if isinstance(given, str):
            if given != "mle":
                raise ValueError(f'n_components must be a number, "mle" or None, got {given!r}')
        elif given is not None:
            whole = not isinstance(given, float) or given >= 1.0
            check_number("n_components", given, **({"least": 1, "whole": True} if whole else {"above": 0.0}))

    def _statistic(self) -> Callable[..., Any]:
        return ScatterFactor.triangle_of if self.svd_solver == "full" else ScatterFactor.of

    def _summary(self, rows: Any) -> Any:
        if not isinstance(rows.data, SparseSource):
            return super()._summary(rows)
        n, d = rows.data.X.shape
        if d > GRAM_COLUMNS:
            raise ValueError(
                f"X is sparse and has {d} columns: the components of sparse rows of more than {GRAM_COLUMNS} "
                "columns are found by iteration, in `fit` alone, and have no statistic that merges"
            )
        found = None if n < d or self.svd_solver == "full" else sparse_scatter(rows.data)
        return fold(self._statistic(), rows.data) if found is None else found

    def _sparse_components(self, rows: SparseSource) -> PrincipalComponents:
        """Return the leading components of sparse rows of many columns."""
        if self.n_components == "mle" or self.svd_solver in ("full", "covariance_eigh", "dual"):
            name = "n_components" if self.n_components == "mle" else "svd_solver"
            raise ValueError(
                f"{name}={getattr(self, name)!r} needs all components, and X is sparse with more than "
                f"{GRAM_COLUMNS} columns: give n_components as a number, and svd_solver='auto', 'arpack' or "
                "'randomized'"
            )
        found = sparse_components(rows, self.n_components)
        if found.weight <= self.ddof:
            raise ValueError(f"ddof={self.ddof:g} needs a total weight above it, got {found.weight:g}")
        return found

    def _require_statistic(self) -> None:
        if hasattr(self, "components_") and not hasattr(self, "statistic_"):
            raise ValueError(
                "svd_solver='randomized', and sparse rows of many columns, keep no statistic to go on from: "
                "fit all rows at once, or begin with partial_fit"
            )

    def _learn(self, statistic: ScatterFactor) -> None:
        solver = "auto" if self.svd_solver == "randomized" else self.svd_solver
        most = statistic.dim if statistic.factor is None else min(statistic.factor.shape)
        wanted = self.n_components
        if isinstance(wanted, int) and wanted > most:
            raise NotYetDetermined(
                f"n_components={wanted} is more than min(n_samples, n_features) = {most}: give more rows or "
                "ask for fewer components"
            )
        if float(statistic.weight) <= self.ddof:
            raise NotYetDetermined(
                f"ddof={self.ddof:g} needs a total weight above it, got {float(statistic.weight):g}"
            )
        if wanted == "mle":
            found = components_of(statistic, solver=solver)
            found = found.leading(_most_evident(found))
        else:
            found = components_of(statistic, wanted, solver=solver)
        self.statistic_ = statistic
        self._set_components(found)

    def _set_components(self, found: PrincipalComponents) -> None:
        k, d = found.components.shape
        self.components_, self.mean_ = found.components, found.mean
        self.singular_values_ = found.singular_values
        self.explained_variance_ = found.variances(self.ddof)
        self.explained_variance_ratio_ = found.explained_variance_ratio
        self.n_components_, self.n_samples_ = k, found.weight
        left = found.discarded_scatter
        self.noise_variance_ = left / (found.weight - self.ddof) / max(d - k, 1)
        self.projection_error_ = left / found.weight


def _most_evident(found: PrincipalComponents) -> int:
    """Return the number of components of greatest evidence."""
    variances = to_numpy(found.variances())
    if found.weight < found.mean.shape[0] or len(variances) < 2:
        raise ValueError(
            'n_components="mle" needs at least as many rows as columns, and two columns; give a number'
        )
    return int(np.argmax(log_evidences(variances, found.weight))) + 1
