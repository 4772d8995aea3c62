"""Softmax regression, p(k | x) = exp(v_kᵀx) / Σ_j exp(v_jᵀx): Newton's method over folds of rows."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, as_float_array, device, namespace_of
from tractable.arrays.special import log_softmax
from tractable.engines.newton import newton
from tractable.statistics.rows import as_rows, as_weights, counts
from tractable.value import value

__all__ = ["SoftmaxExpansion", "SoftmaxRegression", "softmax_regression"]


@value
class SoftmaxExpansion:
    """Value, gradient and curvature of -Σ_n w_n Σ_k t_nk log p(k | x_n) at given coefficients; they add.

    Parameters
    ----------
    value : float
    gradient : array (K, p)
        Σ_n w_n (|t_n| p_nk - t_nk) x_n, with |t_n| the sum of a row of targets.
    curvature : array (K, K, p, p)
        Σ_n w_n |t_n| p_nk (δ_km - p_nm) x_n x_nᵀ.

    Examples
    --------
    >>> rows, targets = np.array([[1.0], [1.0], [1.0]]), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> at_zero = SoftmaxExpansion.of(rows, targets, coef=np.zeros((2, 1)))
    >>> at_zero.gradient[:, 0].tolist(), float(at_zero.curvature[0, 0, 0, 0])
    ([-0.5, 0.5], 0.75)
    """

    value: Any
    gradient: Array
    curvature: Array

    @classmethod
    def of(cls, x: Any, targets: Any, weights: Any = None, *, coef: Array) -> "SoftmaxExpansion":
        """Expand the loss of a block of rows (n, p) with targets (n, K), soft or hard, about (K, p)."""
        x = as_rows(x)
        xp = namespace_of(x)
        t = xp.astype(xp.asarray(targets), xp.float64)
        w = counts(as_weights(weights, x), x)
        log_p = log_softmax(x @ coef.T)
        p, mass = xp.exp(log_p), w * xp.sum(t, axis=1)
        # A class that a row has no share in costs nothing, however improbable it is.
        loss = xp.where(t > 0, t * xp.where(t > 0, log_p, xp.zeros_like(log_p)), xp.zeros_like(t))
        return cls(
            value=-xp.sum(w * xp.sum(loss, axis=1)),
            gradient=(mass[:, None] * p - w[:, None] * t).T @ x,
            curvature=_curvature(xp, x, p, mass),
        )

    def __add__(self, other: "SoftmaxExpansion") -> "SoftmaxExpansion":
        """Add the losses of two blocks of rows, at the same coefficients."""
        if not isinstance(other, SoftmaxExpansion):
            return NotImplemented
        return SoftmaxExpansion(
            value=self.value + other.value,
            gradient=self.gradient + other.gradient,
            curvature=self.curvature + other.curvature,
        )


def _curvature(xp: Any, x: Array, p: Array, mass: Array) -> Array:
    """Return the blocks (K, K, p, p): those off the diagonal by products, the others as minus their sums."""
    k, d = p.shape[1], x.shape[1]
    none = xp.zeros((d, d), dtype=x.dtype, device=device(x))
    blocks = [[none for _ in range(k)] for _ in range(k)]
    for a in range(k):
        for b in range(a + 1, k):
            blocks[a][b] = blocks[b][a] = -((mass * p[:, a] * p[:, b])[:, None] * x).T @ x
    for a in range(k):
        blocks[a][a] = -sum((blocks[a][b] for b in range(k) if b != a), none)
    return xp.stack([xp.stack(row) for row in blocks])


@value
class SoftmaxRegression:
    """A softmax of K planes, log p(k | x) = intercept_k + x·coef_k - log Σ; sums over k are zero."""

    coef: Array  # (K, d)
    intercept: Array  # (K,)
    loss: float  # -Σ w t log p, with the penalty
    gradient_norm: float
    n_iter: int
    converged: bool

    def log_prob(self, x: Array) -> Array:
        """Return log p(k | x) of each row, (n, K)."""
        return log_softmax(self.intercept + x @ self.coef.T)


def softmax_regression(
    walk: Callable[[Callable[..., SoftmaxExpansion]], SoftmaxExpansion],
    n_classes: int,
    n_columns: int,
    *,
    penalty: Any = 0.0,
    fit_intercept: bool = True,
    start: Array | None = None,
    tol: float = 1e-12,
    max_iter: int = 100,
) -> SoftmaxRegression:
    """Minimise -Σ_n w_n Σ_k t_nk log p(k | x_n) + ½ Σ_j penalty_j Σ_k coef_kj² by Newton's method (IRLS).

    Targets are hard classes (one-hot) or shares such as responsibilities; weights count rows. The intercepts
    are free of the penalty. Adding one plane to all K changes nothing, so the search runs over contrasts,
    in which the coefficients and the intercepts of all classes sum to zero; the penalised minimum does.
    Steps are halved until the loss falls, so a search cut short is no worse than its start: as an M-step it
    makes a generalised EM. scikit-learn's C is 1/penalty.

    Parameters
    ----------
    walk : callable
        ``walk(of)`` returns the sum of ``of(x, targets, weights=w)`` over all rows, for instance
        ``lambda of: fold(of, X, targets, weights=w)``. Every step is one such pass, and one more a halving.
    n_classes, n_columns : int
    penalty : float or array (d,)
    fit_intercept : bool
    start : array (K, d), or (K, 1 + d) with the intercepts first, optional
        Zeros when not given; needed where the rows are not NumPy's, and of their library.
    tol : float
        The search ends when a step promises to lower the loss by less than this share of it.
    max_iter : int
        The most steps to take.

    Examples
    --------
    >>> from tractable.engines import fold
    >>> X, targets = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
    >>> fit = softmax_regression(lambda of: fold(of, X, targets), 2, 1)
    >>> fit.coef.round(4).tolist(), np.exp(fit.log_prob(X))[:, 1].round(2)
    ([[-0.4541], [0.4541]], array([0.2 , 0.39, 0.61, 0.8 ]))
    """
    located = int(fit_intercept)
    like = np.zeros(1) if start is None else as_float_array(start)
    xp = namespace_of(like)
    contrasts = xp.asarray(_contrasts(n_classes), dtype=xp.float64, device=device(like))
    free = xp.asarray(np.zeros(located), device=device(like))
    price = xp.broadcast_to(xp.asarray(penalty, dtype=xp.float64, device=device(like)), (n_columns,))
    price = xp.concat([free, price])
    first = xp.zeros((n_classes, located + n_columns), dtype=xp.float64, device=device(like))
    first = first if start is None else like

    def objective(b: Array) -> tuple[Any, Array, Array]:
        of = partial(_expanded, coef=contrasts @ b, located=bool(located))
        found = walk(of)
        loss = found.value + 0.5 * xp.sum(price * b * b)
        return loss, contrasts.T @ found.gradient + price * b, _hessian(xp, contrasts, found.curvature, price)

    result = newton(objective, contrasts.T @ first, tol=tol, max_iter=max_iter, vanishing=True)
    coef = contrasts @ result.x
    zeros = xp.zeros_like(coef[:, :1])[:, 0]
    return SoftmaxRegression(
        coef=coef[:, located:],
        intercept=coef[:, 0] if located else zeros,
        loss=result.value,
        gradient_norm=result.gradient_norm,
        n_iter=result.n_iter,
        converged=result.converged,
    )


def _expanded(x: Any, targets: Any, weights: Any = None, *, coef: Array, located: bool) -> SoftmaxExpansion:
    """Expand the loss of rows, with a column of ones first where there is an intercept."""
    x = as_rows(x)
    xp = namespace_of(x)
    if located:
        x = xp.concat([xp.ones((x.shape[0], 1), dtype=x.dtype, device=device(x)), x], axis=1)
    return SoftmaxExpansion.of(x, targets, weights, coef=coef)


def _contrasts(k: int) -> np.ndarray:
    """Return orthonormal columns (K, K - 1), each with the sum zero (Helmert)."""
    found = np.zeros((k, k - 1))
    for j in range(1, k):
        found[:j, j - 1], found[j, j - 1] = 1.0, -j
        found[:, j - 1] /= np.sqrt(j * (j + 1.0))
    return found


def _hessian(xp: Any, contrasts: Array, curvature: Array, price: Array) -> Array:
    """Return the Hessian over contrasts, ((K - 1) p, (K - 1) p), of blocks over classes."""
    k, c = contrasts.shape
    p = curvature.shape[-1]
    pairs = xp.reshape(contrasts[:, None, :, None] * contrasts[None, :, None, :], (k * k, c * c))
    blocks = xp.reshape(pairs.T @ xp.reshape(curvature, (k * k, p * p)), (c, c, p, p))
    whole = xp.reshape(xp.permute_dims(blocks, (0, 2, 1, 3)), (c * p, c * p))
    repeated = xp.reshape(xp.broadcast_to(price, (c, p)), (c * p,))
    return whole + repeated[:, None] * xp.eye(c * p, dtype=whole.dtype, device=device(whole))
