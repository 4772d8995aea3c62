"""MultivariateNormal against mpmath (fifty digits), SciPy and the formulas of the books."""

import mpmath
import numpy as np
import pytest
import scipy.stats

from tractable.covariance import Diagonal, Full, Isotropic, LowRankPlusDiagonal
from tractable.distributions import MultivariateNormal, condition_precision, gaussian_from_quadratic

MEAN = np.array([1.0, -2.0, 0.5])
COVARIANCE = np.array([[4.0, 1.2, 0.0], [1.2, 1.0, -0.3], [0.0, -0.3, 0.5]])


def joint(**more):
    return MultivariateNormal(mean=MEAN, covariance=COVARIANCE, **more)


def log_prob(x, mean, covariance):
    with mpmath.workdps(50):
        z = mpmath.matrix([mpmath.mpf(float(a)) - mpmath.mpf(float(b)) for a, b in zip(x, mean, strict=True)])
        sigma = mpmath.matrix(covariance.tolist())
        squared = (z.T * mpmath.lu_solve(sigma, z))[0]
        return float(-(squared + len(z) * mpmath.log(2 * mpmath.pi) + mpmath.log(mpmath.det(sigma))) / 2)


@pytest.mark.spec("DIST-22")
@pytest.mark.parametrize("dim", [1, 2, 5, 16, pytest.param(70, marks=pytest.mark.slow)])
def test_log_prob_against_mpmath(dim, rng):
    A = rng.standard_normal((dim, dim))
    covariance = A @ A.T / dim + np.eye(dim)
    d = MultivariateNormal(mean=rng.standard_normal(dim), covariance=covariance)
    for x in d.mean + np.array([0.0, 1.0, 30.0])[:, None] * rng.standard_normal((3, dim)):
        expected = log_prob(x, d.mean, covariance)
        for found in (d.log_prob(x), d.log_prob(x[None])[0]):
            assert abs(float(found) - expected) <= 1e-12 * max(1.0, abs(expected))


@pytest.mark.spec("DIST-22", "DIST-24")
@pytest.mark.parametrize(
    "structure",
    [
        Diagonal(variances=[0.3, 2.0, 5.0]),
        Isotropic(variance=0.7, dim=3),
        LowRankPlusDiagonal(factor=[[1.0], [2.0], [-0.5]], variances=[0.3, 2.0, 5.0]),
        Full.from_cholesky([[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 0.5, 0.3]]),
    ],
)
def test_structures_against_scipy(structure, rng):
    d = MultivariateNormal(mean=MEAN, covariance=structure)
    other = scipy.stats.multivariate_normal(MEAN, structure.dense())
    x = rng.standard_normal((5, 4, 3))
    np.testing.assert_allclose(d.log_prob(x), other.logpdf(x), rtol=1e-12)
    np.testing.assert_allclose(d.entropy(), other.entropy(), rtol=1e-13)


@pytest.mark.spec("DIST-23", "E000-08")
def test_mahalanobis_distance_and_its_square():
    d = MultivariateNormal(mean=[0.0, 0.0], covariance=[[4.0, 0.0], [0.0, 9.0]])
    assert float(d.mahalanobis([2.0, 3.0], squared=True)) == 2.0
    np.testing.assert_allclose(d.mahalanobis([2.0, 3.0]), 2.0**0.5)
    assert float(d.mahalanobis([np.nan, 6.0])) == 2.0


@pytest.mark.spec("DIST-25", "E000-09")
def test_principal_axes_are_rows_largest_first():
    axes, variances = MultivariateNormal(
        mean=[0.0, 0.0], covariance=[[2.0, 1.0], [1.0, 2.0]]
    ).principal_axes()
    np.testing.assert_allclose(variances, [3.0, 1.0])
    np.testing.assert_allclose(axes[0], np.sqrt([0.5, 0.5]))
    np.testing.assert_allclose(np.abs(axes[1]), np.sqrt([0.5, 0.5]))
    assert axes[1].max() > 0


@pytest.mark.spec("DIST-27", "E003-05")
def test_conditional_is_what_draws_near_the_value_do(rng):
    """The sign of the gain: with correlation 0.9 and x_b one deviation up, x_a goes up by 0.9."""
    d = MultivariateNormal(mean=[1.0, 1.0], covariance=[[1.0, 0.9], [0.9, 1.0]])
    np.testing.assert_allclose(d.condition([1], [2.0]).mean, [1.9])
    x = d.sample(400_000, rng=rng)
    near = x[np.abs(x[:, 1] - 2.0) < 0.05, 0]
    assert abs(near.mean() - 1.9) < 5 * near.std() / np.sqrt(len(near)) + 0.05
    np.testing.assert_allclose(near.var(), d.condition([1], [2.0]).variance[0], rtol=0.1)


@pytest.mark.spec("E003-02")
def test_conditional_is_the_joint_over_the_marginal_of_what_is_given(rng):
    d, x = joint(), rng.standard_normal((4, 3))
    ratio = d.log_prob(x) - d.marginal([1]).log_prob(x[:, [1]])
    np.testing.assert_allclose(d.condition([1], x[:, [1]]).log_prob(x[:, [0, 2]]), ratio, rtol=1e-12)
    wrong = d.log_prob(x) - d.marginal([0, 2]).log_prob(x[:, [0, 2]])
    assert np.all(np.abs(wrong - ratio) > 1e-3)


@pytest.mark.spec("DIST-28", "MATH-05", "E003-04")
@pytest.mark.parametrize("given", [[2], [0, 1], [2, 0], [-1]])
def test_precision_form_of_the_conditional(given, rng):
    """μ_a - Λ_aa⁻¹ Λ_ab (x_b - μ_b) with Λ_ab: Λ_ba does not even have the right shape."""
    d, values = joint(), rng.standard_normal((5, len(given)))
    by_covariance = d.condition(given, values)
    by_precision = condition_precision(d.mean, d.precision, given, values)
    np.testing.assert_allclose(by_precision.mean, by_covariance.mean, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(by_precision.covariance, by_covariance.covariance, rtol=1e-12, atol=1e-13)
    rest = [i for i in range(3) if i not in [g % 3 for g in given]]
    block = d.precision[np.ix_(rest, rest)]
    np.testing.assert_allclose(by_covariance.covariance[0], np.linalg.inv(block), rtol=1e-12, atol=1e-13)
    assert not np.allclose(np.linalg.inv(d.covariance[np.ix_(rest, rest)]), block)


@pytest.mark.spec("E003-04")
def test_transposed_block_of_the_precision_does_not_fit():
    precision = joint().precision
    a, b = [0, 1], [2]
    across = precision[np.ix_(b, a)]
    with pytest.raises(ValueError, match="matmul"):
        np.linalg.inv(precision[np.ix_(a, a)]) @ across @ np.ones(1)


@pytest.mark.spec("MATH-06")
def test_gaussian_from_a_quadratic_form(rng):
    d = joint()
    found = gaussian_from_quadratic(d.precision, d.precision @ d.mean)
    np.testing.assert_allclose(found.mean, d.mean, rtol=1e-12)
    np.testing.assert_allclose(found.covariance, d.covariance, rtol=1e-12, atol=1e-13)
    x = rng.standard_normal((6, 3))
    quadratic = -0.5 * np.einsum("ni,ij,nj->n", x, d.precision, x) + x @ d.precision @ d.mean
    np.testing.assert_allclose(np.ptp(d.log_prob(x) - quadratic), 0.0, atol=1e-12)
    many = gaussian_from_quadratic(np.stack([np.eye(2), 4.0 * np.eye(2)]), [[1.0, 2.0], [4.0, 8.0]])
    np.testing.assert_allclose(many.mean, [[1.0, 2.0], [1.0, 2.0]])


@pytest.mark.spec("DIST-26")
def test_product_of_densities_has_a_scale():
    """N(x | 0, 1) N(x | 2, 1) = N(0 | 2, 2) N(x | 1, ½)."""
    one = MultivariateNormal(mean=[0.0], covariance=[[1.0]])
    both, log_scale = one.product(MultivariateNormal(mean=[2.0], covariance=[[1.0]]))
    np.testing.assert_allclose(both.mean, [1.0])
    np.testing.assert_allclose(both.covariance, [[0.5]])
    np.testing.assert_allclose(log_scale, scipy.stats.norm(2.0, 2.0**0.5).logpdf(0.0), rtol=1e-14)


@pytest.mark.spec("DIST-29")
def test_marginal_drops_rows_and_columns():
    part = joint().marginal([2, 0])
    np.testing.assert_array_equal(part.mean, [0.5, 1.0])
    np.testing.assert_array_equal(part.covariance, [[0.5, 0.0], [0.0, 4.0]])


@pytest.mark.spec("DIST-30", "DIST-32")
def test_fit_is_the_sample_mean_and_covariance(rng):
    X = rng.standard_normal((50, 3)) @ np.linalg.cholesky(COVARIANCE).T + 1e6
    d = MultivariateNormal.fit(X)
    np.testing.assert_allclose(d.mean, X.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(d.covariance, np.cov(X.T, ddof=0), rtol=1e-9)
    np.testing.assert_allclose(MultivariateNormal.fit(X, ddof=1).covariance, np.cov(X.T), rtol=1e-9)
    diagonal = MultivariateNormal.fit(X, structure=Diagonal, names=["a", "b", "c"])
    np.testing.assert_allclose(diagonal.variance, X.var(axis=0), rtol=1e-9)
    assert isinstance(diagonal.structure, Diagonal)
    assert diagonal.names == ("a", "b", "c")
    round_ = MultivariateNormal.fit(X, structure=Isotropic)
    np.testing.assert_allclose(round_.variance, np.full(3, X.var(axis=0).mean()), rtol=1e-9)


@pytest.mark.spec("DIST-30")
def test_low_rank_fit_is_probabilistic_pca(rng):
    factor = rng.standard_normal((6, 2)) * 3.0
    X = rng.standard_normal((5000, 2)) @ factor.T + rng.standard_normal((5000, 6))
    from tractable.statistics import Moments

    found = LowRankPlusDiagonal.from_moments(Moments.of(X), rank=2)
    eigenvalues = np.linalg.eigvalsh(np.cov(X.T, ddof=0))
    np.testing.assert_allclose(found.variances, eigenvalues[:4].mean(), rtol=1e-10)
    np.testing.assert_allclose(np.linalg.eigvalsh(found.dense())[4:], eigenvalues[4:], rtol=1e-10)


def test_values_of_a_condition_become_batch_axes_and_share_the_covariance(rng):
    d = joint(names=["a", "b", "c"]).condition("b", rng.standard_normal((1000, 2, 1)))
    assert d.batch_shape == (1000, 2)
    assert d.structure.batch_shape == ()
    assert d.covariance.shape == (1000, 2, 2, 2)
    assert d.names == ("a", "c")
    assert d[3, 1].batch_shape == ()


def test_names_work_as_dims():
    d = joint(names=["length", "width", "depth"])
    np.testing.assert_array_equal(d.marginal(["depth", "length"]).covariance, d.marginal([2, 0]).covariance)
    assert d.marginal(slice(1, None)).names == ("width", "depth")
    np.testing.assert_array_equal(d.condition({"width": 1.0}).mean, d.condition([1], [1.0]).mean)
    np.testing.assert_array_equal(
        d.condition({"width": [0.0, 1.0], "depth": 2.0}).mean,
        d.condition(["width", "depth"], [[0.0, 2.0], [1.0, 2.0]]).mean,
    )
    assert d.condition({-1: 0.0}).names == ("length", "width")


@pytest.mark.parametrize(
    ("dims", "said"),
    [
        (["widht"], "'widht' among 'length', 'width', 'depth'; did you mean 'width'"),
        (["mass"], "'mass' among"),
        ([3], "dims must be integers from -3 to 2, got 3"),
        ([-4], "dims"),
        ([0, 0], "dims must be distinct"),
        ([1, "width"], "dims must be distinct"),
        ([0.5], "dims"),
        ([True], "dims"),
        ([], "dims"),
        (None, "dims"),
    ],
)
def test_bad_dims_are_named(dims, said):
    with pytest.raises(ValueError, match=said):
        joint(names=["length", "width", "depth"]).marginal(dims)


def test_names_are_asked_for_only_where_there_are_some():
    with pytest.raises(ValueError, match="have no names"):
        joint().marginal("a")
    for names in (["a", "b"], ["a", "a", "b"], ["a", "b", 3], "abc"):
        with pytest.raises(ValueError, match="names"):
            joint(names=names)


@pytest.mark.parametrize(
    ("dims", "values", "said"),
    [
        ([0], [1.0, 2.0], "values"),
        ([0], [np.nan], "values must be finite"),
        ([0], None, "values"),
        ({0: 1.0}, [1.0], "values"),
        ([0, 1, 2], [1.0, 2.0, 3.0], "dims must leave"),
    ],
)
def test_bad_conditions_are_named(dims, values, said):
    with pytest.raises(ValueError, match=said):
        joint().condition(dims, values)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"mean": [1.0, 2.0]}, "mean must have shape"),
        ({"mean": 0.0}, "mean must have shape"),
        ({"mean": [1.0, np.nan, 0.0]}, "mean must be finite"),
        ({"mean": np.zeros((4, 3)), "covariance": np.stack([COVARIANCE] * 3)}, "mean .4,., covariance .3,."),
        ({"covariance": np.ones((2, 3))}, "covariance must be square"),
        ({"covariance": np.eye(3)[0]}, "covariance must be square"),
        ({"covariance": COVARIANCE + np.triu(np.ones((3, 3)), 1)}, "covariance must be symmetric"),
        ({"covariance": np.ones((3, 3))}, "covariance must be positive definite"),
        ({"covariance": -COVARIANCE}, "covariance must be positive definite"),
        ({"covariance": COVARIANCE * np.nan}, "covariance must be finite"),
        ({"covariance": COVARIANCE * 1j}, "covariance must be an array of real numbers"),
        ({"covariance": [[1.0, 0.0], [0.0]]}, "covariance must be an array of real numbers"),
        ({"covariance": None}, "covariance must be an array of real numbers"),
        ({"mean": "abc"}, "mean must be an array of real numbers"),
    ],
)
def test_bad_parameters_are_named(bad, said):
    with pytest.raises(ValueError, match=said):
        MultivariateNormal(**{"mean": MEAN, "covariance": COVARIANCE, **bad})


@pytest.mark.parametrize(
    ("X", "weight", "said"),
    [
        (np.zeros(3), None, "X"),
        (np.empty((0, 2)), None, "X"),
        ([[1.0, np.nan]], None, "X must be finite"),
        (np.ones((5, 2)), None, "matrix must be positive definite"),
        (np.eye(3), [1.0, 1.0], "sample_weight"),
        (np.eye(3), [1.0, -1.0, 1.0], "sample_weight"),
    ],
)
def test_fit_refuses_what_it_cannot_fit(X, weight, said):
    with pytest.raises(ValueError, match=said):
        MultivariateNormal.fit(X, weight)


def test_other_arguments_are_named():
    d = joint()
    with pytest.raises(ValueError, match="A must have shape"):
        d.affine(np.eye(2))
    with pytest.raises(ValueError, match="positive definite"):
        d.affine(np.ones((2, 3)))
    with pytest.raises(ValueError, match="b must have shape"):
        d.affine(np.eye(3), [1.0])
    with pytest.raises(ValueError, match="x must be an array of real numbers"):
        d.log_prob(["a", "b", "c"])
    with pytest.raises(TypeError, match="MultivariateNormal"):
        d.product(COVARIANCE)
    with pytest.raises(ValueError, match=r"events of shape \(3,\)"):
        d.kl_divergence(d.marginal([0]))
    with pytest.raises(ValueError, match="coverage"):
        d.credible_radius(1.0)
    with pytest.raises(TypeError):
        d + 1.0
    with pytest.raises(ValueError, match="linear"):
        gaussian_from_quadratic(np.eye(2), [1.0])
    with pytest.raises(ValueError, match="precision"):
        gaussian_from_quadratic(-np.eye(2), [1.0, 1.0])


def test_far_rows_are_impossible_and_say_so_without_a_warning():
    d = joint()
    np.testing.assert_array_equal(d.log_prob([[np.inf, 0.0, -np.inf], [1e200, 1e200, -1e200]]), -np.inf)
    np.testing.assert_array_equal(d.log_prob([[np.inf, np.nan, np.inf]]), -np.inf)
    assert float(d.mahalanobis([0.0, 0.0, np.inf])) == np.inf
    assert float(d.log_prob([np.nan] * 3)) == 0.0


def test_missing_entries_of_a_batch_with_rows_of_its_own(rng):
    d = MultivariateNormal(mean=np.stack([MEAN, -MEAN]), covariance=np.stack([COVARIANCE, np.eye(3)]))
    x = d.sample(30, rng=rng)
    x[rng.random(x.shape) < 0.4] = np.nan
    found = d.log_prob(x)
    for k in range(2):
        np.testing.assert_allclose(found[:, k], d[k].log_prob(x[:, k]), rtol=1e-12)


def test_many_rows_are_the_same_as_few(rng):
    d, x = joint(), rng.standard_normal((50_000, 3))
    x[7, 1] = np.nan
    np.testing.assert_allclose(d.log_prob(x)[:20], d.log_prob(x[:20]), rtol=1e-14)


def test_strong_correlation_leaves_a_definite_conditional():
    """Σ_aa - Σ_ab Σ_bb⁻¹ Σ_ba would lose every digit; the factor does not subtract."""
    tight = 1e-13
    covariance = np.array([[1.0, 1.0], [1.0, 1.0 + tight]])
    left = MultivariateNormal(mean=[0.0, 0.0], covariance=covariance).condition([0], [1.0])
    exact = mpmath.mpf(covariance[1, 1]) - 1
    np.testing.assert_allclose(left.variance, float(exact), rtol=1e-2)
