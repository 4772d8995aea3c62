"""Classifiers: discriminant functions, generative and discriminative models."""

from tractable.classification.bayes_classifier import BayesClassifier, bayes_error
from tractable.classification.bayesian_logistic import BayesianLogisticRegression
from tractable.classification.decision_functions import LinearDiscriminantFunction, discriminant_functions
from tractable.classification.discriminant import (
    FisherDiscriminant,
    LinearDiscriminant,
    QuadraticDiscriminant,
)
from tractable.classification.generative import GenerativeClassifier
from tractable.classification.least_squares import LeastSquaresClassifier
from tractable.classification.logistic import LogisticRegression, SeparableClassesWarning
from tractable.classification.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    KernelNB,
    MultinomialNB,
    NaiveBayes,
)
from tractable.classification.naive_bayes.columns import NaiveColumns
from tractable.classification.naive_bayes.model import FittedColumns
from tractable.classification.perceptron import Perceptron

__all__ = [
    "BayesClassifier",
    "BayesianLogisticRegression",
    "BernoulliNB",
    "CategoricalNB",
    "FisherDiscriminant",
    "FittedColumns",
    "GaussianNB",
    "GenerativeClassifier",
    "KernelNB",
    "LeastSquaresClassifier",
    "LinearDiscriminant",
    "LinearDiscriminantFunction",
    "LogisticRegression",
    "MultinomialNB",
    "NaiveBayes",
    "NaiveColumns",
    "Perceptron",
    "QuadraticDiscriminant",
    "SeparableClassesWarning",
    "bayes_error",
    "discriminant_functions",
]
