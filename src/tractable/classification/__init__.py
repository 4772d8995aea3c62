"""Classifiers: discriminant functions, generative and discriminative models."""

from tractable.classification.bayesian_logistic import BayesianLogisticRegression
from tractable.classification.bernoulli_nb import BernoulliNB
from tractable.classification.categorical_nb import CategoricalNB
from tractable.classification.fisher_discriminant import FisherDiscriminant
from tractable.classification.gaussian_nb import GaussianNB
from tractable.classification.kernel_nb import KernelNB
from tractable.classification.least_squares_classifier import LeastSquaresClassifier
from tractable.classification.linear_discriminant import LinearDiscriminant
from tractable.classification.multinomial_nb import MultinomialNB
from tractable.classification.naive_bayes import NaiveBayes
from tractable.classification.naive_bayes_columns import NaiveColumns
from tractable.classification.perceptron import Perceptron
from tractable.classification.planes import LinearDiscriminantFunction, discriminant_functions
from tractable.classification.quadratic_discriminant import QuadraticDiscriminant

__all__ = [
    "BayesianLogisticRegression",
    "BernoulliNB",
    "CategoricalNB",
    "FisherDiscriminant",
    "GaussianNB",
    "KernelNB",
    "LeastSquaresClassifier",
    "LinearDiscriminant",
    "LinearDiscriminantFunction",
    "MultinomialNB",
    "NaiveBayes",
    "NaiveColumns",
    "Perceptron",
    "QuadraticDiscriminant",
    "discriminant_functions",
]
