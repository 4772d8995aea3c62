"""Classifiers: discriminant functions, generative and discriminative models."""

from tractable.classification.perceptron import Perceptron
from tractable.classification.planes import LinearDiscriminantFunction, discriminant_functions

__all__ = ["LinearDiscriminantFunction", "Perceptron", "discriminant_functions"]
