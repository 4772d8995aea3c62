"""Conjugate models: a likelihood paired with a prior, updated by statistics."""

from tractable.conjugate.conjugate_prior import PAIRS, conjugate_prior
from tractable.conjugate.counts import (
    BernoulliModel,
    BinomialModel,
    CategoricalModel,
    MultinomialModel,
    PoissonModel,
)
from tractable.conjugate.empirical_bayes import empirical_bayes
from tractable.conjugate.model import ConjugateModel, Updates
from tractable.conjugate.normal import MultivariateNormalModel, NormalModel
from tractable.conjugate.normal_mean import NormalMeanModel
from tractable.conjugate.normal_precision import NormalPrecisionModel

__all__ = [
    "PAIRS",
    "BernoulliModel",
    "BinomialModel",
    "CategoricalModel",
    "ConjugateModel",
    "MultinomialModel",
    "MultivariateNormalModel",
    "NormalMeanModel",
    "NormalModel",
    "NormalPrecisionModel",
    "PoissonModel",
    "Updates",
    "conjugate_prior",
    "empirical_bayes",
]
