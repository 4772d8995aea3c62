"""Generalised linear models of classes: losses, softmax regression, Laplace's approximation, integrals."""

from tractable.engines.glm.integrals import log_expected_probit, log_expected_sigmoid, log_expected_softmax
from tractable.engines.glm.laplace import LaplaceApproximation, laplace, laplace_evidence
from tractable.engines.glm.likelihoods import (
    BernoulliLogit,
    BernoulliProbit,
    LikelihoodExpansion,
    PoissonLog,
)
from tractable.engines.glm.losses import Logit, LossExpansion, Probit
from tractable.engines.glm.softmax_regression import SoftmaxRegression, softmax_regression

__all__ = [
    "BernoulliLogit",
    "BernoulliProbit",
    "LaplaceApproximation",
    "LikelihoodExpansion",
    "Logit",
    "LossExpansion",
    "PoissonLog",
    "Probit",
    "SoftmaxRegression",
    "laplace",
    "laplace_evidence",
    "log_expected_probit",
    "log_expected_sigmoid",
    "log_expected_softmax",
    "softmax_regression",
]
