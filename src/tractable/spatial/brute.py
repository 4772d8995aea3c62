"""Every point is compared with every row."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tractable.primitives import few_pairs
from tractable.primitives.neighbors import (
    FORMS,
    SingleRows,
    few_searched,
    filtered_nearest,
    filtered_within,
    nearest,
    nearest_of_few,
    single_rows,
    smallest,
    up_to,
    within,
)
from tractable.spatial.index import Index
from tractable.spatial.metrics import Metric
from tractable.value import value

#: Products of so few rows that they would be one block, which two threads share.
SHARED = 2**24


@value
class Brute(Index):
    """The exact search through all points: the fastest exact one where dimensions are many.

    Euclidean, Mahalanobis and cosine distances go by matrix products in single precision, as a filter whose
    errors are bounded; the points that pass it are measured in double precision, by differences, so that
    distances and neighbours are those of double precision, wherever the points lie. Rows whose neighbours the
    filter cannot tell apart are searched in double precision alone. Other metrics go by a compiled loop, or
    measure all pairs themselves. Points at an infinite distance, which have nothing in common with a row,
    are no neighbours of it: distances then end in infinity, and indices in -1.

    Parameters
    ----------
    points : array (n, d)
        The points to search.
    metric : Metric or str
        The distance, as a value of `tractable.spatial` or by name, such as "euclidean".

    Examples
    --------
    >>> index = Brute([[0.0, 0.0], [3.0, 4.0], [1.0, 0.0]])
    >>> distances, indices = index.query([[0.0, 0.0]], k=2)
    >>> distances.tolist(), indices.tolist()
    ([[0.0, 1.0]], [[0, 2]])
    >>> index.query_radius([[0.0, 0.0], [9.0, 9.0]], 1.0).indices.tolist()
    [0, 2]
    """

    name: ClassVar[str] = "brute"
    forms: ClassVar[tuple[str, ...]] = (*FORMS, "pairs")
    exact: ClassVar[bool] = True
    products: ClassVar[bool] = True
    block: ClassVar[int] = 384  # as many as a matrix product wants

    def __init__(self, points: Any, metric: Metric | str = "euclidean") -> None:
        self._prepare(points, metric)
        if self._filtered:
            self._single  # noqa: B018  (made once, before threads ask for it)

    @property
    def memory(self) -> int:
        """Bytes held beside the points: their copy in single precision, or whitened, say."""
        own = 0 if self._rows is self.points else self._rows.nbytes
        return own + (self._single.memory if self._filtered else 0)

    @property
    def _filtered(self) -> bool:
        """Whether a block of rows and the points are enough pairs for the filter."""
        return self.metric.form == "euclidean" and not few_pairs(np.empty((2 * self.block, 0)), self._rows)

    def _block_rows(self, n_rows: int) -> int:
        halved = self._filtered and n_rows <= self.block and n_rows * self._rows.size >= SHARED
        return -(-n_rows // 2) if halved else self.block

    @cached_property
    def _single(self) -> SingleRows:
        return single_rows(self._rows)

    def _search(self, n_rows: int, k: int, *, report: bool) -> Callable[..., tuple[np.ndarray, ...]]:
        own = type(self)._nearest is Brute._nearest  # noqa: SLF001  (a subclass may search in another way)
        if own and few_searched(self._rows, n_rows, k, self.metric.form):
            return self._nearest_of_few
        return self._nearest

    def _nearest_of_few(self, x: np.ndarray, k: int) -> tuple[np.ndarray, ...]:
        return *nearest_of_few(x, self._rows, k), *self._cost(len(x))

    def _nearest(self, x: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        if self._filtered:
            found = filtered_nearest(x, self._rows, self._single, k)
        elif self.metric.form == "pairs":
            distances, indices = smallest(self.metric.pairs(x, self._rows), k)
            found = distances, np.where(np.isfinite(distances), indices, -1)
        else:
            found = nearest(x, self._rows, k, self.metric.form, self.metric.order)
        return *found, *self._cost(len(x))

    def _within(self, x: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, ...]:
        if self._filtered:
            found = filtered_within(x, self._rows, self._single, radii)
        elif self.metric.form == "pairs":
            found = up_to(self.metric.pairs(x, self._rows), np.minimum(radii, np.finfo(float).max))
        else:
            found = within(x, self._rows, radii, self.metric.form, self.metric.order)
        return *found, *self._cost(len(x))

    def _cost(self, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        return np.ones(n_rows, np.int64), np.full(n_rows, len(self), np.int64)
