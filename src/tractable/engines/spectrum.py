"""Spectra of penalised least squares: one decomposition, of the columns or of few rows, for every penalty."""

from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from tractable.arrays.limits import too_large
from tractable.arrays.linalg import column_lengths, column_squares
from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of, to_numpy
from tractable.engines.long_rows import ReferredRows, as_array, column_sums, row_products
from tractable.primitives.threads import blas_for_columns, single_threaded_blas
from tractable.value import value

#: Gram matrices are formed up to this ratio of the largest eigenvalue to the smallest: ten digits are left.
SAFE_CONDITION = 1e6

#: More columns are decomposed by their products up to this ratio of the largest eigenvalue to the smallest.
MANY_COLUMNS, CLOSE_CONDITION = 64, 1e4


@value
class ColumnSpectrum:
    """The columns A = U diag(s) Vᵀ and the targets in the basis U."""

    basis: Array  # (p, r), V
    singular: Array  # (r,), s; zero in directions in which the columns do not vary
    projections: Array  # (r, t), Uᵀ y of the targets
    rest: Array  # (t,), squared length of the part of the targets that is orthogonal to all columns

    @classmethod
    def of(cls, columns: Array, targets: Array, rest: Any = 0.0) -> "ColumnSpectrum":
        """Decompose columns (m, p), and targets (m, t) with `rest` more squares, by the SVD."""
        xp = namespace_of(columns)
        with blas_for_columns(min(columns.shape)):
            u, s, vt = xp.linalg.svd(columns, full_matrices=False)
            nonzero = s > 10.0 * columns.shape[1] * float(xp.finfo(s.dtype).eps) * s[0]
            projections = xp.where(nonzero[:, None], u.T @ targets, 0.0)
            rest = rest + column_lengths(targets - u @ projections) ** 2
        # Columns of zeros are orthogonal to all other directions, not only to rounding.
        varies = xp.any(columns != 0, axis=0)
        basis = xp.where(varies[:, None] | ~nonzero, vt.T, xp.zeros_like(vt.T))
        return cls(basis=basis, singular=xp.where(nonzero, s, 0.0), projections=projections, rest=rest)

    @classmethod
    def from_scatter(cls, scatter: Array, varies: Array, least_penalty: float) -> "ColumnSpectrum | None":
        """Decompose the scatter matrix of p columns and the targets; None where that costs too many digits.

        The condition number of AᵀA + αI for the least penalty α decides, of the columns that vary.

        Parameters
        ----------
        scatter : array (p + t, p + t)
            Of the columns and the targets.
        varies : array (p,) of bool
            Which columns are not constant.
        least_penalty : float
            The smallest penalty that will be asked for.
        """
        xp, p = namespace_of(scatter), varies.shape[0]
        kept, constant = xp.nonzero(varies)[0], xp.nonzero(~varies)[0]
        if not kept.shape[0] or not bool(xp.all(xp.isfinite(scatter))):
            return None
        own, with_targets = scatter[:p, :p], scatter[:p, p:]
        if constant.shape[0]:
            own, with_targets = xp.take(own, kept, axis=0), xp.take(with_targets, kept, axis=0)
            own = xp.take(own, kept, axis=1)
        with blas_for_columns(p):
            values, basis = xp.linalg.eigh(own)
            least, largest = float(values[0]), float(values[-1])
            if not least > 0.0 or not largest <= SAFE_CONDITION * (least + least_penalty):
                return None
            s = xp.sqrt(values)
            projections = (basis.T @ with_targets) / s[:, None]
            if constant.shape[0]:  # the axes of these, along which nothing varies
                axes = xp.eye(p, dtype=basis.dtype, device=device(basis))
                own_axes, others = xp.take(axes, kept, axis=1), xp.take(axes, constant, axis=1)
                basis, s = xp.concat([own_axes @ basis, others], axis=1), xp.concat([s, 0.0 * others[0, :]])
                projections = xp.concat([projections, xp.zeros_like(scatter[: constant.shape[0], p:])])
        rest = xp.linalg.diagonal(scatter[p:, p:]) - xp.sum(projections**2, axis=0)
        rest = xp.where(rest > 0, rest, xp.zeros_like(rest))
        return cls(basis=basis, singular=s, projections=projections, rest=rest)

    @classmethod
    def from_products(cls, columns: Array, targets: Array) -> "ColumnSpectrum | None":
        """Decompose many columns (m, p) by their products, in a third of the time; None where that is unsafe.

        All but four digits of the squares of the singular values are right, and all of what is orthogonal.
        """
        if not is_numpy_array(columns) or not MANY_COLUMNS < columns.shape[1] <= columns.shape[0]:
            return None
        with blas_for_columns(columns.shape[1]), np.errstate(over="ignore", invalid="ignore"):
            products = columns.T @ columns
            if not np.isfinite(products).all():
                return None
            values, basis = np.linalg.eigh(products)
            if not 0.0 < values[-1] <= CLOSE_CONDITION * values[0]:
                return None
            projections = (basis.T @ (columns.T @ targets)) / np.sqrt(values)[:, None]
            rest = column_squares(targets - columns @ (basis @ (projections / np.sqrt(values)[:, None])))
        return cls(basis=basis, singular=np.sqrt(values), projections=projections, rest=rest)

    @cached_property
    def largest(self) -> float:
        """Largest singular value."""
        return float(namespace_of(self.singular).max(self.singular))

    @cached_property
    def rank(self) -> int:
        """Number of directions in which the columns vary."""
        return int(np.count_nonzero(to_numpy(self.singular) > 0.0))

    @property
    def target_lengths(self) -> Array:
        """Lengths of the targets, (t,)."""
        xp = namespace_of(self.rest)
        return xp.hypot(column_lengths(self.projections), xp.sqrt(self.rest))

    def inverse(self, penalties: Array) -> Array:
        """Return 1 / (s² + α) for every direction and penalty, (r, k); zero where both are zero."""
        xp = namespace_of(penalties)
        total = self.singular[:, None] ** 2 + penalties
        return xp.where(total > 0, 1.0 / xp.where(total > 0, total, 1.0), 0.0)

    def residuals(self, penalties: Array) -> tuple[Array, Array]:
        """Return, for every penalty, residual sums of squares (t, k) and the sum of α/(s² + α), (k,)."""
        shrinkage = residual_shrinkage(self.singular**2, penalties)
        rss = self.rest[:, None] + (self.projections.T**2) @ (shrinkage**2)
        return rss, namespace_of(penalties).sum(shrinkage, axis=0)


@value
class RowSpectrum:
    """A Aᵀ = Q diag(λ) Qᵀ of few rows A, and the targets in the basis Q."""

    rows: Array | ReferredRows  # (m, p), A
    basis: Array  # (m, r), Q, orthogonal to the direction of a free intercept
    eigenvalues: Array  # (r,), λ; what is rounding is zero
    projections: Array  # (r, t), Qᵀ y of the targets

    @classmethod
    def of(
        cls,
        rows: Array | ReferredRows,
        targets: Array,
        least_penalty: float,
        free: Any = None,
        products: Any = None,
    ) -> "RowSpectrum":
        """Decompose few rows: by A Aᵀ where the least penalty makes that safe, else by singular values.

        Parameters
        ----------
        rows : array (m, p)
            A, with fewer rows than columns.
        targets : array (m, t)
            The targets of the rows.
        least_penalty : float
            The smallest penalty that will be asked for.
        free : array (m,), optional
            The unit vector along which a free intercept moves the rows. What `rows` and `targets` have along
            it is rounding, and is left out.
        products : array (m, m), optional
            A Aᵀ, where it is known.
        """
        with single_threaded_blas():
            basis, values = _by_gram(row_products(as_array(rows)) if products is None else products, free)
            if values.shape[0] and not float(values[-1]) <= SAFE_CONDITION * (
                float(values[0]) + least_penalty
            ):
                basis, values = _by_svd(as_array(rows), free)
            if free is not None:
                # The rows were reflected so that `free` is the first axis, and decomposed without it.
                basis = reflected(namespace_of(basis).concat([0.0 * basis[:1, :], basis]), free)
            return cls(rows=rows, basis=basis, eigenvalues=values, projections=basis.T @ targets)

    @property
    def largest(self) -> float:
        """Largest entry of the rows: eigenvalues, its squares, may underflow."""
        rows = as_array(self.rows)
        xp = namespace_of(rows)
        return float(xp.max(xp.abs(rows)))

    @property
    def target_lengths(self) -> Array:
        """Lengths of the targets, (t,)."""
        return column_lengths(self.projections)

    def nonzero(self) -> tuple[Array, Array]:
        """Return the basis and the eigenvalues of the directions in which the rows vary, (m, r) and (r,)."""
        xp = namespace_of(self.basis)
        varies = xp.nonzero(self.eigenvalues > 0)[0]
        return xp.take(self.basis, varies, axis=1), xp.take(self.eigenvalues, varies)

    def residuals(self, penalties: Array) -> tuple[Array, Array]:
        """Return, for every penalty, residual sums of squares (t, k) and the sum of α/(λ + α), (k,)."""
        shrinkage = residual_shrinkage(self.eigenvalues, penalties)
        return (self.projections.T**2) @ (shrinkage**2), namespace_of(penalties).sum(shrinkage, axis=0)

    def dual(self, penalty: float) -> Array:
        """Return (A Aᵀ + αI)⁻¹ y, (m, t), along the directions in which the rows vary."""
        xp = namespace_of(self.basis)
        total = xp.where(self.eigenvalues > 0, self.eigenvalues + penalty, inf)
        with single_threaded_blas():
            return self.basis @ (self.projections / total[:, None])

    def coefficients(self, dual: Array) -> Array:
        """Return Aᵀ (A Aᵀ + αI)⁻¹ y, (p, t), from its `dual`."""
        with single_threaded_blas():
            return column_sums(self.rows, dual.T).T

    def row_residuals(self, penalties: Array) -> tuple[Array, Array]:
        """Return residuals (m, t, k) and one minus leverage (m, k) of each row, for every penalty.

        Both are sums of α/(λ + α) over directions, so neither cancels.
        """
        xp = namespace_of(penalties)
        shrinkage = residual_shrinkage(self.eigenvalues, penalties)
        r, k = shrinkage.shape
        parts = xp.reshape(self.projections[:, :, None] * shrinkage[:, None, :], (r, -1))
        with single_threaded_blas():
            residuals = xp.reshape(self.basis @ parts, (self.basis.shape[0], -1, k))
            return residuals, (self.basis * self.basis) @ shrinkage


def residual_shrinkage(eigenvalues: Array, penalties: Array) -> Array:
    """Return α / (λ + α), the fraction of a target along each direction that stays in the residuals, (r, k).

    A penalty of zero is the limit of small ones, so that ratios of such fractions keep their limits.
    """
    xp = namespace_of(penalties)
    top = float(xp.max(eigenvalues)) if eigenvalues.shape[0] else 0.0
    penalties = xp.where(penalties > 0, penalties, 1e-60 * top if top > 0.0 else 1.0)
    return penalties / (eigenvalues[:, None] + penalties)


def _by_gram(gram: Array, free: Any) -> tuple[Array, Array]:
    xp = namespace_of(gram)
    if not bool(xp.all(xp.isfinite(gram))):
        raise too_large("X")
    if free is not None:
        gram = reflected_products(gram, free)[1:, 1:]
    values, basis = xp.linalg.eigh(gram)
    return basis, xp.where(values > 0, values, xp.zeros_like(values))


def _by_svd(rows: Array, free: Any) -> tuple[Array, Array]:
    xp = namespace_of(rows)
    rows = rows if free is None else reflected(rows, free)[1:, :]
    basis, s, _ = xp.linalg.svd(rows, full_matrices=False)
    tol = 10.0 * max(rows.shape) * float(xp.finfo(s.dtype).eps) * (float(s[0]) if s.shape[0] else 0.0)
    s = xp.where(s > tol, s, xp.zeros_like(s))
    return basis, s * s


def reflected(rows: Array, free: Array) -> Array:
    """Return the Householder reflection of the rows that swaps a unit vector and the first axis."""
    mirror, scale = _mirror(free)
    return rows - mirror[:, None] * ((mirror @ rows) / scale)[None, :]


def reflected_products(products: Array, free: Array) -> Array:
    """Return the products P A Aᵀ P of rows reflected likewise, from A Aᵀ."""
    xp, (mirror, scale) = namespace_of(free), _mirror(free)
    along = (products @ mirror) / scale
    along = along - mirror * ((mirror @ along) / (2.0 * scale))
    return products - xp.stack([mirror, along], axis=1) @ xp.stack([along, mirror])


def _mirror(free: Array) -> tuple[Array, float]:
    """Return v and c of the reflection I - v vᵀ / c that swaps a unit vector and the first axis."""
    first = float(free[0])
    return namespace_of(free).concat([free[:1] + (1.0 if first >= 0.0 else -1.0), free[1:]]), 1.0 + abs(first)
