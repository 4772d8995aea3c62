"""Vectors, matrices and pairs: how the families hang together, and what they refuse."""

import numpy as np
import pytest

from tractable import (
    Dirichlet,
    Gamma,
    InverseWishart,
    Laplace,
    MultivariateLaplace,
    MultivariateNormal,
    MultivariateStudentT,
    Normal,
    NormalGamma,
    NormalWishart,
    StudentT,
    Wishart,
)
from tractable.covariance import Diagonal, Full
from tractable.distributions import MeanPrecision
from tractable.distributions.laplace import coordinate_medians, geometric_median
from tractable.testing.assertions import assert_mean

W = np.array([[2.0, 0.6], [0.6, 1.0]])
THREE = np.array([[4.0, 1.2, 0.0], [1.2, 1.0, -0.3], [0.0, -0.3, 0.5]])


@pytest.mark.spec("DIST-39")
def test_wishart_in_one_dimension_is_gamma():
    x = np.array([0.1, 1.0, 7.0])
    wishart, gamma = Wishart(dof=3.0, scale=[[2.0]]), Gamma(shape=1.5, rate=0.25)
    np.testing.assert_allclose(wishart.log_prob(x[:, None, None]), gamma.log_prob(x), rtol=1e-13)
    np.testing.assert_allclose(wishart.entropy(), gamma.entropy(), rtol=1e-13)


@pytest.mark.spec("DIST-39")
def test_wishart_is_the_scatter_of_normals(rng):
    d = Wishart(dof=4.0, scale=W)
    x = MultivariateNormal(mean=[0.0, 0.0], covariance=W).sample(80_000, rng=rng).reshape(-1, 4, 2)
    scatter = np.swapaxes(x, -1, -2) @ x
    assert_mean(scatter, d.mean, "scatter")
    assert_mean((scatter - d.mean) ** 2, d.variance, "squares of scatter")
    assert_mean(-d.log_prob(scatter), d.entropy(), "surprise of scatter")
    assert_mean(np.linalg.slogdet(scatter)[1], d.mean_log_det, "log-determinant")


def test_inverse_of_wishart_is_inverse_wishart(rng):
    """The same matrix, measured by itself or by its inverse: the densities differ by the change of volume."""
    d, e = Wishart(dof=6.5, scale=THREE), InverseWishart(dof=6.5, scale=np.linalg.inv(THREE))
    x = d.sample(20, rng=rng)
    volume = (3 + 1) * np.linalg.slogdet(x)[1]
    np.testing.assert_allclose(e.log_prob(np.linalg.inv(x)), d.log_prob(x) + volume, rtol=1e-9)


@pytest.mark.parametrize("family", [Wishart, InverseWishart])
def test_matrices_outside_the_cone_are_impossible(family):
    d = family(dof=3.0, scale=W)
    indefinite, lopsided, singular = [[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.5], [0.2, 1.0]], np.ones((2, 2))
    outside = np.array([indefinite, lopsided, singular, np.zeros((2, 2)), np.full((2, 2), np.inf)])
    np.testing.assert_array_equal(d.log_prob(outside), -np.inf)
    assert np.isnan(d.log_prob([[1.0, np.nan], [0.0, 1.0]]))


@pytest.mark.spec("DIST-39")
def test_modes_and_moments_that_do_not_exist_say_so():
    d = Wishart(dof=[2.9, 3.0, 5.0], scale=W)
    assert np.isnan(d.mode[0]).all()
    np.testing.assert_allclose(d.mode[1:], [0.0 * W, 2.0 * W], atol=1e-15)
    e = InverseWishart(dof=[3.0, 5.0, 5.5], scale=W)
    assert np.isnan(e.mean[0]).all()
    assert np.isnan(e.variance[0]).all()
    assert np.isinf(e.variance[1]).all()
    np.testing.assert_allclose(e.mean[1], W / 2.0)
    t = MultivariateStudentT(dof=[1.0, 2.0, 3.0], location=np.zeros(2), scale=W)
    assert np.isnan(t.mean[0]).all()
    assert np.isinf(t.variance[1]).all()
    assert np.isnan(t.covariance[1][0, 1])
    np.testing.assert_allclose(t.covariance[2], 3.0 * W)
    g = NormalGamma(mean=1.0, strength=1.0, shape=[0.4, 0.5, 2.0], rate=3.0)
    np.testing.assert_allclose(g.mode.precision, [0.0, 0.0, 0.5])
    np.testing.assert_array_equal(np.isfinite(g.log_prob(g.mode)), [False, True, True])
    w = NormalWishart(mean=np.zeros(2), strength=1.0, dof=[1.5, 2.0, 5.0], scale=W)
    assert np.isnan(w.mode.precision[0]).all()
    np.testing.assert_allclose(w.mode.precision[1:], [0.0 * W, 3.0 * W], atol=1e-15)


@pytest.mark.spec("DIST-44")
def test_student_t_is_the_gaussian_wishart_marginal(rng):
    """∫ N(x | μ, Λ⁻¹) W(Λ | ν, W) dΛ = St(x | μ, precision ν'W, ν') with ν' = ν + 1 - d."""
    nu, mu = 5.0, np.array([1.0, -1.0])
    left = nu + 1.0 - 2.0
    t = MultivariateStudentT(dof=left, location=mu, scale=np.linalg.inv(left * W))
    precision = Wishart(dof=nu, scale=W).sample(50_000, rng=rng)
    for x in ([1.0, -1.0], [2.0, 0.0], [-1.0, 1.0]):
        normal = MultivariateNormal(mean=mu, covariance=Full.from_precision(precision))
        assert_mean(normal.prob(x), t.prob(x), "normal density, averaged over precisions")
        # Bayes: prior times likelihood over posterior is the marginal, whatever the precision.
        gap = np.asarray(x) - mu
        after = Wishart(dof=nu + 1.0, scale=np.linalg.inv(np.linalg.inv(W) + np.outer(gap, gap)))
        some = precision[:5]
        likelihood = MultivariateNormal(mean=mu, covariance=Full.from_precision(some)).log_prob(x)
        ratio = likelihood + Wishart(dof=nu, scale=W).log_prob(some) - after.log_prob(some)
        np.testing.assert_allclose(ratio, t.log_prob(x), rtol=1e-9)


@pytest.mark.spec("DIST-44")
def test_student_t_between_cauchy_and_normal(rng):
    t = MultivariateStudentT(dof=1e9, location=[1.0, 2.0], scale=W)
    normal = MultivariateNormal(mean=[1.0, 2.0], covariance=W)
    x = normal.sample(10, rng=rng)
    np.testing.assert_allclose(t.log_prob(x), normal.log_prob(x), rtol=1e-7)
    one = MultivariateStudentT(dof=3.0, location=[1.0], scale=[[4.0]])
    number = StudentT(dof=3.0, location=1.0, scale=2.0)
    np.testing.assert_allclose(one.log_prob(x[:, :1]), number.log_prob(x[:, 0]), rtol=1e-13)
    np.testing.assert_allclose(one.entropy(), number.entropy(), rtol=1e-12)
    low, high = one.interval(0.9)
    np.testing.assert_allclose([low[0], high[0]], number.interval(0.9), rtol=1e-12)


def test_surprising_values_leave_more_doubt():
    t = MultivariateStudentT(dof=4.0, location=[0.0, 0.0], scale=W, names=["a", "b"])
    near, far = t.condition({"b": 0.0}), t.condition({"b": 10.0})
    assert near.names == ("a",)
    np.testing.assert_allclose([near.dof, far.dof], 5.0)
    np.testing.assert_allclose(far.scale / near.scale, (4.0 + 100.0) / 4.0)
    many = t.condition(["b"], np.array([[0.0], [10.0]]))
    np.testing.assert_allclose(many.scale[1], far.scale)
    np.testing.assert_allclose(many.location[:, 0], [0.0, 6.0])


def test_student_t_fits_with_known_and_unknown_dof(rng):
    t = MultivariateStudentT(dof=3.0, location=[1.0, -2.0], scale=W)
    x = t.sample(4000, rng=rng)
    fitted = MultivariateStudentT.fit(x, names=["a", "b"])
    assert fitted.names == ("a", "b")
    np.testing.assert_allclose(fitted.dof, 3.0, rtol=0.2)
    np.testing.assert_allclose(fitted.scale, W, rtol=0.15)
    known = MultivariateStudentT.fit(x, dof=3.0)
    assert float(known.dof) == 3.0
    step = (3.0 + 2.0) / (3.0 + known.mahalanobis(x, squared=True))
    np.testing.assert_allclose(step @ x / step.sum(), known.location, atol=1e-9)
    with pytest.raises(ValueError, match="dof"):
        MultivariateStudentT.fit(x, dof=-1.0)
    straight = MultivariateStudentT.fit(rng.uniform(size=(300, 2)))
    np.testing.assert_allclose(straight.dof, 1e6)


@pytest.mark.spec("DIST-46", "E000-14")
@pytest.mark.parametrize(("dim", "printed"), [(1, 1.0), (2, 2.199), (3, 6.158)])
def test_laplace_constants(dim, printed):
    """1/2b · exp(-‖x‖/b), as printed, has mass 2.199 in the plane, 6.158 in space at b = 0.7; ours has 1."""
    from scipy.integrate import quad
    from scipy.special import gamma

    d = MultivariateLaplace(location=np.zeros(dim), scale=0.7, norm="l2")
    surface = 2.0 * np.pi ** (dim / 2) / gamma(dim / 2)

    def mass(density):
        return quad(lambda r: surface * r ** (dim - 1) * density(r), 0.0, np.inf)[0]

    ours = mass(lambda r: d.prob(np.eye(dim)[0] * r))
    np.testing.assert_allclose(ours, 1.0, rtol=1e-10)
    np.testing.assert_allclose(mass(lambda r: np.exp(-r / 0.7) / 1.4), printed, atol=5e-4)


@pytest.mark.spec("DIST-46")
def test_laplace_by_coordinates_is_a_product(rng):
    d = MultivariateLaplace(location=[1.0, -2.0, 0.0], scale=0.7, norm="l1")
    x = d.sample(10, rng=rng)
    alone = sum(Laplace(location=d.location[j], scale=0.7).log_prob(x[:, j]) for j in range(3))
    np.testing.assert_allclose(d.log_prob(x), alone, rtol=1e-13)


@pytest.mark.spec("DIST-47")
def test_laplace_fits_by_medians(rng):
    x = rng.standard_normal((101, 3))
    fitted = MultivariateLaplace.fit(x, norm="l1")
    np.testing.assert_array_equal(fitted.location, np.median(x, axis=0))
    np.testing.assert_allclose(fitted.scale, np.abs(x - fitted.location).mean(), rtol=1e-13)
    even = MultivariateLaplace.fit(x[:100], norm="l1")
    np.testing.assert_allclose(even.location, np.median(x[:100], axis=0), rtol=1e-13)
    round_ = MultivariateLaplace.fit(x, norm="l2")
    gap = x - round_.location
    radius = np.linalg.norm(gap, axis=1)
    np.testing.assert_allclose((gap / radius[:, None]).sum(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(round_.scale, radius.mean() / 3.0, rtol=1e-13)


@pytest.mark.spec("DIST-47")
@pytest.mark.parametrize(
    ("rows", "weights", "median"),
    [
        ([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.1, 0.1]], [1.0] * 4, [0.1, 0.1]),
        ([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [1.0, 1.0]], [1.0] * 5, [1.0, 1.0]),
        ([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0]], [1.0] * 3, [1.0, 0.0]),
        ([[0.0, 0.0], [9.0, 1.0], [4.0, 7.0]], [5.0, 1.0, 1.0], [0.0, 0.0]),
        ([[3.0, 4.0], [3.0, 4.0], [0.0, 0.0]], [1.0] * 3, [3.0, 4.0]),
        ([[0.0, 0.0], [1.0, 0.0], [0.5, 3.0**0.5 / 2]], [1.0] * 3, [0.5, 3.0**0.5 / 6]),
    ],
    ids=["inside a triangle", "starts on a row", "on a line", "heavy row", "row twice", "Fermat point"],
)
def test_geometric_medians(rows, weights, median):
    np.testing.assert_allclose(geometric_median(np.array(rows), np.array(weights)), median, atol=1e-12)


def test_weighted_medians():
    x = np.array([[3.0], [1.0], [2.0], [10.0]])
    np.testing.assert_array_equal(coordinate_medians(x, np.array([1.0, 1.0, 1.0, 5.0])), [10.0])
    np.testing.assert_array_equal(coordinate_medians(x, np.array([1.0, 2.0, 1.0, 0.0])), [1.5])


@pytest.mark.spec("DIST-48")
def test_normal_gamma_is_a_normal_times_a_gamma(rng):
    d = NormalGamma(mean=[0.0, 1.0], strength=[2.0, 0.5], shape=3.0, rate=[1.0, 4.0])
    x = d.sample(7, rng=rng)
    given = Normal(mean=d.location, variance=1.0 / (d.strength * x.precision))
    parts = given.log_prob(x.mean) + d.precision_marginal().log_prob(x.precision)
    np.testing.assert_allclose(d.log_prob(x), parts, rtol=1e-12)
    # The mean alone: the joint over the precision given the mean, another Gamma.
    after = Gamma(shape=3.5, rate=d.rate + 0.5 * d.strength * (x.mean - d.location) ** 2)
    np.testing.assert_allclose(
        d.log_prob(x) - after.log_prob(x.precision), d.mean_marginal().log_prob(x.mean), rtol=1e-12
    )
    assert isinstance(d.mean_marginal(), StudentT)


@pytest.mark.spec("DIST-49")
def test_normal_wishart_is_a_normal_times_a_wishart(rng):
    d = NormalWishart(mean=[1.0, -1.0], strength=2.0, dof=4.5, scale=W)
    x = d.sample(7, rng=rng)
    given = MultivariateNormal(mean=d.location, covariance=Full.from_precision(2.0 * x.precision))
    parts = given.log_prob(x.mean) + d.precision_marginal().log_prob(x.precision)
    np.testing.assert_allclose(d.log_prob(x), parts, rtol=1e-10)
    gap = x.mean - d.location
    scale = np.linalg.inv(np.linalg.inv(W) + 2.0 * gap[:, :, None] * gap[:, None, :])
    after = Wishart(dof=5.5, scale=0.5 * (scale + np.swapaxes(scale, -1, -2)))
    np.testing.assert_allclose(
        d.log_prob(x) - after.log_prob(x.precision), d.mean_marginal().log_prob(x.mean), rtol=1e-9
    )
    one = NormalWishart(mean=[1.0], strength=2.0, dof=6.0, scale=[[0.5]])
    same = NormalGamma(mean=1.0, strength=2.0, shape=3.0, rate=1.0)
    np.testing.assert_allclose(one.log_prob(([0.3], [[2.0]])), same.log_prob((0.3, 2.0)), rtol=1e-13)
    np.testing.assert_allclose(one.entropy(), same.entropy(), rtol=1e-13)


@pytest.mark.spec("DIST-48", "DIST-49")
def test_pairs_are_named_and_checked():
    d = NormalGamma(mean=1.0, strength=2.0, shape=3.0, rate=6.0)
    assert d.mode == MeanPrecision(mean=1.0, precision=2.5 / 6.0)
    assert d.log_prob((1.0, -1.0)) == -np.inf
    assert np.isnan(d.log_prob((np.nan, 1.0)))
    low, high = d.interval(0.5)
    assert low.mean < 1.0 < high.mean
    assert low.precision < 0.5 < high.precision
    e = NormalWishart(mean=[0.0, 1.0], strength=1.0, dof=3.0, scale=W)
    for bad in (1.0, (1.0, 2.0, 3.0), ([0.0], W), ([0.0, 1.0], [1.0])):
        with pytest.raises(ValueError, match="x must"):
            e.log_prob(bad)
    with pytest.raises(ValueError, match="X must be a pair"):
        NormalGamma.fit([1.0, 2.0, 3.0])


def test_infinite_events_are_impossible_without_a_warning():
    inf, far = np.inf, 1e300
    g = NormalGamma(mean=0.0, strength=1.0, shape=2.0, rate=1.0)
    np.testing.assert_array_equal(g.log_prob(([inf, 0.0, -inf, 1e200], [1.0, inf, inf, 1.0])), -inf)
    w = NormalWishart(mean=[0.0, 1.0], strength=1.0, dof=3.0, scale=W)
    means, precisions = np.array([[inf, 0.0], [0.0, 0.0], [1e200, 0.0]]), np.stack([W, inf * W, W])
    np.testing.assert_array_equal(w.log_prob((means, precisions)), -inf)
    d = Dirichlet(concentration=[1.0, 2.0, 0.5])
    np.testing.assert_array_equal(d.log_prob([[inf, 0.0, 0.0], [-inf, 1.0, 0.0]]), -inf)
    t = MultivariateStudentT(dof=3.0, location=[0.0, 0.0], scale=np.eye(2))
    np.testing.assert_array_equal(t.log_prob([inf, 0.0]), -inf)
    # A thousandth of the distance is a thousand to the power ν + d more dense, however far out.
    np.testing.assert_allclose(t.log_prob([far / 1e3, 0.0]) - t.log_prob([far, 0.0]), 5.0 * np.log(1e3))
    for norm in ("l1", "l2"):
        e = MultivariateLaplace(location=[0.0, 1.0], scale=1.0, norm=norm)
        np.testing.assert_array_equal(e.log_prob([[inf, 0.0], [-inf, inf]]), -inf)
        assert e.log_prob([far, far]) < -far / 2


GOOD = {
    Dirichlet: {"concentration": [1.0, 2.0]},
    Wishart: {"dof": 3.0, "scale": W},
    InverseWishart: {"dof": 3.0, "scale": W},
    MultivariateStudentT: {"dof": 3.0, "location": [0.0, 1.0], "scale": W},
    MultivariateLaplace: {"location": [0.0, 1.0], "scale": 1.0},
    NormalGamma: {"mean": 0.0, "strength": 1.0, "shape": 1.0, "rate": 1.0},
    NormalWishart: {"mean": [0.0, 1.0], "strength": 1.0, "dof": 3.0, "scale": W},
}
BAD = [
    (Dirichlet, "concentration", ([1.0], [1.0, 0.0], [1.0, -1.0], [1.0, np.inf], [[np.nan, 1.0]], 2.0, "a")),
    (Wishart, "dof", (1.0, 0.0, np.inf, np.nan)),
    (Wishart, "scale", (-W, np.ones((2, 2)), [[1.0, 0.5], [0.0, 1.0]], np.ones((2, 3)), [1.0], 1.0)),
    (InverseWishart, "dof", (1.0, -3.0, np.nan)),
    (InverseWishart, "scale", (-W, np.zeros((2, 2)), [[np.nan]])),
    (MultivariateStudentT, "dof", (0.0, -1.0, np.inf, np.nan)),
    (MultivariateStudentT, "location", ([0.0], [0.0, np.nan], 1.0)),
    (MultivariateStudentT, "scale", (-W, np.ones((2, 2)), [1.0, 2.0], "a")),
    (MultivariateLaplace, "location", ([np.nan, 0.0], 1.0, [])),
    (MultivariateLaplace, "scale", (0.0, -1.0, np.nan, np.inf)),
    (MultivariateLaplace, "norm", ("l3", None, 2)),
    (NormalGamma, "mean", (np.nan, np.inf, "a")),
    (NormalGamma, "strength", (0.0, -1.0, np.nan)),
    (NormalGamma, "shape", (0.0, -1.0, np.nan)),
    (NormalGamma, "rate", (0.0, -1.0, np.nan)),
    (NormalWishart, "mean", ([0.0], [np.nan, 0.0], 0.0)),
    (NormalWishart, "strength", (0.0, np.nan)),
    (NormalWishart, "dof", (1.0, np.nan)),
    (NormalWishart, "scale", (-W, [[1.0, 2.0], [2.0, 1.0]])),
]


@pytest.mark.parametrize(("family", "name", "values"), BAD, ids=lambda x: getattr(x, "__name__", str(x)[:12]))
def test_bad_parameters_are_named(family, name, values):
    for bad in values:
        with pytest.raises(ValueError, match=name):
            family(**{**GOOD[family], name: bad})


def test_partners_must_be_of_the_family():
    for family, given in GOOD.items():
        d = family(**given)
        with pytest.raises(TypeError, match="other"):
            d.kl_divergence(Normal(mean=0.0, variance=1.0))
    with pytest.raises(ValueError, match="other must have events of shape"):
        Dirichlet(concentration=[1.0, 1.0]).kl_divergence(Dirichlet(concentration=np.ones(3)))
    for family in (Wishart, InverseWishart):
        with pytest.raises(ValueError, match="other must have events of shape"):
            family(dof=3.0, scale=W).kl_divergence(family(dof=3.0, scale=THREE))
    l1, l2 = (MultivariateLaplace(location=[0.0, 1.0], scale=1.0, norm=norm) for norm in ("l1", "l2"))
    with pytest.raises(ValueError, match="norm"):
        l1.kl_divergence(l2)
    for family, scale in ((MultivariateLaplace, 1.0), (MultivariateStudentT, np.eye(3))):
        known = {"dof": 3.0} if family is MultivariateStudentT else {}
        with pytest.raises(ValueError, match="other must have events of shape"):
            family(**GOOD[family]).kl_divergence(family(location=np.zeros(3), scale=scale, **known))


@pytest.mark.parametrize("family", [Wishart, InverseWishart])
def test_bad_matrices_cannot_be_learnt_from(family):
    with pytest.raises(ValueError, match="X must hold matrices that differ"):
        family.fit(np.stack([W, W]))
    with pytest.raises(ValueError, match="positive definite"):
        family.fit(np.stack([W, -W]))
    with pytest.raises(ValueError, match="X must be matrices"):
        family.fit(W)


def test_rows_that_are_all_equal_have_no_spread():
    with pytest.raises(ValueError, match="X"):
        MultivariateLaplace.fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match="X"):
        MultivariateStudentT.fit(np.ones((5, 2)))
    precision = np.array([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="X must hold means that differ"):
        NormalGamma.fit((np.ones(3), precision))
    with pytest.raises(ValueError, match="X must hold means that differ"):
        NormalWishart.fit((np.ones((3, 2)), precision[:, None, None] * np.stack([W, np.eye(2), W])))


def test_structures_are_kept():
    t = MultivariateStudentT(dof=5.0, location=np.zeros((3, 2)), scale=Diagonal(variances=[1.0, 4.0]))
    assert isinstance(t.structure, Diagonal)
    assert isinstance(t.marginal([1]).structure, Diagonal)
    assert isinstance(t[0].structure, Diagonal)
    np.testing.assert_allclose(t.scale[2], np.diag([1.0, 4.0]))
