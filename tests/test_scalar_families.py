"""Uniform, Beta, Gamma, InverseGamma, StudentT, Laplace: what the course says of them, edges and refusals."""

import numpy as np
import pytest
from scipy.integrate import quad

import tractable
from quick import some
from tractable.distributions import Beta, Gamma, InverseGamma, Laplace, Normal, StudentT, Uniform

INF, NAN = np.inf, np.nan


@pytest.mark.spec("DIST-07", "E000-05")
def test_a_beta_is_elicited_by_its_mean_and_strength():
    """A probability of 0.3 is a mean α/(α+β) of 0.3; the ratio α/β is the odds, 0.4286."""
    d = Beta.from_mean_strength(mean=0.3, strength=20.0)
    np.testing.assert_allclose([d.alpha, d.beta], [6.0, 14.0])
    np.testing.assert_allclose([d.mean, d.strength], [0.3, 20.0])
    np.testing.assert_allclose(d.alpha / d.beta, 0.3 / 0.7)
    stronger = Beta.from_mean_strength(mean=0.3, strength=[20.0, 200.0, 2000.0])
    np.testing.assert_allclose(stronger.variance, 0.21 / (stronger.strength + 1.0))
    assert np.all(np.diff(stronger.variance) < 0.0)


@pytest.mark.spec("DIST-04")
def test_a_beta_has_the_moments_of_its_density():
    d = Beta(alpha=2.0, beta=3.5)
    mean = quad(lambda x: x * d.prob(x), 0.0, 1.0)[0]
    variance = quad(lambda x: (x - mean) ** 2 * d.prob(x), 0.0, 1.0)[0]
    np.testing.assert_allclose([d.mean, d.variance], [mean, variance], rtol=1e-10)
    x = np.linspace(0.0, 1.0, 10_001)
    assert abs(x[np.argmax(d.prob(x))] - d.mode) < 1e-4


@pytest.mark.spec("DIST-38")
def test_a_gamma_is_given_by_its_rate_or_by_its_scale():
    rate, scale = Gamma(shape=3.0, rate=4.0), Gamma(shape=3.0, scale=0.25)
    np.testing.assert_allclose(rate.log_prob([0.1, 2.0]), scale.log_prob([0.1, 2.0]))
    np.testing.assert_allclose([rate.mean, rate.variance, rate.scale], [0.75, 3.0 / 16.0, 0.25])
    for bad in ({}, {"rate": 1.0, "scale": 1.0}):
        with pytest.raises(ValueError, match="exactly one of rate and scale"):
            Gamma(shape=1.0, **bad)
    d = Gamma.from_mean_variance(mean=2.0, variance=0.5)
    np.testing.assert_allclose([d.mean, d.variance], [2.0, 0.5])
    np.testing.assert_allclose(Gamma.from_mean_strength(mean=2.0, strength=5.0).mean, 2.0)


@pytest.mark.spec("DIST-43")
@pytest.mark.parametrize(("shape", "rate"), some([(0.6, 2.0), (3.0, 0.5), (50.0, 40.0)], several=True))
def test_a_student_is_a_normal_with_a_gamma_precision_integrated_out(shape, rate):
    """∫ N(x | μ, 1/λ) Gam(λ | a, b) dλ = St(x | μ, t = a/b, ν = 2a)."""
    student, precision = (
        StudentT(dof=2.0 * shape, location=1.0, precision=shape / rate),
        Gamma(shape=shape, rate=rate),
    )
    np.testing.assert_allclose(student.precision, shape / rate)

    def joint(u, x):
        return float(
            np.exp(Normal(mean=1.0, variance=np.exp(-u)).log_prob(x) + precision.log_prob(np.exp(u)) + u)
        )

    centre = np.log(shape / rate)
    for x in (-20.0, 0.0, 1.0, 1.3, 6.0):
        marginal = quad(joint, centre - 60.0, centre + 8.0, args=(x,), points=[centre], epsabs=0, limit=400)[
            0
        ]
        np.testing.assert_allclose(student.prob(x), marginal, rtol=1e-9)


@pytest.mark.spec("DIST-43")
def test_a_student_of_many_degrees_of_freedom_is_a_normal():
    x = np.linspace(-8.0, 8.0, 33)
    normal = Normal(mean=0.0, stddev=1.0)
    for dof, gap in ((1e4, 0.2), (1e8, 2e-5), (1e12, 2e-9)):
        student = StudentT(dof=dof, location=0.0, scale=1.0)
        assert np.abs(student.log_prob(x) - normal.log_prob(x)).max() < gap
        np.testing.assert_allclose(student.icdf(0.001), normal.icdf(0.001), rtol=10.0 / dof)


@pytest.mark.spec("DIST-45")
def test_a_student_shrugs_at_an_outlier_that_drags_a_normal_away(rng):
    x = 5.0 + rng.standard_normal(60)
    spoilt = np.append(x, 500.0)
    normal, student = Normal.fit(spoilt), StudentT.fit(spoilt)
    assert normal.mean - 5.0 > 7.0
    assert normal.stddev > 50.0
    clean = Normal.fit(x)
    assert abs(student.location - clean.mean) < 0.3 * clean.stddev
    assert student.scale < 1.5 * clean.stddev
    assert student.log_prob(spoilt).sum() > normal.log_prob(spoilt).sum() + 100.0
    # tails fall as |x|^-(ν+1)
    far = StudentT(dof=3.0, location=0.0, scale=1.0).log_prob([1e6, 1e7])
    np.testing.assert_allclose(far[1] - far[0], -4.0 * np.log(10.0), rtol=1e-9)


@pytest.mark.spec("DIST-46", "E000-14")
def test_a_laplace_has_the_one_dimensional_constant():
    d = Laplace(location=0.4, scale=0.7)
    np.testing.assert_allclose(d.prob(0.4), 1.0 / 1.4)
    mass = sum(quad(d.prob, *ends)[0] for ends in ((-INF, 0.4), (0.4, INF)))
    np.testing.assert_allclose(mass, 1.0, rtol=1e-10)
    vector = tractable.MultivariateLaplace(location=[0.4], scale=0.7)
    np.testing.assert_allclose(vector.log_prob([[-1.0], [0.4], [2.0]]), d.log_prob([-1.0, 0.4, 2.0]))


@pytest.mark.spec("DIST-47")
def test_a_laplace_is_fitted_by_the_median(rng):
    x = rng.standard_normal((101, 2))
    d = Laplace.fit(x)
    np.testing.assert_allclose(d.location, np.median(x, axis=0))
    np.testing.assert_allclose(d.scale, np.abs(x - np.median(x, axis=0)).mean(axis=0))
    even = Laplace.fit([1.0, 2.0, 6.0, 30.0])
    np.testing.assert_allclose([even.location, even.scale], [4.0, 33.0 / 4.0])
    # every point of the gap is as likely
    for point in (2.0, 3.0, 6.0):
        other = Laplace(location=point, scale=even.scale)
        np.testing.assert_allclose(
            other.log_prob([1.0, 2.0, 6.0, 30.0]).sum(), even.log_prob([1.0, 2.0, 6.0, 30.0]).sum()
        )
    np.testing.assert_allclose(Laplace.fit([1.0, 2.0, 9.0], [1.0, 1.0, 5.0]).location, 9.0)


@pytest.mark.spec("E000-06")
def test_modes_at_the_ends_of_the_support():
    shapes = [
        (3.0, 2.0, 2 / 3),
        (1.0, 1.0, 0.5),
        (0.5, 2.0, 0.0),
        (1.0, 3.0, 0.0),
        (2.0, 1.0, 1.0),
        (4.0, 0.3, 1.0),
    ]
    both = [(0.5, 0.5, 0.0), (0.5, 0.4, 1.0), (0.4, 0.5, 0.0), (0.9, 1.0, 0.0), (1.0, 0.9, 1.0)]
    alpha, beta, mode = np.array(shapes + both).T
    np.testing.assert_allclose(Beta(alpha=alpha, beta=beta).mode, mode)
    np.testing.assert_allclose(Gamma(shape=[0.5, 1.0, 3.0], rate=2.0).mode, [0.0, 0.0, 1.0])
    assert float(Gamma(shape=0.5, rate=1.0).log_prob(0.0)) == INF


EDGES = [
    (Gamma(shape=0.5, rate=2.0), [-1.0, 0.0, INF, NAN], [-INF, INF, -INF, NAN]),
    (Gamma(shape=1.0, rate=2.0), [-1.0, 0.0, INF, NAN], [-INF, np.log(2.0), -INF, NAN]),
    (Gamma(shape=2.0, rate=2.0), [-INF, 0.0, INF, NAN], [-INF, -INF, -INF, NAN]),
    (InverseGamma(shape=2.0, scale=2.0), [-1.0, 0.0, INF, NAN], [-INF, -INF, -INF, NAN]),
    (Beta(alpha=0.5, beta=2.0), [-0.1, 0.0, 1.0, 1.1, NAN], [-INF, INF, -INF, -INF, NAN]),
    (Beta(alpha=1.0, beta=3.0), [0.0, 1.0, INF], [np.log(3.0), -INF, -INF]),
    (Beta(alpha=3.0, beta=1.0), [0.0, 1.0, -INF], [-INF, np.log(3.0), -INF]),
    (
        Uniform(low=1.0, high=3.0),
        [0.9, 1.0, 3.0, 3.1, INF, NAN],
        [-INF, -np.log(2), -np.log(2), -INF, -INF, NAN],
    ),
    (StudentT(dof=1.0, location=0.0, scale=1.0), [-INF, INF, NAN], [-INF, -INF, NAN]),
    (Laplace(location=0.0, scale=1.0), [-INF, INF, NAN], [-INF, -INF, NAN]),
]


@pytest.mark.parametrize(("d", "at", "exact"), EDGES, ids=lambda x: type(x).__name__)
def test_edges_of_the_support(d, at, exact):
    np.testing.assert_allclose(d.log_prob(at), exact, rtol=1e-14)


@pytest.mark.parametrize("d", [row[0] for row in EDGES], ids=lambda d: type(d).__name__)
def test_distribution_functions_end_where_the_support_does(d):
    low, high = (float(np.min(end)) for end in d.support)
    np.testing.assert_array_equal(d.cdf([-INF, low - 1.0, low, high, high + 1.0, INF]), [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(d.survival([-INF, low, high, INF]), [1, 1, 0, 0])
    np.testing.assert_array_equal(d.icdf([0.0, 1.0]), [low, high])
    assert np.isnan(d.cdf(NAN))


def test_moments_that_do_not_exist_are_said_so():
    d = StudentT(dof=[0.5, 1.0, 1.5, 2.0, 3.0], location=2.0, scale=1.0)
    np.testing.assert_array_equal(d.mean, [NAN, NAN, 2.0, 2.0, 2.0])
    np.testing.assert_array_equal(d.variance, [NAN, NAN, INF, INF, 3.0])
    d = InverseGamma(shape=[0.5, 1.0, 1.5, 2.0, 3.0], scale=4.0)
    np.testing.assert_array_equal(d.mean, [INF, INF, 8.0, 4.0, 2.0])
    np.testing.assert_array_equal(d.variance, [NAN, NAN, INF, INF, 4.0])


def test_the_reciprocal_of_a_gamma_is_inverse_gamma(rng):
    y, x = Gamma(shape=3.0, rate=2.0), InverseGamma(shape=3.0, scale=2.0)
    at = np.array([0.01, 0.5, 3.0, 1e6])
    np.testing.assert_allclose(x.log_prob(at), y.log_prob(1.0 / at) - 2.0 * np.log(at), rtol=1e-12)
    np.testing.assert_allclose(x.cdf(at), y.survival(1.0 / at), rtol=1e-12)
    np.testing.assert_allclose(x.icdf(0.2), 1.0 / y.icdf(0.8), rtol=1e-12)


REFUSED = [
    (Uniform, {"low": 1.0, "high": 1.0}, "low must be below high"),
    (Uniform, {"low": 2.0, "high": 1.0}, "low must be below high"),
    (Uniform, {"low": -INF, "high": 1.0}, "low must be finite"),
    (Uniform, {"low": 0.0, "high": 5e-324}, "more than the smallest number"),
    (Beta, {"alpha": 0.0, "beta": 1.0}, "alpha must be positive"),
    (Beta, {"alpha": 1.0, "beta": -1.0}, "beta must be positive"),
    (Gamma, {"shape": -1.0, "rate": 1.0}, "shape must be positive"),
    (Gamma, {"shape": 1.0, "rate": 0.0}, "rate must be positive"),
    (Gamma, {"shape": 1.0, "scale": NAN}, "scale must be positive"),
    (Gamma, {"shape": 1.0, "scale": 5e-324}, "scale must have a reciprocal"),
    (InverseGamma, {"shape": INF, "scale": 1.0}, "shape must be positive"),
    (InverseGamma, {"shape": 1.0, "scale": 0.0}, "scale must be positive"),
    (StudentT, {"dof": 0.0, "location": 0.0, "scale": 1.0}, "dof must be positive"),
    (StudentT, {"dof": 1.0, "location": INF, "scale": 1.0}, "location must be finite"),
    (StudentT, {"dof": 1.0, "location": 0.0, "scale": -1.0}, "scale must be positive"),
    (StudentT, {"dof": 1.0, "location": 0.0, "precision": 0.0}, "precision must be positive"),
    (StudentT, {"dof": 1.0, "location": 0.0}, "exactly one of scale and precision"),
    (Laplace, {"location": NAN, "scale": 1.0}, "location must be finite"),
    (Laplace, {"location": 0.0, "scale": 0.0}, "scale must be positive"),
    (Beta.from_mean_strength, {"mean": 1.0, "strength": 2.0}, "mean must be above 0 and below 1"),
    (Beta.from_mean_strength, {"mean": 0.5, "strength": 0.0}, "strength must be positive"),
    (Gamma.from_mean_variance, {"mean": -1.0, "variance": 2.0}, "mean must be positive"),
]


@pytest.mark.parametrize(("family", "given", "words"), REFUSED)
def test_bad_parameters_are_one_error_that_names_them(family, given, words):
    with pytest.raises(ValueError, match=words):
        family(**given)


@pytest.mark.parametrize("family", [Beta, Gamma, InverseGamma, Laplace, StudentT, Uniform])
def test_divergence_is_within_the_family(family):
    d = {
        Beta: Beta(alpha=1.0, beta=1.0),
        Gamma: Gamma(shape=1.0, rate=1.0),
        InverseGamma: InverseGamma(shape=1.0, scale=1.0),
        Laplace: Laplace(location=0.0, scale=1.0),
        StudentT: StudentT(dof=1.0, location=0.0, scale=1.0),
        Uniform: Uniform(low=0.0, high=1.0),
    }[family]
    with pytest.raises(TypeError, match=f"other must be an? {family.__name__}"):
        d.kl_divergence(Normal(mean=0.0, variance=1.0))
