"""Linear estimates: coefficients with a root of their covariance, and what follows from both."""

from functools import cached_property
from math import inf, prod
from typing import Any

import numpy as np

from tractable.arrays.linalg import column_lengths
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.engines.long_rows import ReferredRows
from tractable.engines.spectrum import RowSpectrum
from tractable.primitives.threads import blas_for_products
from tractable.value import parameters, set_fields, value

#: Rows this far outside of the span of the rows of a fit, relative to their size, are not rounding.
OUTSIDE = 1e-8


class NotComputedError(ValueError, AttributeError):
    """What is asked of a fit that did not compute it."""


@value
class RowSpan:
    """The span of the rows of a fit, where it is not the whole space: what they determine."""

    scale: Array  # (d,), lengths of the columns about the origin
    directions: Array  # (d, rank), an orthonormal basis of the span of the rows divided by these lengths
    tol: float = OUTSIDE

    def outside(self, z: Array) -> Array:
        """Return the part of each row z that is outside of the span."""
        unit = z / self.scale
        return (unit - (unit @ self.directions) @ self.directions.T) * self.scale

    def contains(self, z: Array, size: Array) -> Array:
        """Return which rows z lie in the span, up to rounding of numbers of these sizes."""
        xp = namespace_of(z)
        outside = self.outside(z) / self.scale
        return column_lengths(outside.T) <= self.tol * column_lengths((xp.abs(size) / self.scale).T)

    def determined(self) -> Array:
        """Return which coefficients all solutions share, (d,)."""
        return namespace_of(self.directions).sum(self.directions**2, axis=1) >= 1.0 - self.tol


@value
class CovarianceRoot:
    """A root of the covariance of offset and coefficients: G Gᵀ in the span of the rows, and what is outside.

    Parameters
    ----------
    factor : array (p, r) or (t, p, r)
        G, of the offset first where there is one, and of the coefficients. Of t targets that are estimated
        together there is one for each: the covariance of targets a and b is G_a G_bᵀ.
    span : RowSpan, optional
        The span of the rows, of the columns or of all p; None where they determine all coefficients.
    outside : float
        The variance of a coefficient outside of the span: infinite without a prior.
    """

    factor: Array
    span: RowSpan | None = None
    outside: float = inf

    def at(self, z: Array) -> Array:
        """Return F, (n, r): the covariance of the linear predictor at rows z less the centre is F Fᵀ."""
        d = z.shape[1]
        slopes = self.factor[..., -d:, :]
        with blas_for_products(prod(z.shape) * int(slopes.shape[-1])):
            found = z @ slopes
        return found if self.factor.shape[-2] == d else found + self.factor[..., :1, :]

    def outside_at(self, z: Array, size: Array) -> Array:
        """Return the variance outside of the span of the linear predictor at rows z, (n,).

        z is the difference of numbers of this size.
        """
        xp = namespace_of(z)
        if self.span is None:
            return xp.zeros_like(z[:, 0])
        if self.outside < inf:
            return self.outside * xp.sum(self.outside_part(z) ** 2, axis=1)
        zero, width = xp.zeros_like(z[:, 0]), self.span.scale.shape[0]
        inside = self.span.contains(_with_ones(z, width), _with_ones(size, width))
        return xp.where(inside, zero, xp.full_like(zero, inf))

    def outside_part(self, z: Array) -> Array:
        """Return the part of rows z, after a one where the span has that column, outside of the span."""
        assert self.span is not None
        return self.span.outside(_with_ones(z, self.span.scale.shape[0]))

    def outside_axes(self, d: int) -> Array:
        """Return the variance outside of the span of each of d coefficients, (d,)."""
        xp = namespace_of(self.factor)
        if self.span is None:
            return xp.zeros(d, dtype=self.factor.dtype, device=device(self.factor))
        known, zero = self.span.determined()[-d:], xp.zeros_like(self.span.scale[-d:])
        if self.outside == inf:
            return xp.where(known, zero, xp.full_like(zero, inf))
        apart = 1.0 - xp.sum(self.span.directions[-d:, :] ** 2, axis=1)
        return self.outside * xp.where(known, zero, apart)


def with_offset(factor: Array, variance: Any) -> Array:
    """Return the root of an offset of this variance and of coefficients of root (d, r), independent of it."""
    xp, (d, r) = namespace_of(factor), factor.shape
    like: dict[str, Any] = {"dtype": factor.dtype, "device": device(factor)}
    top = xp.concat([xp.full((1, 1), float(variance) ** 0.5, **like), xp.zeros((1, r), **like)], axis=1)
    return xp.concat([top, xp.concat([xp.zeros((d, 1), **like), factor], axis=1)])


@value
class RootOfRows:
    """The root of (AᵀA + αI)⁻¹ of fewer rows than columns, from A Aᵀ: as a `CovarianceRoot`, not computed.

    The variance outside of the span of the rows is 1/α.
    """

    rows: Array | ReferredRows  # (m, p), A
    alpha: float  # where it is zero, nothing determines what is outside
    # Of an offset independent of the coefficients; None where there is none, or rows begin with its column
    offset_variance: float | None = None
    # (m, r) and (r,), Q and λ of A Aᵀ = Q diag(λ) Qᵀ without the λ that are zero, if they are known already
    spectrum: tuple[Array, Array] | None = None
    # (t, m) and (t, p), v = (A Aᵀ + αI)⁻¹ y and vᵀA: they tell whether rows that are referred to were changed
    sums: tuple[Array, Array] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return parameters(self)  # without another copy of the rows

    @cached_property
    def _rows(self) -> Array:
        """A as an array; of rows that are referred to, after a look at whether they were changed."""
        if not isinstance(self.rows, ReferredRows):
            return self.rows
        found = self.rows.unchanged(*self.sums)  # type: ignore[misc]
        if found is None:
            raise NotComputedError(
                "X was changed after the fit, and standard errors and distributions are computed from it "
                "when they are asked for: fit again, or ask for them before X is changed"
            )
        return found

    @cached_property
    def _spectrum(self) -> tuple[Array, Array]:
        if self.spectrum is not None:
            return self.spectrum
        return RowSpectrum.of(self._rows, self._rows[:, :0], self.alpha).nonzero()

    @property
    def effective_dof(self) -> float:
        """Trace of A (AᵀA + αI)⁻¹ Aᵀ, Σ λ/(λ + α)."""
        values = self._spectrum[1]
        return float(namespace_of(values).sum(values / (values + self.alpha)))

    @property
    def outside(self) -> float:
        """1/α, the variance of a coefficient outside of the span of the rows."""
        return 1.0 / self.alpha if self.alpha > 0.0 else inf

    @property
    def span(self) -> RowSpan:
        """The span of the rows."""
        directions = self._directions
        return RowSpan(scale=namespace_of(directions).ones_like(directions[:, 0]), directions=directions)

    @cached_property
    def _directions(self) -> Array:
        """Aᵀ Q λ^(-1/2), an orthonormal basis of the span of the rows, (p, r)."""
        basis, values = self._spectrum
        return self._rows.T @ (basis / namespace_of(values).sqrt(values))

    @property
    def factor(self) -> Array:
        """G, (p, r)."""
        values = self._spectrum[1]
        found = self._directions / namespace_of(values).sqrt(values + self.alpha)
        return found if self.offset_variance is None else with_offset(found, self.offset_variance)

    def at(self, z: Array) -> Array:
        """See `CovarianceRoot.at`."""
        xp, values = namespace_of(z), self._spectrum[1]
        found = self._along(z) / xp.sqrt(values + self.alpha)
        if self.offset_variance is None:
            return found
        return xp.concat([xp.full_like(found[:, :1], self.offset_variance**0.5), found], axis=1)

    def outside_at(self, z: Array, size: Array) -> Array:
        """See `CovarianceRoot.outside_at`."""
        xp, apart = namespace_of(z), self.outside_part(z)
        if self.alpha > 0.0:
            return self.outside * xp.sum(apart**2, axis=1)
        zero, size = xp.zeros_like(z[:, 0]), _with_ones(size, apart.shape[1])
        inside = column_lengths(apart.T) <= OUTSIDE * column_lengths(size.T)
        return xp.where(inside, zero, xp.full_like(zero, inf))

    def outside_part(self, z: Array) -> Array:
        """See `CovarianceRoot.outside_part`."""
        basis, values = self._spectrum
        along = self._along(z) / namespace_of(z).sqrt(values)
        return _with_ones(z, self._rows.shape[1]) - (along @ basis.T) @ self._rows

    def outside_axes(self, d: int) -> Array:
        """See `CovarianceRoot.outside_axes`."""
        return CovarianceRoot(factor=self._directions, span=self.span, outside=self.outside).outside_axes(d)

    def _along(self, z: Array) -> Array:
        """Return the coordinates of rows in the basis of the span."""
        basis, values = self._spectrum
        columns = _with_ones(z, self._rows.shape[1])
        return (columns @ self._rows.T) @ basis / namespace_of(z).sqrt(values)


def _with_ones(z: Array, width: int) -> Array:
    """Return rows after a column of ones, where they are to have one column more."""
    xp = namespace_of(z)
    return z if z.shape[1] == width else xp.concat([xp.ones_like(z[:, :1]), z], axis=1)


@value
class LinearEstimate:
    """A linear predictor for t targets, ŷ = offset + (x - centre)ᵀ coef, with its uncertainty.

    Offset and coefficients of a target have the covariance scale times that of the root: standard errors,
    intervals, predictive distributions, leverages and tables follow from it.

    Parameters
    ----------
    coef : array (t, d)
        Coefficients of each target.
    centre : array (d,)
        Where the offset is the prediction: the mean of the rows, or zeros without an intercept.
    offset : array (t,)
        The prediction at the centre.
    root : CovarianceRoot or RootOfRows
        Of the covariance of offset and coefficients, with the span of the rows and the variance outside of
        it. An object with the property `known`, where it is computed when it is asked for.
    scale : array (t,)
        What covariances are multiplied with: the noise variance, or the dispersion.
    dof : float
        Degrees of freedom of Student's t about the estimates; infinite for the normal distribution.
    has_intercept : bool
        Whether there is an intercept, and the root begins with the offset.
    intercept : array (t,), optional
        The prediction at x = 0, where it has more digits than offset - centreᵀ coef.

    Examples
    --------
    >>> import numpy as np
    >>> root = CovarianceRoot(factor=np.array([[0.5, 0.0], [0.0, 0.1]]))
    >>> found = LinearEstimate(
    ...     coef=np.array([[2.0]]),
    ...     centre=np.array([10.0]),
    ...     offset=np.array([1.0]),
    ...     root=root,
    ...     scale=np.ones(1),
    ... )
    >>> found.predict(np.array([[12.0]])), found.leverage(np.array([[12.0]])).round(2)
    (array([[5.]]), array([0.29]))
    >>> found.coef_std_errors, found.intercept_std_errors.round(3)
    (array([[0.1]]), array([1.118]))
    """

    coef: Array
    centre: Array
    offset: Array
    root: Any
    scale: Any
    dof: Any = inf
    has_intercept: bool = True
    intercept: Any = None

    def __post_init__(self) -> None:
        if self.intercept is None:
            set_fields(self, intercept=self.offset - self.coef @ self.centre)

    @property
    def covariance_root(self) -> Any:
        """The root, computed where it was not."""
        return getattr(self.root, "known", self.root)

    @property
    def slopes_root(self) -> Array:
        """The rows of the root for the coefficients, (d, r)."""
        return self.covariance_root.factor[..., -self.coef.shape[1] :, :]

    def predict(self, x: Array) -> Array:
        """Return the predictions at the rows of x, (n, t)."""
        return self.offset + (x - self.centre) @ self.coef.T

    def predictor_root(self, x: Array) -> Array:
        """Return F, (n, r): the covariance of the linear predictor at rows is scale F Fᵀ, in their span."""
        return self.covariance_root.at(x - self.centre)

    def leverage(self, x: Array) -> Array:
        """Return the variance of the linear predictor at each row, over the scale, (n,).

        Without a prior it is infinite outside of the span of the rows of the fit, where solutions differ.
        """
        xp, z = namespace_of(x), x - self.centre
        return xp.sum(self.covariance_root.at(z) ** 2, axis=-1) + self.covariance_root.outside_at(
            z, xp.abs(x) + xp.abs(self.centre)
        )

    def hat(self, x: Array) -> Array:
        """Return the matrix whose diagonal is the leverage, (n, n); without a prior in the rows' span."""
        root, z = self.covariance_root, x - self.centre
        white = root.at(z)
        found = white @ namespace_of(white).matrix_transpose(white)
        if root.span is None or root.outside == inf:
            return found
        apart = root.outside_part(z)
        return found + root.outside * (apart @ apart.T)

    @property
    def coef_std_errors(self) -> Array:
        """Standard error of every coefficient, (t, d); infinite where nothing determines it."""
        xp, root, d = namespace_of(self.coef), self.covariance_root, self.coef.shape[1]
        unit = xp.sum(self.slopes_root**2, axis=-1) + root.outside_axes(d)
        return xp.sqrt(_scaled(self.scale[:, None], unit))

    @property
    def intercept_std_errors(self) -> Array:
        """Standard error of the intercepts, (t,); zeros without one."""
        xp = namespace_of(self.coef)
        if not self.has_intercept:
            return xp.zeros_like(self.scale)
        at_origin = self.leverage(xp.zeros_like(self.centre)[None, :])
        return xp.sqrt(_scaled(self.scale, at_origin[..., 0]))

    @property
    def determined(self) -> Array:
        """Which of intercept and coefficients have a finite variance, (p,)."""
        xp, root = namespace_of(self.coef), self.covariance_root
        found = root.outside_axes(self.coef.shape[1])
        if self.has_intercept:
            centre = self.centre[None, :]
            found = xp.concat([root.outside_at(-centre, xp.abs(centre)), found])
        return xp.isfinite(found)

    @property
    def unit_covariance(self) -> Array:
        """Covariance of intercept and coefficients, over the scale; of t targets together, class after class.

        Infinite on the diagonal, and NaN beside it, for what nothing determines.
        """
        xp, root = namespace_of(self.coef), self.covariance_root
        factor = self._at_origin(root.factor)
        factor = xp.reshape(factor, (-1, factor.shape[-1]))
        found = factor @ factor.T
        if root.span is None:
            return found
        if root.outside == inf:
            return self._with_undetermined(found)
        d = self.coef.shape[1]
        axes = xp.eye(d, dtype=factor.dtype, device=device(factor))
        z = xp.concat([-self.centre[None, :], axes]) if self.has_intercept else axes
        if root.span.scale.shape[0] > d:
            z = xp.eye(d + 1, dtype=factor.dtype, device=device(factor))
        apart = root.span.outside(z)
        each = root.outside * (apart @ apart.T)
        n = factor.shape[0] // z.shape[0]
        return found + (each if n == 1 else xp.kron(xp.eye(n), each))

    def parameters(self, target: int = 0) -> tuple[Array, Array]:
        """Return intercept and coefficients of a target, (p,), and a root of their unit covariance."""
        xp, first = namespace_of(self.coef), self.intercept[target : target + 1]
        mean = xp.concat([first, self.coef[target, :]]) if self.has_intercept else self.coef[target, :]
        return mean, self._at_origin(self.covariance_root.factor)

    @property
    def centred_covariance(self) -> Array:
        """Covariance of offset and coefficients, over the scale, in the span of the rows."""
        factor = self.covariance_root.factor
        factor = namespace_of(factor).reshape(factor, (-1, factor.shape[-1]))
        return factor @ factor.T

    def covariance(self, target: int = 0) -> Array:
        """Return the covariance of intercept and coefficients of one target."""
        return _scaled(self.scale[target], self.unit_covariance)

    def from_centre(self, covariance: Array) -> Array:
        """Return the covariance of intercept and coefficients from one of offset and coefficients.

        Such as a sandwich, of the same shape as `unit_covariance`.
        """
        p = self.coef.shape[1] + self.has_intercept
        n = covariance.shape[0] // p
        xp = namespace_of(covariance)
        parts = self._at_origin(xp.reshape(covariance, (n, p, n * p)))
        parts = self._at_origin(xp.reshape(xp.reshape(parts, (n * p, n * p)).T, (n, p, n * p)))
        found = xp.reshape(parts, (n * p, n * p))
        return found if self.covariance_root.span is None else self._with_undetermined(found)

    def _at_origin(self, factor: Array) -> Array:
        """Turn the row of the offset into that of the intercept, offset - centreᵀ coef."""
        if not self.has_intercept:
            return factor
        xp = namespace_of(factor)
        top = factor[..., :1, :] - self.centre[None, :] @ factor[..., 1:, :]
        return xp.concat([top, factor[..., 1:, :]], axis=-2)

    def _with_undetermined(self, covariance: Array) -> Array:
        """Return the covariance, infinite on the diagonal and NaN beside it for what nothing determines."""
        xp, known = namespace_of(covariance), self.determined
        known = xp.concat([known] * (covariance.shape[0] // known.shape[0]))
        none = xp.full_like(covariance, float("nan"))
        diagonal = xp.eye(covariance.shape[0], dtype=xp.bool, device=device(covariance))
        open_ = xp.where(diagonal, xp.full_like(covariance, inf), none)
        return xp.where(known[:, None] & known[None, :], covariance, open_)


def _scaled(scale: Any, unit: Array) -> Array:
    """Return variances in units of the noise times these; infinite ones are, whatever the noise."""
    xp = namespace_of(unit)
    return xp.where(xp.isinf(unit), unit, scale * unit)


#: A combination of parameters with this part, or more, in directions without curvature is not determined.
UNDETERMINED = 1e-6


def standardized_estimate(
    shift: np.ndarray,
    widths: np.ndarray,
    coef: np.ndarray,
    root: np.ndarray,
    undetermined: np.ndarray,
    *,
    outside: float,
    scale: float = 1.0,
    dof: float = inf,
) -> LinearEstimate:
    """Return the estimate of linear predictors of standardized columns, in the units of the columns.

    Parameters
    ----------
    shift, widths : arrays (d,)
        The columns are (x - shift) widths; the width of a constant one is 0.
    coef : array (t, p)
        Coefficients, after the intercepts where p is one more than the number of columns.
    root : array (p, r) or (t, p, r)
        G of their covariance, over the scale.
    undetermined : array (m p, q)
        Directions without curvature, of the parameters of m linear predictors.
    outside : float
        Variance of a coefficient that the rows say nothing of, over the scale.
    scale, dof : float
        The dispersion, and the degrees of freedom of Student's t about the estimates.

    Examples
    --------
    >>> import numpy as np
    >>> coef, root, none = np.array([[1.0, 3.0]]), 0.1 * np.eye(2), np.zeros((2, 0))
    >>> found = standardized_estimate(np.array([5.0]), np.array([2.0]), coef, root, none, outside=np.inf)
    >>> found.coef, found.intercept, found.coef_std_errors
    (array([[6.]]), array([-29.]), array([[0.2]]))
    """
    first = coef.shape[1] - len(shift)
    varies, span = widths > 0.0, None
    unit = undetermined / np.linalg.norm(undetermined, axis=0)
    parts = unit.reshape(len(unit) // coef.shape[1], coef.shape[1], unit.shape[1])[:, first:]
    axes, sizes, _ = np.linalg.svd(np.concatenate([*parts], axis=1))
    rank = int(np.sum(sizes > UNDETERMINED))
    if rank:
        lengths = np.where(varies, 1.0 / np.where(varies, widths, 1.0), np.abs(shift))
        lengths = np.where(lengths > 0.0, lengths, 1.0)
        span = RowSpan(scale=lengths, directions=axes[:, rank:], tol=UNDETERMINED)
    units = np.append(np.ones(first), widths)
    return LinearEstimate(
        coef=coef[:, first:] * widths,
        centre=shift if first else np.zeros_like(shift),
        offset=coef[:, 0] if first else np.zeros(len(coef)),
        root=CovarianceRoot(factor=units[:, None] * root, span=span, outside=outside),
        scale=np.full(len(coef), scale),
        dof=dof,
        has_intercept=bool(first),
    )
