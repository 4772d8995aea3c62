"""Stable special functions for every array library: the contents page."""

from tractable.arrays.error_function import erf, erfc, log_ndtr, ndtri
from tractable.arrays.gamma import betaln, digamma, gammaln, multigammaln
from tractable.arrays.incomplete import (
    betainc,
    betaincc,
    betaincinv,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
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
from tractable.arrays.student import stdtr, stdtrit

__all__ = [
    "betainc",
    "betaincc",
    "betaincinv",
    "betaln",
    "digamma",
    "erf",
    "erfc",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
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
    "stdtr",
    "stdtrit",
    "xlog1py",
    "xlogy",
]
