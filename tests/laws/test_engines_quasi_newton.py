"""Quasi-Newton and proximal Newton searches: downhill, optimal, certified, whatever guess they are given."""

import array_api_strict
import numpy as np
import pytest

from tractable.engines.lbfgs import _Pairs, lbfgs
from tractable.engines.sparse import proximal_newton
from tractable.engines.sparse.proximal_newton import violations
from tractable.primitives.sparse import coordinate_sweeps
from tractable.primitives.sparse.agnostic import coordinate_sweeps as obvious


def quartic(rng, m=6, spread=100.0):
    """A smooth convex function that is no quadratic, its value, slope and Hessian."""
    A = rng.standard_normal((2 * m, m)) * np.geomspace(1.0, spread, m)
    b = rng.standard_normal(2 * m)

    def slope(x):
        r = A @ x - b
        return 0.5 * np.sum(r * r) + 0.25 * np.sum(r**4), A.T @ (r + r**3)

    def hessian(x):
        r = A @ x - b
        return A.T @ ((1.0 + 3.0 * r * r)[:, None] * A)

    return slope, hessian


def solving(hessian):
    return lambda x: lambda g: np.linalg.solve(hessian(x), g)


@pytest.mark.parametrize("exact", [True, False])
def test_quasi_newton_finds_the_minimum(exact, rng):
    slope, hessian = quartic(rng)
    rough = hessian if exact else lambda x: hessian(x) + 0.3 * np.diag(np.diag(hessian(x)))
    found = lbfgs(slope, np.zeros(6), curvature=solving(rough), tol=1e-15)
    assert found.converged
    scale = np.sqrt(np.diag(hessian(found.x)))
    np.testing.assert_allclose(found.gradient / scale, 0.0, atol=1e-5)
    assert np.all(np.diff(found.trace) <= 0.0)
    assert found.value == found.trace[-1]


def two_loops(pairs, gradient, initial):
    """The recursion as it is printed (Nocedal and Wright 2006, algorithm 7.4); the oldest pair first."""
    q, parts = gradient.copy(), []
    for s, y in reversed(pairs):
        parts.append((s @ q) / (s @ y))
        q = q - parts[-1] * y
    found = initial(q)
    for (s, y), part in zip(pairs, reversed(parts), strict=True):
        found = found + s * (part - (y @ found) / (s @ y))
    return found


@pytest.mark.parametrize("n_pairs", [1, 3, 4, 9, 14])
def test_directions_are_those_of_the_two_loops_over_the_last_pairs(n_pairs, rng):
    hessian = np.cov(rng.standard_normal((5, 40)))
    steps = rng.standard_normal((n_pairs, 5))
    known, held = [(s, hessian @ s) for s in steps][-3:], _Pairs(5, 3)
    for s in steps:
        held.add(s, hessian @ s)
    gradient, (s, y) = rng.standard_normal(5), known[-1]
    sizes = np.diag(hessian)
    initials = {
        "by the last pair": (None, lambda q: q * (s @ y) / (y @ y)),
        "by sizes": (lambda g: g / sizes, lambda q: q / sizes * (s @ y) / (y @ (y / sizes))),
    }
    for solve, initial in initials.values():
        found = held.direction(gradient, solve)
        np.testing.assert_allclose(found, two_loops(known, gradient, initial), rtol=1e-9)
    held.add(steps[0], -hessian @ steps[0])  # of a negative curvature: left out
    np.testing.assert_array_equal(held.direction(gradient, solve), found)
    held.forget()
    np.testing.assert_array_equal(held.direction(gradient, lambda g: 2.0 * g), 2.0 * gradient)


def test_a_curvature_may_be_too_large_everywhere(rng):
    """A thousandfold diagonal takes about as many steps as the right one."""
    slope, hessian = quartic(rng, spread=3.0)

    def steps(factor):
        sizes = factor * np.diag(hessian(np.zeros(6)))
        return lbfgs(slope, np.zeros(6), initial=lambda g: g / sizes, tol=1e-12, max_iter=2000).n_iter

    assert steps(1e3) <= steps(1.0) + 5


def test_a_curvature_takes_the_place_of_the_initial_matrix(rng):
    """Sizes alone take many steps where columns are correlated; a curvature later on ends the search soon."""
    slope, hessian = quartic(rng)
    sizes = np.diag(hessian(np.zeros(6)))
    options = {"initial": lambda g: g / sizes, "tol": 1e-12, "max_iter": 2000}
    alone = lbfgs(slope, np.zeros(6), **options)
    helped = lbfgs(slope, np.zeros(6), curvature=solving(hessian), refresh=(8, 10, 12), **options)
    assert 8 < helped.n_iter < alone.n_iter
    np.testing.assert_allclose(helped.value, alone.value, rtol=1e-10)


def test_differences_of_gradients_mend_a_poor_guess(rng):
    """With those of ten steps fewer are needed than with those of one."""
    slope, hessian = quartic(rng, spread=3.0)

    def poor(x):
        return np.diag(np.diag(hessian(x)))

    def steps(memory):
        return lbfgs(
            slope, np.ones(6), curvature=solving(poor), memory=memory, tol=1e-12, max_iter=2000
        ).n_iter

    assert steps(10) < 0.8 * steps(1)


def test_quasi_newton_says_when_steps_run_out(rng):
    slope, hessian = quartic(rng)
    found = lbfgs(slope, 30.0 * np.ones(6), curvature=solving(hessian), max_iter=2)
    assert (found.n_iter, found.converged, len(found.trace)) == (2, False, 3)
    with pytest.raises(ValueError, match="start"):
        lbfgs(slope, np.full(6, np.nan), curvature=solving(hessian))


def test_the_caller_may_ask_for_a_smaller_gradient():
    """x + e^(20 - x) curves so much at 0 that steps promise little; its gradient tells."""

    def far(x):
        pull = 1e-8 * np.exp(20.0 - x)
        return 100.0 + 1e-8 * float(x[0]) + float(pull[0]), 1e-8 - pull

    def solve(x):
        return lambda g: g * np.exp(x - 20.0) * 1e8

    early = lbfgs(far, np.zeros(1), curvature=solve, refresh=range(99), tol=1e-4)
    assert early.converged
    assert abs(early.x[0] - 20.0) > 1.0
    late = lbfgs(
        far,
        np.zeros(1),
        curvature=solve,
        refresh=range(99),
        tol=1e-4,
        settled=lambda x, g: bool(np.abs(g[0]) < 1e-11),
    )
    assert late.converged
    np.testing.assert_allclose(late.x, 20.0, atol=1e-3)


def test_steps_after_convergence_may_be_asked_for(rng):
    """The curvature is kept, and the error comes down to rounding."""
    slope, hessian = quartic(rng)
    asked = []

    def counted(x):
        asked.append(x)
        return solving(hessian)(x)

    def found(**options):
        asked.clear()
        return lbfgs(slope, np.zeros(6), curvature=counted, refresh=range(99), **options), len(asked)

    (least, _), (plain, n), (more, m) = found(tol=1e-16), found(tol=1e-6), found(tol=1e-6, final_tol=1e-20)
    assert n == m
    assert plain.n_iter < more.n_iter <= plain.n_iter + 3
    assert plain.converged
    assert more.converged
    errors = [np.max(np.abs(f.x - least.x) / np.abs(least.x)) for f in (plain, more)]
    assert errors[0] > 1e-9
    assert errors[1] < 1e-4 * errors[0]


def test_a_start_at_the_minimum_stays():
    found = lbfgs(lambda x: (x @ x, 2 * x), np.zeros(3), curvature=lambda x: lambda g: g / 2)
    assert found.converged
    assert found.x.tolist() == [0.0, 0.0, 0.0]
    assert found.n_iter == 0


def test_no_curvature_is_needed(rng):
    slope, hessian = quartic(rng, spread=3.0)
    found = lbfgs(slope, np.ones(6), tol=1e-15, max_iter=500)
    assert found.converged
    least = lbfgs(slope, np.zeros(6), curvature=solving(hessian), refresh=range(99), tol=1e-15)
    np.testing.assert_allclose(found.x, least.x, rtol=1e-5)
    assert np.all(np.diff(found.trace) <= 0.0)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_proximal_newton_satisfies_karush_kuhn_and_tucker(share, rng):
    slope, hessian = quartic(rng, m=12, spread=10.0)
    top = np.abs(slope(np.zeros(12))[1])
    price = share * np.where(np.arange(12) == 0, 0.0, top.max())  # the first is free
    found = proximal_newton.proximal_newton(slope, hessian, np.zeros(12), price, tol=1e-16)
    assert found.converged
    left = violations(found.x, slope(found.x)[1], price)
    assert np.max(left) <= 1e-7 * top.max()
    np.testing.assert_allclose(found.violation, np.max(left))
    assert found.x[0] != 0.0
    assert np.any(found.x[1:] == 0.0)
    assert np.all(np.diff(found.trace) <= 0.0)


def test_no_point_is_lower(rng):
    """The objective at the end is below that at points around it, on every side."""
    slope, hessian = quartic(rng, m=5, spread=4.0)
    price = 0.2 * np.full(5, np.abs(slope(np.zeros(5))[1]).max())
    found = proximal_newton.proximal_newton(slope, hessian, rng.standard_normal(5), price, tol=1e-16)

    def value(x):
        return slope(x)[0] + price @ np.abs(x)

    np.testing.assert_allclose(found.value, value(found.x), rtol=1e-12)
    for _ in range(200):
        step = rng.standard_normal(5) * 10.0 ** rng.uniform(-6, 0)
        assert value(found.x + step) >= found.value * (1.0 - 1e-14)


def test_proximal_newton_copes_with_equal_columns(rng):
    """A singular curvature: many minima, any of which satisfies the conditions."""
    A = rng.standard_normal((20, 3))
    A = np.column_stack([A, A[:, 0], np.zeros(20)])
    b = rng.standard_normal(20)
    price = np.full(5, 0.5)
    found = proximal_newton.proximal_newton(
        lambda x: (0.5 * np.sum((A @ x - b) ** 2), A.T @ (A @ x - b)), lambda x: A.T @ A, np.zeros(5), price
    )
    assert found.converged
    assert found.violation < 1e-9
    assert found.x[4] == 0.0


def shifted_pairs():
    """½ (x_0 - x_1 - 2)²: adding a number to both changes nothing but the price."""
    b = np.array([1.0, -1.0])
    return (lambda x: (0.5 * (b @ x - 2.0) ** 2, b * (b @ x - 2.0))), (lambda x: np.outer(b, b))


@pytest.mark.parametrize("start", [[5.0, 4.0], [-3.0, -7.0], [0.0, 0.0]])
def test_a_flat_direction_is_decided_by_the_price(start):
    """From planes of one sign the linear system on them has no solution."""
    slope, hessian = shifted_pairs()
    found = proximal_newton.proximal_newton(slope, hessian, np.array(start), np.array([0.1, 0.2]))
    assert found.converged
    np.testing.assert_allclose(found.x, [1.9, 0.0], atol=1e-9)


def test_a_system_without_a_solution_is_seen(monkeypatch):
    """Both coordinates above zero: their prices pull along the flat direction, and no point suits both."""
    slope, hessian = shifted_pairs()
    x, price = np.array([5.0, 4.0]), np.full(2, 0.1)
    asked = hessian(x), slope(x)[1], price, x, x
    assert proximal_newton._on_support(*asked) is None
    monkeypatch.setattr(proximal_newton, "_SOLVED", np.inf)  # what was done before
    accepted = proximal_newton._on_support(*asked)
    assert violations(accepted, slope(accepted)[1], price).max() > 0.05


def test_a_model_badly_solved_is_not_converged(monkeypatch):
    """Where steps stop short of the minimum of their model, the conditions of optimality tell."""
    slope, hessian = shifted_pairs()
    monkeypatch.setattr(proximal_newton, "_least_of_model", lambda h, g, price, x: x)
    stuck = proximal_newton.proximal_newton(slope, hessian, np.zeros(2), np.full(2, 0.1))
    assert stuck.violation > 1.0
    assert not stuck.converged


def test_breaches_may_be_judged_by_the_caller():
    slope, hessian = shifted_pairs()
    never = proximal_newton.proximal_newton(
        slope, hessian, np.zeros(2), np.full(2, 0.1), settled=lambda x, left: False
    )
    assert never.violation < 1e-9
    assert not never.converged


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("n_sweeps", [0, 1, 7])
def test_compiled_sweeps_equal_the_obvious_ones(n_sweeps, positive, rng):
    A = rng.standard_normal((12, 8))
    hessian = A.T @ A
    hessian[5], hessian[:, 5] = 0.0, 0.0
    slope, price, x = rng.standard_normal(8), rng.uniform(0.0, 1.0, 8), rng.standard_normal(8)
    kept = x.copy(), slope.copy()
    u, q = coordinate_sweeps(hessian, slope, price, x, n_sweeps, positive=positive)
    expected = obvious(hessian, slope, price, x, n_sweeps, positive)
    assert not (positive and n_sweeps) or (np.delete(u, 5) >= 0.0).all()
    np.testing.assert_allclose(u, expected[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(q, expected[1], rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(q, slope + hessian @ (u - x), rtol=1e-10, atol=1e-11)
    assert u[5] == x[5]
    np.testing.assert_array_equal(x, kept[0])
    np.testing.assert_array_equal(slope, kept[1])
    strict = [array_api_strict.asarray(part) for part in (hessian, slope, price, x)]
    swept = coordinate_sweeps(*strict, n_sweeps, positive=positive)[0]
    np.testing.assert_allclose(np.asarray(swept), u, rtol=1e-10, atol=1e-12)


def test_read_only_arrays_are_swept(rng):
    parts = [np.eye(3), rng.standard_normal(3), np.ones(3), rng.standard_normal(3)]
    for part in parts:
        part.setflags(write=False)
    u, _ = coordinate_sweeps(*parts, 3)
    wanted = parts[3] - parts[1]
    np.testing.assert_allclose(u, np.sign(wanted) * np.maximum(np.abs(wanted) - 1.0, 0.0))
