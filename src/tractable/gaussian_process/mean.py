"""Mean functions h(x)ᵀβ of a Gaussian process, whose coefficients have a flat prior."""

from typing import Any

from sklearn.base import clone

from tractable.arrays.limits import power_of_two
from tractable.arrays.linalg import column_lengths
from tractable.arrays.namespace import Array, as_float_array, device, namespace_of
from tractable.statistics.standardizer import Standardizer
from tractable.value import value

#: The means that have a name.
MEANS = ("zero", "constant", "linear")

#: A function of which less than this fraction is independent of those before it is dependent on them.
DEPENDENT = 1e-10


@value
class MeanFunction:
    """The functions h(x) of a mean: none, a constant, a constant and columns, or a basis.

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
    """

    constant: bool
    columns: tuple[int, ...]
    shift: Array
    scale: Array
    basis: Any = None

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
            # A constant column is the constant once more.
            varies = [j for j in numeric if bool(standardizer.varies[j])]
            at = xp.asarray(varies, dtype=xp.int64, device=device(x))
            shift, scale = xp.take(standardizer.shift, at), power_of_two(xp.take(standardizer.scale, at))
            return cls(constant=True, columns=tuple(varies), shift=shift, scale=scale)
        fitted = clone(mean)
        options = {} if weights is None else {"sample_weight": weights}
        functions = as_float_array(fitted.fit(x, **options).transform(x))
        size = column_lengths(functions)
        scale = 1.0 / power_of_two(xp.where(size > 0.0, size, xp.ones_like(size)))
        return cls(constant=False, columns=(), shift=none, scale=scale, basis=fitted)

    def __call__(self, x: Array) -> Array:
        """Return the functions at rows, (n, m)."""
        xp = namespace_of(x)
        if self.basis is not None:
            return xp.astype(as_float_array(self.basis.transform(x)), xp.float64) * self.scale
        ones = xp.ones((x.shape[0], 1), dtype=xp.float64, device=device(x))
        parts = [ones] if self.constant else [ones[:, :0]]
        if self.columns:
            at = xp.asarray(self.columns, dtype=xp.int64, device=device(x))
            parts.append((xp.take(x, at, axis=1) - self.shift) * self.scale)
        return xp.concat(parts, axis=1)

    @property
    def log_scale(self) -> float:
        """Log of the determinant of the map from coefficients in natural units to those here, negative."""
        xp = namespace_of(self.scale)
        return float(xp.sum(xp.log(self.scale)))


def check_mean(mean: Any) -> None:
    """Refuse what is neither the name of a mean nor a basis."""
    named = isinstance(mean, str) and mean in MEANS
    basis = not isinstance(mean, (str, type)) and hasattr(mean, "fit") and hasattr(mean, "transform")
    if not (named or basis):
        raise ValueError(f"mean must be one of {list(MEANS)} or a basis with fit and transform, got {mean!r}")


def check_independent(functions: Array) -> None:
    """Refuse functions that are linearly dependent at the rows: their coefficients are not determined."""
    n, m = functions.shape
    if not m:
        return
    xp = namespace_of(functions)
    size = column_lengths(functions)
    good = m <= n and bool(xp.all(size > 0.0))
    if good:
        diagonal = xp.abs(xp.linalg.diagonal(xp.linalg.qr(functions / size)[1]))
        good = bool(xp.all(diagonal > DEPENDENT))
    if not good:
        raise ValueError(
            f"X has too few different rows, {n}, for a mean of {m} functions, or these are linearly "
            "dependent there: their coefficients, which have a flat prior, are not determined"
        )
