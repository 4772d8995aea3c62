"""Laws of losses: their derivatives, their density, convexity, far predictors, and sums over rows."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from tractable.engines.glm.losses import Loss, LossExpansion
from tractable.testing.assertions import assert_mean, check_laws, laws_above
from tractable.value import value

#: Step of differences, and rows that a law draws.
STEP, ROWS = 1e-3, 60


@value
class LossOfTargets:
    """A loss under examination: how to draw the targets that it is of.

    Parameters
    ----------
    loss : Loss
        The loss.
    draw : callable
        ``draw(rng, n)`` returns n targets.
    distribution : callable, optional
        ``distribution(eta)`` returns the distribution whose -log p the loss is.
    positive : bool
        Whether linear predictors must be positive.
    """

    loss: Loss
    draw: Callable[[np.random.Generator, int], np.ndarray]
    distribution: Callable[[np.ndarray], Any] | None = None
    positive: bool = False

    def rows(self, rng: np.random.Generator, n: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
        """Draw linear predictors and targets."""
        c = self.loss.n_predictors
        eta = 1.5 * rng.standard_normal(n if c == 1 else (n, c))
        return np.exp(eta) if self.positive else eta, self.draw(rng, n)


def derivatives_are_those_of_the_value(instance: LossOfTargets, rng: np.random.Generator) -> None:
    """Slope, curvature and third derivative are differences of what they are the derivatives of."""
    loss, (eta, y) = instance.loss, instance.rows(rng)
    found = loss.terms(eta, y)
    orders = ("value", "slope", "curvature", "third")
    for before, name in pairwise(orders):
        exact = getattr(found, name)
        if exact is None:
            continue
        for j in range(loss.n_predictors):
            step = STEP * (np.ones_like(eta) if eta.ndim == 1 else np.eye(eta.shape[1])[j])
            if instance.positive:
                step = step * eta
            at = [getattr(loss.terms(eta + k * step, y), before) for k in (-2, -1, 1, 2)]
            size = np.max(step, axis=-1) if eta.ndim > 1 else step
            slope = (at[0] - 8.0 * at[1] + 8.0 * at[2] - at[3]).T / (12.0 * size)
            # A corner between the four has no derivative.
            smooth = 0.1 * (1.0 + np.abs(slope.T)) >= np.abs((at[0] - at[1] - at[2] + at[3]).T / size).T
            one = exact[..., j] if eta.ndim > 1 else exact
            bound = 1e-6 * (1.0 + np.abs(one) + np.abs(getattr(found, before)).max() / STEP * 1e-7)
            wrong = smooth & (np.abs(slope.T - one) > bound)
            assert not np.any(wrong), f"{name} is {one[wrong][0]}, of differences {slope.T[wrong][0]}"
            assert np.mean(smooth) > 0.9


def value_is_minus_the_log_density(instance: LossOfTargets, rng: np.random.Generator) -> None:
    """`log_base_measure` less the value is the log density of the distribution."""
    if instance.distribution is None:
        return
    eta, y = instance.rows(rng)
    found = instance.loss.log_base_measure(y) - instance.loss.terms(eta, y).value
    np.testing.assert_allclose(found, instance.distribution(eta).log_prob(y), rtol=1e-10, atol=1e-10)


def convex_losses_have_no_negative_curvature(instance: LossOfTargets, rng: np.random.Generator) -> None:
    """Slopes do not fall along any line, and no curvature is negative."""
    if not instance.loss.convex:
        return
    eta, y = instance.rows(rng)
    other = instance.rows(rng)[0]
    a, b = (instance.loss.terms(each, y) for each in (eta, other))
    rise = (b.slope - a.slope) * (other - eta)
    assert np.all((rise if rise.ndim == 1 else rise.sum(axis=1)) >= -1e-12 * (1.0 + np.abs(a.value)))
    if a.curvature is not None:
        each = a.curvature.reshape(len(y), instance.loss.n_predictors, -1)
        assert np.all(np.linalg.eigvalsh(each) >= -1e-12)


def far_predictors_have_terms(instance: LossOfTargets, rng: np.random.Generator) -> None:
    """Nothing is NaN at linear predictors of ±1000 and ±1e300, and no derivative has the wrong sign."""
    loss = instance.loss
    for size in (1e-300, 1e3, 1e300) if instance.positive else (-1e300, -1e3, 1e3, 1e300):
        eta, y = instance.rows(rng)
        eta = np.full_like(eta, size)
        if eta.ndim > 1:
            eta[:, ::2] = 0.0
        with np.errstate(over="ignore", divide="ignore"):
            found, half = loss.terms(eta, y), loss.terms(0.5 * eta, y)
        for name in ("value", "slope", "curvature", "third"):
            part = getattr(found, name)
            assert part is None or not np.any(np.isnan(part)), f"{name} is NaN at {size:g}"
        assert (
            found.curvature is None
            or not loss.convex
            or np.all(np.diagonal(found.curvature.reshape(len(y), loss.n_predictors, -1).T) >= 0.0)
        )
        if eta.ndim == 1 and loss.convex:
            rising = found.slope >= half.slope if size > 0.0 else found.slope <= half.slope
            assert np.all(rising | np.isclose(found.slope, half.slope, rtol=1e-9))


def information_is_the_mean_of_curvatures(instance: LossOfTargets, rng: np.random.Generator) -> None:
    """`expected_curvature` is the mean of curvatures, and of squared slopes, of targets that are drawn."""
    if instance.distribution is None or instance.loss.n_predictors > 1:
        return
    loss, (eta, _) = instance.loss, instance.rows(rng, 4)
    y = instance.distribution(eta).sample(20_000, rng=rng)
    try:
        exact = loss.expected_curvature(eta)
    except NotImplementedError:
        return
    for i in range(len(eta)):
        found = loss.terms(np.full(len(y), eta[i]), np.asarray(y[:, i], dtype=np.float64))
        assert_mean(found.slope, 0.0, "slope")
        assert_mean(found.slope**2, exact[i], "squared slope")
        if np.ptp(found.curvature) > 0.0:
            assert_mean(found.curvature, exact[i], "curvature")
        else:
            np.testing.assert_allclose(found.curvature[0], exact[i], rtol=1e-12)


def margins_tell_where_the_loss_falls(instance: LossOfTargets, rng: np.random.Generator) -> None:
    """Along a direction, the loss ends lower if a margin is positive and none negative, else no lower."""
    if instance.positive:
        return
    loss, (direction, y) = instance.loss, instance.rows(rng)
    direction = direction + 0.3 * np.sign(direction)
    margins = loss.margins(direction, y)
    low, high = margins.min(axis=1), margins.max(axis=1)
    near, far, farther = (loss.terms(t * direction, y).value for t in (0.0, 1e2, 1e4))
    assert np.all(far[low < 0.0] <= farther[low < 0.0])
    falls = (low >= 0.0) & (high > 0.0)
    assert np.all(far[falls] < near[falls])
    assert np.all(farther[falls] <= far[falls])
    np.testing.assert_allclose(farther[(low == 0.0) & (high == 0.0)], far[(low == 0.0) & (high == 0.0)])


def rows_add(instance: LossOfTargets, rng: np.random.Generator) -> None:
    """An expansion of rows is the sum of those of its parts, and what `terms` give; weights are counts."""
    loss, d = instance.loss, 3
    y, x = instance.draw(rng, ROWS), rng.standard_normal((ROWS, d))
    coef = 0.3 * rng.standard_normal((loss.n_predictors, 1 + d))
    if instance.positive:
        coef[:, 0] = 5.0
    scaling, w = (rng.standard_normal(d), rng.uniform(0.5, 2.0, d)), rng.integers(0, 4, ROWS).astype(float)
    order = (
        None
        if loss.terms(np.ones((1, coef.shape[0]) if len(coef) > 1 else 1), y[:1]).curvature is None
        else "observed"
    )

    def expanded(rows: Any, weights: Any) -> LossExpansion:
        options: Any = {"loss": loss, "coef": coef, "scaling": scaling, "curvature": order}
        return LossExpansion.of(x[rows], y[rows], None if weights is None else weights[rows], **options)

    whole, half = expanded(np.arange(ROWS), w), ROWS // 2
    same = expanded(np.arange(half), w) + expanded(np.arange(half, ROWS), w)
    repeated = expanded(np.repeat(np.arange(ROWS), w.astype(int)), None)
    plain = Loss.expand(loss, x, y, w, scaling, coef, order)
    for other in (same, repeated, plain):
        np.testing.assert_allclose(other.value, whole.value, rtol=1e-10)
        np.testing.assert_allclose(other.gradient, whole.gradient, rtol=1e-9, atol=1e-9)
        if order:
            np.testing.assert_allclose(other.curvature, whole.curvature, rtol=1e-9, atol=1e-9)
    z, slopes = loss.residuals(x, y, scaling, coef)
    np.testing.assert_allclose((slopes * w[:, None]).T @ z, whole.gradient, rtol=1e-9, atol=1e-9)


LOSS_LAWS = laws_above(globals())


def check_loss(loss: LossOfTargets, rng: Any = None) -> None:
    """Check every law of losses.

    Parameters
    ----------
    loss : LossOfTargets
        The loss, and how to draw its targets.
    rng : int, Generator, optional
        The randomness of the laws.

    Examples
    --------
    >>> from tractable.engines.glm.losses import Huber
    >>> check_loss(LossOfTargets(loss=Huber(), draw=lambda rng, n: rng.standard_normal(n)))
    """
    check_laws(LOSS_LAWS, loss, rng)
