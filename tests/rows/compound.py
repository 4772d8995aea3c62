"""Mixtures and products."""

import numpy as np

from rows.row import Row
from tractable.covariance import Diagonal, Isotropic
from tractable.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Gamma,
    HistogramDensity,
    Laplace,
    LatentTree,
    Mixture,
    MultivariateNormal,
    MultivariateStudentT,
    Normal,
    Poisson,
    Product,
    StudentT,
    Uniform,
)

PAIR = MultivariateNormal(
    mean=[[0.0, 0.0], [3.0, 1.0], [-1.0, 4.0]],
    covariance=[[[1.0, 0.5], [0.5, 1.0]], [[0.3, -0.1], [-0.1, 0.8]], [[2.0, 0.0], [0.0, 0.2]]],
    names=("a", "b"),
)
TRIPLE = MultivariateNormal(
    mean=[[0.0, 1.0, -1.0], [2.0, -1.0, 3.0]],
    covariance=[[4.0, 1.2, 0.0], [1.2, 1.0, -0.3], [0.0, -0.3, 0.5]],
)

LEAVES = [
    Categorical(probabilities=[[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]),
    Normal(mean=[0.0, 3.0], variance=[1.0, 0.25]),
    HistogramDensity(edges=[0.0, 1.0, 3.0, 3.5], counts=[[1.0, 2.0, 4.0], [3.0, 1.0, 0.5]]),
]
LINKS = [[[0.4, 0.6], [0.4, 0.6]], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]]]

LATENT_TREES = [
    Row("LatentTree", lambda: LatentTree(parents=[-1, 0, 1], transitions=LINKS, leaves=LEAVES)),
    Row(
        "LatentTree-names",  # two columns of one node, and a node without a column
        lambda: LatentTree(
            parents=[-1, 0, 0],
            transitions=LINKS,
            leaves=LEAVES[:2] * 2,
            nodes=[1, 2, 2, 1],
            names=("a", "b", "c", "d"),
        ),
    ),
    Row(
        "LatentTree-batch",
        lambda: LatentTree(
            parents=[1, -1, 1],
            transitions=[LINKS[1], LINKS[0], LINKS[2]],
            leaves=LEAVES,
            evidence=np.array([[[1.0, 0.5], [1.0, 1.0], [0.1, 1.0]], np.ones((3, 2))]),
        ),
    ),
]

MIXTURES = [
    Row(
        "Mixture-Normal",
        lambda: Mixture(weights=[0.3, 0.7], components=Normal(mean=[-2.0, 3.0], variance=[1.0, 0.25])),
    ),
    Row("Mixture-equal", lambda: Mixture(components=Normal(mean=[-0.5, 0.0, 0.7], stddev=[1.0, 2.0, 0.5]))),
    Row(
        "Mixture-spike",
        lambda: Mixture(weights=[0.9, 0.1], components=Normal(mean=[0.0, 5.0], stddev=[1.0, 0.05])),
    ),
    Row(
        "Mixture-one-absent",
        lambda: Mixture(weights=[0.0, 1.0], components=Normal(mean=[9.0, 1.0], variance=[1.0, 4.0])),
    ),
    Row(
        "Mixture-batch",  # GMM-16: the same components, other weights
        lambda: Mixture(
            weights=[[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]],
            components=Normal(mean=[-2.0, 3.0], variance=[1.0, 0.25]),
        ),
    ),
    Row(
        "Mixture-nested",
        lambda: Mixture(
            weights=[0.4, 0.6],
            components=Mixture(
                weights=[[0.5, 0.5], [0.1, 0.9]],
                components=Normal(mean=[[0.0, 1.0], [4.0, 7.0]], variance=0.5),
            ),
        ),
    ),
    Row(
        "Mixture-Gamma",
        lambda: Mixture(weights=[0.4, 0.6], components=Gamma(shape=[2.0, 9.0], rate=[2.0, 1.5])),
    ),
    Row(
        "Mixture-Beta",
        lambda: Mixture(weights=[0.7, 0.3], components=Beta(alpha=[2.0, 8.0], beta=[6.0, 3.0])),
    ),
    Row(
        "Mixture-StudentT",
        lambda: Mixture(
            weights=[0.5, 0.5], components=StudentT(dof=[8.0, 20.0], location=[0.0, 4.0], scale=[1.0, 0.5])
        ),
    ),
    Row(
        "Mixture-StudentT-near",
        lambda: Mixture(
            weights=[0.115, 0.329, 0.556],
            components=StudentT(dof=12.0, location=[0.027, 8.159, 9.351], scale=0.3),
        ),
    ),
    Row(
        "Mixture-Uniform-gap",
        lambda: Mixture(weights=[0.3, 0.7], components=Uniform(low=[0.0, 5.0], high=[2.0, 6.0])),
    ),
    Row("Mixture-Poisson", lambda: Mixture(weights=[0.4, 0.6], components=Poisson(rate=[1.5, 30.0]))),
    Row(
        "Mixture-Categorical",
        lambda: Mixture(components=Categorical(probabilities=[[0.2, 0.5, 0.3], [0.9, 0.1, 0.0]])),
    ),
    Row("Mixture-pair", lambda: Mixture(weights=[0.5, 0.3, 0.2], components=PAIR)),
    Row("Mixture-triple", lambda: Mixture(weights=[0.6, 0.4], components=TRIPLE)),
    Row(
        "Mixture-MultivariateStudentT",
        lambda: Mixture(
            weights=[0.3, 0.7],
            components=MultivariateStudentT(
                dof=[12.0, 30.0],
                location=[[0.0, 0.0], [3.0, 1.0]],
                scale=[[[1.0, 0.5], [0.5, 1.0]], [[0.3, -0.1], [-0.1, 0.8]]],
            ),
        ),
    ),
    Row(
        "Mixture-isotropic",
        lambda: Mixture(
            weights=[[0.5, 0.5], [0.25, 0.75]],
            components=MultivariateNormal(
                mean=[[[0.0, 0.0], [3.0, 3.0]], [[1.0, -1.0], [1.0, 2.0]]],
                covariance=Isotropic(variance=[1.0, 0.5], dim=2),
            ),
        ),
    ),
    Row(
        "Mixture-table",
        lambda: Mixture(
            weights=[0.35, 0.65],
            components=Product(
                parts={
                    "colour": Categorical(probabilities=[[0.2, 0.5, 0.3], [0.7, 0.1, 0.2]]),
                    "count": Poisson(rate=[1.5, 12.0]),
                    "size": Normal(mean=[0.0, 2.0], variance=[1.0, 0.5]),
                }
            ),
        ),
    ),
    Row(
        "Mixture-Product",
        lambda: Mixture(
            weights=[0.5, 0.5],
            components=Product(
                parts={
                    "size": Normal(mean=[0.0, 2.0], variance=[1.0, 0.5]),
                    "weight": Normal(mean=[1.0, -1.0], variance=2.0),
                }
            ),
        ),
    ),
]
BETWEEN = MultivariateNormal(
    mean=[[0.0, 1.0], [3.0, -1.0]], covariance=[[[2.0, 0.9], [0.9, 1.0]], [[1.0, -0.5], [-0.5, 0.5]]]
)
MIXTURES += [
    Row(
        "Mixture-Product-interleaved",
        lambda: Mixture(
            weights=[0.4, 0.6],
            components=Product(
                parts=[BETWEEN, Categorical(probabilities=[[0.2, 0.5, 0.3], [0.7, 0.1, 0.2]])],
                columns=[[2, 0], [1]],
                names=["a", "colour", "b"],
            ),
        ),
    ),
]
# Densities with corners away from the mode, over which the laws of densities would integrate.
CORNERED = [
    Row(
        "Mixture-Laplace-cusp",
        lambda: Mixture(weights=[0.9, 0.1], components=Laplace(location=[0.0, 1.0], scale=[1.0, 0.1])),
    ),
]
PRODUCTS = [
    Row(
        "Product-families",
        lambda: Product(
            parts={
                "smokes": Bernoulli(probability=0.3),
                "visits": Poisson(rate=2.5),
                "age": Gamma(shape=4.0, rate=0.1),
            }
        ),
    ),
    Row("Product", lambda: Product(parts=[Normal(mean=1.0, variance=4.0), Normal(mean=-2.0, stddev=0.1)])),
    Row(
        "Product-named",
        lambda: Product(
            parts={
                "one": Normal(mean=0.0, variance=1.0),
                "two": Mixture(weights=[0.5, 0.3, 0.2], components=PAIR),
            }
        ),
    ),
    Row(
        "Product-interleaved",
        lambda: Product(
            parts=[PAIR[0], Normal(mean=-1.0, variance=2.0)], columns=[[2, 0], [1]], names=["a", "b", "c"]
        ),
    ),
    Row(
        "Product-batch",
        lambda: Product(
            parts=[
                Normal(mean=[[0.0], [1.0]], variance=1.0),
                MultivariateNormal(
                    mean=np.arange(6.0).reshape(3, 2), covariance=Diagonal(variances=[1.0, 4.0])
                ),
            ]
        ),
    ),
]
ROWS = [*MIXTURES, *PRODUCTS, *LATENT_TREES]
JOINTS = [row for row in ROWS if row.make().event_shape]
