"""Newton's method from many rows at once: each on its own, to its own maximum, in every library."""

import numpy as np
import pytest

from tractable.arrays.namespace import namespace_of, to_numpy
from tractable.engines.mode_search import Ascent, Expansion, newton_ascent, newton_modes, newton_step


def hyperbolas(centers, *, with_value=True):
    """f = -Σ √(1 + (x - c)²), whose full steps diverge from farther than 1 away."""

    def ascent(x, rows):
        xp = namespace_of(x)
        away = x - xp.take(centers, rows, axis=0)
        root = xp.sqrt(1.0 + away**2)
        value = -xp.sum(root, axis=-1)
        return Ascent(value if with_value else xp.zeros_like(value), -away / root, -away * root**2)

    return ascent


@pytest.mark.parametrize("with_value", [True, False])
def test_every_row_has_a_maximum_of_its_own(with_value, rng):
    centers = rng.standard_normal((50, 3))
    starts = centers + 10.0 ** rng.uniform(-3, 2, size=(50, 3))
    ends, converged = newton_ascent(hyperbolas(centers, with_value=with_value), starts)
    assert converged.all()
    np.testing.assert_allclose(ends, centers, atol=1e-12)


def test_rows_do_not_disturb_each_other(rng):
    centers, starts = rng.standard_normal((2, 20, 2))
    starts[:10] *= 50.0
    together, _ = newton_ascent(hyperbolas(centers), starts)
    alone = [newton_ascent(hyperbolas(centers[i : i + 1]), starts[i : i + 1])[0][0] for i in range(20)]
    np.testing.assert_array_equal(together, alone)


def test_rows_that_have_ended_are_not_expanded():
    """A quadratic is done in a step; only the row that is none goes on."""
    seen = []

    def ascent(x, rows):
        seen.append(rows.tolist())
        hyperbola = hyperbolas(np.zeros((3, 1)))(x, rows)
        quadratic = Ascent(-0.5 * x[:, 0] ** 2, -x, -x)
        parts = zip(hyperbola, quadratic, (rows == 2, rows[:, None] == 2, rows[:, None] == 2), strict=True)
        return Ascent(*(np.where(last, a, b) for a, b, last in parts))

    newton_ascent(ascent, np.array([[3.0], [-2.0], [5.0]]), tol=1e-9)
    assert seen[:2] == [[0, 1, 2]] * 2
    assert len(seen) > 3
    assert all(rows == [2] for rows in seen[2:])


def test_too_few_steps_are_reported():
    ends, converged = newton_ascent(hyperbolas(np.zeros((2, 1))), np.array([[0.0], [90.0]]), max_iter=2)
    assert converged.tolist() == [True, False]
    assert ends[0] == 0.0


def test_a_step_to_where_nothing_is_defined_is_halved():
    def cliff(x, _):
        value = np.where(np.abs(x[:, 0]) <= 1.0, x[:, 0], np.nan)
        return Ascent(value, np.ones_like(x), np.full_like(x, 8.0))

    ends, _ = newton_ascent(cliff, np.array([[0.0], [0.5]]))
    np.testing.assert_allclose(ends, 1.0, atol=1e-12)


def test_an_indefinite_hessian_makes_an_ascent(rng):
    matrices = rng.standard_normal((30, 4, 4))
    metric = np.eye(4) + 0.1 * np.swapaxes(matrices, 1, 2) @ matrices
    curvature = matrices + np.swapaxes(matrices, 1, 2)
    gradient = rng.standard_normal((30, 4))
    values, step = newton_step(Expansion(np.zeros(30), gradient, curvature, metric))
    assert (values < 0.0).any()
    assert (np.sum(gradient * step, axis=1) > 0.0).all()


def test_ascents_in_every_library(backend):
    centers = backend.asarray(np.array([[1.0, -2.0], [0.0, 3.0]]))
    ends, converged = newton_ascent(hyperbolas(centers), backend.asarray(np.array([[9.0, 1.0], [-4.0, 3.5]])))
    assert backend.owns(ends)
    assert bool(namespace_of(converged).all(converged))
    np.testing.assert_allclose(to_numpy(ends), to_numpy(centers), atol=1e-12)


def test_modes_of_a_double_well():
    def quartic(x):  # log p = 2 x² - x⁴
        slope, bend = 4.0 * x - 4.0 * x**3, (12.0 * x**2 - 4.0)[..., None]
        return Expansion((2.0 * x**2 - x**4)[:, 0], slope, bend, np.full((len(x), 1, 1), 8.0))

    found = newton_modes(quartic, np.array([[-0.3], [0.0], [0.5], [2.0]]), n_shifts=0)
    np.testing.assert_allclose(np.sort(found[:, 0]), [-1.0, 1.0], rtol=1e-14)
