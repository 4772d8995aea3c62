"""Gaussian processes behind a likelihood p(y | f) that is not normal: Laplace's approximation.

The posterior of the latent values f at the rows, ∝ p(y | f) N(f | 0, C), is approximated by
N(f*, (C⁻¹ + W)⁻¹) at its mode f*, with W = -∂² log p(y | f*)/∂f². C is never factored nor inverted: all goes
by the matrix B = I + √W C √W, whose eigenvalues are at least one (Rasmussen and Williams, chapter 3 and
section 5.5).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tractable.arrays.linalg import column_squares, log_det_cholesky, solve_cholesky, solve_triangular
from tractable.arrays.log_space import log_softmax
from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of
from tractable.engines.glm.losses import LossTerms
from tractable.primitives.in_place import add_to_diagonal, cholesky_in_place, inverse_in_place
from tractable.primitives.threads import blas_for_rows
from tractable.value import value

#: Newton's decrement, relative to the log joint: below the first the mode is found, below the second to the
#: last digits.
SETTLED, EXACT = 1e-11, 1e-19
#: A decrement above this part of the one before asks for the factor at the new curvature.
SLOW = 0.1
#: How often a step is halved, and what the log joint may fall by, relative to its size: its rounding.
HALVINGS, ROUNDING = 30, 1e-14
#: A curvature below which a row says nothing of its own latent value.
LEVEL = 1e-10


@value
class LikelihoodExpansion:
    """log p(y_n | f_n) times how often row n counts, and derivatives in f_n; the second is made positive."""

    value: Array
    slope: Array
    curvature: Array  # -∂² log p / ∂f², not negative
    third: Array  # ∂³ log p / ∂f³

    @classmethod
    def of(cls, loss: LossTerms, weights: Any = 1.0, log_base_measure: Any = 0.0) -> "LikelihoodExpansion":
        """Return that of the terms of a loss.

        Parameters
        ----------
        loss : LossTerms
            -log p(y_n | f_n) of each row up to terms without f, and its derivatives.
        weights : array (n,)
            How often each row counts.
        log_base_measure : array (n,)
            What the loss leaves out of log p.
        """
        return cls(
            value=weights * (log_base_measure - loss.value),
            slope=-weights * loss.slope,
            curvature=weights * loss.curvature,
            third=-weights * loss.third,
        )


#: log p(y | f) of the latent values at the rows.
Likelihood = Callable[[Array], LikelihoodExpansion]


@value
class LatentProcess:
    """Laplace's approximation of one latent function at the rows of a fit."""

    mode: Array  # (n,), f*
    expansion: LikelihoodExpansion  # of log p(y | f) at f*
    lower: Array  # (n, n), Cholesky factor of B
    log_evidence: float  # log p(y | f*) - ½ f*ᵀC⁻¹f* - ½ log|B|
    n_iter: int
    converged: bool

    @property
    def dual(self) -> Array:
        """C⁻¹ f* = ∇ log p(y | f*), (n,): the mean at new rows is k(x*, X) times it."""
        return self.expansion.slope

    @property
    def curvature(self) -> Array:
        """W, (n,)."""
        return self.expansion.curvature

    def moments(self, cross: Array, diagonal: Array) -> tuple[Array, Array]:
        """Return mean and variance of the latent function at new rows, (q,) each.

        The mean is kᵀ∇log p(y | f*), the variance c - kᵀ(W⁻¹ + C)⁻¹k.

        Parameters
        ----------
        cross : array (q, n)
            k(x*, X).
        diagonal : array (q,)
            c = k(x*, x*).
        """
        xp = namespace_of(cross)
        white = solve_triangular(self.lower, xp.sqrt(self.expansion.curvature)[:, None] * cross.T)
        return cross @ self.dual, xp.clip(diagonal - column_squares(white), 0.0, None)

    def leave_one_out(self, diagonal: Array, counts: Array) -> tuple[Array, Array]:
        """Return mean and variance of f_n without the likelihood of row n, in the approximation at the mode.

        Of a row that counts several times, without one of them.

        Parameters
        ----------
        diagonal : array (n,)
            That of C.
        counts : array (n,)
            How often each row counts.
        """
        xp, weight = namespace_of(self.lower), self.expansion.curvature
        own = xp.linalg.diagonal(inverse_in_place(self.lower + 0.0))  # diagonal of B⁻¹
        known = weight > LEVEL
        gone = xp.clip(1.0 / counts, None, 1.0)  # a row of less than one is left out whole
        learned = xp.clip(1.0 - own, 0.0, None)  # W_n Σ_nn
        safe = xp.where(known, weight * (1.0 - gone * learned), 1.0)
        variance = xp.where(known, learned / safe, diagonal)
        return self.mode - gone * self.expansion.slope * variance, variance

    def gradient_weights(self, matrix: Array) -> Array:
        """Return the lower triangle of Ω with ∂ log p(y)/∂θ = Σ_nm Ω_nm ∂C_nm/∂θ.

        At a fixed mode it is ½ aᵀ∂C a - ½ tr((W⁻¹ + C)⁻¹∂C), a = C⁻¹f*. The mode moves by
        ∂f* = (I + CW)⁻¹ ∂C a, and log|B| with it.

        Parameters
        ----------
        matrix : array (n, n)
            C.
        """
        xp, a, weight = namespace_of(matrix), self.dual, self.expansion.curvature
        root = xp.sqrt(weight)
        inverse = inverse_in_place(self.lower + 0.0)  # B⁻¹, its lower triangle
        # -½ ∂ log|B|/∂f_n = ½ Σ_nn ∂³ log p/∂f_n³, with W_n Σ_nn = 1 - (B⁻¹)_nn.
        ratio = self.expansion.third / xp.where(weight > 0.0, weight, 1.0)
        slope = 0.5 * (1.0 - xp.linalg.diagonal(inverse)) * ratio
        moved = slope - root * solve_cholesky(self.lower, (root * (matrix @ slope))[:, None])[:, 0]
        inverse *= (-0.5 * root)[:, None]
        inverse *= root  # -½ (W⁻¹ + C)⁻¹
        inverse += (0.5 * xp.stack([a + moved, a], axis=1)) @ xp.stack([a, moved])
        return inverse


def latent_process(
    matrix: Array,
    likelihood: Likelihood,
    *,
    start: Array | None = None,
    max_iter: int = 100,
) -> LatentProcess:
    """Return Laplace's approximation, by Newton's method with halved steps.

    A step is f ← C (I + WC)⁻¹ (Wf + ∇log p), through B; the log joint is concave, and a step is halved until
    it rises.

    Parameters
    ----------
    matrix : array (n, n)
        C, positive semi-definite.
    likelihood : callable
        ``likelihood(f)`` returns the `LikelihoodExpansion` of all rows.
    start : array (n,), optional
        C⁻¹f where the search starts, as `LatentProcess.dual` of other hyper-parameters; zero when not given.
    max_iter : int
        Maximum number of steps.

    Examples
    --------
    Four rows of two classes, the squared exponential and ν = 0.01.

    >>> from tractable.engines.glm import Logistic
    >>> x, y = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0.0, 0.0, 1.0, 1.0])
    >>> matrix = np.exp(-0.5 * (x[:, None] - x) ** 2) + 0.01 * np.eye(4)
    >>> found = latent_process(matrix, lambda f: LikelihoodExpansion.of(Logistic().terms(f, y)))
    >>> found.mode.round(8).tolist(), round(found.log_evidence, 8)
    ([-0.58174018, -0.53627655, 0.53627655, 0.58174018], -2.62228667)
    """
    with blas_for_rows(matrix.shape[0]):
        return _latent_process(matrix, likelihood, start, max_iter)


def _latent_process(
    matrix: Array, likelihood: Likelihood, start: Array | None, max_iter: int
) -> LatentProcess:
    xp = namespace_of(matrix)

    def factors(here: LikelihoodExpansion) -> Callable[[Array], Array]:
        root = xp.sqrt(here.curvature)
        lower = _factor_of_b(matrix, root)
        return lambda v: root * solve_cholesky(lower, (root * v)[:, None])[:, 0]

    found = _mode(matrix, likelihood, factors, xp.zeros_like(matrix[:, 0]), start, max_iter)
    lower = _factor_of_b(matrix, xp.sqrt(found.expansion.curvature))
    return LatentProcess(
        mode=found.f,
        expansion=found.expansion,
        lower=lower,
        log_evidence=found.joint - 0.5 * float(log_det_cholesky(lower)),
        n_iter=found.n_iter,
        converged=found.converged,
    )


@value
class Mode:
    """The mode f of the log joint Ψ(f) = log p(y | f) - ½ fᵀC⁻¹f."""

    f: Array
    expansion: Any  # of log p(y | f) at f, with its `value` and `slope`
    joint: float  # Ψ(f)
    n_iter: int
    converged: bool


def _mode(
    matrix: Array,
    likelihood: Callable[[Array], Any],
    factors: Callable[[Any], Callable[[Array], Array]],
    zero: Array,
    start: Array | None,
    max_iter: int,
) -> Mode:
    """Return the mode of the log joint, by Newton's method in a = C⁻¹f with halved steps.

    A step is (I + WC)⁻¹ (∇log p - a) = g - (W⁻¹ + C)⁻¹Cg of the gap g = ∇log p - a. Factors, which take most
    of the time, serve further steps as long as these converge quickly.

    Parameters
    ----------
    matrix : array (n, n)
        C.
    likelihood : callable
        log p(y | f) and its derivatives.
    factors : callable
        From these to the function v ↦ (W⁻¹ + C)⁻¹v.
    zero : array (n,) or (n, K)
        Where the search starts without a better start.
    start : array as `zero`, optional
        C⁻¹f where the search starts.
    max_iter : int
        Maximum number of steps.
    """
    a, f, here = zero, zero, likelihood(zero)
    joint = _log_joint(here, a, f)
    if start is not None:
        there = likelihood(matrix @ start)
        if (after := _log_joint(there, start, matrix @ start)) > joint:
            a, f, here, joint = start, matrix @ start, there, after
    solve, before = None, np.inf
    for n_iter in range(1, max_iter + 1):
        fresh = solve is None
        solve = factors(here) if solve is None else solve
        gap = here.slope - a
        direction = gap - solve(matrix @ gap)
        along = matrix @ direction
        decrement, size = float(namespace_of(gap).sum(gap * along)), 1.0 + abs(joint)
        stepped = _halved(likelihood, a, f, direction, along, joint)
        if stepped is None:
            if fresh:
                return Mode(f=f, expansion=here, joint=joint, n_iter=n_iter, converged=True)
            solve = None
            continue
        a, f, here, joint = stepped
        slow = decrement > SLOW * before
        if decrement <= EXACT * size or (decrement <= SETTLED * size and slow and fresh):
            return Mode(f=f, expansion=here, joint=joint, n_iter=n_iter, converged=True)
        solve, before = None if slow else solve, decrement
    return Mode(f=f, expansion=here, joint=joint, n_iter=max_iter, converged=decrement <= SETTLED * size)


@value
class SoftmaxProcess:
    """Laplace's approximation of K latent functions with one kernel, p(C_k | f) = softmax(f)_k."""

    mode: Array  # (n, K), f*
    dual: Array  # (n, K), C⁻¹ f* = t - π, times how often rows count
    probabilities: Array  # (n, K), π at the mode
    weights: Array  # (n,), how often rows count
    lowers: Array  # (K, n, n), Cholesky factors of B_k = I + √D_k C √D_k, D = weights π
    total: Array  # (n, n), Cholesky factor of Σ_k E_k, E_k = √D_k B_k⁻¹ √D_k
    log_evidence: float
    n_iter: int
    converged: bool

    @property
    def roots(self) -> Array:
        """√D, (n, K)."""
        return namespace_of(self.weights).sqrt(self.weights[:, None] * self.probabilities)

    @property
    def curvature(self) -> Array:
        """W of each row, weights (diag π - ππᵀ), (n, K, K)."""
        p = self.probabilities
        return self.weights[:, None, None] * (p[:, :, None] * _identity(p) - p[:, :, None] * p[:, None, :])

    def moments(self, cross: Array, diagonal: Array) -> tuple[Array, Array]:
        """Return means (q, K) and covariances (q, K, K) of the latent functions at new rows.

        Parameters
        ----------
        cross : array (q, n)
            k(x*, X).
        diagonal : array (q,)
            k(x*, x*).
        """
        own, shared = self._spreads(cross.T)
        added = (diagonal[:, None] - own.T)[:, :, None] * _identity(self.mode)
        return cross @ self.dual, _class_products(shared) + added

    def gradient_weights(self, matrix: Array) -> Array:
        """Return the lower triangle of Ω with ∂ log p(y)/∂θ = Σ_nm Ω_nm ∂C_nm/∂θ, C that of every class.

        Parameters
        ----------
        matrix : array (n, n)
            C.
        """
        xp = namespace_of(matrix)
        own, shared = self._spreads(matrix)
        # Posterior covariance of the classes at each row, (n, K, K).
        added = (xp.linalg.diagonal(matrix)[:, None] - own.T)[:, :, None] * _identity(self.mode)
        spread, p = _class_products(shared) + added, self.probabilities
        del shared  # K matrices of rows × rows
        # -½ tr(Σ_n ∂W_n/∂f_c), W_n = w (diag π - ππᵀ), ∂π/∂f_c = π_c (e_c - π).
        diagonal = xp.linalg.diagonal(spread)
        product = (spread @ p[:, :, None])[:, :, 0]
        level = xp.sum(p * diagonal, axis=1) - 2.0 * xp.sum(p * product, axis=1)
        slope = -0.5 * self.weights[:, None] * p * (diagonal - 2.0 * product - level[:, None])
        moved = slope - self._solve(matrix @ slope)
        weights = xp.zeros_like(matrix)
        for c in range(self.mode.shape[1]):
            precision = self._e(c)
            white = solve_triangular(self.total, precision)
            precision -= white.T @ white  # the block of class c of (W⁻¹ + C)⁻¹
            weights -= 0.5 * precision
        a = self.dual
        weights += 0.5 * ((a + moved) @ a.T + a @ moved.T)
        return weights

    def _e(self, c: int) -> Array:
        """Return E_c, (n, n)."""
        root = self.roots[:, c]
        inverse = _symmetric(inverse_in_place(self.lowers[c, ...] + 0.0))
        inverse *= root[:, None]
        inverse *= root
        return inverse

    def _spreads(self, columns: Array) -> tuple[Array, Array]:
        """Return vᵀE_c v of each column v (K, q), and L⁻¹ E_c v (K, n, q), L the factor of Σ E."""
        own, shared = [], []
        for c in range(self.mode.shape[1]):
            root = self.roots[:, c : c + 1]
            lower = self.lowers[c, ...]
            white = solve_triangular(lower, root * columns)
            own.append(column_squares(white))
            shared.append(
                solve_triangular(self.total, root * solve_triangular(lower, white, transposed=True))
            )
        xp = namespace_of(columns)
        return xp.stack(own), xp.stack(shared)

    def _solve(self, v: Array) -> Array:
        """Return (W⁻¹ + C)⁻¹ v of a vector of all classes, (n, K)."""
        return softmax_solve(self.roots, self.lowers, self.total, v)


def softmax_solve(roots: Array, lowers: Array, total: Array, v: Array) -> Array:
    """Return E v - E R (Σ E)⁻¹ Rᵀ E v, (n, K): (W⁻¹ + C)⁻¹ v, R the sum over classes.

    Parameters
    ----------
    roots : array (n, K)
        √D.
    lowers : array (K, n, n)
        Factors of B_k.
    total : array (n, n)
        Factor of Σ E_k.
    v : array (n, K)
        A vector of all classes.
    """
    xp = namespace_of(v)

    def e(columns: Array) -> Array:
        found = []
        for c in range(columns.shape[1]):
            white = solve_triangular(lowers[c, ...], (roots[:, c] * columns[:, c])[:, None])
            found.append(roots[:, c] * solve_triangular(lowers[c, ...], white, transposed=True)[:, 0])
        return xp.stack(found, axis=1)

    inside = e(v)
    white = solve_triangular(total, xp.sum(inside, axis=1, keepdims=True))
    common = solve_triangular(total, white, transposed=True)
    return inside - e(xp.broadcast_to(common, v.shape))


def softmax_process(
    matrix: Array,
    targets: Array,
    weights: Array,
    *,
    start: Array | None = None,
    max_iter: int = 100,
) -> SoftmaxProcess:
    """Return Laplace's approximation of K classes, Rasmussen and Williams, algorithm 3.3.

    Parameters
    ----------
    matrix : array (n, n)
        C, of every class.
    targets : array (n, K)
        One in the column of each row's class, else zero.
    weights : array (n,)
        How often each row counts, positive.
    start : array (n, K), optional
        C⁻¹f where the search starts; zero when not given.
    max_iter : int
        Maximum number of steps.
    """
    with blas_for_rows(matrix.shape[0]):
        return _softmax_process(matrix, targets, weights, start, max_iter)


def _softmax_process(
    matrix: Array,
    targets: Array,
    weights: Array,
    start: Array | None,
    max_iter: int,
) -> SoftmaxProcess:
    xp = namespace_of(matrix)

    def likelihood(f: Array) -> SoftmaxExpansion:
        logs = log_softmax(f)
        p = xp.exp(logs)
        return SoftmaxExpansion(
            value=weights * xp.sum(targets * logs, axis=1),
            slope=weights[:, None] * (targets - p),
            probabilities=p,
        )

    def factors(here: SoftmaxExpansion) -> Callable[[Array], Array]:
        return partial(softmax_solve, *_softmax_factors(matrix, here.probabilities, weights))

    found = _mode(matrix, likelihood, factors, xp.zeros_like(targets), start, max_iter)
    p = found.expansion.probabilities
    _, lowers, total = _softmax_factors(matrix, p, weights)
    log_det = float(xp.sum(log_det_cholesky(lowers))) + float(log_det_cholesky(total))
    return SoftmaxProcess(
        mode=found.f,
        dual=found.expansion.slope,
        probabilities=p,
        weights=weights,
        lowers=lowers,
        total=total,
        log_evidence=found.joint - 0.5 * (log_det - float(xp.sum(xp.log(weights)))),
        n_iter=found.n_iter,
        converged=found.converged,
    )


@value
class SoftmaxExpansion:
    """log p(C | f) of each row, and its derivative in f."""

    value: Array  # (n,)
    slope: Array  # (n, K)
    probabilities: Array  # (n, K)


def _softmax_factors(matrix: Array, p: Array, weights: Array) -> tuple[Array, ...]:
    """Return √D, the factors of every B_k, and that of Σ E_k."""
    xp, k = namespace_of(matrix), p.shape[1]
    # A probability that underflows has no direction; its row keeps the others'.
    roots = xp.sqrt(xp.clip(weights[:, None] * p, float(np.finfo(np.float64).tiny), None))
    lowers = xp.stack([_factor_of_b(matrix, roots[:, c]) for c in range(k)])
    total = xp.zeros_like(matrix)
    for c in range(k):
        inverse = inverse_in_place(lowers[c, ...] + 0.0)
        inverse *= roots[:, c][:, None]
        inverse *= roots[:, c]
        total += inverse
    found, _ = cholesky_in_place(total)
    return roots, lowers, found


def _identity(rows: Array) -> Array:
    """Return the identity of the columns of rows (n, K), (K, K)."""
    return namespace_of(rows).eye(rows.shape[1], dtype=rows.dtype, device=device(rows))


def _class_products(shared: Array) -> Array:
    """Return Σ_n A_cnq A_dnq of every q, (q, K, K), from A (K, n, q)."""
    if is_numpy_array(shared):
        return np.einsum("cnq,dnq->qcd", shared, shared)
    xp, k = namespace_of(shared), shared.shape[0]
    pairs = [[xp.sum(shared[c, ...] * shared[d, ...], axis=0) for d in range(k)] for c in range(k)]
    return xp.stack([xp.stack(row, axis=1) for row in pairs], axis=1)


def _factor_of_b(matrix: Array, root: Array) -> Array:
    """Return the Cholesky factor of I + √W C √W."""
    b = root[:, None] * matrix
    b *= root
    lower, good = cholesky_in_place(add_to_diagonal(b, 1.0))
    if not good:
        raise ValueError(
            "kernel must be positive semi-definite and finite at the rows of X: I + √W K √W has no Cholesky "
            "factor"
        )
    return lower


def _halved(
    likelihood: Callable[[Array], Any],
    a: Array,
    f: Array,
    direction: Array,
    along: Array,
    joint: float,
) -> tuple[Array, Array, Any, float] | None:
    """Return the first of the steps 1, ½, ¼, … at which the log joint rises; None where none does."""
    length = 1.0
    for _ in range(HALVINGS):
        candidate, latent = a + length * direction, f + length * along
        there = likelihood(latent)
        after = _log_joint(there, candidate, latent)
        if after > joint - ROUNDING * abs(joint):
            return candidate, latent, there, after
        length *= 0.5
    return None


def _log_joint(expansion: Any, a: Array, f: Array) -> float:
    """Return log p(y | f) - ½ fᵀC⁻¹f; -inf where it is no number."""
    xp = namespace_of(f)
    found = float(xp.sum(expansion.value)) - 0.5 * float(xp.sum(a * f))
    return found if np.isfinite(found) else -np.inf


def _symmetric(lower: Array) -> Array:
    """Return the symmetric matrix of a lower triangle; what is above the diagonal is not read."""
    xp = namespace_of(lower)
    found = xp.tril(lower)
    found += xp.tril(lower, k=-1).T
    return found
