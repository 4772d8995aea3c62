"""Naive Bayes of normal columns: probabilities of classes."""

import numpy as np

from benchmarks.naive_bayes import classes
from benchmarks.row import Row, at_least


def ours(data):
    return data.ours.predict_proba(data.X)


def theirs(data):
    return data.peer.predict_proba(data.X)


def check(mine, theirs):
    np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=1e-8)


ROW = Row(
    name="gaussian_nb_proba",
    shows="GaussianNB.predict_proba, 200,000 × 30, 10 classes.",
    setup=classes,
    size=(200_000, 30, 10),
    dry_size=(300, 4, 3),
    ours=ours,
    peers={"scikit-learn": theirs},
    check=check,
    targets={"scikit-learn": at_least(4.0)},
    limit="a difference, a product and a sum for every entry and class; one exponential a class.",
)
