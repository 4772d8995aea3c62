"""Maximum likelihood of the continuous families: optimality, streams, weights, batches and refusals."""

from dataclasses import fields

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tractable
from tractable.arrays.gradient import numerical_gradient
from tractable.arrays.namespace import to_numpy
from tractable.data.blocks import BLOCK_ENTRIES, map_draws, map_entries
from tractable.distributions import Beta, Gamma, InverseGamma, Laplace, Normal, StudentT, Uniform
from tractable.statistics import LogMoments, UnitLogMoments
from tractable.testing.assertions import assert_mean


def positive(shape):
    return lambda rng: Gamma(shape=shape, rate=3.0).sample(200, rng=rng)


CASES = [
    *((Gamma, positive(a), ("shape", "rate")) for a in (0.05, 0.7, 3.0, 1e3, 1e8)),
    *((InverseGamma, positive(a), ("shape", "scale")) for a in (0.7, 3.0, 1e3, 1e8)),
    *(
        (Beta, lambda rng, a=a, b=b: Beta(alpha=a, beta=b).sample(200, rng=rng), ("alpha", "beta"))
        for a, b in ((0.5, 0.5), (2.0, 5.0), (0.3, 40.0), (3.0, 1e6), (1e4, 3e4), (1e8, 1e8))
    ),
    (StudentT, lambda rng: 5.0 + 2.0 * rng.standard_t(3.0, 300), ("dof", "location", "scale")),
    (StudentT, lambda rng: 1e6 + 1e-3 * rng.standard_t(1.5, 300), ("dof", "location", "scale")),
]


@pytest.mark.parametrize(("family", "draw", "names"), CASES)
def test_the_slope_of_the_likelihood_is_zero_at_the_fit(family, draw, names, rng):
    x = draw(rng)
    d = family.fit(x)
    best = np.array([float(getattr(d, name)) for name in names])
    spread = np.array([1.0 if name != "location" else float(d.scale) for name in names])

    def likelihood(step):
        """The mean log density by relative steps of parameters, and of the location in units of the scale."""
        moved = [
            b + s * t if n == "location" else b * np.exp(t)
            for b, s, t, n in zip(best, spread, step, names, strict=True)
        ]
        return family(**dict(zip(names, moved, strict=True))).log_prob(x).mean()

    slope = numerical_gradient(likelihood, np.zeros(len(names)))
    size = (
        1.0
        + max(float(getattr(d, name)) for name in names if name in ("shape", "alpha", "beta", "dof")) ** 0.5
    )
    np.testing.assert_allclose(slope, 0.0, atol=1e-6 * size)


@pytest.mark.parametrize("shape", [1e-6, 0.01, 0.5, 1.0, 20.0, 1e4, 1e9, 1e14])
def test_the_shape_of_a_gamma_solves_its_equation(shape):
    """From the gap that belongs to a shape: log a - ψ(a), at 60 digits."""
    with mpmath.workdps(60):
        a = mpmath.mpf(shape)
        gap = float(mpmath.log(a) - mpmath.digamma(a))
    d = Gamma.from_statistic(LogMoments(weight=10.0, mean=np.array([2.0]), gap=np.array([gap])))
    np.testing.assert_allclose(d.shape, [shape], rtol=1e-13)
    np.testing.assert_allclose(d.mean, [2.0])


@given(log_alpha=st.floats(-6.0, 20.0), log_ratio=st.floats(-12.0, 12.0))
def test_a_beta_solves_its_equations(log_alpha, log_ratio):
    """From the expected statistic of a Beta back to its parameters, all over the plane."""
    with mpmath.workdps(60):
        a, b = mpmath.exp(mpmath.mpf(log_alpha)), mpmath.exp(mpmath.mpf(log_alpha + log_ratio))
        gaps = [mpmath.log(x / (a + b)) - mpmath.digamma(x) + mpmath.digamma(a + b) for x in (a, b)]
        mean, gap, other = (np.array([float(v)]) for v in (a / (a + b), *gaps))
    d = Beta.from_statistic(UnitLogMoments(weight=1.0, mean=mean, gap=gap, other_gap=other))
    digits = 1e-10 + 1e-13 / min(float(gap[0]), float(other[0]))
    np.testing.assert_allclose([d.alpha[0], d.beta[0]], [float(a), float(b)], rtol=digits)


@pytest.mark.parametrize(
    ("family", "x"),
    [
        (Uniform, lambda rng: rng.standard_normal((500, 3))),
        (Normal, lambda rng: rng.standard_normal((500, 3))),
        (Beta, lambda rng: rng.beta(2.0, 0.7, (500, 3))),
        (Gamma, lambda rng: rng.gamma(0.4, size=(500, 3))),
        (InverseGamma, lambda rng: 1.0 / rng.gamma(4.0, size=(500, 3))),
    ],
)
def test_a_stream_gives_the_fit_of_the_whole(family, x, rng, tmp_path):
    x, w = x(rng), rng.random(500)
    whole = family.fit(x, w)
    streamed = family.from_statistic(tractable.fold(family.statistic.of, x, weights=w, rows=37))
    for name in family.parameter_ndims:
        np.testing.assert_allclose(getattr(streamed, name), getattr(whole, name), rtol=1e-11)


FAMILIES = {
    Uniform: lambda rng, n: rng.random(n),
    Normal: lambda rng, n: rng.standard_normal(n),
    Beta: lambda rng, n: rng.beta(2.0, 3.0, n),
    Gamma: lambda rng, n: rng.gamma(2.0, size=n),
    InverseGamma: lambda rng, n: 1.0 / rng.gamma(5.0, size=n),
    StudentT: lambda rng, n: rng.standard_t(4.0, n),
    Laplace: lambda rng, n: rng.laplace(size=n),
}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_columns_are_fitted_side_by_side(family, rng):
    x, w = FAMILIES[family](rng, (80, 2, 3)), rng.integers(1, 3, 80).astype(float)
    together = family.fit(x, w)
    assert together.batch_shape == (2, 3)
    alone = family.fit(x[:, 1, 2], w)
    assert alone.batch_shape == ()
    for name in family.parameter_ndims:
        np.testing.assert_allclose(getattr(together, name)[1, 2], getattr(alone, name), rtol=1e-7)
    single = family.fit(x.astype(np.float32), w)
    for name in family.parameter_ndims:
        assert getattr(single, name).dtype == np.float32
        np.testing.assert_allclose(getattr(single, name), getattr(together, name), rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_data_that_say_nothing_are_one_error(family):
    same = "X must vary"
    for constant in (np.full(9, 0.3), np.full(7, 1.0 / 3.0), [0.25]):
        with pytest.raises(ValueError, match=same):
            family.fit(constant)
    for bad, words in (
        ([], "observations on its first axis"),
        (0.5, "observations on its first axis"),
        ([0.5, np.nan], "X must be finite"),
        (["a", "b"], "X must be an array of real numbers"),
    ):
        with pytest.raises(ValueError, match=words):
            family.fit(bad)
    with pytest.raises(ValueError, match="sample_weight"):
        family.fit([0.2, 0.3], [-1.0, 1.0])
    with pytest.raises(ValueError, match="sample_weight"):
        family.fit([0.2, 0.3], [1.0])


@pytest.mark.parametrize(
    ("family", "x", "words"),
    [
        (Gamma, [0.0, 1.0], r"X must be positive and finite, got 0\.0"),
        (Gamma, [-2.0, 1.0], r"X must be positive and finite, got -2\.0"),
        (InverseGamma, [0.0, 1.0], r"X must be positive and finite, got 0\.0"),
        (Beta, [0.0, 0.5], r"X must be above 0 and below 1, got 0\.0"),
        (Beta, [0.5, 1.0], r"X must be above 0 and below 1, got 1\.0"),
    ],
)
def test_observations_off_the_support_are_one_error(family, x, words):
    with pytest.raises(ValueError, match=words):
        family.fit(x)


def test_tails_no_heavier_than_a_normals_have_the_most_degrees_of_freedom(rng):
    x = rng.uniform(size=400)
    d, normal = StudentT.fit(x), Normal.fit(x)
    assert d.dof > 1e5
    np.testing.assert_allclose([d.location, d.scale], [normal.mean, normal.stddev], rtol=1e-3)
    known = StudentT.fit(x, dof=4.0)
    assert float(known.dof) == 4.0
    with pytest.raises(ValueError, match="dof must be positive"):
        StudentT.fit(x, dof=-1.0)


def test_log_moments_keep_the_digits_of_a_small_spread(rng):
    x = rng.gamma(1e12, 1e-12, size=(500, 1))
    s = LogMoments.of(x)
    with mpmath.workdps(50):
        exact = [mpmath.mpf(float(v)) for v in x[:, 0]]
        gap = mpmath.log(mpmath.fsum(exact) / 500) - mpmath.fsum(mpmath.log(v) for v in exact) / 500
    np.testing.assert_allclose(s.gap, [float(gap)], rtol=1e-12)
    np.testing.assert_allclose(s.mean_log, np.log(x).mean(axis=0), atol=1e-15)
    parts = LogMoments.of(x[:200]) + LogMoments.of(x[200:])
    np.testing.assert_allclose(parts.gap, s.gap, rtol=1e-8)


def test_statistics_of_these_families_in_every_library(backend, rng):
    x, w = rng.beta(2.0, 3.0, (30, 2)), rng.random(30)
    for family in (Uniform, Beta, Gamma, InverseGamma):
        ours, theirs = (family.statistic.of(move(x), move(w)) for move in (np.asarray, backend.asarray))
        total = theirs + theirs
        for name in (field.name for field in fields(ours)):
            assert backend.owns(getattr(total, name))
            scale = 2.0 if name == "weight" else 1.0
            found, expected = to_numpy(getattr(total, name)), scale * getattr(ours, name)
            np.testing.assert_allclose(found, expected, rtol=1e-12)


# --- blocks ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape", [(3 * BLOCK_ENTRIES + 5,), (2, 3 * BLOCK_ENTRIES), (BLOCK_ENTRIES, 3), (0,)]
)
def test_many_numbers_are_scored_as_few_are(shape, rng):
    x, mean = rng.standard_normal(shape), rng.standard_normal(shape[-1:])
    d = Normal(mean=mean, variance=2.0)
    few = np.array([d.log_prob(row) for row in np.atleast_2d(x)]).reshape(shape)
    np.testing.assert_allclose(d.log_prob(x), few, rtol=1e-13, atol=1e-13)
    one = map_entries(np.multiply, x, mean, n_threads=1)
    np.testing.assert_array_equal(one, x * mean)
    np.testing.assert_array_equal(map_entries(np.multiply, x, mean, n_threads=4), one)


def test_draws_do_not_depend_on_the_number_of_threads():
    def fill(generator, out):
        generator.standard_normal(out=out)

    one, four = (map_draws(fill, (300, 1000), np.random.default_rng(3), n_threads=n) for n in (1, 4))
    np.testing.assert_array_equal(one, four)
    assert len(np.unique(one)) == one.size
    rng = np.random.default_rng(3)
    assert not np.array_equal(map_draws(fill, (300, 1000), rng), map_draws(fill, (300, 1000), rng))


def test_many_draws_of_many_gammas_have_their_moments():
    d = Gamma(shape=np.linspace(0.2, 30.0, 100), rate=np.linspace(0.1, 4.0, 100))
    z = (d.sample(20_000, rng=0) - d.mean) / d.stddev
    assert_mean(z, 0.0, "standardised draws")
    assert_mean(z * z, 1.0, "their squares")
    assert_mean(z[:, :-1] * z[:, 1:], 0.0, "products of neighbours")
    assert_mean(z[:-655] * z[655:], 0.0, "products of rows of two blocks")
