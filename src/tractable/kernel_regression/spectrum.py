"""Kernel ridge regression: one decomposition, of the matrix or of features, for every penalty."""

from typing import Any

import numpy as np

from tractable.arrays.linalg import cholesky, solve_cholesky
from tractable.engines.spectrum import reflected, residual_shrinkage
from tractable.kernels import Kernel
from tractable.metrics.penalties import CVCurve
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

    y: np.ndarray  # (n, t), divided by a scale
    root: np.ndarray  # (n,)
    intercept: bool

    @property
    def free(self) -> np.ndarray | None:
        """The unit vector along which an intercept moves weighted rows."""
        return self.root / np.linalg.norm(self.root) if self.intercept else None

    @property
    def targets(self) -> np.ndarray:
        """Weighted targets, without what an intercept explains."""
        return without(self.root[:, None] * self.y, self.free)


def without(columns: np.ndarray, free: np.ndarray | None) -> np.ndarray:
    """Return columns less their part along a unit vector."""
    return columns if free is None else columns - free[:, None] * (free @ columns)


@value
class KernelSpectrum:
    """The weighted, centred matrix of a kernel as Q diag(λ) Qᵀ, and the targets in this basis."""

    basis: np.ndarray  # (n, r), Q, orthogonal to the direction of a free intercept
    eigenvalues: np.ndarray  # (r,), λ, not negative
    projections: np.ndarray  # (r, t), Qᵀy
    beyond: np.ndarray  # (n, t), the part of the targets that is orthogonal to Q
    spare: np.ndarray  # (n,), the squared length of each row's unit vector that is orthogonal to Q
    directions: np.ndarray | None = None  # (features, r), V diag(s) of the features

    @classmethod
    def of_matrix(cls, matrix: np.ndarray, rows: WeightedRows) -> "KernelSpectrum":
        """Decompose the matrix of a kernel, which may be overwritten: n rows, n directions."""
        from scipy.linalg import eigh

        matrix *= rows.root[:, None]
        matrix *= rows.root
        free, size = rows.free, float(np.sum(np.abs(np.diagonal(matrix))))
        if free is not None:
            # A reflection makes the intercept's direction the first axis, which is left out.
            matrix = reflected(reflected(matrix, free).T, free)[1:, 1:]
        values, basis = eigh(matrix, overwrite_a=True, check_finite=False, driver="evd")
        if len(values) and values[0] < -ROUNDING * size:
            raise ValueError(
                "kernel must be positive semi-definite, and its matrix of X has the eigenvalue "
                f"{float(values[0]):.6g}"
            )
        if free is not None:
            basis = reflected(np.concatenate([np.zeros((1, basis.shape[1])), basis]), free)
        y = rows.targets
        return cls(
            basis=basis,
            eigenvalues=np.maximum(values, 0.0),
            projections=basis.T @ y,
            beyond=np.zeros_like(y),
            spare=np.zeros(len(y)),
        )

    @classmethod
    def of_features(cls, features: np.ndarray, rows: WeightedRows) -> "KernelSpectrum":
        """Decompose features, fewer than rows."""
        free, y = rows.free, rows.targets
        columns = without(rows.root[:, None] * features, free)
        basis, s, directions = np.linalg.svd(columns, full_matrices=False)
        # What is rounding has no direction; it might be the intercept's.
        some = s > 10.0 * len(features) * np.finfo(float).eps * (s[0] if len(s) else 0.0)
        basis, s, directions = basis[:, some], s[some], directions[some]
        projections = basis.T @ y
        own = 0.0 if free is None else free**2
        return cls(
            basis=basis,
            eigenvalues=s**2,
            projections=projections,
            beyond=y - basis @ projections,
            spare=np.maximum(1.0 - own - np.sum(basis**2, axis=1), 0.0),
            directions=directions.T * s,
        )

    def coefficients(self, alpha: float) -> np.ndarray:
        """Return the coefficients of the features, V s/(s² + α) Uᵀy, (features, t)."""
        assert self.directions is not None
        return self.directions @ (self.projections / (self.eigenvalues + alpha)[:, None])

    def residuals(self, alphas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return weighted residuals (n, t, k), and one minus the leverage of each row, (n, k)."""
        shrinkage = residual_shrinkage(self.eigenvalues, alphas)
        r, t, k = *self.projections.shape, len(alphas)
        parts = (self.projections[:, :, None] * shrinkage[:, None, :]).reshape(r, t * k)
        residuals = (self.basis @ parts).reshape(-1, t, k) + self.beyond[:, :, None]
        return residuals, (self.basis**2) @ shrinkage + self.spare[:, None]

    def curve(self, alphas: np.ndarray, method: str, rows: WeightedRows, scale: float) -> CVCurve:
        """Return the score of each penalty: leave-one-out, or generalised cross-validation.

        A row of weight above one is left out one copy at a time; errors are those of targets times `scale`.
        """
        residuals, one_minus_leverage = self.residuals(alphas)
        weights = rows.root**2
        total = weights.sum()
        if method == "gcv":
            # The trace of the smoother is the same with copies of rows in the place of weights.
            rss = np.mean(np.sum(residuals**2, axis=0), axis=0) / total
            dof = np.sum(1.0 - one_minus_leverage, axis=0)
            left = 1.0 - dof / total
            scores = np.where(left > DETERMINED, rss / np.where(left > DETERMINED, left, 1.0) ** 2, np.inf)
            return CVCurve(alphas=alphas, scores=scale**2 * scores, method="gcv")
        copy = np.minimum(weights, 1.0) / weights
        kept = 1.0 - copy[:, None] * (1.0 - one_minus_leverage) if np.any(copy < 1.0) else one_minus_leverage
        known = kept > DETERMINED
        errors = residuals / rows.root[:, None, None] / np.where(known, kept, 1.0)[:, None, :]
        squares = np.where(known, np.mean(errors**2, axis=1), np.inf)
        scores = weights @ squares / total
        with np.errstate(invalid="ignore"):
            spread = np.sqrt(np.maximum(weights @ squares**2 / total - scores**2, 0.0) / total)
        return CVCurve(
            alphas=alphas, scores=scale**2 * scores, method="loo", standard_errors=scale**2 * spread
        )

    def effective_dof(self, alpha: float) -> float:
        """Return the trace of the smoother, without the intercept's."""
        return float(np.sum(1.0 - residual_shrinkage(self.eigenvalues, np.array([alpha]))))


@value
class KernelSolution:
    """Dual coefficients and the intercept, of targets in units of their scale."""

    dual: np.ndarray  # (n, t)
    intercept: np.ndarray  # (t,)
    coef: np.ndarray | None  # (features, t)


def solution_of_matrix(matrix: np.ndarray, rows: WeightedRows, alpha: float) -> KernelSolution:
    """Solve (K + α/w) a = y - b by the Cholesky factor of √w K √w + αI; the matrix may be overwritten.

    The intercept b is that of generalised least squares: 1ᵀa = 0.
    """
    root = rows.root[:, None]
    matrix *= root
    matrix *= rows.root
    matrix[np.diag_indices(len(matrix))] += alpha
    lower = _factor(matrix, alpha)
    solved = solve_cholesky(lower, np.concatenate([root * rows.y, root], axis=1))
    dual, ones = root * solved[:, :-1], root * solved[:, -1:]
    intercept = np.zeros(rows.y.shape[1])
    if rows.intercept:
        intercept = dual.sum(axis=0) / ones.sum()
        dual = dual - ones * intercept
    return KernelSolution(dual=dual, intercept=intercept, coef=None)


def solution_of_spectrum(
    spectrum: KernelSpectrum, rows: WeightedRows, alpha: float, kernel: Kernel, x: np.ndarray
) -> KernelSolution:
    """Return dual coefficients w (y - ŷ)/α, those of features where there are, and the intercept."""
    residuals, _ = spectrum.residuals(np.array([alpha]))
    size = float(np.sum(spectrum.eigenvalues))
    if spectrum.directions is None and alpha < np.finfo(np.float64).eps * size:
        raise _below_rounding(alpha, size)
    dual = rows.root[:, None] * residuals[:, :, 0] / alpha
    coef = None if spectrum.directions is None else spectrum.coefficients(alpha)
    intercept = np.zeros(rows.y.shape[1])
    if rows.intercept:
        fitted = kernel.multiply(x, x, dual) if coef is None else kernel.features(x) @ coef
        weights = rows.root**2
        intercept = weights @ (rows.y - fitted) / weights.sum()
    return KernelSolution(dual=dual, intercept=intercept, coef=coef)


def equivalent_weights(
    kernel: Kernel, x: np.ndarray, points: np.ndarray, rows: WeightedRows, alpha: float
) -> np.ndarray:
    """Return S (m, n) with ŷ(x) = S y: the weight that each target has in a prediction."""
    if kernel.has_fewer_features(points.shape[1], len(points)):
        features, shares = kernel.features(points), rows.root**2 / np.sum(rows.root**2)
        spectrum = KernelSpectrum.of_features(features, rows)
        assert spectrum.directions is not None
        coef = spectrum.directions @ (rows.root[:, None] * spectrum.basis / (spectrum.eigenvalues + alpha)).T
        if not rows.intercept:
            return kernel.features(x) @ coef
        return (kernel.features(x) - shares @ features) @ coef + shares
    matrix = kernel(points)
    matrix[np.diag_indices(len(matrix))] += alpha / rows.root**2
    lower = _factor(matrix, alpha)
    smooth = solve_cholesky(lower, kernel(points, x)).T
    if not rows.intercept:
        return smooth
    ones = solve_cholesky(lower, np.ones((len(points), 1)))[:, 0]
    return smooth + (1.0 - smooth.sum(axis=1))[:, None] * (ones / ones.sum())


def _factor(matrix: np.ndarray, alpha: float) -> np.ndarray:
    """Return the Cholesky factor of K + α; what may be wrong is the penalty, or the kernel."""
    try:
        return cholesky(matrix)
    except ValueError:
        raise _below_rounding(alpha, float(np.trace(matrix))) from None


def _below_rounding(alpha: float, size: float) -> ValueError:
    if not np.isfinite(size):
        return ValueError("kernel must be finite at the rows of X, and has NaN or infinity there")
    return ValueError(
        f"alpha = {alpha:.3g} is too small for this kernel at the rows of X: kernel(X) + alpha is not "
        f"positive definite. Rounding alone needs about {10.0 * np.finfo(np.float64).eps * size:.1g}; a "
        "kernel that is not positive semi-definite needs more than its most negative eigenvalue"
    )
