"""Weight of rows, and their scatter about a point that is known."""

from typing import Any

from tractable.arrays.namespace import Array, freeze, namespace_of
from tractable.statistics.rows import as_rows, as_weights, check_rate, counts
from tractable.value import value

__all__ = ["ScatterAbout"]


@value
class ScatterAbout:
    """Weight and Σ w (x - μ)(x - μ)ᵀ of rows about a known μ.

    Far from the origin the mean of rows is rounded by more than it may be away from μ; it is not asked here.

    Parameters
    ----------
    weight : float
    point : array (d,)
        μ.
    scatter : array (d, d)
    """

    weight: Any
    point: Array
    scatter: Array

    def __post_init__(self) -> None:
        for name in ("point", "scatter"):
            object.__setattr__(self, name, freeze(getattr(self, name)))

    @classmethod
    def of(cls, X: Any, weights: Any, point: Array) -> "ScatterAbout":
        """Summarise a block of rows."""
        X = as_rows(X)
        xp = namespace_of(X)
        w = as_weights(weights, X)
        root = X - point if w is None else (X - point) * xp.sqrt(w)[:, None]
        return cls(weight=xp.sum(counts(w, X)), point=point, scatter=root.T @ root)

    @property
    def dim(self) -> int:
        """Number of columns."""
        return int(self.scatter.shape[-1])

    def __add__(self, other: "ScatterAbout") -> "ScatterAbout":
        """Merge: everything adds up."""
        if not isinstance(other, ScatterAbout):
            return NotImplemented
        other.check_about(self.point)
        return ScatterAbout(
            weight=self.weight + other.weight, point=self.point, scatter=self.scatter + other.scatter
        )

    def discount(self, rate: float) -> "ScatterAbout":
        """Forget: the same scatter a row, believed `rate` times as strongly."""
        rate = check_rate(rate)
        return ScatterAbout(weight=self.weight * rate, point=self.point, scatter=self.scatter * rate)

    def check_about(self, point: Array) -> None:
        """Refuse the scatter about another point."""
        alike = tuple(self.point.shape) == tuple(point.shape)
        if not alike or not bool(namespace_of(point).all(self.point == point)):
            raise ValueError(f"statistic must be the scatter about {point}, got that about {self.point}")
