"""mclust's fourteen shapes of covariances: best by their own M-steps, monotone, counted, chosen by BIC."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_iris

import tractable
from tractable.covariance.shapes import MCLUST_SHAPES, CovariancePrior, dense_matrices, shape_of
from tractable.mixture import GaussianMixture
from tractable.selection import select_components

K, D = 3, 3
QUICK = ("EII", "VEI", "EVI")
FREE = {  # for three components in three columns: volumes + shapes + axes
    "EII": 1,
    "VII": 3,
    "EEI": 3,
    "VEI": 5,
    "EVI": 7,
    "VVI": 9,
    "EEE": 6,
    "VEE": 8,
    "EVE": 10,
    "VVE": 12,
    "EEV": 12,
    "VEV": 14,
    "EVV": 16,
    "VVV": 18,
}


def scatters(rng):
    """Weights and scatter matrices of three components that are nothing like each other."""
    n = np.array([40.0, 25.0, 60.0])
    roots = rng.standard_normal((K, D, 6)) * np.array([1.0, 2.0, 0.6])[:, None, None]
    return n, n[:, None, None] * (roots @ np.swapaxes(roots, 1, 2)) / 6.0


def maximized(name, n, scatter, steps):
    """Return the covariances (K, d, d) after so many M-steps, and the misfit after each."""
    shape, before, found = shape_of(name), None, []
    for _ in range(steps):
        before = shape.maximize(
            n, shape.compress(scatter), floor=np.zeros(D), prior=CovariancePrior.none(D), before=before
        )
        found.append(misfit(np.broadcast_to(dense_matrices(before, D), scatter.shape), n, scatter))
    return np.broadcast_to(dense_matrices(before, D), scatter.shape), np.array(found)


def misfit(matrices, n, scatter):
    """Σ_k n_k log |Σ_k| + tr(Σ_k⁻¹ W_k)."""
    log_det = np.linalg.slogdet(matrices)[1]
    return float(n @ log_det + np.sum(np.linalg.inv(matrices) * scatter))


def rotation(angles):
    """The rotation by three angles, in turn about the axes."""
    total = np.eye(D)
    for (i, j), angle in zip(((0, 1), (0, 2), (1, 2)), angles, strict=True):
        turn = np.eye(D)
        turn[[i, i, j, j], [i, j, i, j]] = np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)
        total = total @ turn
    return total


def decomposed(name, free):
    """The matrices λ_k D_k A_k D_kᵀ of a vector of free numbers, as the letters of a name say."""
    free = list(free)

    def part(letter, size):
        n = {"E": 1, "V": K, "I": 0}[letter]
        taken = [np.array([free.pop(0) for _ in range(size)]) for _ in range(n)]
        return [np.zeros(size)] * K if letter == "I" else taken * (K if letter == "E" else 1)

    volumes, shapes, axes = part(name[0], 1), part(name[1], D - 1), part(name[2], 3)
    found = []
    for volume, shape, angles in zip(volumes, shapes, axes, strict=True):
        log_shape = np.append(shape, -shape.sum())
        turn = rotation(angles)
        found.append(np.exp(volume) * (turn * np.exp(log_shape)) @ turn.T)
    assert not free
    return np.stack(found)


@pytest.mark.parametrize("name", MCLUST_SHAPES)
def test_free_parameters_are_those_of_the_decomposition(name):
    assert shape_of(name).n_free(K, D) == FREE[name]
    decomposed(name, np.zeros(FREE[name]))  # takes as many numbers as are counted


@pytest.mark.parametrize("name", MCLUST_SHAPES)
def test_m_steps_never_raise_the_misfit_and_are_of_their_shape(name, rng):
    matrices, found = maximized(name, *scatters(rng), steps=6)
    assert np.all(np.diff(found) <= 1e-9 * np.abs(found[0]))
    volumes = np.linalg.det(matrices)
    if name[0] == "E":
        np.testing.assert_allclose(volumes, volumes[0])
    spectra = np.linalg.eigvalsh(matrices) / np.cbrt(volumes)[:, None]
    if name[1] == "E":
        np.testing.assert_allclose(spectra, np.broadcast_to(spectra[0], spectra.shape))
    if name[2] == "E":
        axes = np.linalg.eigh(matrices[0] + 0.1 * matrices[1] + 0.01 * matrices[2])[1]
        inside = axes.T @ matrices @ axes
        np.testing.assert_allclose(inside * (1 - np.eye(D)), 0.0, atol=1e-8 * np.max(inside))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in MCLUST_SHAPES]
)
def test_m_steps_end_where_an_optimiser_finds_nothing_better(name, rng):
    n, scatter = scatters(rng)
    matrices, found = maximized(name, n, scatter, steps=60)
    np.testing.assert_allclose(found[-1], misfit(matrices, n, scatter))
    best = min(
        minimize(
            lambda free: misfit(decomposed(name, free), n, scatter),
            0.3 * rng.standard_normal(FREE[name]),
            method="L-BFGS-B",
        ).fun
        for _ in range(3)
    )
    assert found[-1] <= best + 1e-4 * abs(best)


def test_names_that_scikit_learn_has_are_the_same_models(rng):
    X = np.concatenate([rng.standard_normal((60, 2)), 2.0 * rng.standard_normal((60, 2)) + 4.0])
    for ours, theirs in (("VVV", "full"), ("EEE", "tied"), ("VVI", "diag"), ("VII", "spherical")):
        both = [GaussianMixture(2, covariance_type=t, random_state=0).fit(X) for t in (ours, theirs)]
        np.testing.assert_array_equal(both[0].covariances_, both[1].covariances_)
        assert both[0].n_parameters_ == both[1].n_parameters_


@pytest.mark.parametrize("name", ["VEV", "EVE", "VVE", "VEI", "VEE", "EII"])
def test_likelihoods_of_fits_never_fall(name):
    X = load_iris().data
    fitted = GaussianMixture(3, covariance_type=name, random_state=0, max_iter=60, tol=0.0).fit(X)
    trace = fitted.objective_trace_
    assert np.all(np.diff(trace) >= -1e-10 * np.abs(trace[0]))


def test_iris_has_two_components_of_one_shape_and_the_geyser_three_equal_ones():
    # mclust reports -561.7 and -2314.4: minus our BIC, which is the lower the better.
    iris = select_components(load_iris().data, range(1, 4), ["EEE", "EEV", "VEV", "VVV"])
    assert iris.best == (2, "VEV")
    np.testing.assert_allclose(iris.scores["bic"].min(), 561.73, atol=0.02)
    shapes = ["EEI", "EEE", "VEE", "EVE", "VVV"]
    geyser = select_components(tractable.datasets.load("old_faithful").X, range(1, 5), shapes)
    assert geyser.best == (3, "EEE")
    np.testing.assert_allclose(geyser.scores["bic"].min(), 2314.4, atol=0.1)
