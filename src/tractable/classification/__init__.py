"""Classifiers: discriminant functions, generative and discriminative models."""

from tractable.classification.bayes_classifier import BayesClassifier, bayes_error
from tractable.classification.bayesian_logistic import BayesianLogisticRegression
from tractable.classification.bernoulli_nb import BernoulliNB
from tractable.classification.categorical_nb import CategoricalNB
from tractable.classification.fisher_discriminant import FisherDiscriminant
from tractable.classification.gaussian_nb import GaussianNB
from tractable.classification.generative_classifier import GenerativeClassifier
from tractable.classification.kernel_nb import KernelNB
from tractable.classification.least_squares_classifier import LeastSquaresClassifier
from tractable.classification.linear_discriminant import LinearDiscriminant
from tractable.classification.logistic_regression import LogisticRegression
from tractable.classification.multinomial_nb import MultinomialNB
from tractable.classification.naive_bayes import NaiveBayes
from tractable.classification.naive_bayes_columns import NaiveColumns
from tractable.classification.naive_bayes_fitted import FittedColumns
from tractable.classification.perceptron import Perceptron
from tractable.classification.planes import LinearDiscriminantFunction, discriminant_functions
from tractable.classification.quadratic_discriminant import QuadraticDiscriminant
from tractable.classification.separable import SeparableClassesWarning

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
