"""Kernel ridge regression: one decomposition, of the matrix or of features, for every penalty."""

from typing import Any

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.linalg import cholesky, solve_cholesky
from tractable.arrays.namespace import Array, is_numpy_array, namespace_of, to_numpy
from tractable.engines.spectrum import reflected, reflected_products, residual_shrinkage
from tractable.kernels import Kernel
from tractable.metrics.penalties import CVCurve
from tractable.primitives.in_place import add_to_diagonal, cholesky_in_place
from tractable.value import value

#: One minus leverage that is rounding: such a row alone determines a direction and cannot be predicted.
DETERMINED = 1e-13

#: How far below zero, in units of the trace, an eigenvalue of a kernel's matrix is rounding.
ROUNDING = 1e-10


def dual_objective(dual_coef: Any, matrix: Any, y: Any, alpha: float) -> tuple[float, np.ndarray]:
    """Return the dual objective of kernel ridge regression, and its gradient.

    J(a) = ½ aᵀKKa - aᵀKt + ½ tᵀt + ½ α aᵀKa, which is minimised, at a = (K + αI)⁻¹t.

    Parameters
    ----------
    dual_coef : array (n,)
        a.
    matrix : array (n, n)
        K.
    y : array (n,)
        The targets t, less an intercept.
    alpha : float
        The penalty α, positive.

    Returns
    -------
    (float, array (n,))

    Examples
    --------
    >>> import numpy as np
    >>> from tractable.kernel_regression import dual_objective
    >>> K, t = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, 3.0])
    >>> value, gradient = dual_objective(np.linalg.solve(K + 0.5 * np.eye(2), t), K, t, 0.5)
    >>> bool(np.allclose(gradient, 0.0))
    True
    """
    a, K, t = (np.asarray(x, dtype=np.float64) for x in (dual_coef, matrix, y))
    if K.ndim != 2 or not a.shape == t.shape == K.shape[:1] == K.shape[1:]:
        raise ValueError(
            f"dual_coef, matrix and y must be of n rows each, got shapes {a.shape}, {K.shape} and {t.shape}"
        )
    if not alpha > 0.0:
        raise ValueError(f"alpha must be positive, got {alpha!r}")
    Ka = K @ a
    residuals = Ka - t
    return 0.5 * float(residuals @ residuals + alpha * (a @ Ka)), K @ (residuals + alpha * a)


@value
class WeightedRows:
    """Targets, and the roots of how often rows count: rows times their roots are least squares."""

    y: Array  # (n, t), divided by a scale
    root: Array  # (n,)
    intercept: bool

    @property
    def free(self) -> Array | None:
        """The unit vector along which an intercept moves weighted rows."""
        return self.root / namespace_of(self.root).linalg.vector_norm(self.root) if self.intercept else None

    @property
    def targets(self) -> Array:
        """Weighted targets, without what an intercept explains."""
        return without(self.root[:, None] * self.y, self.free)


def without(columns: Array, free: Array | None) -> Array:
    """Return columns less their part along a unit vector."""
    return columns if free is None else columns - free[:, None] * (free @ columns)


@value
class KernelSpectrum:
    """The weighted, centred matrix of a kernel as Q diag(λ) Qᵀ, and the targets in this basis."""

    basis: Array  # (n, r), Q, orthogonal to the direction of a free intercept
    eigenvalues: Array  # (r,), λ, not negative
    projections: Array  # (r, t), Qᵀy
    beyond: Array  # (n, t), the part of the targets that is orthogonal to Q
    spare: Array  # (n,), the squared length of each row's unit vector that is orthogonal to Q
    directions: Array | None = None  # (features, r), V diag(s) of the features

    @classmethod
    def of_matrix(cls, matrix: Array, rows: WeightedRows) -> "KernelSpectrum":
        """Decompose the matrix of a kernel, which may be overwritten: n rows, n directions."""
        xp = namespace_of(matrix)
        matrix *= rows.root[:, None]
        matrix *= rows.root
        free, size = rows.free, float(xp.sum(xp.abs(xp.linalg.diagonal(matrix))))
        if free is not None:
            # A reflection makes the intercept's direction the first axis, which is left out.
            matrix = reflected_products(matrix, free)[1:, 1:]
        values, basis = _eigh(matrix)
        if values.shape[0] and values[0] < -ROUNDING * size:
            raise ValueError(
                "kernel must be positive semi-definite, and its matrix of X has the eigenvalue "
                f"{float(values[0]):.6g}"
            )
        if free is not None:
            basis = reflected(xp.concat([xp.zeros_like(basis[:1, :]), basis]), free)
        y = rows.targets
        return cls(
            basis=basis,
            eigenvalues=xp.clip(values, 0.0, None),
            projections=basis.T @ y,
            beyond=xp.zeros_like(y),
            spare=xp.zeros_like(rows.root),
        )

    @classmethod
    def of_features(cls, features: Array, rows: WeightedRows) -> "KernelSpectrum":
        """Decompose features, fewer than rows."""
        xp, free, y = namespace_of(features), rows.free, rows.targets
        columns = without(rows.root[:, None] * features, free)
        basis, s, directions = xp.linalg.svd(columns, full_matrices=False)
        # What is rounding has no direction; it might be the intercept's.
        least = 10.0 * features.shape[0] * float(np.finfo(float).eps) * (float(s[0]) if s.shape[0] else 0.0)
        rank = int(xp.count_nonzero(s > least))
        basis, s, directions = basis[:, :rank], s[:rank], directions[:rank, :]
        projections = basis.T @ y
        own = 0.0 if free is None else free**2
        return cls(
            basis=basis,
            eigenvalues=s**2,
            projections=projections,
            beyond=y - basis @ projections,
            spare=xp.clip(1.0 - own - xp.sum(basis**2, axis=1), 0.0, None),
            directions=directions.T * s,
        )

    def coefficients(self, alpha: float) -> Array:
        """Return the coefficients of the features, V s/(s² + α) Uᵀy, (features, t)."""
        assert self.directions is not None
        return self.directions @ (self.projections / (self.eigenvalues + alpha)[:, None])

    def residuals(self, alphas: np.ndarray) -> tuple[Array, Array]:
        """Return weighted residuals (n, t, k), and one minus the leverage of each row, (n, k)."""
        xp = namespace_of(self.basis)
        shrinkage = residual_shrinkage(self.eigenvalues, beside(alphas, self.eigenvalues))
        (r, t), k = self.projections.shape, len(alphas)
        parts = xp.reshape(self.projections[:, :, None] * shrinkage[:, None, :], (r, t * k))
        residuals = xp.reshape(self.basis @ parts, (-1, t, k)) + self.beyond[:, :, None]
        return residuals, (self.basis**2) @ shrinkage + self.spare[:, None]

    def curve(self, alphas: np.ndarray, method: str, rows: WeightedRows, scale: float) -> CVCurve:
        """Return the score of each penalty: leave-one-out, or generalised cross-validation.

        A row of weight above one is left out one copy at a time; errors are those of targets times `scale`.
        """
        xp = namespace_of(self.basis)
        residuals, one_minus_leverage = self.residuals(alphas)
        weights = rows.root**2
        total = float(xp.sum(weights))
        if method == "gcv":
            # The trace of the smoother is the same with copies of rows in the place of weights.
            rss = to_numpy(xp.mean(xp.sum(residuals**2, axis=0), axis=0)) / total
            left = 1.0 - to_numpy(xp.sum(1.0 - one_minus_leverage, axis=0)) / total
            scores = np.where(left > DETERMINED, rss / np.where(left > DETERMINED, left, 1.0) ** 2, np.inf)
            return CVCurve(alphas=alphas, scores=scale**2 * scores, method="gcv")
        copy = xp.clip(weights, None, 1.0) / weights
        kept = one_minus_leverage
        if bool(xp.any(copy < 1.0)):
            kept = 1.0 - copy[:, None] * (1.0 - one_minus_leverage)
        known = kept > DETERMINED
        errors = residuals / rows.root[:, None, None] / xp.where(known, kept, 1.0)[:, None, :]
        squares = xp.where(known, xp.mean(errors**2, axis=1), xp.inf)
        scores, seconds = (to_numpy(weights @ each) / total for each in (squares, squares**2))
        with np.errstate(invalid="ignore"):
            spread = np.sqrt(np.maximum(seconds - scores**2, 0.0) / total)
        return CVCurve(
            alphas=alphas, scores=scale**2 * scores, method="loo", standard_errors=scale**2 * spread
        )

    def effective_dof(self, alpha: float) -> float:
        """Return the trace of the smoother, without the intercept's."""
        penalties = beside(np.array([alpha]), self.eigenvalues)
        return float(namespace_of(penalties).sum(1.0 - residual_shrinkage(self.eigenvalues, penalties)))


@value
class KernelSolution:
    """Dual coefficients and the intercept, of targets in units of their scale."""

    dual: Array  # (n, t)
    intercept: Array  # (t,)
    coef: Array | None  # (features, t)


def solution_of_matrix(matrix: Array, rows: WeightedRows, alpha: float) -> KernelSolution:
    """Solve (K + α/w) a = y - b by the Cholesky factor of √w K √w + αI; the matrix may be overwritten.

    The intercept b is that of generalised least squares: 1ᵀa = 0.
    """
    xp, root = namespace_of(matrix), rows.root[:, None]
    matrix *= root
    matrix *= rows.root
    lower = _factor(add_to_diagonal(matrix, alpha), alpha)
    solved = solve_cholesky(lower, xp.concat([root * rows.y, root], axis=1))
    dual, ones = root * solved[:, :-1], root * solved[:, -1:]
    intercept = xp.zeros_like(dual[0, :])
    if rows.intercept:
        intercept = xp.sum(dual, axis=0) / xp.sum(ones)
        dual = dual - ones * intercept
    return KernelSolution(dual=dual, intercept=intercept, coef=None)


def solution_of_spectrum(
    spectrum: KernelSpectrum, rows: WeightedRows, alpha: float, kernel: Kernel, x: Array
) -> KernelSolution:
    """Return dual coefficients w (y - ŷ)/α, those of features where there are, and the intercept."""
    residuals, _ = spectrum.residuals(np.array([alpha]))
    xp = namespace_of(residuals)
    size = float(xp.sum(spectrum.eigenvalues))
    if spectrum.directions is None and alpha < np.finfo(np.float64).eps * size:
        raise _below_rounding(alpha, size)
    dual = rows.root[:, None] * residuals[:, :, 0] / alpha
    coef = None if spectrum.directions is None else spectrum.coefficients(alpha)
    intercept = xp.zeros_like(dual[0, :])
    if rows.intercept:
        fitted = kernel.multiply(x, x, dual) if coef is None else kernel.features(x) @ coef
        weights = rows.root**2
        intercept = weights @ (rows.y - fitted) / xp.sum(weights)
    return KernelSolution(dual=dual, intercept=intercept, coef=coef)


def equivalent_weights(kernel: Kernel, x: Array, points: Array, rows: WeightedRows, alpha: float) -> Array:
    """Return S (m, n) with ŷ(x) = S y: the weight that each target has in a prediction."""
    xp = namespace_of(points)
    if kernel.has_fewer_features(points.shape[1], points.shape[0]):
        features, shares = kernel.features(points), rows.root**2 / xp.sum(rows.root**2)
        spectrum = KernelSpectrum.of_features(features, rows)
        assert spectrum.directions is not None
        coef = spectrum.directions @ (rows.root[:, None] * spectrum.basis / (spectrum.eigenvalues + alpha)).T
        if not rows.intercept:
            return kernel.features(x) @ coef
        return (kernel.features(x) - shares @ features) @ coef + shares
    lower = _factor(add_to_diagonal(kernel(points), alpha / rows.root**2), alpha)
    smooth = solve_cholesky(lower, kernel(points, x)).T
    if not rows.intercept:
        return smooth
    ones = solve_cholesky(lower, xp.ones_like(points[:, :1]))[:, 0]
    return smooth + (1.0 - xp.sum(smooth, axis=1))[:, None] * (ones / xp.sum(ones))


def _factor(matrix: Array, alpha: float) -> Array:
    """Return the Cholesky factor of K + α; what may be wrong is the penalty, or the kernel."""
    size = float(namespace_of(matrix).sum(namespace_of(matrix).linalg.diagonal(matrix)))
    if not is_numpy_array(matrix):
        lower, good = cholesky_in_place(matrix)
        if good:
            return lower
        raise _below_rounding(alpha, size)
    try:
        return cholesky(matrix)
    except ValueError:
        raise _below_rounding(alpha, size) from None


def _eigh(matrix: Array) -> tuple[Array, Array]:
    """Return eigenvalues, the smallest first, and eigenvectors; the matrix may be overwritten."""
    if not is_numpy_array(matrix):
        return namespace_of(matrix).linalg.eigh(matrix)
    from scipy.linalg import eigh

    return eigh(matrix, overwrite_a=True, check_finite=False, driver="evd")


def _below_rounding(alpha: float, size: float) -> ValueError:
    if not np.isfinite(size):
        return ValueError("kernel must be finite at the rows of X, and has NaN or infinity there")
    return ValueError(
        f"alpha = {alpha:.3g} is too small for this kernel at the rows of X: kernel(X) + alpha is not "
        f"positive definite. Rounding alone needs about {10.0 * np.finfo(np.float64).eps * size:.1g}; a "
        "kernel that is not positive semi-definite needs more than its most negative eigenvalue"
    )
