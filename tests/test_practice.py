"""Advice that the library is built by: kinds of tasks, restarts, and more than one index of clusters."""

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor

import tractable
from catalogue import ESTIMATORS
from tractable import GaussianMixture, KMeans, select_n_clusters

#: Where models of each task are.
PREDICT = {"linear_model", "classification", "neighbors", "kernel_regression", "gaussian_process", "mixture"}


@pytest.mark.spec("PRACT-01")
def test_packages_are_tasks():
    """Models with a target are in packages of regression and classification; densities have no target."""
    models = {type(row.make()): row.make() for row in ESTIMATORS if not row.name.startswith("toy-")}
    for kind, model in models.items():
        package = kind.__module__.split(".")[1]
        assert package in tractable.PACKAGES
        predicts = is_regressor(model) or is_classifier(model)
        assert not predicts or package in PREDICT, kind


@pytest.mark.spec("PRACT-05")
def test_restarts_find_better_optima_and_a_seed_fixes_the_answer():
    rng = np.random.default_rng(0)
    X = np.vstack(
        [rng.normal(c, 0.3, size=(30, 2)) for c in ((0, 0), (0, 4), (4, 0), (4, 4), (2, 2), (8, 2))]
    )
    once = [KMeans(6, n_init=1, init="random", random_state=seed).fit(X).inertia_ for seed in range(12)]
    assert max(once) > 1.5 * min(once)  # local optima
    best = KMeans(6, n_init=12, init="random", random_state=0).fit(X)
    assert best.inertia_ <= 1.001 * min(once)
    again = KMeans(6, n_init=12, init="random", random_state=0).fit(X)
    np.testing.assert_array_equal(best.cluster_centers_, again.cluster_centers_)
    bounds = [GaussianMixture(6, n_init=n, random_state=3).fit(X).score(X) for n in (1, 5)]
    assert bounds[1] >= bounds[0] - 1e-9


@pytest.mark.spec("PRACT-06")
def test_indices_may_disagree_on_the_number_of_clusters():
    """Two groups of three clusters each: which of 2 and 6 is right depends on the purpose."""
    rng = np.random.default_rng(0)
    centres = [(0, 0), (0, 1.2), (1, 0.6), (9, 0), (9, 1.2), (10, 0.6)]
    X = np.vstack([rng.normal(c, 0.12, size=(25, 2)) for c in centres])
    criteria = ("calinski_harabasz", "silhouette", "davies_bouldin", "elbow")
    found = select_n_clusters(X, range(2, 9), criterion=criteria, n_init=5, random_state=0)
    assert {2, 6} <= set(found.choices.values())
