"""The kernel of an estimator: a value, a name as scikit-learn's, or the default of the rows."""

from math import sqrt
from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.numbers import check_number
from tractable.kernels.base import Kernel
from tractable.kernels.linear import Linear
from tractable.kernels.polynomial import Polynomial
from tractable.kernels.rbf import RBF, default_lengths
from tractable.kernels.sigmoid import Sigmoid

#: Kernels that scikit-learn names, of which there is an equal.
NAMES = ("linear", "poly", "rbf", "sigmoid")


def check_kernel(kernel: Any, gamma: Any) -> None:
    """Refuse what is no kernel, no name of one, and a γ of a kernel that has its own length scale.

    Examples
    --------
    >>> check_kernel("rbf", 0.5)
    """
    if isinstance(kernel, str):
        if kernel not in NAMES:
            raise ValueError(
                f"kernel must be one of {[*NAMES]}, or a kernel of tractable.kernels, got {kernel!r}"
            )
    elif kernel is not None and not isinstance(kernel, Kernel):
        raise ValueError(f"kernel must be a kernel of tractable.kernels, a name or None, got {kernel!r:.80}")
    elif gamma is not None:
        raise ValueError(f"gamma is of kernels by name, such as kernel='rbf', got gamma={gamma!r}")
    if gamma is not None:
        check_number("gamma", gamma, above=0.0)


def named_kernel(name: str, n_columns: int, *, gamma: Any = None, degree: Any = 3, coef0: Any = 1) -> Kernel:
    """Return the kernel of a name, with scikit-learn's meaning of γ, the degree and c.

    ``"linear"`` is xᵀx', ``"poly"`` (γ xᵀx' + c)^degree, ``"rbf"`` exp(-γ |x - x'|²), and ``"sigmoid"``
    tanh(γ xᵀx' + c). Without a γ it is 1 / n_columns.

    Examples
    --------
    >>> named_kernel("rbf", 4, gamma=0.125).length_scale
    2.0
    """
    slope = 1.0 / n_columns if gamma is None else float(gamma)
    match name:
        case "linear":
            return Linear(0.0)
        case "poly":
            return Polynomial(degree, gamma=slope, coef0=coef0)
        case "rbf":
            return RBF(sqrt(0.5 / slope))
        case _:
            return Sigmoid(slope, coef0=coef0)


def kernel_of_rows(estimator: Any, x: Array, weights: Array | None) -> Kernel:
    """Return the kernel of an estimator with `kernel`, `gamma`, `degree` and `coef0`, at the rows of its fit.

    Columns are by position. Without a kernel it is the squared exponential, with the length scale √d times
    the standard deviation of each of d columns.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> kernel_of_rows(tractable.KernelRidge("rbf"), np.eye(2), None).length_scale
    1.0
    """
    kernel = estimator.kernel
    if kernel is None:
        return RBF(default_lengths(x, weights))
    if isinstance(kernel, str):
        kernel = named_kernel(
            kernel, x.shape[1], gamma=estimator.gamma, degree=estimator.degree, coef0=estimator.coef0
        )
    kernel = kernel.with_columns(getattr(estimator, "feature_names_in_", ()))
    xp = namespace_of(x)
    if not bool(xp.all(xp.isfinite(kernel.diagonal(x)))):
        raise ValueError("kernel must be finite at the rows of X, and overflows")
    return kernel
