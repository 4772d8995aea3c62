"""Basis functions, with their ways to be placed."""

from rows.row import Row
from tractable.linear_model import (
    ContrastCoding,
    FourierBasis,
    FunctionBasis,
    GaussianBasis,
    PolynomialBasis,
    SigmoidBasis,
    SplineBasis,
)

ROWS = [
    Row("PolynomialBasis", lambda: PolynomialBasis(3)),
    Row("PolynomialBasis-chebyshev", lambda: PolynomialBasis(4, kind="chebyshev", include_bias=True)),
    Row("PolynomialBasis-monomial", lambda: PolynomialBasis(2, kind="monomial")),
    Row("PolynomialBasis-apart", lambda: PolynomialBasis(3, interactions=False)),
    Row("GaussianBasis", lambda: GaussianBasis(4)),
    Row("GaussianBasis-grid", lambda: GaussianBasis(3, strategy="uniform", width=2.0)),
    Row("SigmoidBasis", lambda: SigmoidBasis(4)),
    Row("FourierBasis", FourierBasis),
    Row("SplineBasis", SplineBasis),
    Row("SplineBasis-grid", lambda: SplineBasis(4, degree=2, strategy="uniform", include_bias=True)),
    Row(
        "ContrastCoding",
        ContrastCoding,
        exempt={"objects_are_numbers_or_refused": "words are what it codes"},
    ),
    Row("FunctionBasis", lambda: FunctionBasis(("identity", "tanh"))),
]
