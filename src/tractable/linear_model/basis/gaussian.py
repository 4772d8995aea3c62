"""Bumps at chosen centres."""

from typing import Any

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.linear_model.basis.bumps import check_centers, check_width, column_centers, column_names, gaps
from tractable.linear_model.basis.mapping import Basis

__all__ = ["GaussianBasis"]


class GaussianBasis(Basis):
    """Gaussian bumps φⱼ(x) = exp(-‖x - μⱼ‖² / 2s²) at the centres μⱼ.

    Given centres are points among the rows, and a bump falls off in all directions. A number of centres is
    spread over each column, and a bump is one of that column alone: a sum of curves, one for each column.

    Parameters
    ----------
    centers : int or array of shape (n_centers, n_features)
        The centres, or how many to spread over each column (fewer where its values repeat).
    width : float, optional
        s, in the units of the columns. By default the average distance between neighbouring centres.
    placement : {"quantiles", "grid"}
        Whether a number of centres is spread at quantiles of the column, or evenly over its range.

    Attributes
    ----------
    centers_ : list of arrays, one a column; or array of shape (n_centers, n_features)
    width_ : list of floats, one a column; or float

    Examples
    --------
    >>> import tractable
    >>> basis = tractable.GaussianBasis(3, placement="grid").fit([[0.0], [1.0], [4.0]])
    >>> basis.centers_[0], basis.width_
    (array([0., 2., 4.]), [2.0])
    >>> basis.transform([[2.0]]).round(4)
    array([[0.6065, 1.    , 0.6065]])
    """

    def __init__(
        self, centers: Any = 10, *, width: float | None = None, placement: str = "quantiles"
    ) -> None:
        self.centers = centers
        self.width = width
        self.placement = placement

    def _settle(self, X: Array, weights: Array) -> None:
        check_width(self.width)
        self.centers_: Any
        self.width_: Any
        given = check_centers(self.centers, self.placement, X)
        if given is None:
            self.centers_ = column_centers(X, weights, self.centers, self.placement)
            self.width_ = [gaps(c) if self.width is None else float(self.width) for c in self.centers_]
        else:
            self.centers_ = given
            self.width_ = _apart(given) if self.width is None else float(self.width)

    def _map(self, X: Array) -> list[Array]:
        xp = namespace_of(X)
        if isinstance(self.centers_, list):
            return [
                xp.exp(-0.5 * ((X[:, j] - center) / self.width_[j]) ** 2)
                for j, centers in enumerate(self.centers_)
                for center in centers
            ]
        return [xp.exp(-0.5 * xp.sum(((X - center) / self.width_) ** 2, axis=1)) for center in self.centers_]

    def _names(self, inputs: list[str]) -> list[str]:
        if isinstance(self.centers_, list):
            return column_names("bump", inputs, self.centers_)
        return [f"bump({', '.join(inputs)}; {k})" for k in range(self.centers_.shape[0])]


def _apart(centers: Array) -> float:
    """Return the average distance of a centre to the nearest other, or 1 where there is none."""
    xp = namespace_of(centers)
    if centers.shape[0] == 1:
        return 1.0
    away = xp.sqrt(xp.sum((centers[:, None, :] - centers[None, :, :]) ** 2, axis=-1))
    away = away + xp.where(xp.eye(centers.shape[0], device=device(centers)) > 0, xp.inf, 0.0)
    return float(xp.mean(xp.min(away, axis=1))) or 1.0
