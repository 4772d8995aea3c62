"""Models of linear predictors: losses, softmax regression, Laplace's approximation, integrals."""

from tractable.engines.glm.integrals import log_expected_probit, log_expected_sigmoid, log_expected_softmax
from tractable.engines.glm.laplace import LaplaceApproximation, laplace, laplace_evidence
from tractable.engines.glm.loss_regression import LossRegression, loss_regression
from tractable.engines.glm.losses import (
    Gamma,
    Huber,
    Logistic,
    Loss,
    LossExpansion,
    LossTerms,
    NegativeBinomial,
    Poisson,
    Probit,
    Quantile,
    Softmax,
    Student,
    Tukey,
    class_loss,
)
from tractable.engines.glm.softmax_regression import SoftmaxRegression, softmax_regression

__all__ = [
    "Gamma",
    "Huber",
    "LaplaceApproximation",
    "Logistic",
    "Loss",
    "LossExpansion",
    "LossRegression",
    "LossTerms",
    "NegativeBinomial",
    "Poisson",
    "Probit",
    "Quantile",
    "Softmax",
    "SoftmaxRegression",
    "Student",
    "Tukey",
    "class_loss",
    "laplace",
    "laplace_evidence",
    "log_expected_probit",
    "log_expected_sigmoid",
    "log_expected_softmax",
    "loss_regression",
    "softmax_regression",
]
