"""Covariance functions k(x, x'): values that add, multiply and scale, with log-space hyper-parameters."""

from tractable.kernels.base import Kernel
from tractable.kernels.constant import Constant
from tractable.kernels.linear import Linear
from tractable.kernels.matern import Matern
from tractable.kernels.product import Product
from tractable.kernels.rbf import RBF
from tractable.kernels.scaled import Scaled
from tractable.kernels.sum import Sum
from tractable.kernels.white import White

__all__ = ["RBF", "Constant", "Kernel", "Linear", "Matern", "Product", "Scaled", "Sum", "White"]
