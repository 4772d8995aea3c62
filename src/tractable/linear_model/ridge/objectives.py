"""The objective of penalised least squares and its gradient, for optimisers and to check them."""

from math import log, pi
from typing import Any

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.base.parameters import check_number
from tractable.engines.least_squares import least_squares
from tractable.primitives.linear import triangle
from tractable.statistics import LinearFactor


def ridge_objective(w: Any, X: Any, y: Any, alpha: float) -> tuple[Array, Array]:
    """Return ½ Σ (y - xᵀw)² + ½ α wᵀw and its gradient, Xᵀ(Xw - y) + α w.

    Its minimum is that of |y - Xw|² + α|w|². All of w is penalised: centre X and y, or leave `alpha` out of a
    column of ones, for a free intercept.

    Parameters
    ----------
    w : array (d,)
        Coefficients.
    X : array (n, d)
        Rows of features.
    y : array (n,)
        Targets.
    alpha : float
        Penalty α.

    Examples
    --------
    >>> ridge_objective([1.0, 0.0], [[1.0, 2.0], [3.0, 4.0]], [1.0, 2.0], alpha=2.0)
    (1.5, array([5., 4.]))
    """
    w, X, y = _checked(w, X, y)
    check_number("alpha", alpha, least=0.0)
    left = X @ w - y
    return 0.5 * float(left @ left) + 0.5 * alpha * float(w @ w), X.T @ left + alpha * w


def negative_log_posterior(
    w: Any, X: Any, y: Any, *, noise_variance: float, prior_variance: float
) -> tuple[Array, Array]:
    """Return -log p(y | w) - log p(w), and its gradient, for y ~ N(Xw, σ²) and w ~ N(0, τ²).

    Σ (y - xᵀw)² / 2σ² + wᵀw / 2τ² + ½ n log 2πσ² + ½ d log 2πτ²: the log posterior less the log evidence.
    Its minimum is that of `ridge_objective` with α = σ²/τ².

    Parameters
    ----------
    w : array (d,)
        Coefficients.
    X : array (n, d)
        Rows.
    y : array (n,)
        Targets.
    noise_variance : float
        σ².
    prior_variance : float
        τ², of every coefficient.

    Examples
    --------
    >>> value, gradient = negative_log_posterior(
    ...     [1.0], [[1.0], [2.0]], [1.0, 3.0], noise_variance=0.5, prior_variance=1.0
    ... )
    >>> round(value, 4), gradient
    (3.5637, array([-3.]))
    """
    w, X, y = _checked(w, X, y)
    for name, x in (("noise_variance", noise_variance), ("prior_variance", prior_variance)):
        check_number(name, x, above=0.0)
    data, slope = ridge_objective(w, X, y, noise_variance / prior_variance)
    constant = X.shape[0] * log(2.0 * pi * noise_variance) + X.shape[1] * log(2.0 * pi * prior_variance)
    return data / noise_variance + 0.5 * constant, slope / noise_variance


def _checked(w: Any, X: Any, y: Any) -> tuple[Array, Array, Array]:
    X = as_reals("X", X)
    w, y = as_reals("w", w, X), as_reals("y", y, X)
    if X.ndim != 2:
        raise ValueError(f"X must be rows, two-dimensional; got shape {tuple(X.shape)}")
    for name, part, n in (("w", w, X.shape[1]), ("y", y, X.shape[0])):
        if tuple(part.shape) != (n,):
            raise ValueError(f"{name} must have shape ({n},), got {tuple(part.shape)}")
    _refuse_infinite(X=X, w=w, y=y)
    return w, X, y


def _refuse_infinite(**arrays: Array) -> None:
    for name, x in arrays.items():
        if not bool(namespace_of(x).all(namespace_of(x).isfinite(x))):
            raise ValueError(f"{name} contains NaN or infinity")


def tikhonov(A: Any, b: Any, Gamma: Any) -> Array:
    """Return x for which ½|Ax - b|² + ½|Γx|² is least, x = (AᵀA + ΓᵀΓ)⁻¹ Aᵀb.

    By the QR of A above Γ, so that nothing is squared. Both terms carry the half; an objective
    ½|Ax - b|² + |Γx|² has Γ√2 here. Γ = √α I is ridge regression. Of several solutions, the shortest.

    Parameters
    ----------
    A : array (n, d)
        The matrix of the linear system.
    b : array (n,) or (n, t)
        Right-hand side, or several.
    Gamma : array (m, d)
        What is kept small: Γ = I shrinks x, Γ of differences smooths it.

    Examples
    --------
    >>> import numpy as np
    >>> differences = np.diff(np.eye(5), axis=0)
    >>> tikhonov(np.eye(5), [0.0, 0.0, 10.0, 0.0, 0.0], differences).round(2)
    array([0.91, 1.82, 4.55, 1.82, 0.91])
    """
    A = as_reals("A", A)
    b, Gamma = as_reals("b", b, A), as_reals("Gamma", Gamma, A)
    _check(A, b, Gamma)
    xp = namespace_of(A)
    flat = b.ndim == 1
    targets = b[:, None] if flat else b
    below = xp.zeros((Gamma.shape[0], targets.shape[1]), dtype=targets.dtype, device=device(A))
    rows = xp.concat([xp.concat([A, targets], axis=1), xp.concat([Gamma, below], axis=1)])
    fit = least_squares(
        LinearFactor(
            weight=float(rows.shape[0]),
            mean=xp.zeros_like(rows[0, :]),
            factor=triangle(xp.astype(rows, xp.float64)),
            n_targets=int(targets.shape[1]),
        )
    )
    return fit.coef[0, :] if flat else fit.coef.T


def _check(A: Array, b: Array, Gamma: Array) -> None:
    if A.ndim != 2 or not A.shape[0] or not A.shape[1]:
        raise ValueError(f"A must be a matrix, got shape {tuple(A.shape)}")
    if b.ndim not in (1, 2) or b.shape[0] != A.shape[0]:
        raise ValueError(f"b must have {A.shape[0]} entries, one a row of A, got shape {tuple(b.shape)}")
    if Gamma.ndim != 2 or Gamma.shape[1] != A.shape[1]:
        raise ValueError(f"Gamma must have {A.shape[1]} columns, as A has, got shape {tuple(Gamma.shape)}")
    _refuse_infinite(A=A, b=b, Gamma=Gamma)
