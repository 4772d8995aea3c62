"""Classifiers: discriminant functions, generative and discriminative models."""

from tractable.classification.fisher_discriminant import FisherDiscriminant
from tractable.classification.least_squares_classifier import LeastSquaresClassifier
from tractable.classification.linear_discriminant import LinearDiscriminant
from tractable.classification.perceptron import Perceptron
from tractable.classification.planes import LinearDiscriminantFunction, discriminant_functions
from tractable.classification.quadratic_discriminant import QuadraticDiscriminant

__all__ = [
    "FisherDiscriminant",
    "LeastSquaresClassifier",
    "LinearDiscriminant",
    "LinearDiscriminantFunction",
    "Perceptron",
    "QuadraticDiscriminant",
    "discriminant_functions",
]
