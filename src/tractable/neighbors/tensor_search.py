"""The exact search through points of an array of another library, where they are."""

from typing import ClassVar

from tractable.arrays.namespace import Array, device, library_of, namespace_of
from tractable.data.blocks import device_memory, map_matrix_rows
from tractable.primitives.neighbors.agnostic import scanned_nearest
from tractable.spatial.metrics import Chebyshev, Euclidean, Hamming, Metric, Minkowski
from tractable.value import value

#: Points that rows are compared with at a time, and entries of the products of a block: 4 GB.
POINTS, ENTRIES = 2**16, 2**29

#: Indexes that a search of tensors may be asked for by name.
NAMES = ("auto", "brute")

#: Metrics whose distances are of the coordinates as they are.
MEASURED = (Euclidean, Minkowski, Chebyshev, Hamming)


@value
class TensorSearch:
    """Every point is compared with every row, a block of each at a time: no array of all pairs is made.

    Of points at the same distance the smaller index comes first, as of :class:`tractable.spatial.Brute`.

    Parameters
    ----------
    points : array (n, d)
        Of any library that follows the array API, float64.
    metric : Metric
        Euclidean, Minkowski's, Chebyshev's or Hamming's.
    """

    name: ClassVar[str] = "brute"
    exact: ClassVar[bool] = True

    points: Array
    metric: Metric

    def __post_init__(self) -> None:
        if not isinstance(self.metric, MEASURED):
            raise ValueError(
                f"metric must be one of {[each.__name__ for each in MEASURED]} for an array of "
                f"{library_of(self.points)}, got {self.metric!r}: convert X to NumPy for others"
            )

    def __len__(self) -> int:
        return int(self.points.shape[0])

    def query(self, x: Array, k: int, *, exclude: Array | None = None) -> tuple[Array, Array]:
        """Return the distances and indices (m, k) of the nearest points of each row, the nearest first.

        Parameters
        ----------
        x : array (m, d)
            Rows.
        k : int
            How many, at most as many as there are points.
        exclude : array (m,) of int, optional
            The point that each row leaves out.
        """
        xp, n = namespace_of(x), len(self)
        asked = min(k + (exclude is not None), n)
        columns = max(1, min(n, POINTS, device_memory(x) // 64))
        given = self.points, asked, self.metric.form, self.metric.order, columns

        def block(rows: slice) -> tuple[Array, Array]:
            return scanned_nearest(x[rows, :], *given)

        parts = map_matrix_rows(block, x.shape[0], columns, x, ENTRIES, ENTRIES)
        distances, indices = (xp.concat(each) for each in zip(*parts, strict=True))
        if exclude is None:
            return distances, indices
        own = xp.astype(indices == exclude[:, None], xp.int64)
        first = xp.argsort(own, axis=1, stable=True)[:, :k]
        return tuple(xp.take_along_axis(each, first, axis=1) for each in (distances, indices))

    def graph(self, k: int) -> tuple[Array, Array]:
        """Return the distances and indices of the k nearest other points of each point."""
        own = namespace_of(self.points).arange(len(self), device=device(self.points))
        return self.query(self.points, k, exclude=own)
