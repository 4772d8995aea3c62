"""Exact Gaussian processes at given hyper-parameters: evidence with its gradient, and the posterior.

Targets are y = f(x) + h(x)ᵀβ + ε, with f ~ GP(0, k), a flat prior of β, and independent noise of variance
σ² s(x). A kernel is whatever has ``kernel(x, y)``, ``kernel.lower_triangle(x)``, ``kernel.diagonal(x)`` and
``kernel.contract_gradient(W, x)``, as those of `tractable.kernels`.
"""

from collections.abc import Iterator
from math import inf, log, pi
from typing import Any

import numpy as np

from tractable.arrays.batched import diagonal_matrix
from tractable.arrays.linalg import (
    column_squares,
    inv_triangular,
    jitters,
    log_det_cholesky,
    solve_triangular,
    symmetrize,
)
from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.data.blocks import map_matrix_rows
from tractable.primitives.in_place import add_to_diagonal, cholesky_in_place, inverse_in_place
from tractable.primitives.linear import triangle
from tractable.primitives.threads import blas_for_rows
from tractable.value import replace, value

#: Entries of a block of rows of a kernel matrix, so that what a kernel computes on the way stays small.
BLOCK_ENTRIES = 2**17
#: Difference of logarithms of hyper-parameters, by which features are differentiated.
STEP = 1e-3
#: A fraction of a precision below which what is left of it is rounding.
DETERMINED = 1e-12
#: Rows of a block of which the diagonal of a kernel matrix is taken.
FEW_ROWS = 32
#: A kernel that gives a variance so far below zero, relative to the prior's, is not a covariance function.
INDEFINITE = 1e-8
#: The least variance, relative to the prior's, that rounding may leave.
EPSILON = float(np.finfo(np.float64).eps)


@value
class Observations:
    """Rows, targets, the columns of the mean, and the noise of each row relative to σ²."""

    x: Array  # (n, d)
    y: Array  # (n, t), each column a function of its own with the same kernel
    basis: Array  # (n, m), h(x), linearly independent columns
    noise_scale: Array  # (n,), s_n: the noise variance of row n is σ² s_n
    # Equal rows are one, with the mean of their targets and the noise of this mean. What they say besides,
    # of the noise alone, is a normal density of their deviations from it:
    n_repeats: float = 0.0  # their number, less one for each row here
    log_repeats: float = 0.0  # Σ log v over them less Σ log s over rows here; v is their own noise scale
    within: float = 0.0  # Σ over targets of their squared deviations, each over its v
    joined: Any = None  # (number of rows given,), which row here each is part of; None where it is its own

    @property
    def positions(self) -> Array:
        """Which row here each row given is part of."""
        if self.joined is not None:
            return self.joined
        return namespace_of(self.x).arange(self.x.shape[0], device=device(self.x))

    @property
    def n_targets(self) -> int:
        """Number of targets of a row."""
        return int(self.y.shape[1])

    @property
    def dof(self) -> int:
        """Number of rows less the dimension of the mean."""
        return int(self.basis.shape[0]) - int(self.basis.shape[1])

    def log_density_of_repeats(self, noise: float) -> float:
        """Return the log density of all targets of equal rows given their means."""
        if not (self.n_repeats or self.log_repeats or self.within):
            return 0.0
        if not noise > 0.0:
            return -inf if self.within > 0.0 else 0.0
        level = self.n_repeats * log(2.0 * pi * noise) + self.log_repeats
        return -0.5 * (self.n_targets * level + self.within / noise)


@value
class Evidence:
    """Log evidence of a Gaussian process, and its derivatives by the logarithms of hyper-parameters."""

    value: float
    kernel_gradient: Any = None  # (p,)
    noise_gradient: float = 0.0  # by log σ²
    jitter: float = 0.0  # what was added to the diagonal of the covariance


@value
class DualPosterior:
    """The posterior of f and β, from the factor L of the covariance of the targets, C = K + σ² diag(s)."""

    rows: Observations
    lower: Array  # (n, n), L
    dual: Array  # (n, t), P y with P = C⁻¹ - C⁻¹H (HᵀC⁻¹H)⁻¹ HᵀC⁻¹
    coef: Array  # (m, t), the posterior mean of β
    basis_white: Array  # (n, m), Q of L⁻¹H = Q R
    basis_factor: Array  # (m, m), R: the posterior covariance of β is (RᵀR)⁻¹
    fit: float  # Σ over targets of yᵀ P y
    jitter: float = 0.0

    @classmethod
    def from_factor(cls, rows: Observations, lower: Array, jitter: float = 0.0) -> "DualPosterior":
        """Return the posterior of rows whose covariance has the factor.

        Parameters
        ----------
        rows : Observations
            The rows.
        lower : array (n, n)
            Cholesky factor of their covariance; entries above the diagonal are not read.
        jitter : float
            What was added to the diagonal of the covariance.
        """
        xp, m = namespace_of(lower), rows.basis.shape[1]
        white = solve_triangular(lower, xp.concat([rows.basis, rows.y], axis=1))
        basis, targets = white[:, :m], white[:, m:]
        if m:
            q, r = xp.linalg.qr(basis)
            on_basis = q.T @ targets
            targets = targets - q @ on_basis
            coef = solve_triangular(r.T, on_basis, transposed=True)
        else:
            q, r, coef = basis, basis[:0, :], targets[:0, :]
        return cls(
            rows=rows,
            lower=lower,
            dual=solve_triangular(lower, targets, transposed=True),
            coef=coef,
            basis_white=q,
            basis_factor=r,
            fit=float(xp.sum(targets**2)),
            jitter=jitter,
        )

    def log_evidence(self, noise: float) -> float:
        """Return log p(y) = -½ yᵀPy - ½ log|C| - ½ log|HᵀC⁻¹H| - ½ (n - m) log 2π, R&W (2.45)."""
        rows, xp = self.rows, namespace_of(self.lower)
        log_det = float(log_det_cholesky(self.lower))
        if self.basis_factor.shape[0]:
            log_det += 2.0 * float(xp.sum(xp.log(xp.abs(xp.linalg.diagonal(self.basis_factor)))))
        level = log_det + rows.dof * log(2.0 * pi)
        return rows.log_density_of_repeats(noise) - 0.5 * (self.fit + rows.n_targets * level)

    def mean(self, cross: Array, basis: Array) -> Array:
        """Return the posterior mean of f + hᵀβ, (q, t), from k(x*, X) and h(x*)."""
        return cross @ self.dual + basis @ self.coef

    def cross(self, kernel: Any, x: Array) -> Array:
        """Return k(x*, X), (q, n)."""
        return kernel(x, self.rows.x)

    def variance(self, kernel: Any, x: Array, cross: Array, basis: Array) -> Array:
        """Return the posterior variance of f + hᵀβ, (q,).

        Parameters
        ----------
        kernel : Kernel
            k.
        x : array (q, d)
            The rows x*.
        cross : array (q, n)
            k(x*, X).
        basis : array (q, m)
            h(x*).
        """
        prior = signal_diagonal(kernel, x)
        explained, of_mean = self.white(cross, basis)
        variance = prior - column_squares(explained) + column_squares(of_mean)
        return self._floored(variance, kernel, prior, explained, of_mean)

    def covariance(self, kernel: Any, x: Array, cross: Array, basis: Array) -> Array:
        """Return the posterior covariance of f + hᵀβ, (q, q).

        Parameters
        ----------
        kernel : Kernel
            k.
        x : array (q, d)
            The rows x*.
        cross : array (q, n)
            k(x*, X).
        basis : array (q, m)
            h(x*).
        """
        xp, prior = namespace_of(x), symmetrize(kernel(x, x))
        explained, of_mean = self.white(cross, basis)
        covariance = prior - explained.T @ explained + of_mean.T @ of_mean
        variance = xp.linalg.diagonal(covariance)
        floored = self._floored(variance, kernel, xp.linalg.diagonal(prior), explained, of_mean)
        return covariance + diagonal_matrix(floored - variance)

    def _floored(self, variance: Array, kernel: Any, prior: Array, explained: Array, of_mean: Array) -> Array:
        """Return variances with those that rounding took below zero mended; refuse an indefinite kernel."""
        xp = namespace_of(variance)
        least = -INDEFINITE * (prior + column_squares(of_mean))
        if bool(xp.any(variance < least)) and bool(xp.any(variance < least - self.rounding(explained))):
            raise ValueError(
                "kernel must be positive semi-definite at the rows of X and those of the fit, and "
                f"{kernel!r} is not: it gives a variance below zero"
            )
        floor = EPSILON * prior
        return xp.where(variance > floor, variance, floor)

    def terms(self, terms: tuple[Any, ...], x: Array) -> Iterator[tuple[Array, Array]]:
        """Yield the posterior mean and variance of the function of each term of the kernel, (q,) each."""
        xp, dual = namespace_of(x), self.dual[:, 0]
        for term in terms:
            cross, prior = term(x, self.rows.x), signal_diagonal(term, x)
            # Rounding may leave less than nothing where the rows determine the function.
            rest, floor = prior - self.explained(cross), EPSILON * prior
            yield cross @ dual, xp.where(rest > floor, rest, floor)

    def mean_variance(self, basis: Array) -> Array:
        """Return the posterior variance of h(x)ᵀβ, (q,)."""
        return column_squares(solve_triangular(self.basis_factor.T, basis.T))

    def lowered(self, gap: float) -> "DualPosterior":
        """Return the posterior of targets that are all less by a number."""
        return DualPosterior.from_factor(replace(self.rows, y=self.rows.y - gap), self.lower, self.jitter)

    def white(self, cross: Array, basis: Array) -> tuple[Array, Array]:
        """Return A (n, q) and B (m, q): the posterior covariance of f + hᵀβ is k(x*, x*) - AᵀA + BᵀB."""
        explained = solve_triangular(self.lower, cross.T)
        if not self.basis_factor.shape[0]:
            return explained, explained[:0, :]
        return explained, solve_triangular(self.basis_factor.T, basis.T) - self.basis_white.T @ explained

    def rounding(self, explained: Array) -> Array:
        """Return a bound of the rounding error of k(x*, x*) - AᵀA, (q,), from A.

        With weights w = C⁻¹ k(X, x*) an error E of the covariance changes it by wᵀEw, and |E| is at most
        (n + 1) ε |L||L|ᵀ (Higham, Accuracy and Stability of Numerical Algorithms, theorem 10.3).
        """
        xp, n = namespace_of(explained), self.lower.shape[0]
        weights = solve_triangular(self.lower, explained, transposed=True)
        # The diagonal of C, without a second matrix: L is zero above its diagonal.
        squares = map_matrix_rows(
            lambda rows: xp.sum(self.lower[rows, : rows.stop] ** 2, axis=1), n, n, self.lower, BLOCK_ENTRIES
        )
        size = xp.max(xp.concat(squares))
        epsilon = float(np.finfo(np.float64).eps)
        return 4.0 * (n + 1) * epsilon * size * (1.0 + xp.sum(xp.abs(weights), axis=0)) ** 2

    def explained(self, cross: Array) -> Array:
        """Return cᵀ P c of each row c of k(x*, X), (q,): by how much the rows lower the variance."""
        xp, white = namespace_of(cross), solve_triangular(self.lower, cross.T)
        return xp.sum(white**2, axis=0) - xp.sum((self.basis_white.T @ white) ** 2, axis=0)

    def extended(self, kernel: Any, noise: float, rows: Observations) -> "DualPosterior | None":
        """Return the posterior with further rows after the first ones, by a block of the Cholesky factor.

        With C = [[C₁₁, C₁₂], [C₂₁, C₂₂]] and L₁₁ known, L₂₁ᵀ = L₁₁⁻¹ C₁₂, and L₂₂ is the factor of
        C₂₂ - L₂₁ L₂₁ᵀ: O(n² k) for k further rows. None where they have no factor.

        Parameters
        ----------
        kernel : kernel
            The covariance function, as it was for them.
        noise : float
            σ², as it was for them.
        rows : Observations
            All rows, the first ones first.
        """
        xp, n = namespace_of(rows.x), self.lower.shape[0]
        more, noises = rows.x[n:, :], noise * rows.noise_scale[n:]
        corner = solve_triangular(self.lower, kernel(rows.x[:n, :], more))
        rest = corner.T @ corner
        for jitter in jitters(rows.x.shape[0], float(xp.max(kernel.diagonal(more) + noises))):
            added = max(jitter, self.jitter)
            lower, good = cholesky_in_place(
                add_to_diagonal(kernel.lower_triangle(more) - rest, noises + added)
            )
            if good:
                zeros = xp.zeros((n, more.shape[0]), dtype=rest.dtype, device=device(rest))
                top = xp.concat([self.lower, zeros], axis=1)
                whole = xp.concat([top, xp.concat([corner.T, lower], axis=1)])
                return DualPosterior.from_factor(rows, whole, added)
        return None

    def precisions(self) -> Array:
        """Return the diagonal of P, (n,): 0 where a row alone determines a coefficient of the mean.

        Given the other rows a target has the mean y_n - (P y)_n / P_nn and the variance 1 / P_nn (Rasmussen &
        Williams 5.12), where the mean too is learned from the other rows.
        """
        xp, n = namespace_of(self.lower), self.lower.shape[0]

        def of_columns(rows: slice) -> Array:
            some = {"dtype": self.lower.dtype, "device": device(self.lower), "k": -rows.start}
            inverse = (
                inv_triangular(self.lower)
                if rows == slice(0, n)
                else solve_triangular(self.lower, xp.eye(n, rows.stop - rows.start, **some))
            )
            whole = xp.sum(inverse**2, axis=0)
            if not self.basis_factor.shape[0]:
                return whole
            rest = whole - xp.sum((self.basis_white.T @ inverse) ** 2, axis=0)
            return xp.where(rest > DETERMINED * whole, rest, xp.zeros_like(rest))

        # On the host all columns at once, on a device as many as there is memory for.
        return xp.concat(map_matrix_rows(of_columns, n, n, self.lower, n * n))


@value
class PrimalPosterior:
    """The posterior of the weights of f(x) = φ(x)ᵀw, w ~ N(0, I), and of β: of few features and many rows."""

    rows: Observations
    features: Array  # (n, r), φ at the rows
    noise: float  # σ²
    factor: Array  # (m + r, m + r), R with RᵀR = diag(0, I) + GᵀD⁻¹G, G = [H, Φ], D = σ² diag(s)
    coef: Array  # (m + r, t), the posterior mean of β and w
    fit: float

    jitter = 0.0

    @classmethod
    def from_features(cls, rows: Observations, features: Array, noise: float) -> "PrimalPosterior":
        """Return the posterior of rows with features φ(x), by the triangle of [D^-½ G; 0 I].

        Parameters
        ----------
        rows : Observations
            The rows.
        features : array (n, r)
            φ at the rows.
        noise : float
            σ², positive.
        """
        xp = namespace_of(features)
        m, r, t = rows.basis.shape[1], features.shape[1], rows.n_targets
        scale = 1.0 / xp.sqrt(noise * rows.noise_scale)[:, None]
        above = scale * xp.concat([rows.basis, features, rows.y], axis=1)
        zeros = xp.zeros((r, m + r + t), dtype=above.dtype, device=device(above))
        identity = xp.eye(r, m + r + t, k=m, dtype=above.dtype, device=device(above))
        both = triangle(xp.concat([above, zeros + identity]))
        factor = both[: m + r, : m + r]
        coef = solve_triangular(factor.T, both[: m + r, m + r :], transposed=True)
        rest = xp.sum(both[m + r :, m + r :] ** 2)
        return cls(rows=rows, features=features, noise=noise, factor=factor, coef=coef, fit=float(rest))

    @property
    def dual(self) -> Array:
        """P y = D⁻¹ (y - G coef), (n, t).

        Of little noise y and G coef agree in most digits. GᵀP y, which is zero for β and the weights
        themselves for w, is known without that cancellation: one step of iterative refinement restores it.
        """
        xp, design, m = namespace_of(self.factor), self.design(), self.rows.basis.shape[1]
        variance = (self.noise * self.rows.noise_scale)[:, None]
        dual = (self.rows.y - design @ self.coef) / variance
        known = xp.concat([xp.zeros_like(self.coef[:m, :]), self.coef[m:, :]])
        gap = solve_triangular(self.factor.T, known - design.T @ dual)
        return dual + design @ solve_triangular(self.factor.T, gap, transposed=True) / variance

    def log_evidence(self, noise: float) -> float:
        """Return log p(y), by |C| |HᵀC⁻¹H| = |D| |diag(0, I) + GᵀD⁻¹G|."""
        rows, xp = self.rows, namespace_of(self.factor)
        log_det = float(xp.sum(xp.log(noise * rows.noise_scale)))
        log_det += 2.0 * float(xp.sum(xp.log(xp.abs(xp.linalg.diagonal(self.factor)))))
        level = log_det + rows.dof * log(2.0 * pi)
        return rows.log_density_of_repeats(noise) - 0.5 * (self.fit + rows.n_targets * level)

    def mean(self, features: Array, basis: Array) -> Array:
        """Return the posterior mean of f + hᵀβ, (q, t), from φ(x*) and h(x*)."""
        return namespace_of(features).concat([basis, features], axis=1) @ self.coef

    def cross(self, kernel: Any, x: Array) -> Array:
        """Return φ(x*), (q, r)."""
        return kernel.features(x)

    def variance(self, kernel: Any, x: Array, features: Array, basis: Array) -> Array:
        """Return the posterior variance of f + hᵀβ, (q,).

        Parameters
        ----------
        kernel : Kernel
            k.
        x : array (q, d)
            The rows x*.
        features : array (q, r)
            φ(x*).
        basis : array (q, m)
            h(x*).
        """
        return column_squares(self.root(features, basis))

    def covariance(self, kernel: Any, x: Array, features: Array, basis: Array) -> Array:
        """Return the posterior covariance of f + hᵀβ, (q, q).

        Parameters
        ----------
        kernel : Kernel
            k.
        x : array (q, d)
            The rows x*.
        features : array (q, r)
            φ(x*).
        basis : array (q, m)
            h(x*).
        """
        root = self.root(features, basis)
        return root.T @ root

    def terms(self, terms: tuple[Any, ...], x: Array) -> Iterator[tuple[Array, Array]]:
        """Yield the posterior mean and variance of the function of each term of the kernel, (q,) each."""
        start = self.rows.basis.shape[1]
        for term in terms:
            features = term.features(x)
            stop = start + features.shape[1]
            yield features @ self.coef[start:stop, 0], self._variance_of_weights(features, start)
            start = stop

    def mean_variance(self, basis: Array) -> Array:
        """Return the posterior variance of h(x)ᵀβ, (q,)."""
        return self._variance_of_weights(basis, 0)

    def _variance_of_weights(self, features: Array, start: int) -> Array:
        """Return the variance of a function of some of the weights, the first of them at `start`, (q,)."""
        xp, (q, k), width = namespace_of(features), features.shape, self.factor.shape[0]

        def zeros(count: int) -> Array:
            return xp.zeros((q, count), dtype=features.dtype, device=device(features))

        design = xp.concat([zeros(start), features, zeros(width - start - k)], axis=1)
        return column_squares(solve_triangular(self.factor.T, design.T))

    def lowered(self, gap: float) -> "PrimalPosterior":
        """Return the posterior of targets that are all less by a number."""
        rows = replace(self.rows, y=self.rows.y - gap)
        return PrimalPosterior.from_features(rows, self.features, self.noise)

    def extended(self, kernel: Any, noise: float, rows: Observations) -> None:
        """Return None: the triangle of all rows is computed again, which takes no longer.

        Parameters
        ----------
        kernel, noise, rows
            As for :meth:`DualPosterior.extended`.
        """

    def root(self, features: Array, basis: Array) -> Array:
        """Return A (m + r, q): the posterior covariance of f + hᵀβ at the features is AᵀA."""
        design = namespace_of(features).concat([basis, features], axis=1)
        return solve_triangular(self.factor.T, design.T)

    def precisions(self) -> Array:
        """Return the diagonal of P, (n,): 0 where a row alone determines a coefficient of the mean."""
        xp, variance = namespace_of(self.factor), self.noise * self.rows.noise_scale
        root = solve_triangular(self.factor.T, self.design().T)
        rest = 1.0 - xp.sum(root**2, axis=0) / variance
        return xp.where(rest > DETERMINED, rest, xp.zeros_like(rest)) / variance

    def design(self) -> Array:
        """Return G = [H, Φ], (n, m + r)."""
        return namespace_of(self.features).concat([self.rows.basis, self.features], axis=1)


def signal_diagonal(kernel: Any, x: Array) -> Array:
    """Return k(x_n, x_n) without noise, (q,)."""
    if not kernel.has_noise:
        return kernel.diagonal(x)
    xp = namespace_of(x)
    blocks = (x[a : min(a + FEW_ROWS, x.shape[0]), :] for a in range(0, x.shape[0], FEW_ROWS))
    return xp.concat([xp.linalg.diagonal(kernel(rows, rows)) for rows in blocks])


def log_evidence(kernel: Any, noise: float, rows: Observations, *, gradient: bool = True) -> Evidence:
    """Return the log evidence of rows, and its gradient, in the memory of one matrix of rows × rows.

    ∂ log p(y) / ∂θ = Σ_nm W_nm ∂C_nm/∂θ with W = ½ (Py yᵀP - P), Rasmussen & Williams (5.9). The factor
    replaces the covariance, its inverse the factor, and W the inverse; the kernel computes its derivatives
    again, block by block. The evidence is -inf where the covariance has no factor even with a jitter.

    Parameters
    ----------
    kernel : kernel
        The covariance function k at its hyper-parameters.
    noise : float
        σ², not negative.
    rows : Observations
        The rows.
    gradient : bool
        Whether to compute the gradient by the logarithms of the hyper-parameters of the kernel and of σ².

    Examples
    --------
    >>> from tractable.kernels import RBF
    >>> x, one = np.array([[0.0], [1.0]]), np.ones(2)
    >>> rows = Observations(x=x, y=np.array([[1.0], [0.5]]), basis=x[:, :0], noise_scale=one)
    >>> found = log_evidence(RBF(), 0.1, rows)
    >>> round(found.value, 4), found.kernel_gradient.shape
    (-2.2082, (1,))
    """
    with blas_for_rows(rows.x.shape[0]):
        return _log_evidence(kernel, noise, rows, gradient)


def _log_evidence(kernel: Any, noise: float, rows: Observations, gradient: bool) -> Evidence:
    posterior = factorized(kernel, noise, rows)
    if posterior is None:
        return Evidence(value=-inf, kernel_gradient=np.zeros(len(kernel.theta)), jitter=inf)
    found = posterior.log_evidence(noise)
    if not gradient or found == -inf:
        return Evidence(value=found, jitter=posterior.jitter)
    weights = _gradient_weights(posterior)
    xp, t = namespace_of(weights), rows.n_targets
    diagonal = xp.linalg.diagonal(weights)
    repeats = 0.5 * (rows.within / noise - t * rows.n_repeats) if noise > 0.0 else 0.0
    return Evidence(
        value=found,
        kernel_gradient=to_numpy(kernel.contract_gradient(weights, rows.x)),
        noise_gradient=noise * float(xp.sum(diagonal * rows.noise_scale)) + repeats,
        jitter=posterior.jitter,
    )


def primal_log_evidence(kernel: Any, noise: float, rows: Observations, *, gradient: bool = True) -> Evidence:
    """Return the log evidence and its gradient of a kernel with fewer features than there are rows.

    With k(x, x') = φ(x)ᵀφ(x') it takes O(n r²) for r features, and memory for n × r numbers. The gradient is
    Σ_nr 2 (W Φ)_nr ∂φ_r(x_n)/∂θ, in which the features are differentiated by differences of fourth order.

    Parameters
    ----------
    kernel : kernel
        The covariance function, with a finite feature map.
    noise : float
        σ², positive.
    rows : Observations
        The rows.
    gradient : bool
        Whether to compute the gradient.
    """
    posterior = PrimalPosterior.from_features(rows, kernel.features(rows.x), noise)
    found = posterior.log_evidence(noise)
    if not gradient:
        return Evidence(value=found)
    xp, t, variance = namespace_of(posterior.factor), rows.n_targets, noise * rows.noise_scale
    m, dual = rows.basis.shape[1], posterior.dual
    root = solve_triangular(posterior.factor.T, posterior.design().T) / variance
    # P Φ and Φᵀ P y in the space of features, where little noise cancels no digits.
    inverse = inv_triangular(posterior.factor.T)
    projected = root.T @ inverse[:, m:]
    slope = dual @ posterior.coef[m:, :].T - t * projected
    precision = 1.0 / variance - xp.sum(root**2, axis=0)  # diagonal of P
    diagonal = 0.5 * (xp.sum(dual**2, axis=1) - t * precision)
    theta = kernel.theta
    steps = [STEP * row for row in np.eye(len(theta))]

    def change(step: np.ndarray) -> Array:
        """Return ∂φ/∂θ along an axis, by differences of fourth order."""
        near, far = (
            kernel.with_theta(theta + k * step).features(rows.x)
            - kernel.with_theta(theta - k * step).features(rows.x)
            for k in (1.0, 2.0)
        )
        return (8.0 * near - far) / (12.0 * STEP)

    return Evidence(
        value=found,
        kernel_gradient=np.array([float(xp.sum(slope * change(step))) for step in steps]),
        noise_gradient=float(xp.sum(diagonal * variance)) + 0.5 * (rows.within / noise - t * rows.n_repeats),
    )


def factorized(kernel: Any, noise: float, rows: Observations) -> DualPosterior | None:
    """Return the posterior by Cholesky, with the least jitter that gives a factor; None where none does."""
    diagonal = kernel.diagonal(rows.x) + noise * rows.noise_scale
    size = float(namespace_of(diagonal).max(diagonal))
    if not 0.0 < size < inf:
        return None
    for jitter in jitters(rows.x.shape[0], size):
        covariance = kernel.lower_triangle(rows.x)
        lower, good = cholesky_in_place(add_to_diagonal(covariance, noise * rows.noise_scale + jitter))
        if good:
            return DualPosterior.from_factor(rows, lower, jitter)
        del covariance, lower  # there may be no memory for two
    return None


def _gradient_weights(posterior: DualPosterior) -> Array:
    """Return the lower triangle of W = ½ (Py yᵀP - t P), in the memory of the factor."""
    xp, t = namespace_of(posterior.lower), posterior.rows.n_targets
    of_basis = solve_triangular(posterior.lower, posterior.basis_white, transposed=True)
    outer = xp.concat([posterior.dual, t**0.5 * of_basis], axis=1)
    weights = inverse_in_place(posterior.lower)
    n = weights.shape[0]

    def weigh(rows: slice) -> None:
        part = weights[rows, : rows.stop]
        part *= -0.5 * t
        part += 0.5 * outer[rows, :] @ outer[: rows.stop, :].T

    map_matrix_rows(weigh, n, n, weights, BLOCK_ENTRIES)
    return weights
