"""Generalised linear models of classes: losses, softmax regression, and predictive integrals of Gaussians."""

from tractable.engines.glm.integrals import log_expected_probit, log_expected_sigmoid, log_expected_softmax
from tractable.engines.glm.losses import Logit, Probit
from tractable.engines.glm.softmax_regression import SoftmaxRegression, softmax_regression

__all__ = [
    "Logit",
    "Probit",
    "SoftmaxRegression",
    "log_expected_probit",
    "log_expected_sigmoid",
    "log_expected_softmax",
    "softmax_regression",
]
