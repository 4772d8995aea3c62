"""Kernels of some of the columns."""

from collections.abc import Sequence
from operator import index
from typing import Any, Self

import numpy as np

from tractable.arrays.batched import positions
from tractable.arrays.namespace import Array, namespace_of
from tractable.kernels.base import Contraction, Kernel
from tractable.kernels.combinator import Wrapped, as_kernel
from tractable.value import set_fields, value


@value
class Subspace(Wrapped):
    """A kernel of some of the columns.

    k(x, x') = k₁(x_a, x'_a). Sums and products of such kernels are kernels of a table whose columns mean
    different things.

    Parameters
    ----------
    kernel : Kernel
        k₁.
    columns : sequence of int or str
        The columns a, in the order in which k₁ has them: positions, or names of the columns of a frame.

    Examples
    --------
    >>> from tractable.kernels import Linear, RBF, Subspace
    >>> kernel = Subspace(RBF(), [0]) * Subspace(Linear(0.0), [1])
    >>> kernel([[0.0, 2.0]], [[1.0, 3.0]]).round(4)
    array([[3.6392]])
    """

    kernel: Kernel
    columns: tuple[int | str, ...]

    def __init__(self, kernel: Kernel, columns: Sequence[int | str]) -> None:
        set_fields(self, kernel=as_kernel(kernel), columns=_checked(columns))

    @property
    def is_isotropic(self) -> bool:  # type: ignore[override]
        """Whether the kernel is a function of |x - x'| alone: not of some of the columns."""
        return False

    def with_columns(self, names: Any) -> Self:
        """Return the kernel with columns by their positions in `names`; see `Kernel.with_columns`."""
        names = [str(name) for name in names]
        missing = [c for c in self.columns if isinstance(c, str) and c not in names]
        if missing:
            raise ValueError(f"columns must be among {names}, got {missing[0]!r}")
        columns = [names.index(c) if isinstance(c, str) else c for c in self.columns]
        return type(self)(kernel=self.kernel, columns=columns)

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        return self.kernel.block(self._taken(x), self._taken(y), same)

    def block_diagonal(self, x: Array) -> Array:
        return self.kernel.block_diagonal(self._taken(x))

    def pullback(self, x: Array, y: Array, same: int | None) -> tuple[Array, Contraction]:
        return self.kernel.pullback(self._taken(x), self._taken(y), same)

    def frequencies(self, n: int, columns: int, rng: np.random.Generator) -> np.ndarray:
        # Zero in the other columns.
        drawn = np.zeros((n, columns))
        drawn[:, self._positions(columns)] = self.kernel.frequencies(n, len(self.columns), rng)
        return drawn

    def n_features(self, columns: int) -> int:
        """Return the number of features of rows of so many columns."""
        self._positions(columns)
        return self.kernel.n_features(len(self.columns))

    def block_features(self, x: Array) -> Array:
        return self.kernel.block_features(self._taken(x))

    def _taken(self, x: Array) -> Array:
        return namespace_of(x).take(x, positions(self._positions(x.shape[1]), x), axis=1)

    def _positions(self, n_columns: int) -> list[int]:
        for c in self.columns:
            if isinstance(c, str):
                raise ValueError(
                    f"x must be a frame with a column {c!r}, or the kernel be given names by with_columns"
                )
            if not c < n_columns:
                raise ValueError(f"columns must be below {n_columns}, the columns of x, got {c}")
        return [int(c) for c in self.columns]

    @property
    def n_columns(self) -> int:
        """How many columns rows have at least."""
        return 1 + max(c if isinstance(c, int) else 0 for c in self.columns)


def _checked(columns: Any) -> tuple[int | str, ...]:
    """Return positions and names, each once."""
    if isinstance(columns, (str, int, np.integer)):
        columns = [columns]
    try:
        found = tuple(c if isinstance(c, str) else index(c) for c in columns)
    except TypeError:
        found = ()
    bad = [c for c in found if isinstance(c, int) and c < 0]
    if not found or bad or len(set(found)) < len(found):
        raise ValueError(
            f"columns must be positions from 0 or names, each once and one at least, got {columns!r:.80}"
        )
    return found
