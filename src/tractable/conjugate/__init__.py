"""Conjugate models: a likelihood paired with a prior, updated by statistics."""

from tractable.conjugate.binomial import BernoulliModel, BinomialModel
from tractable.conjugate.conjugate_prior import PAIRS, conjugate_prior
from tractable.conjugate.empirical_bayes import empirical_bayes
from tractable.conjugate.model import ConjugateModel, Updates
from tractable.conjugate.multinomial import CategoricalModel, MultinomialModel
from tractable.conjugate.multivariate_normal import MultivariateNormalModel
from tractable.conjugate.normal import NormalModel
from tractable.conjugate.normal_mean import NormalMeanModel
from tractable.conjugate.normal_precision import NormalPrecisionModel
from tractable.conjugate.poisson import PoissonModel

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
