"""Arrays of any library: namespaces, linear algebra, special functions, gradients.

The only room that knows array libraries other than NumPy. SciPy is imported where it is used.
"""

from tractable.arrays.linalg import (
    Factor,
    cholesky,
    jittered_cholesky,
    log_det_cholesky,
    solve_cholesky,
    solve_triangular,
)
from tractable.arrays.namespace import (
    Array,
    as_float_array,
    device,
    freeze,
    is_numpy_array,
    is_torch_array,
    namespace_of,
    to_numpy,
)
from tractable.arrays.random import as_generator, standard_normal, uniform

__all__ = [
    "Array",
    "Factor",
    "as_float_array",
    "as_generator",
    "cholesky",
    "device",
    "freeze",
    "is_numpy_array",
    "is_torch_array",
    "jittered_cholesky",
    "log_det_cholesky",
    "namespace_of",
    "solve_cholesky",
    "solve_triangular",
    "standard_normal",
    "to_numpy",
    "uniform",
]
