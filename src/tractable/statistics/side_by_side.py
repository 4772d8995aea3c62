"""Statistics of different columns of a table, of the same rows."""

from typing import Any, ClassVar

from tractable.statistics.rows import Statistic
from tractable.value import value


@value
class SideBySide(Statistic):
    """The statistics of the columns of a table, one for each column or group of columns.

    Parameters
    ----------
    parts : tuple
        Statistics of some columns each; None where nothing was observed in them.
    total : float
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
    """

    _extensive: ClassVar = ("parts", "total")

    parts: tuple[Any, ...]
    total: float
    dim: int
    about: Any = None

    def _merged(self, other: "SideBySide") -> "SideBySide":
        """Add the statistics of equal columns."""
        about = _both(self.about, other.about)
        mine, theirs = (
            each if about is each.about or each.about is None else about.recoded(each)
            for each in (self, other)
        )
        if len(mine.parts) != len(theirs.parts):
            raise ValueError("cannot merge statistics of columns that are grouped differently")
        parts = tuple(
            b if a is None else a if b is None else a + b
            for a, b in zip(mine.parts, theirs.parts, strict=True)
        )
        return SideBySide(parts=parts, total=self.total + other.total, dim=self.dim, about=about)


def _both(a: Any, b: Any) -> Any:
    if a is b or b is None:
        return a
    return b if a is None else a + b
