"""Mean functions h(x)ᵀβ of a Gaussian process, whose coefficients have a flat prior."""

from typing import Any

from sklearn.base import clone

from tractable.arrays.limits import power_of_two
from tractable.arrays.linalg import column_lengths
from tractable.arrays.namespace import Array, as_float_array, device, namespace_of
from tractable.statistics.standardizer import Standardizer
from tractable.value import replace, value

#: The means that have a name.
MEANS = ("zero", "constant", "linear")

#: A function of which less than this fraction is independent of those before it is dependent on them.
DEPENDENT = 1e-10


@value
class MeanFunction:
    """The functions h(x) of a mean: none, a constant, or a constant with columns or a basis.

    Parameters
    ----------
    constant : bool
        Whether the constant is one of them.
    columns : tuple of int
        Positions of the columns of X that are among them.
    shift, scale : array
        Those columns are (x - shift) · scale; of a basis, each function is multiplied by its scale.
    basis : fitted transformer or None
        Functions of all columns.
    kept : tuple of int or None
        Positions of the functions that are linearly independent at the rows; None where all are.
    """

    constant: bool
    columns: tuple[int, ...]
    shift: Array
    scale: Array
    basis: Any = None
    kept: tuple[int, ...] | None = None

    @classmethod
    def learned(
        cls, mean: Any, x: Array, weights: Any, standardizer: Standardizer, numeric: Any
    ) -> "MeanFunction":
        """Return the mean of that name, or of a basis that is fitted to the rows.

        Parameters
        ----------
        mean : str or transformer
            "zero", "constant", "linear" or a basis.
        x : array (n, d)
            Rows.
        weights : array (n,) or None
            How often each counts.
        standardizer : Standardizer
            Of the columns.
        numeric : sequence of int
            Positions of the columns that are numbers and no categories.
        """
        xp = namespace_of(x)
        none = xp.zeros((0,), dtype=xp.float64, device=device(x))
        if isinstance(mean, str) and mean != "linear":
            return cls(constant=mean == "constant", columns=(), shift=none, scale=none)
        if isinstance(mean, str):
            at = xp.asarray(list(numeric), dtype=xp.int64, device=device(x))
            shift = xp.take(standardizer.shift, at)
            unit = xp.where(shift == 0.0, xp.ones_like(shift), xp.abs(shift))
            scale = xp.where(xp.take(standardizer.varies, at), xp.take(standardizer.scale, at), 1.0 / unit)
            found = cls(constant=True, columns=tuple(numeric), shift=shift, scale=power_of_two(scale))
            return found.of_varying(standardizer)
        fitted = clone(mean)
        options = {} if weights is None else {"sample_weight": weights}
        functions = as_float_array(fitted.fit(x, **options).transform(x))
        size = column_lengths(functions)
        scale = 1.0 / power_of_two(xp.where(size > 0.0, size, xp.ones_like(size)))
        return cls(constant=True, columns=(), shift=none, scale=scale, basis=fitted)

    def __call__(self, x: Array) -> Array:
        """Return the functions at rows, (n, m)."""
        xp = namespace_of(x)
        found = xp.ones((x.shape[0], 1 if self.constant else 0), dtype=xp.float64, device=device(x))
        if self.basis is not None:
            functions = xp.astype(as_float_array(self.basis.transform(x)), xp.float64)
            found = xp.concat([found, functions * self.scale], axis=1)
        if self.columns:
            at = xp.asarray(self.columns, dtype=xp.int64, device=device(x))
            found = xp.concat([found, (xp.take(x, at, axis=1) - self.shift) * self.scale], axis=1)
        return found if self.kept is None else _columns(found, self.kept)

    def of_varying(self, standardizer: Standardizer) -> "MeanFunction":
        """Return the mean with all its functions but columns that do not vary.

        Such a column is the constant once more.

        Parameters
        ----------
        standardizer : Standardizer
            Of the columns.
        """
        varies = [bool(standardizer.varies[j]) for j in self.columns]
        kept = (0, *(1 + i for i, some in enumerate(varies) if some))
        return replace(self, kept=None if all(varies) else kept)

    def independent(self, functions: Array) -> "MeanFunction":
        """Return the mean without the functions that depend on those before them at some rows.

        The flat prior of their coefficients would stay as it is there: they are zero instead.

        Parameters
        ----------
        functions : array (n, m)
            The functions at these rows.
        """
        kept = self.kept or tuple(range(functions.shape[1]))
        chosen = _independent(functions)
        return self if len(chosen) == len(kept) else replace(self, kept=tuple(kept[j] for j in chosen))

    @property
    def log_scale(self) -> float:
        """Log of the determinant of the map from coefficients in natural units to those here, negated."""
        xp = namespace_of(self.scale)
        logs = xp.log(self.scale)
        if self.kept is None:
            return float(xp.sum(logs))
        first = 1 if self.constant else 0
        return float(sum(float(logs[j - first]) for j in self.kept if j >= first))

    def natural(self, coef: Array) -> Array:
        """Return coefficients of the functions in natural units, (m, t): of 1 and of columns as they are.

        Parameters
        ----------
        coef : array (m, t)
            Those of the functions here.
        """
        if not self.constant:
            return coef
        xp = namespace_of(coef)
        one = xp.ones((1,), dtype=coef.dtype, device=device(coef))
        scale = xp.concat([one, self.scale])
        shift = xp.concat([0.0 * one, self.shift if self.columns else xp.zeros_like(self.scale)])
        if self.kept is not None:
            at = xp.asarray(self.kept, dtype=xp.int64, device=device(coef))
            scale, shift = xp.take(scale, at), xp.take(shift, at)
        found = coef * scale[:, None]
        level = found[:1, :] - xp.sum(found * shift[:, None], axis=0)[None, :]
        return xp.concat([level, found[1:, :]])


def check_mean(mean: Any) -> None:
    """Refuse what is neither the name of a mean nor a basis."""
    named = isinstance(mean, str) and mean in MEANS
    basis = not isinstance(mean, (str, type)) and hasattr(mean, "fit") and hasattr(mean, "transform")
    if not (named or basis):
        raise ValueError(f"mean must be one of {list(MEANS)} or a basis with fit and transform, got {mean!r}")


def _independent(functions: Array) -> list[int]:
    """Return the positions of the columns that are independent of those before them."""
    xp, (n, m) = namespace_of(functions), functions.shape
    size = column_lengths(functions)
    scaled = functions / xp.where(size > 0.0, size, xp.ones_like(size))
    if m <= n and m:
        diagonal = xp.abs(xp.linalg.diagonal(xp.linalg.qr(scaled)[1]))
        if bool(xp.all(diagonal > DEPENDENT)):
            return list(range(m))
    chosen: list[int] = []
    span = scaled[:, :0]
    for j in range(m):
        rest = scaled[:, j]
        for _ in range(2):  # once more, for what rounding left
            rest = rest - span @ (span.T @ rest)
        length = float(xp.sum(rest**2)) ** 0.5
        if len(chosen) < n and length > DEPENDENT:
            chosen.append(j)
            span = xp.concat([span, (rest / length)[:, None]], axis=1)
    return chosen


def _columns(a: Array, positions: tuple[int, ...]) -> Array:
    xp = namespace_of(a)
    return xp.take(a, xp.asarray(positions, dtype=xp.int64, device=device(a)), axis=1)
