"""Factors: functions of named discrete variables that are multiplied, summed and maximised by axis name."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import log
from numbers import Rational, Real
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals, positions
from tractable.arrays.namespace import Array, freeze, is_foreign_array, namespace_of
from tractable.distributions.checks import check_nonnegative
from tractable.value import set_fields, value

#: The name of a variable and its levels.
Axis = tuple[str, tuple[Any, ...]]

#: The most cells of a table.
MOST_CELLS = 2**27


@value
class Factor:
    """A non-negative function of named discrete variables, which need not add up to one.

    Products and quotients align the variables by name, so that a sum over a product of factors is written as
    the formula is: Σ_b φ(a, b) ψ(b, c) is ``(phi * psi).sum("b")``.

    Parameters
    ----------
    values : array (n_1, …, n_k)
        Not negative; arrays of `fractions.Fraction` are computed with exactly.
    axes : mapping of str to int or sequence
        The variables in the order of the axes, each with its levels, or with their number for 0, 1, ….

    Examples
    --------
    >>> rain = Factor(values=[0.8, 0.2], axes={"rain": ["no", "yes"]})
    >>> wet = Factor(values=[[0.9, 0.1], [0.2, 0.8]], axes={"rain": ["no", "yes"], "grass": ["dry", "wet"]})
    >>> both = rain * wet
    >>> both.names, both.sum("rain").values.round(2)
    (('rain', 'grass'), array([0.76, 0.24]))
    >>> both.reduce({"grass": "wet"}).values.round(2), both.argmax()
    (array([0.08, 0.16]), {'rain': 'no', 'grass': 'dry'})
    """

    values: Array
    axes: tuple[Axis, ...]

    def __init__(self, *, values: Any, axes: Any) -> None:
        held, found = as_masses("values", values), as_axes("axes", axes)
        check_sizes("values", held, found)
        set_fields(self, values=freeze(held), axes=found)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, in the order of the axes."""
        return tuple(name for name, _ in self.axes)

    @property
    def total(self) -> Any:
        """Sum of all values."""
        n = self.values.ndim
        return total_over(self.values, range(n)) if n else self.values[()]

    def levels(self, name: str) -> tuple[Any, ...]:
        """Return the levels of a variable."""
        return self.axes[self._position(name)][1]

    def __mul__(self, other: "Factor") -> "Factor":
        """Return the product, over the variables of both: this factor's first, then the other's."""
        if not isinstance(other, Factor):
            return NotImplemented
        axes = joined(self.axes, other.axes)
        return known_factor(self._aligned(axes) * other._aligned(axes), axes)

    def __truediv__(self, other: "Factor") -> "Factor":
        """Return the quotient; 0 / 0 is 0, as in the messages of belief propagation."""
        if not isinstance(other, Factor):
            return NotImplemented
        axes = joined(self.axes, other.axes)
        above, below = self._aligned(axes), other._aligned(axes)
        xp = namespace_of(above, below)
        if bool(xp.any((below == 0) & (above != 0))):
            raise ValueError("other must be positive wherever this factor is")
        return known_factor(above / xp.where(below == 0, xp.ones_like(below), below), axes)

    def sum(self, names: str | Iterable[str]) -> "Factor":
        """Return Σ over some variables; over none it is the factor itself."""
        gone = self._positions(names)
        return known_factor(total_over(self.values, gone), self._without(gone))

    def max(self, names: str | Iterable[str]) -> "Factor":
        """Return the maximum over some variables."""
        gone = self._positions(names)
        found = self.values
        for axis in sorted(gone, reverse=True):
            found = namespace_of(found).max(found, axis=axis)
        return known_factor(found, self._without(gone))

    def argmax(self) -> dict[str, Any]:
        """Return the levels of the greatest value, by name; of several the first."""
        xp = namespace_of(self.values)
        flat = int(xp.argmax(xp.reshape(self.values, (-1,))))
        where = np.unravel_index(flat, tuple(self.values.shape))
        return {name: levels[int(i)] for (name, levels), i in zip(self.axes, where, strict=True)}

    def reduce(self, evidence: Mapping[str, Any]) -> "Factor":
        """Return the values at observed levels, over the other variables; evidence of others is ignored."""
        index = [
            code_of(axis, evidence[axis[0]]) if axis[0] in evidence else slice(None) for axis in self.axes
        ]
        kept = tuple(axis for axis, i in zip(self.axes, index, strict=True) if isinstance(i, slice))
        return known_factor(self.values[tuple(index)], kept)

    def rescaled(self) -> tuple["Factor", float]:
        """Return the factor over its largest value, and the logarithm of that; fractions as they are."""
        xp = namespace_of(self.values)
        largest = 0.0 if is_exact(self.values) else float(xp.max(self.values))
        if not largest > 0.0:
            return self, 0.0
        return known_factor(self.values / largest, self.axes), log(largest)

    def transpose(self, names: Sequence[str]) -> "Factor":
        """Return the same factor with its axes in another order."""
        order = self._positions(names)
        if len(order) < len(self.axes):
            raise ValueError(f"names must name all of {', '.join(self.names)}, got {names!r}")
        axes = tuple(self.axes[i] for i in order)
        return known_factor(namespace_of(self.values).permute_dims(self.values, order), axes)

    def _aligned(self, axes: Sequence[Axis]) -> Array:
        """Return the values with one axis for each of `axes`, of length one where there is none here."""
        names = [name for name, _ in axes]
        order = sorted(range(len(self.axes)), key=lambda i: names.index(self.axes[i][0]))
        xp = namespace_of(self.values)
        own = {self.axes[i][0] for i in order}
        shape = tuple(len(levels) if name in own else 1 for name, levels in axes)
        return xp.reshape(xp.permute_dims(self.values, tuple(order)), shape)

    def _without(self, gone: Sequence[int]) -> tuple[Axis, ...]:
        return tuple(axis for i, axis in enumerate(self.axes) if i not in gone)

    def _positions(self, names: str | Iterable[str]) -> tuple[int, ...]:
        found = tuple(self._position(name) for name in ([names] if isinstance(names, str) else names))
        if len(set(found)) < len(found):
            raise ValueError(f"names must be distinct, got {names!r}")
        return found

    def _position(self, name: str) -> int:
        if name not in self.names:
            raise ValueError(f"there is no axis {name!r}: the axes are {', '.join(self.names) or 'none'}")
        return self.names.index(name)


def known_factor(values: Array, axes: tuple[Axis, ...]) -> Factor:
    """Return a factor of values and axes that are known to be right."""
    made = object.__new__(Factor)
    values = values if hasattr(values, "ndim") else np.array(values, dtype=object)  # one fraction
    set_fields(made, values=values, axes=axes)
    return made


def joined(first: Sequence[Axis], second: Sequence[Axis]) -> tuple[Axis, ...]:
    """Return the axes of two factors, those of the first in front; what both have must have equal levels."""
    known = dict(first)
    for name, levels in second:
        if known.get(name, levels) != levels:
            raise ValueError(f"axis {name!r} must have the same levels: {known[name]} and {levels}")
    return (*first, *(axis for axis in second if axis[0] not in known))


def total_over(x: Array, axes: Sequence[int]) -> Any:
    """Return the sum over some axes, the array itself over none; exact where its entries are."""
    if not len(axes):
        return x
    if is_exact(x) and len(axes) == x.ndim:
        return sum(x.ravel().tolist(), start=Fraction(0))
    return namespace_of(x).sum(x, axis=tuple(axes))


def is_exact(x: Array) -> bool:
    """Whether the entries of an array are fractions."""
    return isinstance(x, np.ndarray) and x.dtype == object


def as_masses(name: str, x: Any) -> Array:
    """Return non-negative, finite numbers as an array of floats, or of fractions where all are rational.

    Whole numbers alone are floats: one of the entries must be a `Fraction`.
    """
    if isinstance(x, (Factor, str, bytes)):
        raise ValueError(f"{name} must be an array of numbers, got {type(x).__name__}")
    if not is_foreign_array(x):
        try:
            x = np.asarray(x)
        except ValueError:
            raise ValueError(f"{name} must be an array of numbers, with rows of one length") from None
        if x.dtype == object and all(isinstance(cell, Real) for cell in x.ravel().tolist()):
            cells = x.ravel().tolist()
            if all(isinstance(cell, Rational) for cell in cells):
                exact = np.empty(len(cells), dtype=object)
                exact[:] = [Fraction(cell) for cell in cells]
                if any(cell < 0 for cell in exact):
                    raise ValueError(f"{name} must be finite and not negative, got {min(cells)}")
                return exact.reshape(x.shape)
            x = x.astype(np.float64)
    x = as_reals(name, x)
    check_nonnegative(name, x)
    return x


def as_axes(name: str, axes: Any) -> tuple[Axis, ...]:
    """Return variables and their levels, given as a mapping or as pairs, checked."""
    try:
        pairs = list(axes.items() if isinstance(axes, Mapping) else axes)
        found = tuple((key, _as_levels(name, key, levels)) for key, levels in pairs)
    except (TypeError, ValueError) as error:
        if isinstance(error, ValueError) and str(error).startswith(name):
            raise
        raise ValueError(f"{name} must map names to levels or to their number, got {axes!r:.80}") from None
    names = [key for key, _ in found]
    if not all(isinstance(key, str) and key for key in names) or len(set(names)) < len(names):
        raise ValueError(f"{name} must have distinct names that are text, got {names!r}")
    return found


def _as_levels(name: str, key: Any, levels: Any) -> tuple[Any, ...]:
    if isinstance(levels, (int, np.integer)) and not isinstance(levels, bool):
        if not 1 <= levels <= MOST_CELLS:
            raise ValueError(f"{name}[{key!r}] must have at least one level, got {levels}")
        return tuple(range(int(levels)))
    if isinstance(levels, (str, bytes)):
        raise ValueError(f"{name}[{key!r}] must be a list of levels, got the text {levels!r}")
    found = tuple(level.item() if isinstance(level, np.generic) else level for level in levels)
    if not found:
        raise ValueError(f"{name}[{key!r}] must have at least one level, got none")
    if any(level is None or level != level for level in found):  # noqa: PLR0124  (NaN)
        raise ValueError(f"{name}[{key!r}] must not have missing levels, got {found!r:.80}")
    numbers = level_values(found)
    if len(set(found)) < len(found) or len(set(map(float, numbers))) < len(found):
        raise ValueError(f"{name}[{key!r}] must have distinct levels, got {found!r:.80}")
    return found


def check_sizes(name: str, x: Array, axes: Sequence[Axis]) -> None:
    """Refuse values whose shape is not that of the axes."""
    wanted = tuple(len(levels) for _, levels in axes)
    if tuple(x.shape) != wanted:
        sizes = ", ".join(f"{key} {len(levels)}" for key, levels in axes)
        raise ValueError(f"{name} must have shape {wanted} ({sizes}), got {tuple(x.shape)}")


def level_values(levels: Sequence[Any]) -> tuple[Any, ...]:
    """Return levels that are all numbers as they are, and others by their position 0, 1, …."""
    return tuple(levels) if all(isinstance(x, Real) for x in levels) else tuple(range(len(levels)))


def code_of(axis: Axis, level: Any) -> int:
    """Return the position of a level, given by its label or as events give it, as a number."""
    name, levels = axis
    if hasattr(level, "item") and np.ndim(level) == 0:
        level = level.item()
    try:
        if level in levels:
            return levels.index(level)
        numbers = level_values(levels)
        if numbers != levels and level in numbers:
            return int(level)
    except (TypeError, ValueError):  # an array
        pass
    shown = ", ".join(map(repr, levels[:8])) + (", …" if len(levels) > 8 else "")
    raise ValueError(f"axis {name!r} has no level {level!r:.40}: its levels are {shown}")


def codes_of(levels: Sequence[Any], x: Array) -> tuple[Array, Array]:
    """Return the positions of numbers among the values of levels, and whether they are levels at all."""
    xp = namespace_of(x)
    numbers = np.asarray([float(v) for v in level_values(levels)])
    order = np.argsort(numbers)
    ordered = as_reals("levels", numbers[order], x)
    ordered = xp.astype(ordered, x.dtype)
    # A copy: torch warns of values that are not contiguous.
    values = xp.asarray(xp.reshape(x, (-1,)), copy=True)
    place = xp.searchsorted(ordered, values)
    place = xp.where(place < len(levels), place, xp.zeros_like(place))
    known = xp.take(ordered, place) == values
    codes = xp.take(positions(order, x), place)
    return xp.reshape(codes, tuple(x.shape)), xp.reshape(known, tuple(x.shape))
