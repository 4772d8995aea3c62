"""The Laplace approximation: a Gaussian at the mode of a posterior, with the curvature there (Bishop 4.4)."""

from collections.abc import Callable
from functools import cache

import numpy as np

from tractable.arrays.linalg import cholesky, solve_triangular, symmetrize
from tractable.arrays.log_space import LOG_2PI
from tractable.engines.glm.losses import LossExpansion
from tractable.engines.newton import newton
from tractable.primitives.threads import single_threaded_blas
from tractable.value import replace, value

#: Bounds of a precision that is learned, in standardised columns.
SMALLEST, LARGEST = 1e-8, 1e12

#: Eigenvalues this small, times their number and the machine's rounding, count as zero.
LOST = 10.0
#: Where the data determine a smaller part of the coefficients, 1 - α Σ_jj loses digits.
CANCELLED = 1e-3
_EPS = float(np.finfo(np.float64).eps)

#: Negative log-likelihood of coefficients, with gradient and curvature.
Loss = Callable[[np.ndarray], LossExpansion]


@value
class LaplaceApproximation:
    """N(mode, H⁻¹), H the Hessian of the negative log posterior at its mode.

    Parameters
    ----------
    mode : array (c, p)
        The coefficients of the highest posterior density.
    root : array (c p, c p)
        G with G Gᵀ = H⁻¹.
    precision : array (c, p)
        Of the Gaussian prior, whose mean is 0; zero where the prior is flat.
    log_evidence : float
        log p(y | X) ≈ log p(y | mode) + log p(mode) + ½ c p log 2π - ½ log |H|; a flat prior has density one.
    effective_dof : float
        γ = Σ_j (1 - α_j Σ_jj) over the coefficients with a prior: how many of them the data determine.
    n_iter : int
        Number of Newton steps.
    converged : bool
        Whether the search for the mode ended by its tolerance.
    """

    mode: np.ndarray
    root: np.ndarray
    precision: np.ndarray
    log_evidence: float
    effective_dof: float
    n_iter: int
    converged: bool


@single_threaded_blas()  # matrices are small, and the loss uses every core
def laplace(loss: Loss, precision: np.ndarray, start: np.ndarray, *, max_iter: int) -> LaplaceApproximation:
    """Return the Laplace approximation of exp(-loss(coef)) Π_j N(coef_j | 0, 1/precision_j).

    The mode is found by Newton's method; every step is one evaluation of the loss, and one more for each
    halving of it.

    Parameters
    ----------
    loss : callable
        ``loss(coef)`` returns the `LossExpansion` of the data at coefficients (c, p).
    precision : array (c, p)
        Of the prior; zero for a flat one.
    start : array (c, p)
        Coefficients at which the search for the mode starts.
    max_iter : int
        Maximum number of Newton steps.

    Examples
    --------
    >>> counts = LossExpansion(value=2.0, gradient=np.zeros((1, 1)), curvature=3.0 * np.eye(1))
    >>> found = laplace(lambda coef: counts, np.ones((1, 1)), np.zeros((1, 1)), max_iter=10)
    >>> found.mode.tolist(), found.root.tolist(), found.effective_dof
    ([[0.0]], [[0.5]], 0.75)
    """
    ridge = np.diag(precision.ravel())

    def objective(b: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        found = loss(b)
        penalty = 0.5 * float(np.sum(precision * b * b))
        return found.value + penalty, found.gradient + precision * b, found.curvature + ridge

    found = newton(objective, start, tol=1e-13, max_iter=max_iter, vanishing=True)
    try:
        lower = cholesky(found.curvature)
    except ValueError:
        raise ValueError(
            "alpha is too small for X and y: the classes are separated so well, or columns are so nearly "
            "collinear, that the curvature of the posterior vanishes in some direction"
        ) from None
    root = solve_triangular(lower, np.eye(len(lower))).T
    proper = precision.ravel() > 0.0
    log_prior = 0.5 * float(np.sum(np.log(precision[precision > 0.0]) - LOG_2PI))
    log_det = 2.0 * float(np.sum(np.log(np.diagonal(lower))))
    determined = 1.0 - precision.ravel() * np.sum(root * root, axis=1)
    if np.sum(determined[proper]) < CANCELLED * np.sum(proper):
        # The same as (Σ H)_jj of the data's part of H, which keeps its digits.
        determined = np.sum((root @ root.T) * (found.curvature - ridge), axis=1)
    return LaplaceApproximation(
        mode=found.x,
        root=root,
        precision=precision,
        log_evidence=-found.value + log_prior + 0.5 * (len(root) * LOG_2PI - log_det),
        effective_dof=float(np.sum(determined[proper])),
        n_iter=found.n_iter,
        converged=found.converged,
    )


def laplace_evidence(loss: Loss, proper: np.ndarray, *, max_iter: int) -> LaplaceApproximation:
    """Return the Laplace approximation at MacKay's fixed point of the evidence, α = γ / |coef|².

    One precision α is shared by all coefficients with a prior. The fixed point is the root of
    log γ - log |coef|² - log α, found by Brent's method from warm starts; where the data say nothing of the
    coefficients there is none, and the largest precision is taken. Steps are counted of all searches.

    Parameters
    ----------
    loss : callable
        See `laplace`.
    proper : bool array (c, p)
        Which coefficients have the prior; that of the others is flat.
    max_iter : int
        Maximum number of Newton steps of each search.
    """
    from scipy.optimize import brentq

    found: dict[float, LaplaceApproximation] = {}
    last: LaplaceApproximation | None = None

    @cache  # the root finder asks again at the ends of its interval
    def excess(log_alpha: float) -> float:
        nonlocal last
        precision = np.where(proper, np.exp(log_alpha), 0.0)
        start = np.zeros(proper.shape) if last is None else _moved_mode(last, precision)
        found[log_alpha] = last = here = laplace(loss, precision, start, max_iter=max_iter)
        size = float(np.sum(here.mode[proper] ** 2))
        return 1.0 if size == 0.0 else float(np.log(here.effective_dof) - np.log(size)) - log_alpha

    def after_all_steps(log_alpha: float) -> LaplaceApproximation:
        return replace(found[log_alpha], n_iter=sum(each.n_iter for each in found.values()))

    at, beyond = 0.0, excess(0.0)
    limit = float(np.log(LARGEST if beyond > 0.0 else SMALLEST))
    step = 2.0 * beyond  # MacKay's step, α ← γ / |coef|², goes towards the fixed point and stops short of it
    while True:
        farther = float(np.clip(at + step, min(at, limit), max(at, limit)))
        there = excess(farther)
        if there * beyond <= 0.0:
            break
        if farther == limit:
            return after_all_steps(farther)
        at, beyond, step = farther, there, 2.0 * step
    root = float(brentq(excess, *sorted((at, farther)), xtol=1e-10, rtol=1e-12))
    excess(root)
    return after_all_steps(root)


def _moved_mode(here: LaplaceApproximation, precision: np.ndarray) -> np.ndarray:
    """Return about where the mode is with another prior: dw = -H⁻¹ w dα, where that is a small step."""
    pull = ((precision - here.precision) * here.mode).ravel()
    step = (here.root @ (here.root.T @ pull)).reshape(here.mode.shape)
    return here.mode - step if np.sum(step * step) < np.sum(here.mode * here.mode) else here.mode


@single_threaded_blas()
def determined_rank(hessian: np.ndarray) -> int:
    """Return how many combinations of parameters a curvature determines: its rank, whatever their units.

    Examples
    --------
    >>> determined_rank(np.array([[1e-30, 0.0], [0.0, 0.0]]))
    1
    """
    size = np.sqrt(np.diagonal(hessian))
    size = np.where(size > 0.0, size, 1.0)
    values = np.linalg.eigvalsh(symmetrize(hessian / size / size[:, None]))
    return int(np.sum(values > LOST * len(values) * _EPS * np.max(values, initial=0.0)))


@single_threaded_blas()
def inverse_root(hessian: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return G with G Gᵀ the (pseudo-)inverse of a curvature, and the directions that have none, (p, q).

    Examples
    --------
    >>> root, undetermined = inverse_root(np.diag([4.0, 0.0]))
    >>> abs(root).tolist(), abs(undetermined).tolist()
    ([[0.5], [0.0]], [[0.0], [1.0]])
    """
    size = np.sqrt(np.diagonal(hessian))
    size = np.where(size > 0.0, size, 1.0)[:, None]
    unit = symmetrize(hessian / size / size.T)
    try:
        lower = cholesky(unit)
        return solve_triangular(lower, np.eye(len(unit))).T / size, np.zeros((len(unit), 0))
    except ValueError:  # singular
        values, vectors = np.linalg.eigh(unit)
    some = values > LOST * len(values) * _EPS * np.max(values, initial=0.0)
    return vectors[:, some] / np.sqrt(values[some]) / size, vectors[:, ~some] / size
