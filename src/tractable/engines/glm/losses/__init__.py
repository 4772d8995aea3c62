"""Losses of linear predictors, a file each: `Loss.terms` returns values of rows and their derivatives."""

from tractable.engines.glm.losses.classes import LINKS, ClassLoss, TwoClassLoss
from tractable.engines.glm.losses.exponential_family import FamilyLoss
from tractable.engines.glm.losses.gamma import Gamma
from tractable.engines.glm.losses.huber import Huber
from tractable.engines.glm.losses.logistic import Logistic
from tractable.engines.glm.losses.loss import Loss, LossExpansion, LossTerms, Scaling, design
from tractable.engines.glm.losses.negative_binomial import NegativeBinomial
from tractable.engines.glm.losses.poisson import Poisson
from tractable.engines.glm.losses.probit import Probit
from tractable.engines.glm.losses.quantile import Quantile
from tractable.engines.glm.losses.softmax import Softmax, class_loss, helmert_contrasts
from tractable.engines.glm.losses.student import Student
from tractable.engines.glm.losses.tukey import Tukey

__all__ = [
    "LINKS",
    "ClassLoss",
    "FamilyLoss",
    "Gamma",
    "Huber",
    "Logistic",
    "Loss",
    "LossExpansion",
    "LossTerms",
    "NegativeBinomial",
    "Poisson",
    "Probit",
    "Quantile",
    "Scaling",
    "Softmax",
    "Student",
    "Tukey",
    "TwoClassLoss",
    "class_loss",
    "design",
    "helmert_contrasts",
]
