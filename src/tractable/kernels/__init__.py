"""Covariance functions k(x, x'): values that add, multiply and scale, with log-space hyper-parameters."""

from tractable.kernels.base import Kernel
from tractable.kernels.categorical import Categorical
from tractable.kernels.centering import center_gram
from tractable.kernels.constant import Constant
from tractable.kernels.cosine import Cosine
from tractable.kernels.exponentiated import Exponentiated
from tractable.kernels.feature import Feature
from tractable.kernels.fourier_features import FourierFeatures
from tractable.kernels.kernel_distance import DistanceRBF, KernelDistance
from tractable.kernels.linear import Linear
from tractable.kernels.markov_term import MarkovTerm
from tractable.kernels.matern import Matern
from tractable.kernels.periodic import Periodic
from tractable.kernels.polynomial import Polynomial
from tractable.kernels.power import Power
from tractable.kernels.precomputed import Precomputed
from tractable.kernels.product import Product
from tractable.kernels.quadratic_form import QuadraticForm
from tractable.kernels.rational_quadratic import RationalQuadratic
from tractable.kernels.rbf import RBF
from tractable.kernels.scaled import Scaled
from tractable.kernels.sigmoid import Sigmoid
from tractable.kernels.subspace import Subspace
from tractable.kernels.sum import Sum
from tractable.kernels.warped import Warped
from tractable.kernels.white import White

__all__ = [
    "RBF",
    "Categorical",
    "Constant",
    "Cosine",
    "DistanceRBF",
    "Exponentiated",
    "Feature",
    "FourierFeatures",
    "Kernel",
    "KernelDistance",
    "Linear",
    "MarkovTerm",
    "Matern",
    "Periodic",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "QuadraticForm",
    "RationalQuadratic",
    "Scaled",
    "Sigmoid",
    "Subspace",
    "Sum",
    "Warped",
    "White",
    "center_gram",
]
