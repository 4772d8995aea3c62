"""The lasso and the elastic net."""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np

from tractable.arrays import Array, namespace_of
from tractable.arrays.namespace import to_numpy
from tractable.base import (
    ModelTags,
    OnePassEstimator,
    RegressorMixin,
    Rows,
    all_or_nothing,
    check_fitted,
    check_rows,
)
from tractable.base.by_blocks import by_blocks
from tractable.base.options import SklearnOptions
from tractable.base.parameters import check_number
from tractable.base.validation import check_finite
from tractable.data import SparseSource
from tractable.linear_model.bayes.gibbs import linear_sampler
from tractable.linear_model.rows import check_factor, factor_of_unchecked, linear_factor, linear_predictor
from tractable.linear_model.sparse.columns import Columns
from tractable.linear_model.sparse.path import solve_path, warn_gap
from tractable.primitives.linear import INFLATION
from tractable.statistics import LinearFactor

#: Up to so many columns, rows in memory are folded into a statistic.
FEW_COLUMNS = 100
#: How many times rounding products of columns may lose where there is a penalty.
PENALISED_INFLATION = 1e3


def support(model: Any) -> np.ndarray:
    """Indices of the columns with a coefficient that is not zero, for any target."""
    check_fitted(model)
    used = namespace_of(model.coef_).reshape(model.coef_ != 0, (-1, model.coef_.shape[-1]))
    return np.flatnonzero(to_numpy(used).any(axis=0))


def sparse_coef(model: Any) -> Any:
    """Coefficients as a sparse matrix (CSR)."""
    from scipy.sparse import csr_matrix

    check_fitted(model)
    return csr_matrix(np.atleast_2d(model.coef_))


def check_precompute(precompute: Any) -> None:
    """Refuse what does not say whether rows are folded into a statistic."""
    if not (isinstance(precompute, (bool, np.bool_)) or str(precompute) == "auto"):
        raise ValueError(f"precompute must be 'auto', True or False, got {precompute!r}")


class SparseModel(RegressorMixin, OnePassEstimator):
    """A sparse linear model, from rows or from a statistic of them.

    A model supplies `_solve(columns, precompute=…)`, which sets the fitted attributes.
    """

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact in one pass")
    _several_targets = True
    _supervised = True
    _sparse_methods = ("predict",)
    fit_intercept: bool
    precompute: Any
    alpha: Any
    max_iter: Any
    tol: float
    coef_: Array
    intercept_: Any
    support_ = property(support)
    sparse_coef_ = property(sparse_coef)

    @by_blocks
    def predict(self, X: Any) -> Array:
        """Return intercept + xᵀ coef for each row, of shape (n_samples,) or (n_samples, n_targets)."""
        return linear_predictor(self, X)

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        self._check_parameters()
        once = sample_weight is None  # products of columns show NaN and infinity
        rows = check_rows(self, X, y, sample_weight, reset=True, supervised=True, finite=not once)
        parts = rows.data, rows.y, rows.weights
        if self._by_statistic(rows):
            # Coefficients follow from products of columns: a QR would have no more of their digits.
            inflation = PENALISED_INFLATION if self.alpha else INFLATION
            factor = partial(factor_of_unchecked, self) if once else linear_factor
            statistic = factor(rows, inflation=inflation)
            # That of rows which were checked has numbers that can be squared, if their weights have.
            plain = rows.weights is None and isinstance(rows.data, np.ndarray)
            self._fit_to(statistic if plain else check_factor(statistic))
        else:
            if once and isinstance(rows.data, np.ndarray):
                check_finite(self, rows.data, "X")
            if isinstance(rows.data, SparseSource):
                parts = rows.data.X, rows.data.y, rows.data.weights
            self.solver_ = "rows"
            self._solve(Columns.of(*parts, fit_intercept=bool(self.fit_intercept)), precompute=False)
        self._report()
        return self

    def _check_parameters(self) -> None:
        check_number("alpha", self.alpha, least=0.0)
        if self.max_iter is not None:
            check_number("max_iter", self.max_iter, least=1, whole=True)
        check_precompute(self.precompute)

    @abstractmethod
    def _solve(self, columns: Columns, *, precompute: bool | None) -> None:
        """Find the coefficients at the penalty."""

    def _by_statistic(self, rows: Rows) -> bool:
        sparse = isinstance(rows.data, SparseSource)
        if not (sparse or isinstance(rows.data, np.ndarray)) or self.precompute is True:
            return True
        n, p = rows.data.X.shape if sparse else rows.data.shape
        return self.precompute == "auto" and p <= FEW_COLUMNS and p <= max(n, 64)

    def _require_statistic(self) -> None:
        if hasattr(self, "coef_") and not hasattr(self, "statistic_"):
            raise ValueError(
                "precompute must be True for a model that will learn from more rows or be merged: "
                "this one was fitted to rows without storing a statistic of them"
            )

    def _statistic(self) -> Callable[..., Any]:
        return LinearFactor.of

    def _learn(self, statistic: Any) -> None:
        self._fit_to(check_factor(statistic))

    def _fit_to(self, statistic: LinearFactor) -> None:
        self.statistic_, self.solver_ = statistic, "statistic"
        columns = Columns.of_statistic(statistic, fit_intercept=bool(self.fit_intercept))
        few = statistic.dim <= 4 * FEW_COLUMNS or columns.rows.shape[0] >= statistic.dim
        self._solve(columns, precompute=True if few else None)

    def _set_coef(self, columns: Columns, coefs: list[Array]) -> None:
        """Set `coef_` and `intercept_` from the coefficients of every target."""
        xp = namespace_of(columns.Y)
        intercepts = [columns.intercepts(w, t) for t, w in enumerate(coefs)]
        if columns.flat:
            self.coef_, self.intercept_ = coefs[0], float(intercepts[0])
        else:
            self.coef_, self.intercept_ = xp.stack(coefs), xp.stack([xp.asarray(b) for b in intercepts])


class ElasticNet(SparseModel):
    """Linear regression with a penalty on absolute and on squared coefficients.

    Minimises (1/2n) Σ (y - b - xᵀw)² + alpha l1_ratio Σ|w_j| + alpha (1 - l1_ratio)/2 Σ w_j², scikit-learn's
    objective; n is the total weight of the rows. The absolute part sets coefficients to zero, the squared
    part spreads them over correlated columns. The intercept b is not penalised.

    The solution is exact to rounding, and `dual_gap_` proves it: the last step solves for the signed support,
    unless coordinate descent comes as near by itself.
    With few columns, and for streams and files, rows are folded into a statistic (`solver_` is "statistic"):
    `partial_fit`, `merge` and sources give exactly the fit to all rows. With many columns the rows themselves
    are used ("rows"), and inner products are formed between few columns only; where a `tol` of 1e-5 or more
    asks for a rough solution, coordinate descent ends at it.

    X may be a sparse matrix or array of SciPy, and is not made dense: columns are centred within products.

    There is no `predict_dist`: after the selection of columns the coefficients have no sampling distribution
    in closed form, and intervals that ignore the selection cover less than they state. `BayesianRidge`,
    `ARDRegression` and `LinearRegression` have one.

    Parameters
    ----------
    alpha : float
        Weight of the penalty, from 0; for 0 the solution is the shortest of least squares.
    l1_ratio : float
        Fraction of the absolute part: 1 is the lasso, 0 ridge regression.
    fit_intercept : bool
        Whether to fit an intercept.
    precompute : {"auto", True, False}
        Whether rows in memory are folded into a statistic; by default up to 100 columns.
    positive : bool
        Whether negative coefficients are forbidden.
    tol : float
        Largest duality gap, relative to the mean squared target (about its mean where there is an intercept):
        scikit-learn's meaning.
    max_iter : int
        Most Newton steps.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or array of shape (n_targets,)
        The intercept; zero with ``fit_intercept=False``.
    support_ : array of int
        Indices of the columns with a coefficient that is not zero.
    sparse_coef_ : sparse matrix
        The coefficients in CSR format.
    dual_gap_ : float or array of shape (n_targets,)
        Duality gap: a bound on the distance of the objective to its minimum.
    n_iter_ : int or array of shape (n_targets,)
        Newton steps, or rounds of coordinate descent.
    converged_ : bool
        Whether the duality gap is below `tol`.
    solver_ : {"statistic", "rows"}
        What the fit was computed from.
    statistic_ : LinearFactor, where `solver_` is "statistic"
        The sufficient statistic of the rows.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    tractable.Lasso : without the squared part.
    tractable.lasso_path : all penalties at once.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[1.0, 1.0], [-1.0, -1.0], [2.0, 2.0], [-2.0, -2.0]])
    >>> tractable.ElasticNet(alpha=1.0, l1_ratio=0.5).fit(X, 3 * X[:, 0]).coef_.round(3)
    array([1.273, 1.273])
    """

    _takes_sparse = True

    _sklearn_options = SklearnOptions(ignored=("warm_start", "random_state", "selection", "precompute"))

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        tol: float = 1e-8,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        positive: bool = False,
    ) -> None:
        self.alpha, self.l1_ratio, self.fit_intercept = alpha, l1_ratio, fit_intercept
        self.precompute, self.positive = precompute, positive
        self.tol, self.max_iter = tol, max_iter

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("l1_ratio", self.l1_ratio, least=0.0, most=1.0)
        check_number("tol", self.tol, above=0.0)
        check_number("max_iter", self.max_iter, least=1, whole=True)

    def _solve(self, columns: Columns, *, precompute: bool | None) -> None:
        paths = [
            solve_path(
                columns,
                np.array([float(self.alpha)]),
                target=target,
                l1_ratio=float(self.l1_ratio),
                precompute=precompute,
                positive=bool(self.positive),
                tol=self.tol,
                max_iter=self.max_iter,
            )
            for target in range(columns.n_targets)
        ]
        self._set_coef(columns, [path.coefs[:, 0] for path in paths])
        gaps, n_iter = np.array([p.gaps[0] for p in paths]), np.array([p.n_iter[0] for p in paths])
        self.dual_gap_: Any = float(gaps[0]) if columns.flat else gaps
        self.n_iter_: Any = int(n_iter[0]) if columns.flat else n_iter
        self.converged_ = bool((gaps <= self.tol * columns.mean_squares).all())

    def _report(self) -> None:
        if not self.converged_:
            warn_gap(np.max(self.dual_gap_))


class Lasso(ElasticNet):
    """The lasso: linear regression with a penalty on the absolute coefficients.

    Minimises (1/2n) Σ (y - b - xᵀw)² + alpha Σ|w_j|, scikit-learn's objective; n is the total weight of the
    rows, and the intercept b is not penalised. The textbook's |y - Xw|² + λ Σ|w_j| is the same with
    alpha = λ / (2n). For orthonormal columns the solution is least squares, soft-thresholded by λ/2; in
    general there is no closed form, but the minimum is found exactly: see :class:`tractable.ElasticNet` for
    how, and `dual_gap_` for the proof.

    It is the mode of the posterior for Gaussian noise of variance σ² and a Laplace prior of scale b on each
    coefficient: λ = 2σ²/b, see `from_prior`.

    There is no `predict_dist`: intervals that ignore the selection of columns cover less than they state.

    Parameters
    ----------
    alpha : float
        Weight of the penalty, from 0; for 0 the solution is the shortest of least squares.
    fit_intercept, precompute, positive, tol, max_iter
        As in :class:`tractable.ElasticNet`.

    Attributes
    ----------
    coef_, intercept_, support_, sparse_coef_
        The coefficients, and the columns in use.
    dual_gap_, n_iter_, converged_, solver_, statistic_
        As in :class:`tractable.ElasticNet`.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    tractable.LassoCV : chooses the penalty by cross-validation.
    tractable.LassoLars : the same coefficients, from the exact path.
    tractable.lasso_path : all penalties at once.

    Notes
    -----
    Of equal columns one is used: any division between them has the same objective.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> model = tractable.Lasso(alpha=1.0).fit(X, X @ [3.0, 1.0])
    >>> model.coef_, model.support_
    (array([1., 0.]), array([0]))
    """

    l1_ratio = 1.0

    _sklearn_options = SklearnOptions(ignored=("warm_start", "random_state", "selection", "precompute"))

    def _posterior_sampler(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Return how the posterior under the Laplace prior is sampled: see `tractable.sample_posterior`."""
        if not self.alpha > 0.0:
            raise ValueError(f"model must have alpha above 0 to be sampled, got {self.alpha!r}")
        mode = {"coef": (self.coef_, np.zeros(np.shape(self.coef_)))}
        return linear_sampler(self, (X, y, sample_weight), {"penalty": self.alpha}, mode, "mode, the lasso")

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        positive: bool = False,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-8,
        precompute: Any = "auto",
    ) -> None:
        self.alpha, self.fit_intercept = alpha, fit_intercept
        self.precompute, self.positive = precompute, positive
        self.tol, self.max_iter = tol, max_iter

    @classmethod
    def from_prior(cls, *, scale: float, noise_variance: float, n_samples: float, **options: Any) -> Self:
        """Return the lasso whose solution is the mode of the posterior under a Laplace prior.

        Its penalty is alpha = σ²/(n b).

        Parameters
        ----------
        scale : float
            b in the density exp(-|w|/b) / 2b of each coefficient.
        noise_variance : float
            σ² of the Gaussian noise.
        n_samples : float
            Number n of rows that the model will be fitted to.
        **options
            Other parameters of the estimator.
        """
        for name, given in (("scale", scale), ("noise_variance", noise_variance), ("n_samples", n_samples)):
            check_number(name, given, above=0.0)
        return cls(alpha=noise_variance / (n_samples * scale), **options)
