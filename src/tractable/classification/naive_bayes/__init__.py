"""Naive Bayes: the columns of a table are independent given the class, each with a likelihood of its own."""

from tractable.classification.naive_bayes.estimator import NaiveBayes
from tractable.classification.naive_bayes.variants import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    KernelNB,
    MultinomialNB,
)

__all__ = ["BernoulliNB", "CategoricalNB", "GaussianNB", "KernelNB", "MultinomialNB", "NaiveBayes"]
