"""What is believed of a plane before the rows: a Gaussian, flat where nothing is said."""

from typing import Any

from tractable.arrays.batched import as_reals, diagonal_matrix
from tractable.arrays.linalg import cholesky, solve_triangular
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.value import value

__all__ = ["GaussianPrior", "gaussian_prior"]


@value
class GaussianPrior:
    """N(m, (KᵀK)⁻¹) of the p parameters of a plane, the intercept first; flat along what K does not see.

    Parameters
    ----------
    mean : array (p,)
    root : array (r, p)
        K, a factor of the precision, of full row rank.
    log_det : float
        Log of the product of the eigenvalues of KᵀK that are not zero.
    """

    mean: Array
    root: Array
    log_det: float

    @property
    def n_flat(self) -> int:
        """Number of directions of which nothing is said."""
        return int(self.root.shape[1]) - int(self.root.shape[0])


def gaussian_prior(
    n_coef: int, *, n_free: int, mean: Any, covariance: Any, precision: Any, like: Array
) -> GaussianPrior:
    """Return the prior of `n_coef` parameters after `n_free` of which nothing is said.

    Parameters
    ----------
    n_coef : int
    n_free : int
    mean : array (n_coef,) or float, optional
        Zeros by default.
    covariance, precision : float, array (n_coef,) or (n_coef, n_coef), optional
        One of them: of every parameter, of each, or of all together. A precision may be zero or singular.
    like : array
        Of the library that is wanted.
    """
    if covariance is not None and precision is not None:
        raise ValueError("give prior_covariance or prior_precision, not both")
    if covariance is not None:
        root, log_det = _of_covariance(_square("prior_covariance", covariance, n_coef, like))
    else:
        precision = 1.0 if precision is None else precision
        root, log_det = _of_precision(_square("prior_precision", precision, n_coef, like))
    xp = namespace_of(like)
    centre = _vector("prior_mean", 0.0 if mean is None else mean, n_coef, like)
    unsaid = xp.zeros((root.shape[0], n_free), dtype=root.dtype, device=device(root))
    return GaussianPrior(
        mean=xp.concat([xp.zeros(n_free, dtype=root.dtype, device=device(root)), centre]),
        root=xp.concat([unsaid, root], axis=1),
        log_det=log_det,
    )


def _of_covariance(matrix: Array) -> tuple[Array, float]:
    """Return L⁻¹ of C = L Lᵀ, and -log |C|."""
    xp = namespace_of(matrix)
    lower = cholesky(matrix, name="prior_covariance")
    identity = xp.eye(matrix.shape[0], dtype=matrix.dtype, device=device(matrix))
    return solve_triangular(lower, identity), -2.0 * float(xp.sum(xp.log(xp.linalg.diagonal(lower))))


def _of_precision(matrix: Array) -> tuple[Array, float]:
    """Return a factor of the precision and its log determinant, over the directions that it knows."""
    xp = namespace_of(matrix)
    values, vectors = xp.linalg.eigh(0.5 * (matrix + matrix.T))
    least = 10.0 * matrix.shape[0] * float(xp.finfo(values.dtype).eps) * float(xp.max(xp.abs(values)))
    if float(values[0]) < -least:
        raise ValueError(f"prior_precision must not be negative in any direction, got {float(values[0]):g}")
    if float(values[0]) > least:
        lower = cholesky(matrix, name="prior_precision")
        return lower.T, 2.0 * float(xp.sum(xp.log(xp.linalg.diagonal(lower))))
    seen = int(xp.sum(xp.astype(values > least, xp.int64)))
    known, basis = values[values.shape[0] - seen :], vectors[:, values.shape[0] - seen :]
    return xp.sqrt(known)[:, None] * basis.T, float(xp.sum(xp.log(known)))


def _vector(name: str, x: Any, n: int, like: Array) -> Array:
    xp = namespace_of(like)
    x = xp.astype(as_reals(name, x, like), xp.float64)
    if not bool(xp.all(xp.isfinite(x))):
        raise ValueError(f"{name} contains NaN or infinity")
    if x.ndim > 1 or (x.ndim == 1 and x.shape[0] != n):
        raise ValueError(f"{name} must be a number or have {n} entries, got shape {tuple(x.shape)}")
    return xp.broadcast_to(x, (n,))


def _square(name: str, x: Any, n: int, like: Array) -> Array:
    """Return a matrix from a number for all, numbers for each, or the matrix itself."""
    xp = namespace_of(like)
    given = xp.astype(as_reals(name, x, like), xp.float64)
    if given.ndim < 2:
        each = _vector(name, given, n, like)
        if bool(xp.any(each < 0)) or (name == "prior_covariance" and bool(xp.any(each == 0))):
            raise ValueError(f"{name} must be positive, got {x!r}")
        return diagonal_matrix(each)
    if tuple(given.shape) != (n, n):
        raise ValueError(f"{name} must have shape ({n}, {n}), got {tuple(given.shape)}")
    if not bool(xp.all(xp.isfinite(given))):
        raise ValueError(f"{name} contains NaN or infinity")
    if float(xp.max(xp.abs(given - given.T))) > 1e-10 * float(xp.max(xp.abs(given))):
        raise ValueError(f"{name} must be symmetric")
    return given
