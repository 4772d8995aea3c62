"""Conjugate models: a likelihood paired with the current belief, updated by statistics."""

from tractable.conjugate.empirical_bayes import empirical_bayes
from tractable.conjugate.model import ConjugateModel
from tractable.conjugate.normal_mean import NormalMeanModel
from tractable.conjugate.updates import Updates

__all__ = ["ConjugateModel", "NormalMeanModel", "Updates", "empirical_bayes"]
