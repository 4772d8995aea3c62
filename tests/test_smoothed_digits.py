"""Kernel density estimates whose points lie far apart, far from zero, beyond a period or near a far wall."""

import numpy as np
import pytest

from quick import some
from tractable.distributions import SmoothedEmpirical
from tractable.smoothing import WINDOWS

CORNERED = [name for name in sorted(WINDOWS) if name != "gaussian"]


@pytest.mark.parametrize("window", ["gaussian", "tophat", "laplace"])
def test_points_of_any_period_are_those_of_the_first(window, rng):
    hours = rng.uniform(-500.0, 1000.0, 300)
    d = SmoothedEmpirical(points=hours, bandwidth=0.5, window=window, period=24)
    first = SmoothedEmpirical(points=np.mod(hours, 24.0), bandwidth=0.5, window=window, period=24)
    x = np.linspace(0.0, 24.0, 2001)
    assert np.all((d.points >= 0.0) & (d.points < 24.0))
    np.testing.assert_allclose(d.prob(x), first.prob(x), rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(d.prob(x + 24e3), d.prob(x), rtol=1e-8, atol=1e-4)
    np.testing.assert_allclose(np.mean(d.prob(x[:-1])) * 24.0, 1.0, rtol=1e-3)
    np.testing.assert_allclose(d.cdf(x), first.cdf(x), atol=1e-12)
    np.testing.assert_allclose([d.mean, d.variance], [first.mean, first.variance], rtol=1e-9)
    table = SmoothedEmpirical(points=np.stack([hours, hours], axis=1), bandwidth=0.5, period=(24, None))
    assert np.all(table.points[:, 0] < 24.0)
    np.testing.assert_array_equal(table.points[:, 1], hours)


@pytest.mark.parametrize("window", sorted(WINDOWS))
@pytest.mark.parametrize("far", some([1e12, 1e15, 1e17]))
def test_one_far_point_costs_the_others_no_digits(window, far, rng):
    x = rng.standard_normal(200)
    alone = SmoothedEmpirical(points=x, bandwidth=1.0, window=window)
    joined = SmoothedEmpirical(points=np.r_[x, far], bandwidth=1.0, window=window)
    np.testing.assert_allclose(joined.log_prob(x), alone.log_prob(x) + np.log(200 / 201), rtol=0, atol=1e-12)
    nothing = SmoothedEmpirical(
        points=np.r_[x, far], bandwidth=1.0, weights=np.r_[np.ones(200), 0], window=window
    )
    np.testing.assert_array_equal(nothing.log_prob(x), alone.log_prob(x))
    assert nothing.points.shape == (200,)
    assert joined.evaluation_error <= 2e-11


def test_the_error_of_vectors_is_stated(rng):
    x = rng.standard_normal((100, 2))
    far = np.array([[1e9, 0.0], [1e9 + 1.0, 0.5]])
    d = SmoothedEmpirical(points=np.r_[x, far], bandwidth=0.3)
    alone = SmoothedEmpirical(points=x, bandwidth=0.3)
    np.testing.assert_allclose(d.log_prob(x), alone.log_prob(x) + np.log(100 / 102), rtol=0, atol=1e-12)
    steps = (far[:, None] - far) / 0.3
    expected = WINDOWS["gaussian"].density(steps[0]).sum() / 0.3**2 / 102
    assert 1e-12 < abs(d.prob(far[0]) / expected - 1.0) < d.evaluation_error < 1e-4


def test_walls_may_be_open_and_the_same_for_all(rng):
    x = rng.gamma(2.0, size=(20, 2))
    one = SmoothedEmpirical(points=x, bandwidth=0.4, bounds=(0, None))
    each = SmoothedEmpirical(points=x, bandwidth=0.4, bounds=((0.0, np.inf), (0.0, np.inf)))
    np.testing.assert_array_equal(one.log_prob(x), each.log_prob(x))
    turned = SmoothedEmpirical(points=x, bandwidth=0.4, period=np.array(6.0))
    assert turned.period == ((0.0, 6.0), (0.0, 6.0))
    assert SmoothedEmpirical(points=x[:, 0], bandwidth=0.4, bounds=(0, None)).bounds == (0.0, np.inf)


@pytest.mark.parametrize(
    "window", [pytest.param(w, marks=pytest.mark.slow if w == "laplace" else ()) for w in CORNERED]
)
def test_vectors_are_folded_under_every_window(window, rng):
    """Mass one over the domain, and draws that follow the density."""
    points = np.array([[0.1, 0.2], [0.5, 3.0], [0.9, 6.0]])
    domain = {"bounds": ((0.0, 1.0), None), "period": (None, 2 * np.pi)}
    d = SmoothedEmpirical(points=points, bandwidth=[0.1, 0.5], window=window, **domain)
    n = 500
    grid = np.stack(
        np.meshgrid((np.arange(n) + 0.5) / n, (np.arange(n) + 0.5) / n * 2 * np.pi, indexing="ij"), axis=-1
    )
    p = d.prob(grid)
    np.testing.assert_allclose(p.mean() * 2 * np.pi, 1.0, rtol=2e-3)
    x = d.sample(20_000, rng=rng)
    assert np.all((x >= 0.0) & (x <= [1.0, 2 * np.pi]))
    inside = (x[:, 0] < 0.15) & (x[:, 1] < 0.4)
    expected = p[: int(0.15 * n), : int(0.4 / (2 * np.pi) * n)].sum() * 2 * np.pi / n**2
    np.testing.assert_allclose(inside.mean(), expected, atol=0.02)
    np.testing.assert_array_equal(d.prob([[-0.1, 1.0], [1.1, 1.0]]), 0.0)
    with pytest.raises(ValueError, match="gaussian"):
        d.mean  # noqa: B018
    one = SmoothedEmpirical(points=points[:, :1], bandwidth=0.1, window=window, bounds=(0, 1))
    numbers = SmoothedEmpirical(points=points[:, 0], bandwidth=0.1, window=window, bounds=(0, 1))
    np.testing.assert_allclose(one.log_prob(points[:, :1]), numbers.log_prob(points[:, 0]), rtol=1e-12)
    np.testing.assert_allclose(one.mean, [numbers.mean], rtol=1e-9)


@pytest.mark.parametrize("window", sorted(WINDOWS))
@pytest.mark.parametrize("far", some([1e9, 1e16]))
def test_a_wall_far_away_costs_no_digits(window, far, rng):
    x = 1.0 + rng.gamma(2.0, size=50)
    near, wide = (
        SmoothedEmpirical(points=x, bandwidth=0.7, window=window, bounds=(1.0, high))
        for high in (np.inf, far)
    )
    q = np.r_[1.0, np.nextafter(1.0, 2.0), 1.0 + 10.0 ** rng.uniform(-8, 1, 100)]
    np.testing.assert_allclose(wide.log_prob(q), near.log_prob(q), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(wide.cdf(q), near.cdf(q), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(wide.survival(q), near.survival(q), rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(wide.icdf([0.1, 0.9]), near.icdf([0.1, 0.9]), rtol=1e-11)
    np.testing.assert_allclose(wide.mean, near.mean, rtol=1e-9)
    np.testing.assert_array_equal(wide.sample(100, rng=3), near.sample(100, rng=3))
    below = SmoothedEmpirical(points=-x, bandwidth=0.7, window=window, bounds=(-far, -1.0))
    np.testing.assert_allclose(below.log_prob(-q), near.log_prob(q), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(below.survival(-q), near.cdf(q), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("scale", [1e-140, 1e-100, 1e100, 1e140])
def test_lengths_of_any_scale(scale, rng):
    x = rng.standard_normal((40, 2))
    far = np.array([[0.0, 0.0], [30.0, -50.0], [1e4, 0.0]])
    for h in (0.4, np.array([0.4, 0.9])):
        one, other = (SmoothedEmpirical(points=x * s, bandwidth=h * s) for s in (1.0, scale))
        shift = 2 * np.log(scale)
        np.testing.assert_allclose(other.log_prob(far * scale) + shift, one.log_prob(far), rtol=1e-11)
        np.testing.assert_allclose(other.sample(5, rng=0) / scale, one.sample(5, rng=0), rtol=1e-12)
        np.testing.assert_allclose(other.mean / scale, one.mean, rtol=1e-11)
    line, lined = (SmoothedEmpirical(points=x[:, 0] * s, bandwidth=0.4 * s) for s in (1.0, scale))
    np.testing.assert_allclose(
        lined.log_prob(far[:2, 0] * scale) + np.log(scale), line.log_prob(far[:2, 0]), rtol=1e-11
    )
    np.testing.assert_allclose(lined.cdf(x[:, 0] * scale), line.cdf(x[:, 0]), rtol=1e-11)
    np.testing.assert_allclose(lined.icdf([0.1, 0.7]) / scale, line.icdf([0.1, 0.7]), rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-160, 1e160, 1e200, 1e300])
def test_lengths_whose_squares_are_no_numbers_are_refused(scale, rng):
    x = rng.standard_normal((40, 2))
    for h in (0.4, np.array([0.4, 0.9])):
        with pytest.raises(ValueError, match="bandwidth"):
            SmoothedEmpirical(points=x * scale, bandwidth=h * scale)
    with pytest.raises(ValueError, match="bandwidth"):
        SmoothedEmpirical(points=x[:, 0] * scale, bandwidth=0.4 * scale)


def test_levels_that_are_found_are_asked_no_more(rng):
    """Quantiles of crowds, of gaps, and of far tails invert the distribution function."""
    x = np.r_[rng.standard_normal(2000), 40.0 + rng.standard_normal(50), 1e9]
    for window in WINDOWS:
        d = SmoothedEmpirical(points=x, bandwidth=0.3, window=window)
        q = np.r_[1e-7, 1e-5, np.linspace(0.001, 0.97, 40), 0.99, 0.9999]
        np.testing.assert_allclose(d.cdf(d.icdf(q)), q, rtol=1e-9)


def test_windows_of_users_are_summed_within_their_end(rng):
    def quartic(u):
        return np.where(np.abs(u) < 2.0, 15 / 32 * (1 - u * u / 4) ** 2, 0.0)

    x = rng.standard_normal((300, 2))
    for points in (x[:, 0], x):
        ours = SmoothedEmpirical(points=points, bandwidth=0.25, window=quartic)
        known = SmoothedEmpirical(points=points, bandwidth=0.5, window="biweight")
        assert ours.evaluation == "sum within reach"
        np.testing.assert_allclose(ours.prob(points), known.prob(points), rtol=1e-9)
        np.testing.assert_allclose(ours.support, known.support)
        assert np.all(ours.log_prob(points + 20.0) == -np.inf)
    ours = SmoothedEmpirical(points=x[:, 0], bandwidth=0.25, window=quartic)
    known = SmoothedEmpirical(points=x[:, 0], bandwidth=0.5, window="biweight")
    q = np.linspace(-4.0, 4.0, 33)
    np.testing.assert_allclose(ours.cdf(q), known.cdf(q), rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(ours.survival(q), known.survival(q), rtol=1e-7, atol=1e-12)


def test_quadrature_finds_points_that_lie_far_apart():
    """The entropy of two clusters is that of each, and of which it is."""
    near, far = ([0.0, 1.0, 2.0], [1e6])
    d, one, other = (SmoothedEmpirical(points=x, bandwidth=0.5) for x in (near + far, near, far))
    which = -0.75 * np.log(0.75) - 0.25 * np.log(0.25)
    np.testing.assert_allclose(d.entropy(), 0.75 * one.entropy() + 0.25 * other.entropy() + which, rtol=1e-9)


@pytest.mark.parametrize("window", CORNERED)
def test_a_level_beside_a_wall_keeps_its_digits(window):
    """Between a wall and the first corner the mass is that of a polynomial: F(low + t) = p(low) t."""
    d = SmoothedEmpirical(points=[0.3, 1.0, 1.7], bandwidth=0.5, window=window, bounds=(0, 2))
    for t in (1e-12, 1e-9, 1e-6):
        np.testing.assert_allclose(d.cdf(t), d.prob(0.0) * t, rtol=3e-6)
        np.testing.assert_allclose(d.survival(2.0 - t), d.prob(2.0) * t, rtol=1e-3)
    np.testing.assert_allclose(d.cdf(d.icdf([1e-12, 1e-9])), [1e-12, 1e-9], rtol=1e-10)
    assert d.cdf(np.empty(0)).shape == d.icdf(np.empty(0)).shape == (0,)


def test_images_of_many_axes_are_summed_axis_by_axis(rng):
    x = rng.random((30, 4))
    d = SmoothedEmpirical(points=x, bandwidth=0.2, bounds=(0, 1))
    expected = np.zeros(30)
    for sign, offset in d._domain.images:
        expected += SmoothedEmpirical(points=x, bandwidth=0.2).prob(x * sign + offset)
    np.testing.assert_allclose(d.prob(x), expected, rtol=1e-12)


def test_periods_of_several_coordinates():
    x = np.array([[25.0, 30.0], [-1.0, 2.0]])
    given = {
        24: [[1.0, 6.0], [23.0, 2.0]],
        (24, None): [[1.0, 30.0], [23.0, 2.0]],
        (-12, 12): [[1.0, 6.0], [-1.0, 2.0]],
    }
    for period, expected in given.items():
        np.testing.assert_array_equal(
            SmoothedEmpirical(points=x, bandwidth=1.0, period=period).points, expected
        )
