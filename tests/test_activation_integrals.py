"""Averages of sigmoids and softmaxes over Gaussians, against high precision and Monte Carlo."""

import mpmath
import numpy as np
import pytest
from scipy.linalg import helmert
from scipy.special import log_expit, log_softmax, logsumexp, softmax

from quick import some
from tractable import BayesianLogisticRegression
from tractable.engines.glm import integrals
from tractable.engines.glm.integrals import (
    limit_rows,
    log_expected_probit,
    log_expected_sigmoid,
    log_expected_softmax,
)
from tractable.engines.glm.losses import softmax as softmax_loss

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
@pytest.mark.parametrize("mean", some([-30.0, -2.0, 0.0, 0.7, 8.0], 2))
def test_a_sigmoid_on_average(mean, stddev):
    found = float(np.exp(log_expected_sigmoid(np.array([mean]), np.array([stddev])))[0])
    assert abs(found - float(exact(lambda a: 1 / (1 + mpmath.exp(-a)), mean, stddev))) < 1e-13


@pytest.mark.parametrize("stddev", [0.0, 0.3, 2.0, 50.0])
def test_the_bound_is_at_most_twice_a_sigmoid_on_average(stddev):
    mean = np.linspace(-200.0, 200.0, 401)
    ratio = integrals._log_expected_bound(mean, np.full(401, stddev))
    ratio = ratio - log_expected_sigmoid(mean, np.full(401, stddev))
    assert (ratio >= -1e-12).all()
    assert (ratio <= np.log(2.0) + 1e-12).all()


@pytest.mark.parametrize("stddev", [0.0, 0.5, 3.0])
def test_a_probit_on_average(stddev):
    found = float(np.exp(log_expected_probit(np.array([0.7]), np.array([stddev])))[0])
    assert abs(found - float(exact(mpmath.ncdf, 0.7, stddev))) < 1e-13


def test_the_plug_in_and_the_probit_approximation_are_other_numbers():
    """σ(m) and σ(m / √(1 + πs²/8)) are off by far more than the quadrature."""
    mean, stddev = 2.0, 3.0
    right = np.exp(log_expected_sigmoid(np.array([mean]), np.array([stddev])))[0]
    plug_in = 1 / (1 + np.exp(-mean))
    moderated = 1 / (1 + np.exp(-mean / np.sqrt(1 + np.pi * stddev**2 / 8)))
    assert abs(plug_in - right) > 0.1
    assert 1e-3 < abs(moderated - right) < 2e-2


def activation(rng, k, spread):
    turn = np.linalg.qr(rng.normal(size=(k - 1, k - 1)))[0]
    return spread * rng.normal(size=(1, k - 1)), (turn * spread * np.linspace(1.0, 0.3, k - 1))[None]


@pytest.mark.parametrize(
    ("spread", "error"), some([(0.3, 1e-12), (1.0, 1e-12), (2.0, 1e-11), (10.0, 1e-10)], several=True)
)
def test_three_classes(spread, error, rng):
    mean, root = activation(rng, 3, spread)
    planes = helmert(3).T
    grid = np.linspace(-9.0, 9.0, 1201)  # the trapezoidal rule, which a Gaussian makes exact
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    shares = np.exp(-0.5 * np.sum(points**2, axis=1))
    exact_average = shares @ softmax((mean + points @ root[0].T) @ planes.T, axis=1) / shares.sum()
    np.testing.assert_allclose(np.exp(log_expected_softmax(mean, root, planes))[0], exact_average, atol=error)


@pytest.mark.parametrize("k", some([4, 7, 12]))
@pytest.mark.parametrize(("spread", "error"), [(0.3, 3e-5), (1.0, 6e-4), (4.0, 3e-3)])
def test_more_classes_by_points(k, spread, error, rng):
    mean, root = activation(rng, k, spread)
    planes = helmert(k).T
    draws = softmax((mean + rng.standard_normal((200_000, k - 1)) @ root[0].T) @ planes.T, axis=1)
    standard_error = draws.std(axis=0) / np.sqrt(len(draws))
    found = np.exp(log_expected_softmax(mean, root, planes))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    assert np.all(np.abs(found[0] - draws.mean(axis=0)) <= 5.0 * standard_error + error)


def test_rows_do_not_disturb_each_other(rng):
    mean, stddev = rng.normal(size=50) * 5, rng.exponential(size=50) * 2
    alone = [log_expected_sigmoid(mean[i : i + 1], stddev[i : i + 1])[0] for i in range(50)]
    np.testing.assert_allclose(log_expected_sigmoid(mean, stddev), alone, rtol=1e-13)
    assert log_expected_sigmoid(mean[:0], stddev[:0]).shape == (0,)


def dense_log(mean, stddev):
    """The logarithm by the trapezoidal rule about the peak, which an analytic integrand makes exact."""
    step = 0.1 * min(1.0, stddev)
    a = max(mean, min(mean + stddev**2, 0.0)) + np.arange(-12.0 * stddev, 12.0 * stddev, step)
    logs = -0.5 * ((a - mean) / stddev) ** 2 + log_expit(a)
    return logsumexp(logs) + np.log(step / stddev) - 0.5 * np.log(2.0 * np.pi)


@pytest.mark.parametrize("stddev", [0.1, 1.0, 1.01, 3.04, 20.0, 200.0])
@pytest.mark.parametrize("far", [0.0, 0.3, 0.5, 0.51, 1.0, 1.7, 5.0])
def test_tails_of_two_classes_have_their_digits(far, stddev):
    """About m = -s²/2, where the square is completed, and beyond; and 1 - p on the other side."""
    mean = -far * stddev**2 - 0.1
    found, other = log_expected_sigmoid(np.array([mean, -mean]), np.array([stddev, stddev]))
    right = dense_log(mean, stddev)
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=2e-12)
    np.testing.assert_allclose(np.exp(other), -np.expm1(right), rtol=1e-12)


def test_the_tails_that_were_wrong():
    found = log_expected_sigmoid(np.array([-52.39, -30.0, -1e200, -1e4]), np.array([3.04, 1.01, 1e200, 1.0]))
    np.testing.assert_allclose(found, [-47.7692, -29.48995, np.log(0.15865525393), -1e4 + 0.5], rtol=1e-6)


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize(("spread", "error"), [(0.3, 1e-10), (1.1, 1e-9), (6.0, 1e-9)])
def test_tails_of_several_classes(k, spread, error, rng):
    """With one axis wide and the rest sure, the integral is of one number, and a sum says what it is."""
    planes = helmert(k).T
    way, axis = rng.normal(size=(2, k - 1))
    mean = 60.0 * way[None] / np.linalg.norm(way)
    root = np.zeros((1, k - 1, k - 1))
    root[0, :, 0] = spread * axis / np.linalg.norm(axis)
    z = np.arange(-40.0, 40.0, 0.002)
    logs = log_softmax((mean + z[:, None] * root[0, :, 0]) @ planes.T, axis=1) - 0.5 * z[:, None] ** 2
    right = logsumexp(logs, axis=0) + np.log(0.002) - 0.5 * np.log(2.0 * np.pi)
    found = log_expected_softmax(mean, root, planes)[0]
    rough = {0.3: 1e-3, 1.1: 0.01, 6.0: 0.1}[spread]  # of points, where there are more than two axes
    np.testing.assert_allclose(found, right, atol=error if k == 3 else rough)
    assert right.min() < -10.0


@pytest.mark.parametrize("spread", [2.0, 50.0, 1000.0])
def test_three_classes_are_one_in_sum(spread, rng):
    """Each class is integrated for itself: that they make one is no matter of course."""
    turns = np.linalg.qr(rng.normal(size=(30, 2, 2)))[0]
    mean, root = spread * rng.normal(size=(30, 2)), turns * spread * np.array([1.0, 0.3])
    found = np.exp(log_expected_softmax(mean, root, helmert(3).T))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)


@pytest.mark.slow
def test_three_classes_of_six_rows():
    """Wide posteriors, by a dense grid of activations."""
    X = np.arange(6.0)[:, None]
    model = BayesianLogisticRegression(alpha=0.01).fit(X, [0, 0, 1, 1, 2, 2])
    rows = np.array([[2.5], [10.0], [20.0]])
    mean, root = model._activations(limit_rows(model._design(rows)))
    grid = np.linspace(-8.0, 8.0, 2001)  # fine enough for wide activations
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    shares = np.exp(-0.5 * np.sum(points**2, axis=1))
    for i in range(3):
        p = softmax((mean[i] + points @ root[i].T) @ model._contrasts_.T, axis=1)
        right = shares @ p / shares.sum()
        np.testing.assert_allclose(model.predict_proba(rows[i : i + 1])[0], right, atol=1e-9)
    far = model.predict_log_proba([[-300.0], [300.0]])
    np.testing.assert_allclose(np.exp(far).sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(far[0], far[1, ::-1], atol=0.01)  # the rows are the same from both sides


@pytest.mark.parametrize("spread", [1e3, 1e6, 1e8])
@pytest.mark.parametrize("k", [4, 9])
def test_the_widest_posteriors_have_rare_classes_too(k, spread, rng):
    """Curvatures of 1e16 beside the normal's one are no singular matrices."""
    mean, root = spread * rng.normal(size=(20, k - 1)), spread * rng.normal(size=(20, k - 1, k - 1))
    found = log_expected_softmax(mean, root, helmert(k).T)
    assert np.all(np.isfinite(found))
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1.0, rtol=1e-12)


def test_many_classes(rng):
    """Points in 69 dimensions, of 70 classes none of which is probable, against Monte Carlo."""
    K, n = 70, 20_000
    contrasts = helmert(K).T
    mean, root = rng.normal(size=(1, K - 1)), rng.normal(size=(1, K - 1, K - 1)) / (2.0 * np.sqrt(K))
    p = np.exp(log_expected_softmax(mean, root, contrasts))[0]
    draws = softmax((mean[0] + rng.normal(size=(n, K - 1)) @ root[0].T) @ contrasts.T, axis=1)
    z = (p - draws.mean(axis=0)) / (draws.std(axis=0) / np.sqrt(n))
    assert np.abs(z).max() < 4.5, z
    assert p.sum() == pytest.approx(1.0)


def test_curvature_of_many_classes_is_that_of_pairs(rng, monkeypatch):
    """Over pairs it takes K⁴ numbers: 30 GB of 300 classes."""
    K, p = 6, 3
    halves = rng.normal(size=(K * (K - 1) // 2, p, p))
    pairs = halves @ np.swapaxes(halves, 1, 2)
    by_pairs = softmax_loss.over_contrasts(helmert(K).T, pairs)
    monkeypatch.setattr(softmax_loss, "MANY_CLASSES", K - 1)
    np.testing.assert_allclose(softmax_loss.over_contrasts(helmert(K).T, pairs), by_pairs, atol=1e-12)


@pytest.mark.slow
def test_three_hundred_classes_take_less_than_a_gigabyte_more(rng):
    resource = pytest.importorskip("resource")
    X, y = rng.normal(size=(600, 4)), np.arange(600) % 300
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model = BayesianLogisticRegression(alpha=1.0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X[:2]).sum(axis=1), 1.0)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 2**30
