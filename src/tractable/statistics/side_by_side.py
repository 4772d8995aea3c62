"""Statistics of different columns of a table, of the same rows."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from tractable.statistics.rows import Statistic
from tractable.value import parameters, replace, value


@value
class SideBySide(Statistic):
    """The statistics of the columns of a table, one for each column or group of columns.

    Those of K classes of rows are one value: the arrays of every statistic have a first axis of K, so that
    merging and learning are the same few operations whatever the number of classes. ``[k]`` is of a class.

    Parameters
    ----------
    parts : tuple
        Statistics of some columns each; None where nothing was observed in them. Of K classes a statistic
        that has no arrays of a fixed shape is a tuple of K.
    total : float or array (K,)
        Weight of the rows.
    dim : int
        Number of columns of the table.
    about : object, optional
        A description of the columns. Two that differ are added, and the sum's ``recoded(statistic)`` gives a
        statistic of either in its own codes.

    Examples
    --------
    >>> from tractable.statistics import Counts, Moments
    >>> a = SideBySide(parts=(Moments.of([[1.0], [3.0]]), None), total=2.0, dim=2)
    >>> b = SideBySide(parts=(Moments.of([[5.0]]), Counts.of([[1]])), total=1.0, dim=2)
    >>> both = a + b
    >>> both.parts[0].mean.tolist(), both.parts[1].counts.tolist(), both.total
    ([3.0], [[0.0, 1.0]], 3.0)

    Of two classes:

    >>> counts = Counts(counts=np.array([[3.0, 1.0], [0.0, 2.0]]))
    >>> two = SideBySide(parts=(counts,), total=np.array([4.0, 2.0]), dim=1)
    >>> len(two), two[1].parts[0].counts.tolist(), two.placed([0, 2], 3).total.tolist()
    (2, [0.0, 2.0], [4.0, 0.0, 2.0])
    """

    _extensive: ClassVar = ("parts", "total")
    _frozen: ClassVar = ("total",)

    parts: tuple[Any, ...]
    total: Any
    dim: int
    about: Any = None

    def __len__(self) -> int:
        """Return the number of classes."""
        return len(self.total)

    def __getitem__(self, k: int) -> "SideBySide":
        """Return the statistics of one class."""
        return replace(
            self, parts=tuple(_mapped(part, lambda x: x[k]) for part in self.parts), total=self.total[k]
        )

    def __iter__(self) -> Iterator["SideBySide"]:
        """Iterate over the classes."""
        return (self[k] for k in range(len(self)))

    def placed(self, where: Any, n: int) -> "SideBySide":
        """Return the statistics of n classes: those of the K at some positions, and no rows elsewhere."""

        def among(x: Any) -> Any:
            if isinstance(x, tuple):
                held = dict(zip(where, x, strict=True))
                return tuple(held.get(k) for k in range(n))
            found = np.zeros((n, *x.shape[1:]), dtype=x.dtype)
            found[where] = x
            return found

        return replace(
            self, parts=tuple(_mapped(part, among) for part in self.parts), total=among(self.total)
        )

    def _merged(self, other: "SideBySide") -> "SideBySide":
        """Add the statistics of equal columns."""
        about = _both(self.about, other.about)
        mine, theirs = (
            each if about is each.about or each.about is None else about.recoded(each)
            for each in (self, other)
        )
        if len(mine.parts) != len(theirs.parts):
            raise ValueError("cannot merge statistics of columns that are grouped differently")
        parts = tuple(_sum(a, b) for a, b in zip(mine.parts, theirs.parts, strict=True))
        return SideBySide(parts=parts, total=self.total + other.total, dim=self.dim, about=about)


def _mapped(part: Any, of: Any) -> Any:
    """Return what a function makes of a tuple of K statistics, or of the arrays of a batched one."""
    if isinstance(part, tuple):
        return of(part)
    # A number is the same for all classes: the rest of a mean that has none.
    return replace(part, **{name: of(x) for name, x in parameters(part).items() if not isinstance(x, float)})


def _sum(a: Any, b: Any) -> Any:
    if isinstance(a, tuple):
        return tuple(_sum(*each) for each in zip(a, b, strict=True))
    return b if a is None else a if b is None else a + b


def _both(a: Any, b: Any) -> Any:
    if a is b or b is None:
        return a
    return b if a is None else a + b
