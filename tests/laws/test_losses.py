"""Every law of losses on every loss, in every array library, and far out with the digits of mpmath."""

import mpmath
import numpy as np
import pytest

from catalogue import LOSSES, cross
from tractable.arrays.namespace import to_numpy
from tractable.engines.glm import losses
from tractable.testing.loss_laws import LOSS_LAWS


@pytest.mark.parametrize(("law", "make"), cross(LOSS_LAWS, LOSSES))
def test_loss_law(law, make, rng):
    law(make(), rng)


@pytest.mark.parametrize("row", LOSSES, ids=lambda row: row.name)
def test_other_array_libraries(row, backend, rng):
    instance = row.make()
    eta, y = instance.rows(rng)
    expected = instance.loss.terms(eta, y)
    loss = instance.loss
    if isinstance(loss, losses.Softmax):
        loss = losses.Softmax(contrasts=backend.asarray(loss.contrasts))
    found = loss.terms(backend.asarray(eta), backend.asarray(y))
    for name in ("value", "slope", "curvature", "third"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert type(ours) is type(backend.asarray(eta))
            np.testing.assert_allclose(to_numpy(ours), theirs, rtol=1e-12, atol=1e-13)


def exact(f, eta):
    """The value of a loss and three derivatives, to 15 digits."""
    with mpmath.workdps(150):
        at = mpmath.mpf(eta)
        return [float(mpmath.diff(f, at, order) if order else f(at)) for order in range(4)]


FORMULAS = {
    "logistic": (
        losses.Logistic(),
        1,
        lambda e: mpmath.log1p(mpmath.exp(-e)),
        (-200.0, -30.0, 0.5, 40.0),
    ),
    "probit": (
        losses.Probit(),
        1,
        lambda e: -mpmath.log(mpmath.ncdf(e)),
        (-200.0, -51.0, -10.0, 0.5, 8.0),
    ),
    "probit of 0": (
        losses.Probit(),
        0,
        lambda e: -mpmath.log(mpmath.ncdf(-e)),
        (-8.0, 3.0, 51.0, 200.0),
    ),
    "poisson": (losses.Poisson(), 3.0, lambda e: mpmath.exp(e) - 3 * e, (-100.0, -1.0, 2.0, 100.0)),
    "gamma": (losses.Gamma(), 3.0, lambda e: 3 * mpmath.exp(-e) + e, (-100.0, -1.0, 2.0, 100.0)),
    "inverse gamma": (losses.Gamma(link="inverse"), 3.0, lambda e: 3 * e - mpmath.log(e), (1e-6, 2.0, 1e6)),
    "negative binomial": (
        losses.NegativeBinomial(dispersion=0.5),
        3.0,
        lambda e: 5 * mpmath.log1p(mpmath.exp(e) / 2) - 3 * e,
        (-100.0, -1.0, 2.0, 30.0),
    ),
    "student": (
        losses.Student(dof=2.0),
        0.0,
        lambda e: 1.5 * mpmath.log1p(e * e / 2),
        (-1e5, -1.1, 0.3),
    ),
    "tukey": (losses.Tukey(tuning=2.0), 0.0, lambda e: 2 / 3 * (1 - (1 - e * e / 4) ** 3), (-1.9, 0.1, 1.0)),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_derivatives_have_the_digits_of_mpmath(name):
    loss, y, formula, at = FORMULAS[name]
    for eta in at:
        found = loss.terms(np.array([eta]), np.array([y]))
        parts = [float(part[0]) for part in (found.value, found.slope, found.curvature, found.third)]
        for ours, theirs, digits in zip(parts, exact(formula, eta), (1e-13, 1e-12, 1e-10, 1e-5), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=digits, atol=1e-300, err_msg=f"{name} at {eta}")


def test_the_series_of_the_probit_goes_on_from_the_formula():
    found = losses.Probit().terms(np.array([-49.999, -50.001]), np.ones(2))
    for part in (found.value, found.slope, found.curvature, found.third):
        np.testing.assert_allclose(part[0], part[1], rtol=2e-4)


def test_a_softmax_of_two_classes_is_the_logistic_loss(rng):
    eta, y = rng.standard_normal(9), rng.integers(0, 2, 9)
    one = losses.Logistic().terms(eta, y)
    two = losses.Softmax(contrasts=np.array([[0.0], [1.0]])).terms(eta[:, None], y)
    np.testing.assert_allclose(two.value, one.value, rtol=1e-13)
    np.testing.assert_allclose(two.slope[:, 0], one.slope, rtol=1e-12)
    np.testing.assert_allclose(two.curvature[:, 0, 0], one.curvature, rtol=1e-12)
    np.testing.assert_allclose(two.third[:, 0, 0, 0], one.third, rtol=1e-10, atol=1e-15)


def test_probabilities_of_classes_are_rows_of_each_class(rng):
    loss, eta = losses.Softmax.of(3), rng.standard_normal((7, 2))
    t = rng.dirichlet(np.ones(3), 7) * rng.uniform(0.5, 2.0, (7, 1))
    found, each = loss.terms(eta, t), [loss.terms(eta, np.full(7, k)) for k in range(3)]
    for name in ("value", "slope", "curvature", "third"):
        parts = [(getattr(one, name).T * t[:, k]).T for k, one in enumerate(each)]
        np.testing.assert_allclose(getattr(found, name), sum(parts), rtol=1e-12, atol=1e-14)


def test_a_second_column_of_targets_is_an_exposure(rng):
    x, y, e = rng.standard_normal((8, 2)), rng.poisson(2.0, 8).astype(float), rng.uniform(0.5, 2.0, 8)
    coef = np.array([[0.3, -0.2]])
    found = losses.LossExpansion.of(x, np.column_stack([y, e]), loss=losses.Poisson(), coef=coef)
    mean = e * np.exp(x @ coef[0])
    np.testing.assert_allclose(found.gradient[0], (mean - y) @ x, rtol=1e-12)
    np.testing.assert_allclose(found.curvature, (x * mean[:, None]).T @ x, rtol=1e-12)


def test_a_dispersion_that_is_learned_is_the_last_parameter(rng):
    """Derivatives by the logarithm of the dispersion are differences of the loss and its base measure."""
    x, y, w = rng.standard_normal((40, 2)), rng.poisson(3.0, 40).astype(float), rng.uniform(0.5, 2.0, 40)
    coef, step = np.array([[0.3, -0.2]]), 1e-4

    def expanded(log_alpha):
        loss = losses.NegativeBinomial(dispersion=float(np.exp(log_alpha)), learned=True)
        return losses.LossExpansion.of(x, y, w, loss=loss, coef=coef)

    low, here, high = (expanded(-0.5 + k * step) for k in (-1, 0, 1))
    np.testing.assert_allclose((high.value - low.value) / (2 * step), here.gradient[0, 2], rtol=1e-6)
    slope = (high.gradient - low.gradient)[0] / (2 * step)
    np.testing.assert_allclose(slope, here.curvature[2], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(here.curvature, here.curvature.T)


def test_a_loss_without_curvature_says_so(rng):
    with pytest.raises(ValueError, match="no second derivative"):
        losses.LossExpansion.of(np.ones((2, 1)), np.ones(2), loss=losses.Quantile(), coef=np.zeros((1, 1)))
