"""Gaussian mixtures by variational Bayes."""

from functools import partial

import numpy as np

from rows.row import Row
from tractable.base import Rows
from tractable.mixture import BayesianGaussianMixture
from tractable.testing.em_laws import EMCase


def row(name, **parameters):
    given = {"n_components": 3, "random_state": 0, **parameters}
    return Row(name, partial(BayesianGaussianMixture, **given))


def steps(missing=0.0, **parameters):
    """Clusters, of which there are fewer than components."""
    rng = np.random.default_rng(9)
    x = np.concatenate([rng.normal(m, 1.0, (n, 2)) @ [[1.0, 0.4], [0.0, 2.0]] for m, n in ((0, 60), (5, 30))])
    x[rng.random(x.shape) < missing] = np.nan
    w = rng.uniform(0.5, 2.0, len(x))
    model = BayesianGaussianMixture(4, **parameters)
    model.n_features_in_ = 2
    problem = model._em_problem(Rows(data=x, weights=w), fitted=False)
    return EMCase(
        expect=problem.expect,
        maximize=problem.maximize,
        data=problem.data,
        start=problem.initial(np.random.default_rng(1)),
        numbers=lambda q: np.concatenate([q.means.ravel(), q.structure.dense().ravel(), q.strength]),
    )


def clusters(rng, n=40):
    """Two clouds, of which one is sheared, and a row by itself."""
    shear = np.array([[1.0, 0.6], [0.0, 0.8]])
    return np.concatenate(
        [rng.normal(0.0, 1.0, (n, 2)) @ shear, rng.normal([4.0, 2.0], 0.7, (n // 2, 2)), [[2.0, -3.0]]]
    )


PROCESS = {"weight_concentration_prior_type": "dirichlet_process"}
DIRICHLET = {"weight_concentration_prior_type": "dirichlet_distribution"}
SHAPES = ("full", "tied", "diag", "spherical")

ROWS = [
    Row("BayesianGaussianMixture", BayesianGaussianMixture),
    row("BayesianGaussianMixture-process"),
    row("BayesianGaussianMixture-dirichlet", **DIRICHLET, n_components=2),
    row("BayesianGaussianMixture-tied", covariance_type="tied"),
    row("BayesianGaussianMixture-diag", covariance_type="diag", **DIRICHLET),
    row("BayesianGaussianMixture-spherical", covariance_type="spherical", n_init=2),
]

EM_ROWS = [
    *(Row(f"variational mixture, {shape}", partial(steps, covariance_type=shape)) for shape in SHAPES),
    *(
        Row(f"variational mixture, {shape}, Dirichlet", partial(steps, covariance_type=shape, **DIRICHLET))
        for shape in SHAPES
    ),
    Row("variational mixture, a third missing", partial(steps, missing=0.3)),
    Row("variational diag mixture, a third missing", partial(steps, missing=0.3, covariance_type="diag")),
    Row(
        "variational mixture, strong prior", partial(steps, mean_prior=[9.0, 9.0], mean_precision_prior=50.0)
    ),
]
