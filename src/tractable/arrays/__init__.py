"""Arrays of any library: namespaces, linear algebra, special functions, gradients.

The only package that knows array libraries other than NumPy. SciPy is imported where it is used.
"""

from tractable.arrays.devices import precision
from tractable.arrays.error_function import erf, erfc, log_ndtr, ndtri
from tractable.arrays.gamma import betaln, digamma, gammaln, multigammaln
from tractable.arrays.gradient import (
    check_gradient,
    numerical_gradient,
)
from tractable.arrays.linalg import (
    Factor,
    block_inverse,
    cholesky,
    is_pd,
    is_psd,
    jittered_cholesky,
    log_det_cholesky,
    rank_one_update,
    schur_complement,
    sherman_morrison,
    solve_cholesky,
    solve_triangular,
    symmetrize,
)
from tractable.arrays.log_space import (
    log1m_exp,
    log1p_exp,
    log_sigmoid,
    log_softmax,
    log_sum_exp,
    logit,
    sigmoid,
    softmax,
    xlog1py,
    xlogy,
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
from tractable.arrays.random import (
    as_generator,
    standard_normal,
    uniform,
)
from tractable.arrays.svd import SVD, pinv, svd_from_gram, thin_svd, truncated_svd

__all__ = [
    "SVD",
    "Array",
    "Factor",
    "as_float_array",
    "as_generator",
    "betaln",
    "block_inverse",
    "check_gradient",
    "cholesky",
    "device",
    "digamma",
    "erf",
    "erfc",
    "freeze",
    "gammaln",
    "is_numpy_array",
    "is_pd",
    "is_psd",
    "is_torch_array",
    "jittered_cholesky",
    "log1m_exp",
    "log1p_exp",
    "log_det_cholesky",
    "log_ndtr",
    "log_sigmoid",
    "log_softmax",
    "log_sum_exp",
    "logit",
    "multigammaln",
    "namespace_of",
    "ndtri",
    "numerical_gradient",
    "pinv",
    "precision",
    "rank_one_update",
    "schur_complement",
    "sherman_morrison",
    "sigmoid",
    "softmax",
    "solve_cholesky",
    "solve_triangular",
    "standard_normal",
    "svd_from_gram",
    "symmetrize",
    "thin_svd",
    "to_numpy",
    "truncated_svd",
    "uniform",
    "xlog1py",
    "xlogy",
]
