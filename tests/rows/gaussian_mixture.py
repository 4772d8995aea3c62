"""Gaussian mixtures."""

from functools import partial

import numpy as np

from rows.row import Row
from tractable.base import Rows, check_rows
from tractable.mixture import GaussianMixture
from tractable.testing.em_laws import EMCase


def row(name, **parameters):
    return Row(name, partial(GaussianMixture, random_state=0, **parameters))


ROWS = [
    Row("GaussianMixture", GaussianMixture),
    row("GaussianMixture-2", n_components=2),
    row("GaussianMixture-tied", n_components=2, covariance_type="tied"),
    row("GaussianMixture-diag", n_components=2, covariance_type="diag"),
    row("GaussianMixture-spherical", n_components=2, covariance_type="spherical"),
    row("GaussianMixture-low-rank", n_components=2, covariance_type="low_rank"),
    row("GaussianMixture-VEV", n_components=2, covariance_type="VEV"),
    row("GaussianMixture-EVE", n_components=2, covariance_type="EVE"),
    row("GaussianMixture-VEI", n_components=2, covariance_type="VEI"),
    row("GaussianMixture-prior", n_components=2, covariance_prior="data", init_params="k-means++", n_init=2),
]


def em_problem(parameters, holes=0.0, factor=None):
    """The steps of a mixture over two clusters, one of them flat, from a start in the middle."""
    rng = np.random.default_rng(8)
    X = np.concatenate([rng.standard_normal((60, 3)), rng.normal([3.0, 0.0, 1.0], [1.0, 0.05, 0.5], (40, 3))])
    if factor is not None:
        X = np.hstack([X, X[:, :1] * factor + rng.standard_normal((100, len(factor)))])
    X[rng.random(X.shape) < holes] = np.nan
    model = GaussianMixture(2, **parameters)
    check_rows(model, X, reset=True)
    problem = model._em_problem(Rows(data=X), fitted=False)
    return EMCase(
        expect=problem.expect,
        maximize=problem.maximize,
        data=problem.data,
        start=problem.initial(np.random.default_rng(0)),
        numbers=lambda p: np.concatenate([p.weights, p.means.ravel(), p.structure.dense().ravel()]),
    )


EM_ROWS = [
    Row("Gaussian mixture", partial(em_problem, {})),
    Row("Gaussian mixture, a large floor", partial(em_problem, {"reg_covar": 0.3})),
    Row("Gaussian mixture, tied", partial(em_problem, {"covariance_type": "tied", "reg_covar": 0.1})),
    Row("Gaussian mixture, diagonal", partial(em_problem, {"covariance_type": "diag", "reg_covar": 0.1})),
    Row("Gaussian mixture, spherical", partial(em_problem, {"covariance_type": "spherical"})),
    Row(
        "Gaussian mixture, factors",
        partial(em_problem, {"covariance_type": "low_rank", "reg_covar": 0.5}, factor=(2.0, -1.0)),
    ),
    *(
        Row(f"Gaussian mixture, {name}", partial(em_problem, {"covariance_type": name, "reg_covar": 0.1}))
        for name in ("EII", "EEI", "VEI", "EVI", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV")
    ),
    Row("Gaussian mixture, prior", partial(em_problem, {"covariance_prior": "data", "reg_covar": 0.1})),
    Row(
        "Gaussian mixture, tied prior",
        partial(em_problem, {"covariance_prior": "data", "covariance_type": "tied"}),
    ),
    Row("Gaussian mixture with holes", partial(em_problem, {"reg_covar": 0.1}, 0.3)),
    Row("Gaussian mixture with holes, diagonal", partial(em_problem, {"covariance_type": "diag"}, 0.3)),
    Row(
        "Gaussian mixture with holes, tied prior",
        partial(em_problem, {"covariance_type": "tied", "covariance_prior": "data"}, 0.3),
    ),
]
