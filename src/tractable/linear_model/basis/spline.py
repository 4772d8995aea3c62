"""B-spline basis functions."""

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.base.parameters import check_number
from tractable.linear_model.basis.base import Basis, check_strategy, column_range, spread_over, standardised


class SplineBasis(Basis):
    """B-splines of each column: piecewise polynomials of one degree, which sum to one at every x.

    With `degree` p they have p - 1 continuous derivatives at the knots. Beyond the range of the data they are
    constant.

    Parameters
    ----------
    n_knots : int
        Number of knots of each column, 65,536 at most, both ends included (fewer where its values repeat).
    degree : int
        Degree of the polynomials between the knots, 64 at most.
    strategy : {"quantile", "uniform"}
        Where the knots lie: at quantiles of the column, or evenly spaced over its range.
    include_bias : bool
        Whether to keep the last basis function of each column. Without it the others do not sum to the
        constant, so that they are not collinear with an intercept.

    Attributes
    ----------
    knots_ : list of arrays, one per column
        The knots, on the scale on which the range of the column is [-1, 1].
    middle_, half_ : arrays of shape (n_features,)
        The centre (min + max) / 2 and the half-width (max - min) / 2 of each column, which is scaled to
        [-1, 1] by (x - middle_) / half_; the half-width of a constant column is 1.

    Examples
    --------
    >>> import tractable
    >>> basis = tractable.SplineBasis(3, degree=1, strategy="uniform", include_bias=True).fit([[0.0], [4.0]])
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
        strategy: str = "quantile",
        include_bias: bool = False,
    ) -> None:
        self.n_knots = n_knots
        self.degree = degree
        self.strategy = strategy
        self.include_bias = include_bias

    def _check_parameters(self) -> None:
        check_number("n_knots", self.n_knots, least=2, most=1 << 16, whole=True)
        # The work grows as its square.
        check_number("degree", self.degree, least=1, most=64, whole=True)
        check_strategy(self.strategy)

    def _learn(self, X: Array, weights: Array) -> None:
        self._check_parameters()
        self.middle_, self.half_ = column_range(X)
        moved = standardised(X, self.middle_, self.half_)
        found = (spread_over(moved[:, j], weights, self.n_knots, self.strategy) for j in range(X.shape[1]))
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
            _fraction(x - t[i], t[i + k] - t[i]) * found[i]
            + _fraction(t[i + k + 1] - x, t[i + k + 1] - t[i + 1]) * found[i + 1]
            for i in range(len(found) - 1)
        ]
    return found


def _fraction(part: Array, whole: Array) -> Array:
    return part / whole if bool(whole > 0) else 0.0 * part


def _ends(knots: Array) -> Array:
    xp = namespace_of(knots)
    return xp.asarray([-1.0, 1.0], dtype=knots.dtype, device=device(knots))
