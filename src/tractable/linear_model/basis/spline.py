"""Piecewise polynomials that join smoothly."""

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.base.parameters import check_number
from tractable.linear_model.basis.base import Basis, check_placement, column_range, spread_over, standardised


class SplineBasis(Basis):
    """B-splines of each column: bumps of one degree, smooth across the knots, that add up to one.

    Beyond the range of the data a spline stays as high as at its end.

    Parameters
    ----------
    n_knots : int
        How many knots to spread over each column, both ends among them (fewer where its values repeat).
    degree : int
        Of the polynomials between the knots.
    placement : {"quantiles", "grid"}
        Whether knots are at quantiles of the column, or evenly spaced over its range.
    include_bias : bool
        Whether to keep the last function of each column. Without it the others do not add up to the constant,
        which most models have as their intercept.

    Attributes
    ----------
    knots_ : list of arrays, one a column
        In units of the range, which is [-1, 1].
    middle_, half_ : arrays of shape (n_features,)

    Examples
    --------
    >>> import tractable
    >>> basis = tractable.SplineBasis(3, degree=1, placement="grid", include_bias=True).fit([[0.0], [4.0]])
    >>> basis.transform([[0.0], [1.0], [2.0], [9.0]])
    array([[1. , 0. , 0. ],
           [0.5, 0.5, 0. ],
           [0. , 1. , 0. ],
           [0. , 0. , 1. ]])
    """

    def __init__(
        self,
        n_knots: int = 5,
        *,
        degree: int = 3,
        placement: str = "quantiles",
        include_bias: bool = False,
    ) -> None:
        self.n_knots = n_knots
        self.degree = degree
        self.placement = placement
        self.include_bias = include_bias

    def _settle(self, X: Array, weights: Array) -> None:
        check_number("n_knots", self.n_knots, least=2, whole=True)
        check_number("degree", self.degree, least=1, whole=True)
        check_placement(self.placement)
        self.middle_, self.half_ = column_range(X)
        moved = standardised(X, self.middle_, self.half_)
        found = (spread_over(moved[:, j], weights, self.n_knots, self.placement) for j in range(X.shape[1]))
        self.knots_ = [knots if knots.shape[0] > 1 else _ends(knots) for knots in found]

    def _map(self, X: Array) -> list[Array]:
        moved = standardised(X, self.middle_, self.half_)
        last = None if self.include_bias else -1
        return [
            column
            for j, knots in enumerate(self.knots_)
            for column in b_splines(moved[:, j], knots, self.degree)[:last]
        ]

    def _names(self, inputs: list[str]) -> list[str]:
        dropped = 0 if self.include_bias else 1
        return [
            f"spline{k}({name})"
            for name, knots in zip(inputs, self.knots_, strict=True)
            for k in range(knots.shape[0] + self.degree - 1 - dropped)
        ]


def b_splines(x: Array, knots: Array, degree: int) -> list[Array]:
    """Return the n_knots + degree - 1 B-splines at x by the Cox-de Boor recursion, constant beyond the ends.

    N_{i,k} = (x - tᵢ) / (tᵢ₊ₖ - tᵢ) N_{i,k-1} + (tᵢ₊ₖ₊₁ - x) / (tᵢ₊ₖ₊₁ - tᵢ₊₁) N_{i+1,k-1}, where a fraction
    of no width is zero.
    """
    xp = namespace_of(x)
    x = xp.clip(x, knots[0], knots[-1])
    t = [*[knots[0]] * degree, *knots, *[knots[-1]] * degree]
    # Each x lies in one interval; the last is closed, so that the right end has a function too.
    interval = xp.clip(xp.searchsorted(knots, x, side="right") - 1, 0, knots.shape[0] - 2) + degree
    found = [xp.astype(interval == i, xp.float64) for i in range(len(t) - 1)]
    for k in range(1, degree + 1):
        found = [
            _ratio(x - t[i], t[i + k] - t[i]) * found[i]
            + _ratio(t[i + k + 1] - x, t[i + k + 1] - t[i + 1]) * found[i + 1]
            for i in range(len(found) - 1)
        ]
    return found


def _ratio(part: Array, whole: Array) -> Array:
    return part / whole if bool(whole > 0) else 0.0 * part


def _ends(knots: Array) -> Array:
    xp = namespace_of(knots)
    return xp.asarray([-1.0, 1.0], dtype=knots.dtype, device=device(knots))
