"""Steps at chosen centres."""

from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.special import sigmoid
from tractable.linear_model.basis.bumps import check_centers, check_width, column_centers, column_names, gaps
from tractable.linear_model.basis.mapping import Basis

__all__ = ["SigmoidBasis"]


class SigmoidBasis(Basis):
    """Smooth steps φⱼ(x) = σ((x - μⱼ) / s), σ(a) = 1 / (1 + e⁻ᵃ), of each column.

    Parameters
    ----------
    centers : int or array of shape (n_centers, n_features)
        Where each column has its steps, or how many to spread over it (fewer where its values repeat).
    width : float, optional
        s, in the units of the columns. By default the average distance between neighbouring centres.
    placement : {"quantiles", "grid"}
        Whether a number of centres is spread at quantiles of the column, or evenly over its range.

    Attributes
    ----------
    centers_ : list of arrays, one a column
    width_ : list of floats, one a column

    Examples
    --------
    >>> import tractable
    >>> basis = tractable.SigmoidBasis([[0.0], [1.0]], width=0.5).fit([[0.0], [1.0]])
    >>> basis.transform([[0.0], [1.0]]).round(3)
    array([[0.5  , 0.119],
           [0.881, 0.5  ]])
    >>> list(basis.get_feature_names_out(["age"]))
    ['step(age at 0)', 'step(age at 1)']
    """

    def __init__(
        self, centers: Any = 10, *, width: float | None = None, placement: str = "quantiles"
    ) -> None:
        self.centers = centers
        self.width = width
        self.placement = placement

    def _settle(self, X: Array, weights: Array) -> None:
        check_width(self.width)
        given = check_centers(self.centers, self.placement, X)
        if given is None:
            self.centers_ = column_centers(X, weights, self.centers, self.placement)
        else:
            self.centers_ = [given[:, j] for j in range(X.shape[1])]
        self.width_ = [_width(c) if self.width is None else float(self.width) for c in self.centers_]

    def _map(self, X: Array) -> list[Array]:
        return [
            sigmoid((X[:, j] - center) / self.width_[j])
            for j, centers in enumerate(self.centers_)
            for center in centers
        ]

    def _names(self, inputs: list[str]) -> list[str]:
        return column_names("step", inputs, self.centers_)


def _width(centers: Array) -> float:

    return gaps(namespace_of(centers).sort(centers)) or 1.0
