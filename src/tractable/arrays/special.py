"""Stable special functions for every array library: the contents page."""

from tractable.arrays.error_function import erf, erfc, log_ndtr, ndtri
from tractable.arrays.gamma import betaln, digamma, gammaln, multigammaln
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

__all__ = [
    "betaln",
    "digamma",
    "erf",
    "erfc",
    "gammaln",
    "log1m_exp",
    "log1p_exp",
    "log_ndtr",
    "log_sigmoid",
    "log_softmax",
    "log_sum_exp",
    "logit",
    "multigammaln",
    "ndtri",
    "sigmoid",
    "softmax",
    "xlog1py",
    "xlogy",
]
