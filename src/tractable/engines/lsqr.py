"""LSQR: least squares of a matrix that is known by its products alone, with one pass over it an iteration."""

from math import hypot, sqrt
from typing import Any

import numpy as np

from tractable.primitives.threads import single_threaded_blas
from tractable.value import value


@value
class IteratedLeastSquares:
    """What LSQR has found: x, in how many iterations, and whether it converged."""

    x: np.ndarray
    n_iter: int
    converged: bool


def lsqr(A: Any, b: np.ndarray, alpha: float = 0.0, *, tol: float, max_iter: int) -> IteratedLeastSquares:
    """Return the x of least |b - Ax|² + α|x|², of several the shortest (Paige & Saunders, 1982).

    Golub and Kahan's bidiagonalization, β u = A v - a u and a v = Aᵀu - β v, whose least squares problem is
    solved by plane rotations as it grows. It is the conjugate gradient method of the normal equations,
    without the square of their condition.

    Parameters
    ----------
    A : matrix (n, d)
        What has ``b @ A`` and ``A.residual_products(v, u, alpha)``, the pair of r = Av - αu and rᵀA, as
        `StandardizedSparse` has.
    b : array (n,)
    alpha : float
        The penalty, not negative.
    tol : float
        It stops where |Aᵀr| is at most `tol` times |A||r|, of the residual r, both with √α I below A; or
        where |r| is at most `tol` times |b| + |A||x|.
    max_iter : int

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from tractable.primitives.sparse_rows import StandardizedSparse
    >>> A = StandardizedSparse(X=csr_array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]), shift=np.zeros(2))
    >>> lsqr(A, np.array([1.0, 2.0, 3.0]), tol=1e-12, max_iter=10).x.round(12).tolist()
    [1.0, 1.0]
    """
    with single_threaded_blas():
        return _lsqr(A, b, sqrt(alpha), tol, max_iter)


def _lsqr(A: Any, b: np.ndarray, damp: float, tol: float, max_iter: int) -> IteratedLeastSquares:
    x = np.zeros(A.shape[1])
    length = beta = float(np.linalg.norm(b))
    if beta == 0.0:
        return IteratedLeastSquares(x=x, n_iter=0, converged=True)
    u = b / beta
    v = u @ A
    alfa = float(np.linalg.norm(v))
    if alfa == 0.0:
        return IteratedLeastSquares(x=x, n_iter=0, converged=True)
    v = v / alfa
    w = v.copy()
    rho_bar, phi_bar = alfa, beta
    norm_a = damped = norm_x = z = 0.0  # squares, but for z
    c2, s2 = -1.0, 0.0
    for n_iter in range(1, max_iter + 1):
        norm_a += alfa * alfa + damp * damp
        r, back = A.residual_products(v, u, alfa)
        beta = float(np.linalg.norm(r))
        if beta > 0.0:
            u = r / beta
            norm_a += beta * beta
            v *= -beta
            v += back / beta
            alfa = float(np.linalg.norm(v))
            if alfa > 0.0:
                v /= alfa
        # One rotation removes the penalty, and one the entry below the diagonal.
        rho_1 = hypot(rho_bar, damp)
        damped += (damp / rho_1 * phi_bar) ** 2
        phi_bar *= rho_bar / rho_1
        rho = hypot(rho_1, beta)
        c, s = rho_1 / rho, beta / rho
        theta, rho_bar = s * alfa, -c * alfa
        phi, phi_bar = c * phi_bar, s * phi_bar
        x += (phi / rho) * w
        w *= -theta / rho
        w += v
        # A rotation from the right gives the length of x.
        gamma_bar, right = -c2 * rho, phi - s2 * rho * z
        size_x = sqrt(norm_x + (right / gamma_bar) ** 2)
        gamma = hypot(gamma_bar, theta)
        c2, s2, z = gamma_bar / gamma, theta / gamma, right / gamma
        norm_x += z * z
        size_a, residual = sqrt(norm_a), sqrt(phi_bar * phi_bar + damped)
        if alfa * abs(s * phi) <= tol * size_a * residual or residual <= tol * (length + size_a * size_x):
            return IteratedLeastSquares(x=x, n_iter=n_iter, converged=True)
    return IteratedLeastSquares(x=x, n_iter=max_iter, converged=False)
