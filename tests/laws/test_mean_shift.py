"""Laws of mean shift, and mutants that they reject."""

import numpy as np
import pytest

from tractable.density.mean_shift import modes as mean_shift_modes
from tractable.primitives import mean_shift
from tractable.primitives.mean_shift import ascend, expand, kernel_field


def hills(rng, dim):
    points = rng.standard_normal((300, dim)) + 6.0 * rng.integers(0, 2, (300, dim))
    return points, rng.uniform(0.5, 3.0, 300)


def shadow(points, weights, x, flat):
    """The sum that the window climbs: Epanechnikov's windows for the flat one, the Gaussian for itself."""
    squared = np.sum((x[:, None] - points) ** 2, axis=2)
    return (np.maximum(1.0 - squared, 0.0) if flat else np.exp(-0.5 * squared)) @ weights


def every_step_climbs(step, rng, dim=2, flat=True):
    """No step of mean shift goes down, and the first steps go up."""
    points, weights = hills(rng, dim)
    x, risen = points.copy(), 0.0
    before = shadow(points, weights, x, flat)
    for _ in range(20):
        x = step(points, weights, x, flat)
        after = shadow(points, weights, x, flat)
        assert np.all(after >= before * (1.0 - 1e-9)), "a step went down"
        risen, before = risen + np.sum(after - before), after
    assert risen > 0.0


def one_step(points, weights, x, flat):
    return ascend(kernel_field(points, weights), x, flat=flat, tol=0.0, max_iter=1).ends


def forgets_weights(points, _weights, x, flat):
    return one_step(points, np.ones(len(points)), x, flat)


def steps_too_far(points, weights, x, flat):
    return x + 5.0 * (one_step(points, weights, x, flat) - x)


def takes_the_median(points, _weights, x, flat):
    near = np.sum((x[:, None] - points) ** 2, axis=2) <= (1.0 if flat else 4.0)
    return np.stack([np.median(points[row], axis=0) for row in near])


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("dim", [1, 2, 4])
@pytest.mark.spec("DENS-19")
def test_every_step_climbs(dim, flat, rng):
    every_step_climbs(one_step, rng, dim, flat)


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("mutant", [forgets_weights, steps_too_far, takes_the_median])
def test_the_law_of_climbing_has_power(mutant, flat, rng):
    with pytest.raises(AssertionError):
        every_step_climbs(mutant, rng, 2, flat)


def balls_belong_to_their_modes(radii_of, rng):
    """From the rim of its ball every climb ends at the mode, each step nearer than the last."""
    points, weights = hills(rng, 2)
    terrain = kernel_field(points / 0.7, weights)
    centers = mean_shift_modes.gaussian_modes(terrain, points / 0.7, 500)[0].centers
    radii = radii_of(terrain, centers)
    turns = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    rim = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    assert np.any(radii > 0.0)
    for center, radius in zip(centers, radii, strict=True):
        x, away = center + radius * rim, radius
        for _ in range(30):
            x = ascend(terrain, x, flat=False, tol=0.0, max_iter=1).ends
            nearer = np.sqrt(np.sum((x - center) ** 2, axis=1)).max()
            assert nearer <= away * (1.0 + 1e-9) + 1e-9, "a step led away"
            away = nearer


def test_balls_belong_to_their_modes(rng):
    balls_belong_to_their_modes(mean_shift_modes.capture_radii, rng)


def test_the_law_of_balls_has_power(rng):
    """Half the way to a neighbour and more is not one's own."""
    with pytest.raises(AssertionError):
        balls_belong_to_their_modes(lambda _terrain, centers: np.full(len(centers), 8.0), rng)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("flat", [True, False])
def test_threads_change_nothing(threads, flat, rng, monkeypatch):
    points, weights = hills(rng, 2)
    find = mean_shift_modes.flat_modes if flat else mean_shift_modes.gaussian_modes
    modes, reached = find(kernel_field(points, weights), points, 300)
    monkeypatch.setenv("TRACTABLE_NUM_THREADS", str(threads))
    monkeypatch.setattr(mean_shift, "BLOCK", 7)
    again, reached_again = find(kernel_field(points, weights), points, 300)
    np.testing.assert_array_equal(again.centers, modes.centers)
    np.testing.assert_array_equal(reached_again, reached)


def test_the_expansion_is_of_the_logarithm(rng):
    """Steps are the gradient of log p, and I - C minus its Hessian."""
    points, weights = hills(rng, 3)
    terrain, x, eps = kernel_field(points, weights), points[:20], 1e-5
    _, shift, spread = expand(terrain, x)
    for k, e in enumerate(eps * np.eye(3)):
        up, down = expand(terrain, x + e), expand(terrain, x - e)
        np.testing.assert_allclose((up[0] - down[0]) / (2 * eps), shift[:, k], atol=1e-7)
        hessian = (up[1] - down[1]) / (2 * eps)
        np.testing.assert_allclose(hessian, spread[:, :, k] - np.eye(3)[k], atol=1e-7)
