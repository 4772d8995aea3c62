"""Discriminant analysis: linear, quadratic and Fisher's."""

from tractable.classification.discriminant.fisher import FisherDiscriminant
from tractable.classification.discriminant.linear import LinearDiscriminant
from tractable.classification.discriminant.quadratic import QuadraticDiscriminant

__all__ = ["FisherDiscriminant", "LinearDiscriminant", "QuadraticDiscriminant"]
