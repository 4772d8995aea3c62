"""Classifiers: discriminant functions, generative and discriminative models."""

from tractable.classification.bayes_classifier import BayesClassifier, bayes_error
from tractable.classification.bayesian_logistic import BayesianLogisticRegression
from tractable.classification.decision_functions import LinearDiscriminantFunction, discriminant_functions
from tractable.classification.discriminant import (
    FisherDiscriminant,
    LinearDiscriminant,
    QuadraticDiscriminant,
)
from tractable.classification.discriminant.linear import LinearScores
from tractable.classification.generative import GenerativeClassifier
from tractable.classification.least_squares import LeastSquaresClassifier
from tractable.classification.logistic import (
    CoefficientCurvature,
    LogisticRegression,
    LogisticRegressionCV,
    SeparableClassesWarning,
)
from tractable.classification.naive_bayes.estimator import NaiveBayes
from tractable.classification.naive_bayes.variants import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    KernelNB,
    MultinomialNB,
)
from tractable.classification.perceptron import Perceptron
from tractable.columns import ColumnLikelihoods

__all__ = [
    "BayesClassifier",
    "BayesianLogisticRegression",
    "BernoulliNB",
    "CategoricalNB",
    "CoefficientCurvature",
    "ColumnLikelihoods",
    "FisherDiscriminant",
    "GaussianNB",
    "GenerativeClassifier",
    "KernelNB",
    "LeastSquaresClassifier",
    "LinearDiscriminant",
    "LinearDiscriminantFunction",
    "LinearScores",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MultinomialNB",
    "NaiveBayes",
    "Perceptron",
    "QuadraticDiscriminant",
    "SeparableClassesWarning",
    "bayes_error",
    "discriminant_functions",
]
