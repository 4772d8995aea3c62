"""Softmax regression, p(k | x) = exp(v_kᵀx) / Σ_j exp(v_jᵀx): Newton's method over folds of rows."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, as_float_array, device, namespace_of
from tractable.arrays.special import log_softmax
from tractable.engines.newton import newton
from tractable.primitives.glm import softmax_curvature, softmax_loss
from tractable.statistics.rows import as_rows, as_weights
from tractable.value import value

__all__ = ["SoftmaxExpansion", "SoftmaxRegression", "contrasts_of", "over_contrasts", "softmax_regression"]


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
        """Expand the loss of a block of rows (n, d) with targets (n, K), soft or hard, about (K, d).

        Coefficients (K, 1 + d) have the intercepts first.
        """
        x = as_rows(x)
        xp = namespace_of(x)
        t = xp.astype(xp.asarray(targets), xp.float64)
        w = as_weights(weights, x)
        mass = xp.sum(t, axis=1) if w is None else w * xp.sum(t, axis=1)
        shift = xp.zeros(x.shape[1], dtype=x.dtype, device=device(x))
        units = shift, xp.ones_like(shift)
        loss, gradient = softmax_loss(x, t, w, *units, coef)
        return cls(
            value=loss,
            gradient=gradient,
            curvature=softmax_curvature(x, mass, *units, coef),
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
    contrasts = xp.asarray(contrasts_of(n_classes), dtype=xp.float64, device=device(like))
    free = xp.asarray(np.zeros(located), device=device(like))
    price = xp.broadcast_to(xp.asarray(penalty, dtype=xp.float64, device=device(like)), (n_columns,))
    price = xp.concat([free, price])
    first = xp.zeros((n_classes, located + n_columns), dtype=xp.float64, device=device(like))
    first = first if start is None else like

    def objective(b: Array) -> tuple[Any, Array, Array]:
        found = walk(partial(SoftmaxExpansion.of, coef=contrasts @ b))
        loss = found.value + 0.5 * xp.sum(price * b * b)
        hessian = _priced(xp, over_contrasts(contrasts, found.curvature), price)
        return loss, contrasts.T @ found.gradient + price * b, hessian

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


def contrasts_of(k: int) -> np.ndarray:
    """Return orthonormal columns (K, K - 1), each with the sum zero (Helmert)."""
    found = np.zeros((k, k - 1))
    for j in range(1, k):
        found[:j, j - 1], found[j, j - 1] = 1.0, -j
        found[:, j - 1] /= np.sqrt(j * (j + 1.0))
    return found


def over_contrasts(contrasts: Array, curvature: Array) -> Array:
    """Return the Hessian over contrasts, (c p, c p), of blocks over classes, (K, K, p, p).

    Examples
    --------
    >>> blocks = np.array([[[[0.75]], [[-0.75]]], [[[-0.75]], [[0.75]]]])
    >>> over_contrasts(np.array([[0.0], [1.0]]), blocks).tolist()
    [[0.75]]
    """
    xp = namespace_of(contrasts)
    k, c = contrasts.shape
    p = curvature.shape[-1]
    first, second = np.triu_indices(k, 1)
    # Every pair of classes adds to the curvature along its own difference: nothing cancels.
    a, b, place = (xp.asarray(i, device=device(contrasts)) for i in (first, second, first * k + second))
    apart = xp.take(contrasts, a, axis=0) - xp.take(contrasts, b, axis=0)
    pairs = xp.reshape(apart[:, :, None] * apart[:, None, :], (len(first), c * c))
    shared = -xp.take(xp.reshape(curvature, (k * k, p * p)), place, axis=0)
    blocks = xp.reshape(pairs.T @ shared, (c, c, p, p))
    return xp.reshape(xp.permute_dims(blocks, (0, 2, 1, 3)), (c * p, c * p))


def _priced(xp: Any, hessian: Array, price: Array) -> Array:
    """Add the curvature of the penalty, which is the same for all contrasts."""
    n, p = hessian.shape[0], price.shape[0]
    repeated = xp.reshape(xp.broadcast_to(price, (n // p, p)), (n,)) if n else price[:0]
    return hessian + repeated[:, None] * xp.eye(n, dtype=hessian.dtype, device=device(hessian))
