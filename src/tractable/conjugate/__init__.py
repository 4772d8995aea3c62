"""Conjugate models: a likelihood paired with a prior, updated by statistics."""

from tractable.conjugate.conjugate_prior import PAIRS, conjugate_prior
from tractable.conjugate.counts import (
    BernoulliModel,
    BinomialModel,
    CategoricalModel,
    MultinomialModel,
    PoissonModel,
)
from tractable.conjugate.model import ConjugateModel, Updates, empirical_bayes
from tractable.conjugate.normal import (
    MultivariateNormalModel,
    NormalMeanModel,
    NormalModel,
    NormalPrecisionModel,
)

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
