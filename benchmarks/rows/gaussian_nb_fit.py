"""Naive Bayes of normal columns: the fit."""

import numpy as np
from sklearn import naive_bayes

import tractable
from benchmarks.naive_bayes import row


def ours(data):
    return tractable.GaussianNB().fit(data.X, data.y)


def theirs(data):
    return naive_bayes.GaussianNB().fit(data.X, data.y)


def check(mine, theirs):
    np.testing.assert_allclose(mine.theta_, theirs.theta_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(mine.var_, theirs.var_, rtol=1e-10)
    np.testing.assert_allclose(mine.class_prior_, theirs.class_prior_, rtol=1e-12)


ROW = row(
    "gaussian_nb_fit",
    "fit",
    times=2.0,
    ours=ours,
    peers={"scikit-learn": theirs},
    check=check,
    limit="checking the rows, and two walks over a block of them, without sorting by class.",
)
