"""Sums of windows against long doubles and mpmath: near, far, heavy, light, repeated, isolated."""

import mpmath
import numpy as np
import pytest

from tractable.primitives import native
from tractable.primitives.kernel_sums import (
    KINDS,
    kernel_spreads,
    left_out_scales,
    log_kernel_sums,
    tree_sums,
)
from tractable.primitives.kernel_sums.agnostic import log_kernel_sums as agnostic
from tractable.primitives.kernel_sums.line import line_sums, tail_sums
from tractable.smoothing import WINDOWS

NAMES = sorted(KINDS)


def crowd(rng):
    """Points in crowds, alone, repeated, and of weights from 1e-8 to 1e4."""
    x = np.concatenate([10.0 * rng.standard_normal(400), 0.1 * rng.standard_normal(300), [60.0, 60.5, 61.0]])
    x = np.concatenate([x, np.full(50, 3.0), [4e3]])
    return x, rng.gamma(1.0, size=len(x)) * 10.0 ** rng.integers(-8, 4, size=len(x))


def heights(name, s):
    """Profiles in long doubles."""
    r = np.sqrt(s)
    inside = s <= 1
    with np.errstate(under="ignore"):
        return {
            "gaussian": lambda: np.exp(-s / 2),
            "laplace": lambda: np.exp(-r),
            "tophat": lambda: inside + 0 * s,
            "triangular": lambda: inside * (1 - r),
            "epanechnikov": lambda: inside * (1 - s),
            "biweight": lambda: inside * (1 - s) ** 2,
            "cosine": lambda: inside * np.sin(np.pi / np.longdouble(2) * (1 - r)),
        }[name]()


def oracle(name, q, x, w):
    wide = [np.asarray(a, dtype=np.longdouble) for a in (q, x, w)]
    squares = ((wide[0][:, None] - wide[1][None]) ** 2).sum(-1)
    return heights(name, squares) @ wide[2]


def assert_digits(log_sums, expected, rtol=1e-12):
    some = expected > 0
    np.testing.assert_array_equal(np.isfinite(log_sums), some)
    log = np.log(expected[some]).astype(float)
    assert np.all(np.abs(log_sums[some] - log) <= rtol * np.maximum(1.0, np.abs(log)))


@pytest.mark.spec("DENS-06", "DENS-24")
@pytest.mark.parametrize("name", NAMES)
def test_sums_on_a_line(name, rng):
    x, w = crowd(rng)
    q = np.concatenate([12.0 * rng.standard_normal(300), x[:50], x[:20] + 1.0, np.linspace(-120, 130, 101)])
    expected = oracle(name, q[:, None], x[:, None], w)
    assert_digits(line_sums(x, w, name).log_sums(q), expected)
    assert_digits(log_kernel_sums(q[:, None], x[:, None], w, WINDOWS[name].log_profile, name), expected)
    assert_digits(agnostic(q[:, None], x[:, None], w, WINDOWS[name].log_profile), expected)


@pytest.mark.spec("DENS-12")
@pytest.mark.parametrize("dim", [2, 5, 9])
@pytest.mark.parametrize("name", NAMES)
def test_sums_in_space(name, dim, rng):
    x, q, w = rng.standard_normal((700, dim)), 1.5 * rng.standard_normal((80, dim)), rng.gamma(1.0, size=700)
    for weights in (w, np.ones(700)):
        expected = oracle(name, q, x, weights)
        given = None if weights is not w else w
        assert_digits(log_kernel_sums(q, x, given, WINDOWS[name].log_profile, name), expected)
        assert_digits(agnostic(q, x, weights, WINDOWS[name].log_profile), expected)


@pytest.mark.parametrize("name", ["gaussian", "laplace"])
def test_far_queries_keep_their_digits(name, rng):
    """Where every term is below the least number, against mpmath."""
    x, w = 3.0 * rng.standard_normal(60), rng.gamma(1.0, size=60)
    q = np.array([-1e8, -3e3, -50.0, -12.0, 60.0, 1e5])
    with mpmath.workdps(60):
        power = {"gaussian": lambda r: -r * r / 2, "laplace": lambda r: -r}[name]
        expected = [
            float(
                mpmath.log(
                    sum(
                        mpmath.mpf(b) * mpmath.exp(power(abs(mpmath.mpf(a) - mpmath.mpf(c))))
                        for b, c in zip(w, x, strict=True)
                    )
                )
            )
            for a in q
        ]
    np.testing.assert_allclose(line_sums(x, w, name).log_sums(q), expected, rtol=1e-13)
    direct = log_kernel_sums(q[:, None], x[:, None], w, WINDOWS[name].log_profile, name)
    np.testing.assert_allclose(direct, expected, rtol=1e-13)


@pytest.mark.spec("DENS-15")
@pytest.mark.parametrize("name", NAMES)
def test_left_out_sums(name, rng):
    """Less than the whole weight, all of it, and of points that stand alone: no digits cancel."""
    x, w = crowd(rng)
    left = np.where(rng.random(len(x)) < 0.5, w, np.minimum(w, 1.0))
    each = w - left * np.eye(len(x), dtype=np.longdouble)
    wide = x.astype(np.longdouble)
    expected = (heights(name, (wide[:, None] - wide[None]) ** 2) * each).sum(1)
    lone = (expected == 0) & (name in ("gaussian", "laplace"))  # beyond long doubles too
    sums = line_sums(x, w, name)
    found = np.empty(len(x))
    found[sums.order] = sums.log_left_out(left[sums.order])[0]
    direct = log_kernel_sums(x[:, None], x[:, None], w, WINDOWS[name].log_profile, name, left)
    slow = agnostic(x[:, None], x[:, None], w, WINDOWS[name].log_profile, left)
    for log_sums in (found, direct, slow):
        assert_digits(log_sums[~lone], expected[~lone], rtol=1e-10)
    np.testing.assert_allclose(found[lone], slow[lone], rtol=1e-12)
    np.testing.assert_allclose(direct[lone], slow[lone], rtol=1e-12)


def test_left_out_sums_in_blocks_are_those_of_the_whole(rng):
    x, w = rng.standard_normal((50, 3)), rng.gamma(1.0, size=50)
    left = np.minimum(w, 1.0)
    profile = WINDOWS["gaussian"].log_profile
    whole = log_kernel_sums(x, x, w, profile, "gaussian", left)
    for twin in (log_kernel_sums, lambda *a: agnostic(*a[:4], *a[5:])):
        part = twin(x[20:35], x, w, profile, "gaussian", left[20:35], 20)
        np.testing.assert_allclose(part, whole[20:35], rtol=1e-13)


def test_many_bandwidths_at_once(rng):
    x, w = rng.standard_normal((600, 2)), rng.gamma(1.0, size=600)
    rates = 0.02 * 2.0 ** (np.arange(24) / 4)
    for weights in (w, None):
        found = left_out_scales(x[100:200], x, weights, 100, rates, 4)
        squares = ((x[100:200, None] - x[None]) ** 2).sum(-1).astype(np.longdouble)
        squares[np.arange(100), np.arange(100, 200)] = np.inf
        counts = w if weights is w else np.ones(600)
        expected = np.stack([np.exp(-rate * squares) @ counts for rate in rates], axis=1).astype(float)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_spreads_are_weighted_mean_squares(rng):
    x, w = rng.standard_normal(300), rng.gamma(1.0, size=300)
    squares = (x[:, None] - x) ** 2
    terms = np.exp(-0.5 * squares) * w * (1 - np.eye(300))
    expected = (squares * terms).sum(1) / terms.sum(1)
    sums = line_sums(x, w, "gaussian")
    logs, found = sums.log_left_out(w[sums.order], spread=True)
    np.testing.assert_allclose(found, expected[sums.order], rtol=1e-9)
    back = np.empty(300)
    back[sums.order] = logs
    np.testing.assert_allclose(kernel_spreads(x[:, None], x[:, None], w, 0, back), expected, rtol=1e-10)


def test_one_far_point_does_not_make_bins_between():
    x = np.array([0.0, 1.0, 1e15])
    sums = line_sums(x, np.ones(3), "gaussian")
    assert len(sums.parts[1]) == 3 if native(x) else sums.parts == ()
    np.testing.assert_allclose(sums.log_sums(np.array([1e15])), 0.0, atol=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_the_number_of_threads_changes_no_bit(name, rng, monkeypatch):
    x, w = rng.standard_normal((9000, 2)), rng.gamma(1.0, size=9000)
    left, queries, found = np.minimum(w, 1.0), np.linspace(-3.0, 3.0, 5000), []
    for threads in ("1", "2", "4"):
        monkeypatch.setenv("TRACTABLE_NUM_THREADS", threads)
        line = line_sums(x[:, 0], w, name, 0.1)
        tree = tree_sums(x / 0.2, w, name)
        found.append(
            [
                *(line.log_sums(queries), *line.log_left_out(left, spread=name == "gaussian")),
                *(tail_sums(line).cdf(queries), tail_sums(line).cdf(queries, upper=True)),
                *(*tree.log_sums(x[:500]), *tree.log_sums(x[:500], left[:500])),
                log_kernel_sums(x[:300], x, w, WINDOWS[name].log_profile, name),
                kernel_spreads(x[:99], x, w, 0, np.zeros(99)),
                left_out_scales(x[:99], x, w, 0, np.array([1.0, 2.0]), 1),
            ]
        )
    for other in found[1:]:
        for mine, theirs in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 511, 512, 513])
def test_every_number_of_points(name, n, rng):
    """At the edges of tiles; queries of any memory order, single precision and read-only, and none."""
    x, w = rng.standard_normal((n, 3)), rng.gamma(1.0, size=n)
    q = np.repeat(rng.standard_normal((9, 3)).astype(np.float32), 2, axis=0)[::2]
    q.flags.writeable = False
    profile = WINDOWS[name].log_profile
    for given in (q, np.asfortranarray(q), q[:0]):
        found = log_kernel_sums(given, np.asfortranarray(x), w, profile, name)
        np.testing.assert_allclose(
            found, agnostic(given.astype(float), x, w, profile), rtol=1e-12, atol=1e-12
        )


def test_a_query_that_is_no_number_has_no_sum(rng):
    x = rng.standard_normal((600, 2))
    q = np.array([[0.0, np.nan], [0.0, 0.0], [np.inf, 0.0]])
    found = log_kernel_sums(q, x, None, WINDOWS["gaussian"].log_profile, "gaussian")
    assert not found[0] > -np.inf
    assert np.isfinite(found[1])
    assert found[2] == -np.inf


def test_queries_that_are_no_points_are_refused(rng):
    x = rng.standard_normal((6, 2))
    with pytest.raises((ValueError, IndexError)):
        kernel_spreads(x, x, None, 3, np.zeros(6))
