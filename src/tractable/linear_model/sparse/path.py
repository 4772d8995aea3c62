"""The lasso for a whole grid of penalties."""

import warnings
from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.limits import LARGEST, check_coefficients
from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of, to_numpy
from tractable.base.parameters import check_number
from tractable.engines.sparse.working_set import SparsePath, sparse_path
from tractable.linear_model.ridge.solution import ridge
from tractable.linear_model.sparse.columns import CoefficientPath, Columns, checked_columns, refuse_scales
from tractable.linear_model.sparse_rows import shortest_coefficients
from tractable.metrics.penalties import check_penalties
from tractable.primitives.sparse import solve_lasso
from tractable.primitives.sparse_rows import StandardizedSparse
from tractable.statistics import LinearFactor
from tractable.value import replace, value


@value
class LassoPath(CoefficientPath):
    """Coefficients for decreasing penalties.

    It unpacks as scikit-learn's tuple does: ``alphas, coefs, dual_gaps = lasso_path(X, y)``.

    Parameters
    ----------
    alphas : array (m,)
        Penalties, decreasing.
    coefs : array (n_features, m)
        The coefficients at each penalty, a column a penalty.
    intercepts : array (m,)
        The intercept at each penalty; zeros without one.
    dual_gaps : array (m,)
        Duality gaps, in the units of the objective: bounds on its distance to the minimum.
    n_iter : array (m,)
        Number of iterations that each penalty took.
    l1_ratio : float
        The share of the absolute penalty; the rest is squared. 1 is the lasso.
    names : tuple of str, optional
        Names of the columns.
    """

    dual_gaps: np.ndarray
    n_iter: np.ndarray
    l1_ratio: float = 1.0

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.alphas, self.coefs, self.dual_gaps))

    @classmethod
    def of(cls, columns: Columns, alphas: np.ndarray, names: Any, **options: Any) -> "LassoPath":
        """Solve for all penalties.

        Parameters
        ----------
        columns : Columns
            Rows and targets, centred.
        alphas : array (m,)
            Penalties, decreasing.
        names : tuple of str, optional
            Names of the columns.
        **options
            Those of `solve_path`.
        """
        found = solve_path(columns, alphas, **options)
        return cls(
            alphas=alphas,
            coefs=found.coefs,
            intercepts=columns.intercepts(found.coefs),
            dual_gaps=found.gaps,
            n_iter=found.n_iter,
            l1_ratio=options.get("l1_ratio", 1.0),
            names=names,
        )


def lasso_path(
    X: Any,
    y: Any = None,
    *,
    l1_ratio: float = 1.0,
    eps: float = 1e-3,
    n_alphas: int = 100,
    alphas: Any = None,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    positive: bool = False,
    precompute: bool | None = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> LassoPath:
    """Solve the lasso, or the elastic net, for a whole grid of penalties.

    Minimises (1/2n) Σ (y - b - xᵀw)² + alpha l1_ratio Σ|w_j| + alpha (1 - l1_ratio)/2 Σ w_j² for every alpha.
    Newton steps on the signed support of a working set of columns; duality gaps certify all columns.

    Parameters
    ----------
    X, y, fit_intercept, sample_weight, positive, precompute
        As in :func:`tractable.lars_path`.
    l1_ratio : float
        1 is the lasso.
    eps : float
        Smallest penalty of the grid, relative to the smallest one that leaves no coefficient.
    n_alphas : int
        Number of penalties of the grid.
    alphas : array, optional
        The penalties, instead of a grid.
    tol : float
        Largest duality gap, relative to Σ (y - ȳ)² / n (without an intercept, Σ y² / n).
    max_iter : int
        Most Newton steps a penalty.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> path = tractable.lasso_path(X, X @ [3.0, 1.0], alphas=[1.0, 0.25])
    >>> path.coefs
    array([[1. , 2.5],
           [0. , 0.5]])

    A statistic of the rows is as good as the rows:

    >>> statistic = tractable.Lasso().summarize(X, X @ [3.0, 1.0])
    >>> tractable.lasso_path(statistic, alphas=[1.0, 0.25]).coefs.round(12)
    array([[1. , 2.5],
           [0. , 0.5]])
    """
    check_number("l1_ratio", l1_ratio, least=0.0, most=1.0)
    check_number("eps", eps, above=0.0, below=1.0)
    check_number("n_alphas", n_alphas, least=1, whole=True)
    check_number("tol", tol, above=0.0)
    check_number("max_iter", max_iter, least=1, whole=True)
    columns, names = checked_columns(X, y, sample_weight, fit_intercept=fit_intercept)
    if alphas is None:
        grid = alpha_grid(columns, l1_ratio=l1_ratio, eps=eps, n_alphas=n_alphas, positive=positive)
    else:
        grid = np.sort(check_penalties("alphas", alphas))[::-1]
    options: dict[str, Any] = {"l1_ratio": l1_ratio, "positive": positive, "tol": tol, "max_iter": max_iter}
    path = LassoPath.of(columns, grid, names, precompute=precompute, **options)
    if not (path.dual_gaps <= tol * columns.mean_squares).all():
        warn_gap(path.dual_gaps.max(), stacklevel=3)
    return path


def warn_gap(gap: float, *, stacklevel: int = 5) -> None:
    """Warn of a solution whose duality gap is not below its tolerance; at that level, by `_report`."""
    warnings.warn(
        f"the duality gap {gap:.2g} is above tol times the mean squared target; "
        "raise max_iter or tol, or bring the columns to similar scales",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )


#: Penalties below this fraction of the largest correlation are within reach of its rounding.
HIDDEN = 1e-11


def alpha_grid(
    columns: Columns, *, l1_ratio: float = 1.0, eps: float = 1e-3, n_alphas: int = 100, positive: bool = False
) -> np.ndarray:
    """Return penalties from the smallest that makes all coefficients zero down to `eps` times that."""
    if l1_ratio == 0.0:
        raise ValueError("l1_ratio must be positive for penalties to be chosen; give alphas, or use Ridge")
    scaled, scale, target_scale = columns.rescaled()
    moments = scaled.moments()
    most = float(np.max(moments if positive else np.abs(moments), initial=0.0))
    top = most * scale / columns.weight * target_scale / l1_ratio
    if most > 0.0 and not 0.0 < eps * top < inf:
        refuse_scales(scale, target_scale, "penalties")
    # Of a constant target all coefficients are zero, whatever the penalty.
    top = top if top > 0.0 else float(np.finfo(float).resolution)
    return np.geomspace(top, eps * top, int(n_alphas)) if n_alphas > 1 else np.array([top])


def solve_path(
    columns: Columns,
    alphas: np.ndarray,
    *,
    target: int = 0,
    l1_ratio: float = 1.0,
    precompute: bool | None = None,
    positive: bool = False,
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> SparsePath:
    """Minimise (1/2n)|y - Xw|² + alpha l1_ratio Σ|w_j| + alpha (1 - l1_ratio)/2 Σ w_j² for decreasing alphas.

    Gaps are in the units of this objective.
    """
    n, (columns, scale, target_scale) = columns.weight, columns.rescaled()
    penalties = _over_scales(n * alphas * l1_ratio, scale, target_scale)
    ridges = _over_scales(n * alphas * (1.0 - l1_ratio), scale, scale)
    sparse = penalties > 0.0
    every = bool(sparse.all())
    options: dict[str, Any] = {"tol": tol, "positive": positive, "max_iter": max_iter}
    found = []
    if every or sparse.any():
        problem = columns.problem(target, precompute=precompute, once=len(alphas) == 1)
        stored = isinstance(columns.rows, StandardizedSparse)
        walk = sparse_path if stored or is_numpy_array(columns.rows) else _one_by_one
        weights = (penalties, ridges) if every else (penalties[sparse], ridges[sparse])
        path = walk(problem, *weights, **options)
        top = 0.0 if stored else float(np.max(np.abs(to_numpy(problem.moment)), initial=0.0))
        if weights[0][-1] <= HIDDEN * top:
            path = _certified(columns, target, path, *weights, positive, top)
        found.append(path)
    without = () if every else ridges[~sparse]
    found.extend(_without_l1(columns, target, float(squared), positive) for squared in without)
    path = found[0] if len(found) == 1 else _joined(found)
    gaps, coefs = np.maximum(path.gaps, 0.0) * target_scale / n * target_scale, path.coefs
    if scale != target_scale:  # on which the coefficients depend
        with np.errstate(over="ignore"):
            coefs = coefs * (target_scale / scale)
    return SparsePath(coefs=check_coefficients(coefs), gaps=gaps, n_iter=path.n_iter)


def _joined(parts: list[SparsePath]) -> SparsePath:
    """Return the paths of consecutive penalties as one."""
    return SparsePath(
        coefs=namespace_of(parts[0].coefs).concat([part.coefs for part in parts], axis=1),
        gaps=np.concatenate([part.gaps for part in parts]),
        n_iter=np.concatenate([part.n_iter for part in parts]),
    )


def _over_scales(penalties: np.ndarray, *scales: float) -> np.ndarray:
    """Return penalties over both scales; of finite ones the largest makes all coefficients zero."""
    if scales == (1.0, 1.0):
        return np.minimum(penalties, LARGEST)
    with np.errstate(over="ignore", under="ignore"):
        return np.minimum(penalties / scales[0] / scales[1], LARGEST)


def _certified(
    columns: Columns,
    target: int,
    path: SparsePath,
    penalties: np.ndarray,
    ridges: np.ndarray,
    positive: bool,
    top: float,
) -> SparsePath:
    """Bound the gaps of penalties within rounding by the problem without a penalty, whose minimum is lower.

    A feasible point of the dual has correlations below the penalty; where that is below their rounding, the
    residual is shrunk to nearly zero, and the duality gap is no bound. `top` is the largest correlation.
    """
    X, y = columns.X, columns.Y[:, target]
    gaps = path.gaps.copy()
    for i in np.flatnonzero(penalties <= HIDDEN * top):
        w = path.coefs[:, int(i)]
        size = float(namespace_of(w).sum(namespace_of(w).abs(w)))
        gaps[i] = min(gaps[i], _gap(X, y, w, float(ridges[i]), positive) + penalties[i] * size)
    return replace(path, gaps=gaps)


def _one_by_one(problem: Any, penalties: Any, ridges: Any, *, tol: float, **options: Any) -> SparsePath:
    """Solve each penalty from zero, in the library of the arrays."""
    found = [
        solve_lasso(
            problem.gram,
            problem.moment,
            problem.square,
            float(penalty),
            ridge=float(squared),
            tol=tol * problem.square,
            **options,
        )
        for penalty, squared in zip(penalties, ridges, strict=True)
    ]
    xp = namespace_of(problem.gram)
    return SparsePath(
        coefs=xp.stack([w for w, _, _ in found], axis=1),
        gaps=np.array([gap for _, _, gap in found]),
        n_iter=np.array([n_iter for _, n_iter, _ in found]),
    )


def _without_l1(columns: Columns, target: int, penalty: float, positive: bool) -> SparsePath:
    """Solve ridge regression, or least squares by the shortest coefficients, or either with positive ones."""
    X, y = columns.X, columns.Y[:, target]
    if isinstance(X, StandardizedSparse):
        return _sparse_without_l1(X, y, penalty, positive)
    xp = namespace_of(X)
    mean, basis = xp.concat([columns.centre, columns.offset[target : target + 1]]), None
    if not positive and penalty > 0.0 and X.shape[0] < X.shape[1]:
        # The minimum lies in the span of the rows.
        basis, factor = xp.linalg.qr(X.T)
        X, mean = factor.T, _origin(factor.T)
    w = _not_negative(X, y, penalty) if positive else _ridge(X, y, mean, columns.weight, penalty)
    gap = _gap(X, y, w, penalty, positive)
    w = w if basis is None else basis @ w
    return SparsePath(coefs=w[:, None], gaps=np.array([gap]), n_iter=np.ones(1, dtype=np.int64))


def _sparse_without_l1(X: StandardizedSparse, y: np.ndarray, penalty: float, positive: bool) -> SparsePath:
    """Solve ridge regression, or least squares by the shortest coefficients, of sparse rows."""
    if positive:
        raise ValueError(
            "positive=True without a penalty on absolute values (alpha=0 or l1_ratio=0) takes dense rows, "
            "and X is sparse: give X.toarray(), or a positive alpha and l1_ratio"
        )
    w, steps = shortest_coefficients(X, y, penalty)
    residual = y - X @ w
    slope = residual @ X - penalty * w
    if penalty > 0.0:  # an objective of at least this curvature
        gap = float(slope @ slope) / (2.0 * penalty)
    else:
        along = X @ shortest_coefficients(X, residual, 0.0)[0]
        gap = 0.5 * float(along @ along)
    return SparsePath(coefs=w[:, None], gaps=np.array([gap]), n_iter=np.array([steps]))


def _ridge(X: Array, y: Array, mean: Array, weight: float, penalty: float) -> Array:
    """Return ridge coefficients by the QR of the rows and, with a penalty, √penalty I below them."""
    rows = namespace_of(X).concat([X, y[:, None]], axis=1)
    return ridge(LinearFactor(weight=weight, mean=mean, factor=rows), penalty).coef[0, :]


def _not_negative(X: Array, y: Array, penalty: float) -> Array:
    """Return the least squares with coefficients from 0, for columns scaled to length 1."""
    from scipy.optimize import nnls

    rows = np.vstack([to_numpy(X), penalty**0.5 * np.eye(X.shape[1])])
    lengths = np.linalg.norm(rows, axis=0)
    lengths[lengths == 0.0] = 1.0
    w = nnls(rows / lengths, np.concatenate([to_numpy(y), np.zeros(X.shape[1])]))[0] / lengths
    return namespace_of(X).asarray(w, dtype=X.dtype, device=device(X))


def _gap(X: Array, y: Array, w: Array, penalty: float, positive: bool) -> float:
    """Return the duality gap of ½|y - Xw|² + ½ penalty |w|².

    With rows √penalty I below the others this is half a squared distance. The part of the residual orthogonal
    to the columns is feasible in the dual, and the gap is half the square of the rest. Where coefficients are
    from 0, columns that only a negative one would use do not count.
    """
    xp = namespace_of(X)
    if penalty > 0.0:
        X = xp.concat([X, penalty**0.5 * xp.eye(X.shape[1], dtype=X.dtype, device=device(X))])
        y = xp.concat([y, xp.zeros_like(w)])
    residual = y - X @ w
    if positive:
        X = xp.take(X, xp.nonzero((w > 0) | (X.T @ residual > 0))[0], axis=1)
    along = X @ _ridge(X, residual, _origin(X), 1.0, 0.0)
    return 0.5 * float(along @ along)


def _origin(X: Array) -> Array:
    """Return the means of columns and target that lie about zero."""
    return namespace_of(X).zeros(X.shape[1] + 1, dtype=X.dtype, device=device(X))
