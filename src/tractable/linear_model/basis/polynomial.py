"""Polynomials of the columns, in powers or in orthogonal polynomials."""

from math import comb

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.base.parameters import check_choice, check_number
from tractable.linear_model.basis.base import Basis, column_range, standardised

#: Of the products of columns: these are half a gigabyte.
MOST_EXPONENTS = 1 << 26
LETTERS = {"legendre": "P", "chebyshev": "T", "monomial": ""}


class PolynomialBasis(Basis):
    """All products of the columns up to a degree: w₀ + Σ wᵢ xᵢ + ΣΣ wᵢⱼ xᵢ xⱼ + ….

    Powers of a column are nearly collinear, and a fit in them loses digits fast. Legendre and Chebyshev
    polynomials on the range of the data span the same space and are well conditioned: least squares gives the
    same curve, and a penalised curve does not depend on the units of the columns. Take ``kind="monomial"``
    for the coefficients of the powers themselves.

    Parameters
    ----------
    degree : int
        Largest sum of the exponents of a product. Products whose exponents would need more than half a
        gigabyte are refused before they are made; `n_monomials` says how many there are.
    interactions : bool
        Whether to include products of different columns, besides the powers of each.
    kind : {"legendre", "chebyshev", "monomial"}
        The polynomial of degree k of a column: P_k or T_k of the column scaled to [-1, 1], or xᵏ.
    include_bias : bool
        Whether to include the constant φ₀ = 1; most models have an intercept instead.

    Attributes
    ----------
    powers_ : array of shape (n_functions, n_features)
        Exponents of each product, in order of their sum.
    middle_, half_ : arrays of shape (n_features,)
        The centre (min + max) / 2 and the half-width (max - min) / 2 of each column, which is scaled to
        [-1, 1] by (x - middle_) / half_; the half-width of a constant column is 1.

    See Also
    --------
    n_monomials : the number of products.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> basis = tractable.PolynomialBasis(2, kind="monomial")
    >>> basis.fit_transform([[2.0, 3.0], [1.0, 5.0]])
    array([[ 2.,  3.,  4.,  6.,  9.],
           [ 1.,  5.,  1.,  5., 25.]])
    >>> list(basis.get_feature_names_out(["a", "b"]))
    ['a', 'b', 'a^2', 'a b', 'b^2']

    In a pipeline:

    >>> from sklearn.pipeline import make_pipeline
    >>> x = np.linspace(0.0, 1.0, 9)[:, None]
    >>> model = make_pipeline(tractable.PolynomialBasis(3), tractable.LinearRegression()).fit(x, x[:, 0] ** 3)
    >>> model.predict([[2.0]]).round(9)
    array([8.])
    """

    def __init__(
        self,
        degree: int = 2,
        *,
        interactions: bool = True,
        kind: str = "legendre",
        include_bias: bool = False,
    ) -> None:
        self.degree = degree
        self.interactions = interactions
        self.kind = kind
        self.include_bias = include_bias

    def _check_parameters(self) -> None:
        check_number("degree", self.degree, least=1, whole=True)
        check_choice("kind", self.kind, LETTERS)

    def _learn(self, X: Array, weights: Array) -> None:
        self._check_parameters()
        _check_size(X.shape[1], self.degree, interactions=self.interactions)
        self.powers_ = _exponents(X.shape[1], self.degree, interactions=self.interactions)
        if self.include_bias:
            self.powers_ = np.concatenate([np.zeros_like(self.powers_[:1]), self.powers_])
        self.middle_, self.half_ = column_range(X)

    def _map(self, X: Array) -> list[Array]:
        xp = namespace_of(X)
        moved = X if self.kind == "monomial" else standardised(X, self.middle_, self.half_)
        highest = int(self.powers_.max(initial=0))
        if not 0 <= self.powers_.min(initial=0) <= highest <= len(self.powers_):
            raise ValueError("powers_ must be those of a fit")
        polynomials = [_polynomials(moved[:, j], highest, self.kind) for j in range(X.shape[1])]
        products = []
        for row in self.powers_:
            product = xp.ones_like(X[:, 0])
            for j in np.flatnonzero(row):
                product = product * polynomials[j][row[j]]
            products.append(product)
        return products

    def _names(self, inputs: list[str]) -> list[str]:
        return [
            " ".join(_power(inputs[j], int(row[j]), LETTERS[self.kind]) for j in np.flatnonzero(row)) or "1"
            for row in self.powers_
        ]


def n_monomials(n_features: int, degree: int, *, interactions: bool = True) -> int:
    """Return the number of monomials up to a degree, including the constant.

    C(D + M, M) with interactions, which grows as Dᴹ; 1 + DM without.

    Parameters
    ----------
    n_features : int
        Number of columns D.
    degree : int
        Largest degree M.
    interactions : bool
        Whether products of different columns are included.

    Examples
    --------
    >>> import tractable
    >>> [tractable.n_monomials(d, 3) for d in (1, 2, 10, 100)]
    [4, 10, 286, 176851]
    """
    for name, given in (("n_features", n_features), ("degree", degree)):
        check_number(name, given, least=0, whole=True)
    n_features, degree = int(n_features), int(degree)
    return comb(n_features + degree, degree) if interactions else 1 + n_features * degree


def _exponents(d: int, degree: int, *, interactions: bool) -> np.ndarray:
    """Return the exponents of each product, by their sum."""
    each = np.eye(d, dtype=np.int64)
    if d == 1 or not interactions:
        return (np.arange(1, degree + 1)[:, None, None] * each).reshape(-1, d)
    parts = [each]
    for k in range(2, degree + 1):
        # What begins with column j goes on with a product of it and later columns: these are the last ones.
        later = [comb(d - j + k - 2, k - 1) for j in range(d)]
        parts.append(np.concatenate([parts[-1][-n:] + each[j] for j, n in enumerate(later)]))
    return np.concatenate(parts)


def _check_size(d: int, degree: int, *, interactions: bool) -> None:
    """Refuse more products than memory and time allow, before there is any."""
    n_products = n_monomials(d, degree, interactions=interactions) - 1
    if n_products > MOST_EXPONENTS // max(d, 16):
        remedy = "a smaller degree, fewer columns" + (" or interactions=False" if interactions else "")
        raise ValueError(
            f"degree={degree} makes {n_products:,} products of the {d} columns of X, and "
            f"{MOST_EXPONENTS // max(d, 16):,} are the most; take {remedy}"
        )


def _polynomials(t: Array, degree: int, kind: str) -> list[Array]:
    """Return the polynomials of degree 0, 1, … at t, each from the two before."""
    steps = [namespace_of(t).ones_like(t), t]
    for k in range(1, degree):
        last, before = steps[-1], steps[-2]
        if kind == "legendre":
            steps.append(((2 * k + 1) * t * last - k * before) / (k + 1))
        elif kind == "chebyshev":
            steps.append(2.0 * t * last - before)
        else:
            steps.append(t * last)
    return steps


def _power(name: str, k: int, letter: str) -> str:
    if letter:
        return f"{letter}{k}({name})"
    return name if k == 1 else f"{name}^{k}"
