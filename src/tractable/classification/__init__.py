"""Classifiers: discriminant functions, generative and discriminative models."""

from tractable.classification.bayes_classifier import BayesClassifier, bayes_error
from tractable.classification.bayesian_logistic import BayesianLogisticRegression
from tractable.classification.bernoulli_nb import BernoulliNB
from tractable.classification.categorical_nb import CategoricalNB
from tractable.classification.decision_functions import LinearDiscriminantFunction, discriminant_functions
from tractable.classification.discriminant import (
    FisherDiscriminant,
    LinearDiscriminant,
    QuadraticDiscriminant,
)
from tractable.classification.gaussian_nb import GaussianNB
from tractable.classification.generative import GenerativeClassifier
from tractable.classification.kernel_nb import KernelNB
from tractable.classification.least_squares import LeastSquaresClassifier
from tractable.classification.logistic import LogisticRegression, SeparableClassesWarning
from tractable.classification.multinomial_nb import MultinomialNB
from tractable.classification.naive_bayes import NaiveBayes
from tractable.classification.naive_bayes_columns import NaiveColumns
from tractable.classification.naive_bayes_fitted import FittedColumns
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
