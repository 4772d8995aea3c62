"""Naive Bayes of normal columns: probabilities of classes."""

import numpy as np

from benchmarks.naive_bayes import row


def ours(data):
    return data.ours.predict_proba(data.X)


def theirs(data):
    return data.peer.predict_proba(data.X)


def check(mine, theirs):
    np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=1e-8)


ROW = row(
    "gaussian_nb_proba",
    "predict_proba",
    times=4.0,
    ours=ours,
    peers={"scikit-learn": theirs},
    check=check,
    limit="a difference, a product and a sum for every entry and class; one exponential a class.",
)
