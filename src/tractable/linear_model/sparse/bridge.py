"""Bridge regression: penalties |w|^q between and beyond the lasso and ridge regression."""

import warnings
from math import frexp, ldexp, log2
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.namespace import Array, as_float_array, namespace_of
from tractable.base.by_blocks import by_blocks
from tractable.base.parameters import check_number
from tractable.engines import NewtonResult, newton
from tractable.linear_model.sparse.columns import Columns, checked_columns, predictions, refuse_scales
from tractable.linear_model.sparse.path import solve_path
from tractable.primitives.linear import triangle
from tractable.value import replace, value


def lp_norm(x: Any, p: float = 2.0, *, axis: int = -1) -> Array:
    """Return ‖x‖_p = (Σ |x_i|^p)^(1/p), the largest |x_i| for p = ∞.

    Parameters
    ----------
    x : array
        Vectors, along `axis`.
    p : float
        At least 1: below, the triangle inequality fails.
    axis : int
        The axis of the entries of a vector.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> x = [3.0, -4.0]
    >>> [round(float(tractable.lp_norm(x, p)), 3) for p in (1, 2, 3, np.inf)]
    [7.0, 5.0, 4.498, 4.0]
    """
    if p != float("inf"):
        check_number("p", p, least=1.0)
    x = as_float_array(x)
    xp = namespace_of(x)
    size = xp.abs(x)
    if 0 in x.shape:  # of nothing, zero
        return xp.sum(size, axis=axis)
    top = xp.max(size, axis=axis, keepdims=True)
    if p == float("inf"):
        return xp.squeeze(top, axis=axis)
    # Relative to the largest entry, so that powers neither overflow nor vanish.
    safe = xp.where((top > 0) & xp.isfinite(top), top, xp.ones_like(top))
    return xp.squeeze(safe, axis=axis) * xp.sum((size / safe) ** p, axis=axis) ** (1.0 / p)


@value
class BridgeFit:
    """A bridge regression that was solved.

    Parameters
    ----------
    coef : array (n_features,)
        Coefficients w.
    intercept : float
        Intercept b.
    objective : float
        (1/2n) Σ (y - b - xᵀw)² + alpha Σ |w_j|^q.
    n_iter : int
        Number of iterations.
    converged : bool
        Whether the search ended by its tolerance.
    names : tuple of str, optional
        Names of the columns.
    """

    coef: np.ndarray
    intercept: float
    objective: float
    n_iter: int
    converged: bool
    names: tuple[str, ...] | None = None

    @by_blocks
    def predict(self, X: Any) -> np.ndarray:
        """Return intercept + xᵀ coef for each row."""
        return np.asarray(predictions(X, self.coef, self.intercept, self.names))


def bridge_regression(
    X: Any,
    y: Any = None,
    alpha: float = 1.0,
    q: float = 1.0,
    *,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    tol: float = 1e-15,
    max_iter: int = 500,
) -> BridgeFit:
    """Minimise (1/2n) Σ (y - b - xᵀw)² + alpha Σ |w_j|^q, for q of at least 1.

    The textbook's ½ Σ (y - xᵀw)² + λ/2 Σ|w_j|^q has alpha = λ / (2n). With q = 1 it is the lasso of the same
    alpha; with q = 2 ridge regression, whose penalty in scikit-learn's units is 2 n alpha. Only q = 1 sets
    coefficients to zero: for any larger q the derivative of the penalty vanishes at zero. The larger q, the
    more the largest coefficients are shrunk.

    Between 1 and 2 the penalty has infinite curvature at zero, but its conjugate is smooth: Newton's method
    solves the dual problem, in the residuals, and w_j = sign(z_j) (|z_j| / (n alpha q))^(1/(q-1)) with the
    correlations z. From 2 on, Newton's method solves the problem itself.

    Parameters
    ----------
    X, y, fit_intercept, sample_weight
        As in :func:`tractable.lars_path`.
    alpha : float
        Positive.
    q : float
        At least 1; below, there are many local minima.
    tol : float
        Predicted decrease of the objective, relative to its size, below which Newton's method stops.
    max_iter : int
        Most Newton steps; fewer than needed are a warning.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X, y = np.array([[1.0], [-1.0]]), np.array([2.0, -2.0])
    >>> [round(float(tractable.bridge_regression(X, y, 0.5, q).coef[0]), 3) for q in (1.0, 1.5, 2.0)]
    [1.5, 1.184, 1.0]
    """
    check_number("q", q, least=1.0)
    check_number("alpha", alpha, above=0.0)
    check_number("tol", tol, least=0.0)
    check_number("max_iter", max_iter, least=1, whole=True)
    columns, names = checked_columns(X, y, sample_weight, fit_intercept=fit_intercept)
    problem = problem_of(columns, float(alpha), float(q))
    solve = absolute if q == 1.0 else dual if q < 2.0 else primal
    w, n_iter, converged = solve(problem, tol, max_iter)
    if not converged:
        warnings.warn(
            f"bridge_regression did not converge in max_iter={max_iter} steps; raise max_iter or tol",
            ConvergenceWarning,
            stacklevel=2,
        )
    coef = np.ldexp(w, problem.exponent)
    return BridgeFit(
        coef=coef,
        intercept=float(columns.intercepts(coef)),
        objective=problem.objective(w) / columns.weight,
        n_iter=n_iter,
        converged=converged,
        names=names,
    )


#: Exponent of the largest unit of the coefficients.
LARGEST_EXPONENT = 1000
#: The smallest penalty, relative to the squared targets.
LEAST_PENALTY = 1e-200
#: Correlations as small as such a penalty, relative to the squared targets, have half of their digits.
LEAST_DUAL_PENALTY = 1e-9

#: Coefficients, number of steps, and whether they converged.
Solved = tuple[np.ndarray, int, bool]


@value
class BridgeProblem:
    """½|b - Aw|² + a Σ|w_j|^q with A, b and w over powers of two.

    Validation keeps squares in range, and not |w_j|^q for a large q.
    """

    A: np.ndarray
    b: np.ndarray
    a: float
    q: float
    exponent: int  # of the unit of the coefficients
    target_exponent: int

    def objective(self, w: np.ndarray) -> float:
        """Return the objective, in the units of the data."""
        residuals = self.b - self.A @ w
        value = 0.5 * (residuals @ residuals) + self.a * (np.abs(w) ** self.q).sum()
        return float(np.ldexp(value, 2 * self.target_exponent))


def problem_of(columns: Columns, alpha: float, q: float) -> BridgeProblem:
    """Return the problem of the columns; the triangular factor of many rows stands for them.

    The unit of the coefficients is the size at which their penalty, or, where that is less, their fit alone
    is as large as the squared targets: no power of them overflows, and the penalty is at most one.
    """
    A, b = columns.X, columns.Y[:, 0]
    wide, tall = (frexp(np.abs(part).max(initial=0.0))[1] for part in (A, b))
    A, b = np.ldexp(A, -wide), np.ldexp(b, -tall)
    if A.shape[0] > A.shape[1] + 1:
        factor = triangle(np.column_stack([A, b]))
        A, b = factor[:, :-1], factor[:, -1]
    penalty = log2(columns.weight) + log2(alpha)
    exponent = min(tall - wide, int((2 * tall - penalty) / q))
    if exponent > LARGEST_EXPONENT:
        refuse_scales(ldexp(1.0, wide), ldexp(1.0, tall), "coefficients")
    a = 2.0 ** (penalty + q * exponent - 2 * tall)
    return BridgeProblem(
        A=np.ldexp(A, exponent + wide - tall),
        b=b,
        a=max(a, LEAST_PENALTY),
        q=q,
        exponent=exponent,
        target_exponent=tall,
    )


def absolute(problem: BridgeProblem, tol: float, max_iter: int) -> Solved:
    """Solve q = 1, the lasso."""
    A, b = problem.A, problem.b
    origin = np.zeros(A.shape[1] + 1)
    columns = Columns(rows=A, Y=b[:, None], centre=origin[1:], offset=origin[:1], weight=1.0)
    tol = max(tol, 1e-12)
    path = solve_path(columns, np.array([problem.a]), tol=tol, max_iter=max_iter)
    return path.coefs[:, 0], int(path.n_iter[0]), bool(path.gaps[0] <= tol * (b @ b))


def primal(problem: BridgeProblem, tol: float, max_iter: int) -> Solved:
    """Solve q from 2 on, by Newton's method."""
    A, b = problem.A, problem.b
    lengths = np.einsum("ij,ij->j", A, A)
    start = A.T @ b / (lengths + 2.0 * problem.a)
    found = _newton(_shortened(problem, start), problem, tol, max_iter)
    return found.x, found.n_iter, found.converged


def _shortened(problem: BridgeProblem, w: np.ndarray) -> np.ndarray:
    """Return a multiple of w with a lower objective than zero: high powers of a long w are enormous.

    Along w the slope at t is t|Aw|² + t^(q-1) a q Σ|w_j|^q - bᵀAw. It is not positive at half the t at which
    either of the first two terms alone equals the last.
    """
    top = np.abs(w).max(initial=0.0)
    if top == 0.0:
        return w
    w = w / top
    q, fitted = problem.q, problem.A @ w
    product, powers = problem.b @ fitted, problem.a * q * (np.abs(w) ** q).sum()
    square = fitted @ fitted
    longest = (product / powers) ** (1.0 / (q - 1.0))
    return 0.5 * (min(longest, product / square) if square > 0.0 else longest) * w


def _newton(start: np.ndarray, problem: BridgeProblem, tol: float, max_iter: int) -> NewtonResult:
    """Minimise ½|b - Aw|² - ½|b|² + a Σ|w_j|^q by Newton's method.

    For q below 2, coefficients of zero, or so near to it that the curvature overflows, are kept.
    """
    b, a, q = problem.b, problem.a, problem.q
    with np.errstate(divide="ignore", over="ignore"):
        used = np.isfinite(a * q * np.abs(start) ** (q - 2.0))
    A = problem.A[:, used]
    gram = A.T @ A

    def objective(w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        size, fitted = np.abs(w), A @ w
        with np.errstate(divide="ignore", over="ignore"):
            curvature = (q - 1.0) * a * q * size ** (q - 2.0)
        slope = a * q * size ** (q - 1.0) * np.sign(w)
        value = (0.5 * fitted - b) @ fitted + a * (size**q).sum()
        return value, A.T @ (fitted - b) + slope, gram + np.diag(curvature)

    found = newton(objective, start[used], tol=tol, max_iter=max_iter)
    w = start.copy()
    w[used] = found.x
    return replace(found, x=w)


def dual(problem: BridgeProblem, tol: float, max_iter: int) -> Solved:
    """Solve q between 1 and 2, where the penalty has infinite curvature at zero; its conjugate h* has not.

    Minimises ½|θ|² - bᵀθ + Σ h*(A_jᵀθ) over the residuals θ, with h* conjugate to h(w) = c|w|^q. With a small
    penalty a the correlations that give the coefficients are nearly rounding: the dual problem is solved for
    a larger one, c, and the problem itself, which is smooth away from zero, from there.
    """
    A, b, q = problem.A, problem.b, problem.q
    power, c = 1.0 / (q - 1.0), max(problem.a, LEAST_DUAL_PENALTY)

    def coefficients(theta: np.ndarray) -> np.ndarray:
        z = A.T @ theta
        return np.sign(z) * (np.abs(z) / (c * q)) ** power

    def value(theta: np.ndarray) -> float:
        return 0.5 * theta @ theta - b @ theta + c * (q - 1.0) * (np.abs(coefficients(theta)) ** q).sum()

    def objective(theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        w = coefficients(theta)
        curvature = power / (c * q) * np.abs(w) ** (2.0 - q)
        return value(theta), theta - b + A @ w, np.eye(len(b)) + (A * curvature) @ A.T

    top = np.abs(A.T @ b).max(initial=0.0)
    start = b * min(1.0, c * q / top) if top > 0.0 else b
    found = newton(objective, start, value=value, tol=tol, max_iter=max_iter)
    last = _newton(coefficients(found.x), problem, tol, max_iter - found.n_iter)
    return last.x, found.n_iter + last.n_iter, last.converged
