"""Classifiers: discriminant functions, generative and discriminative models."""

from tractable.classification.bayes_classifier import BayesClassifier, bayes_error
from tractable.classification.bayesian_logistic import BayesianLogisticRegression
from tractable.classification.fisher_discriminant import FisherDiscriminant
from tractable.classification.generative_classifier import GenerativeClassifier
from tractable.classification.least_squares_classifier import LeastSquaresClassifier
from tractable.classification.linear_discriminant import LinearDiscriminant
from tractable.classification.logistic_regression import LogisticRegression
from tractable.classification.naive_bayes.columns import ColumnLikelihoods
from tractable.classification.naive_bayes.estimator import NaiveBayes
from tractable.classification.naive_bayes.variants import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    KernelNB,
    MultinomialNB,
)
from tractable.classification.perceptron import Perceptron
from tractable.classification.planes import LinearDiscriminantFunction, discriminant_functions
from tractable.classification.quadratic_discriminant import QuadraticDiscriminant
from tractable.classification.separable import SeparableClassesWarning

__all__ = [
    "BayesClassifier",
    "BayesianLogisticRegression",
    "BernoulliNB",
    "CategoricalNB",
    "ColumnLikelihoods",
    "FisherDiscriminant",
    "GaussianNB",
    "GenerativeClassifier",
    "KernelNB",
    "LeastSquaresClassifier",
    "LinearDiscriminant",
    "LinearDiscriminantFunction",
    "LogisticRegression",
    "MultinomialNB",
    "NaiveBayes",
    "Perceptron",
    "QuadraticDiscriminant",
    "SeparableClassesWarning",
    "bayes_error",
    "discriminant_functions",
]
