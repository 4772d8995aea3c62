"""Batches of distributions of different families."""

import numpy as np

from rows.row import Row
from tractable.distributions import Laplace, Mixture, MultivariateNormal, Normal, Product, Stacked, StudentT


def numbers():
    return Stacked(members=[Normal(mean=0.0, variance=1.0), Normal(mean=4.0, stddev=0.5)])


def mixed():
    members = [
        Normal(mean=1.0, variance=2.0),
        Laplace(location=0.0, scale=1.0),
        StudentT(dof=5.0, location=0.0, scale=1.0),
    ]
    return Stacked(members=[*members, Normal(mean=-3.0, stddev=0.1)], shape=(2, 2))


def vectors():
    return Stacked(members=[
        MultivariateNormal(mean=[0.0, 1.0], covariance=[[2.0, 0.5], [0.5, 1.0]]),
        MultivariateNormal(mean=[3.0, 1.0], covariance=np.eye(2)),
    ])  # fmt: skip


UNLIKE = dict.fromkeys(
    ("batch_is_a_loop", "kl_is_the_expected_log_ratio"),
    "the divergence of one family from another is not in closed form, and is refused",
)

ROWS = [
    Row("Stacked", numbers),
    Row("Stacked-families", mixed, UNLIKE),
    Row("Stacked-vectors", vectors),
    Row(
        "Product-Stacked",
        lambda: Product(parts=[numbers(), Normal(mean=[1.0, 2.0], variance=1.0)], names=("a", "b")),
    ),
    Row(
        "Mixture-Stacked",
        lambda: Mixture(weights=[0.25, 0.75], components=Product(parts=[numbers()])),
    ),
]
