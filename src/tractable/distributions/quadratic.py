"""Gaussians given by a precision: completing the square, and the conditional in precision form."""

from typing import Any

from tractable.arrays.batched import as_reals, matvec, on_columns, principal_block
from tractable.arrays.linalg import cholesky, solve_cholesky
from tractable.arrays.namespace import Array
from tractable.covariance import Full, other_dims, resolve_dims
from tractable.distributions.multivariate_normal import MultivariateNormal
from tractable.distributions.vectors import as_values, taken

__all__ = ["condition_precision", "gaussian_from_quadratic"]


def gaussian_from_quadratic(precision: Any, linear: Any) -> MultivariateNormal:
    """Return the normal whose log density is -½ xᵀ Λ x + xᵀ η + constant: mean Λ⁻¹ η, covariance Λ⁻¹.

    Parameters
    ----------
    precision : array (*batch, d, d)
        Λ, symmetric positive definite.
    linear : array (*batch, d)
        η.

    Examples
    --------
    >>> d = gaussian_from_quadratic([[2.0, 0.0], [0.0, 4.0]], [2.0, 8.0])
    >>> d.mean, d.variance
    (array([1., 2.]), array([0.5 , 0.25]))
    """
    precision = as_reals("precision", precision)
    linear = as_reals("linear", linear, precision)
    structure = Full.from_precision(precision)
    if linear.ndim < 1 or linear.shape[-1] != structure.dim:
        raise ValueError(f"linear must have shape (*batch, {structure.dim}), got {tuple(linear.shape)}")
    return MultivariateNormal(mean=_solve(precision, linear), covariance=structure)


def condition_precision(mean: Any, precision: Any, dims: Any, values: Any) -> MultivariateNormal:
    """Return p(x_a | x_b) from the precision Λ of the joint: N(μ_a - Λ_aa⁻¹ Λ_ab (x_b - μ_b), Λ_aa⁻¹).

    The same as :meth:`MultivariateNormal.condition`, where the precision is what is known. Note that Λ_aa is
    the precision of the conditional, not the inverse of Σ_aa.

    Parameters
    ----------
    mean : array (*batch, d)
    precision : array (*batch, d, d)
    dims : positions of the observed coordinates b
    values : array (*batch, len(dims))

    Examples
    --------
    >>> condition_precision([0.0, 0.0], [[2.0, -1.0], [-1.0, 2.0]], [1], [4.0]).mean
    array([2.])
    """
    precision = as_reals("precision", precision)
    mean = as_reals("mean", mean, precision)
    given = resolve_dims(dims, precision.shape[-1])
    rest = other_dims(given, precision.shape[-1])
    if not rest:
        raise ValueError("dims must leave at least one coordinate free")
    own, across = principal_block(precision, rest, rest), principal_block(precision, rest, given)
    step = matvec(across, as_values(values, given, mean) - taken(mean, given))
    return MultivariateNormal(mean=taken(mean, rest) - _solve(own, step), covariance=Full.from_precision(own))


def _solve(precision: Array, z: Array) -> Array:
    lower = cholesky(precision, name="precision")
    return on_columns(lambda columns: solve_cholesky(lower, columns), z, lower.ndim - 2)
