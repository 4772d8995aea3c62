"""Averages of sigmoids and softmaxes over Gaussians, against high precision and Monte Carlo."""

import mpmath
import numpy as np
import pytest
from scipy.linalg import helmert
from scipy.special import softmax

from tractable.classification.activation_integrals import (
    expected_probit,
    expected_sigmoid,
    expected_softmax,
)

SPREADS = [0.0, 1e-3, 0.5, 1.0, 1.000001, 2.0, 10.0, 1e3]


def exact(link, mean, stddev):
    """The average in 25 digits, cut where the link bends."""
    if stddev == 0.0:
        return link(mpmath.mpf(mean))
    bend = [-mean / stddev + e / stddev for e in (-40, -10, -3, 0, 3, 10, 40)]
    cuts = sorted({-12.0, -6.0, 0.0, 6.0, 12.0, *(b for b in bend if -12.0 < b < 12.0)})
    with mpmath.workdps(25):
        return mpmath.quad(lambda z: link(mean + stddev * z) * mpmath.npdf(z), cuts)


@pytest.mark.parametrize("stddev", SPREADS)
@pytest.mark.parametrize("mean", [-30.0, -2.0, 0.0, 0.7, 8.0])
def test_a_sigmoid_on_average(mean, stddev):
    found = float(expected_sigmoid(np.array([mean]), np.array([stddev]))[0])
    assert abs(found - float(exact(lambda a: 1 / (1 + mpmath.exp(-a)), mean, stddev))) < 1e-13


@pytest.mark.parametrize("stddev", [0.0, 0.5, 3.0])
def test_a_probit_on_average(stddev):
    found = float(expected_probit(np.array([0.7]), np.array([stddev]))[0])
    assert abs(found - float(exact(mpmath.ncdf, 0.7, stddev))) < 1e-13


def test_the_plug_in_and_the_probit_approximation_are_other_numbers():
    """σ(m) and σ(m / √(1 + πs²/8)) are off by far more than the quadrature."""
    mean, stddev = 2.0, 3.0
    right = expected_sigmoid(np.array([mean]), np.array([stddev]))[0]
    plug_in = 1 / (1 + np.exp(-mean))
    moderated = 1 / (1 + np.exp(-mean / np.sqrt(1 + np.pi * stddev**2 / 8)))
    assert abs(plug_in - right) > 0.1
    assert 1e-3 < abs(moderated - right) < 2e-2


def activation(rng, k, spread):
    turn = np.linalg.qr(rng.normal(size=(k - 1, k - 1)))[0]
    return spread * rng.normal(size=(1, k - 1)), (turn * spread * np.linspace(1.0, 0.3, k - 1))[None]


@pytest.mark.parametrize(("spread", "error"), [(0.3, 1e-12), (1.0, 1e-12), (2.0, 1e-11), (10.0, 1e-3)])
def test_three_classes_by_products_of_rules(spread, error, rng):
    mean, root = activation(rng, 3, spread)
    planes = helmert(3).T
    grid = np.linspace(-9.0, 9.0, 1201)  # the trapezoidal rule, which a Gaussian makes exact
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    shares = np.exp(-0.5 * np.sum(points**2, axis=1))
    exact_average = shares @ softmax((mean + points @ root[0].T) @ planes.T, axis=1) / shares.sum()
    np.testing.assert_allclose(expected_softmax(mean, root, planes)[0], exact_average, atol=error)


@pytest.mark.parametrize("k", [4, 7, 12])
@pytest.mark.parametrize(("spread", "error"), [(0.3, 3e-5), (1.0, 6e-4), (4.0, 3e-3)])
def test_more_classes_by_points(k, spread, error, rng):
    mean, root = activation(rng, k, spread)
    planes = helmert(k).T
    draws = softmax((mean + rng.standard_normal((200_000, k - 1)) @ root[0].T) @ planes.T, axis=1)
    standard_error = draws.std(axis=0) / np.sqrt(len(draws))
    found = expected_softmax(mean, root, planes)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    assert np.all(np.abs(found[0] - draws.mean(axis=0)) <= 5.0 * standard_error + error)


def test_rows_do_not_disturb_each_other(rng):
    mean, stddev = rng.normal(size=50) * 5, rng.exponential(size=50) * 2
    alone = [expected_sigmoid(mean[i : i + 1], stddev[i : i + 1])[0] for i in range(50)]
    np.testing.assert_allclose(expected_sigmoid(mean, stddev), alone, rtol=1e-14)
    assert expected_sigmoid(mean[:0], stddev[:0]).shape == (0,)
