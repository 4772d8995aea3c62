"""Basis functions: columns φ(x) in which a model that is curved in x is linear in its weights."""

from tractable.linear_model.basis.contrasts import ContrastCoding
from tractable.linear_model.basis.fourier import FourierBasis
from tractable.linear_model.basis.functions import FunctionBasis
from tractable.linear_model.basis.local import GaussianBasis, SigmoidBasis
from tractable.linear_model.basis.polynomial import PolynomialBasis, n_monomials
from tractable.linear_model.basis.spline import SplineBasis

__all__ = [
    "ContrastCoding",
    "FourierBasis",
    "FunctionBasis",
    "GaussianBasis",
    "PolynomialBasis",
    "SigmoidBasis",
    "SplineBasis",
    "n_monomials",
]
