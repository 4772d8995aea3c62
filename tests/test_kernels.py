"""Kernels: scikit-learn's values, worked examples, hyper-parameters, columns by name, what is refused."""

import numpy as np
import pandas as pd
import pytest
import sklearn.gaussian_process.kernels as peers
from sklearn.base import clone
from sklearn.metrics.pairwise import polynomial_kernel, sigmoid_kernel

import tractable
from tractable.arrays import is_pd, is_psd
from tractable.distributions import Gamma, InverseGamma, MultivariateNormal, Normal
from tractable.kernels import (
    RBF,
    Categorical,
    Constant,
    Cosine,
    DistanceRBF,
    Exponentiated,
    Feature,
    FourierFeatures,
    Kernel,
    KernelDistance,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    Power,
    Precomputed,
    Product,
    QuadraticForm,
    RationalQuadratic,
    Scaled,
    Sigmoid,
    Subspace,
    Sum,
    Warped,
    White,
)
from tractable.value import value

PAIRS = [
    (RBF(1.3), peers.RBF(1.3), 3),
    (RBF([1.0, 2.0, 0.3]), peers.RBF([1.0, 2.0, 0.3]), 3),
    (RBF(0.02), peers.RBF(0.02), 3),
    (Matern(1.3, nu=0.5), peers.Matern(1.3, nu=0.5), 3),
    (Matern([1.0, 2.0, 0.3], nu=1.5), peers.Matern([1.0, 2.0, 0.3], nu=1.5), 3),
    (Matern([1.0, 2.0, 0.3], nu=2.5), peers.Matern([1.0, 2.0, 0.3], nu=2.5), 3),
    (RationalQuadratic(1.3, alpha=0.4), peers.RationalQuadratic(1.3, 0.4), 3),
    (Periodic(1.3, periodicity=0.7), peers.ExpSineSquared(1.3, 0.7), 1),
    (Linear(0.6), peers.DotProduct(0.6), 3),
    (
        Constant(2.5) * RBF(2.0) + White(0.1),
        peers.ConstantKernel(2.5) * peers.RBF(2.0) + peers.WhiteKernel(0.1),
        3,
    ),
    ((RBF(2.0) + Linear(0.5)) ** 2, peers.Exponentiation(peers.RBF(2.0) + peers.DotProduct(0.5), 2), 3),
]


@pytest.mark.parametrize(("ours", "theirs", "columns"), PAIRS, ids=lambda k: str(k)[:40])
def test_values_and_gradients_are_those_of_scikit_learn(ours, theirs, columns, rng):
    x, y = rng.standard_normal((30, columns)), rng.standard_normal((8, columns))
    np.testing.assert_allclose(ours(x), theirs(x), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours(x, y), theirs(x, y), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.diagonal(x), theirs.diag(x), rtol=1e-12)
    W = rng.standard_normal((30, 30))
    W += W.T
    _, gradient = theirs(x, eval_gradient=True)
    contracted = np.einsum("nm,nmp->p", W, gradient)
    found = dict(zip(ours.theta, ours.contract_gradient(W, x), strict=True))
    assert len(found) == len(contracted)  # the parameters of some stand in another order, by value
    for theta, expected in zip(theirs.theta, contracted, strict=True):
        key = min(found, key=lambda t: abs(t - theta))
        assert key == pytest.approx(theta, abs=1e-14)
        np.testing.assert_allclose(found[key], expected, rtol=1e-9, atol=1e-10 * np.sum(np.abs(W)))


@pytest.mark.spec("KER-16")
def test_polynomial_and_sigmoid_are_those_of_scikit_learn(rng):
    x, y = rng.standard_normal((9, 3)), rng.standard_normal((4, 3))
    np.testing.assert_allclose(
        Polynomial(3, gamma=0.4, coef0=1.5)(x, y),
        polynomial_kernel(x, y, degree=3, gamma=0.4, coef0=1.5),
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        Sigmoid(0.4, coef0=-1.0)(x, y), sigmoid_kernel(x, y, gamma=0.4, coef0=-1.0), rtol=1e-12
    )
    np.testing.assert_allclose(Polynomial(2)(x, y), (x @ y.T + 1.0) ** 2, rtol=1e-13)


@pytest.mark.spec("KER-15", "W-11")
def test_quadratic_kernel_and_its_features():
    quadratic = Polynomial(2, coef0=0.0)
    x, z = np.array([[1.0, 2.0]]), np.array([[3.0, -1.0]])
    np.testing.assert_allclose(quadratic.features(x), [[1.0, 2.0 * np.sqrt(2.0), 4.0]], rtol=1e-15)
    assert quadratic(x, z).item() == pytest.approx(1.0)
    assert (quadratic.features(x) @ quadratic.features(z).T).item() == pytest.approx(1.0)
    assert quadratic.n_features(2) == 3


@pytest.mark.spec("KER-18", "W-09", "E003-12")
def test_a_matrix_that_is_semidefinite_and_not_definite(rng):
    A = np.array([[9.0, -15.0], [-15.0, 25.0]])
    assert is_psd(A)
    assert not is_pd(A)
    kernel = QuadraticForm(A)
    np.testing.assert_allclose(kernel.diagonal([[5.0, 3.0], [5.0, 2.0]]), [0.0, 25.0])
    assert is_psd(kernel(rng.standard_normal((7, 2))))


@pytest.mark.spec("KER-05")
@pytest.mark.parametrize("factor", [-1.0, 0.0, np.nan, np.inf, "2", None, [1.0, 2.0]])
def test_multiples_are_positive(factor):
    with pytest.raises(ValueError, match="scale"):
        factor * RBF()
    with pytest.raises(ValueError, match="constant_value"):
        Constant(factor)


@pytest.mark.spec("KER-06")
def test_scaling_by_a_function(rng):
    x, y = rng.standard_normal((5, 2)), rng.standard_normal((3, 2))
    scaled = Scaled(RBF(1.5), function=lambda x: x[:, 0])
    np.testing.assert_allclose(scaled(x, y), x[:, :1] * RBF(1.5)(x, y) * y[:, 0], rtol=1e-13)
    with pytest.raises(ValueError, match="function must return one number for each of 5 rows"):
        Scaled(RBF(), function=lambda x: x)(x)


@pytest.mark.spec("KER-13")
def test_conventions_of_the_width_convert(rng):
    x, y = rng.standard_normal((5, 2)), rng.standard_normal((3, 2))
    squares = np.sum((x[:, None] - y) ** 2, axis=-1)
    np.testing.assert_allclose(RBF(0.7)(x, y), np.exp(-squares / (2 * 0.7**2)), rtol=1e-12)
    np.testing.assert_allclose(RBF(0.7 / np.sqrt(2.0))(x, y), np.exp(-squares / 0.7**2), rtol=1e-12)
    precisions = np.array([0.5, 3.0])
    expected = np.exp(-0.5 * np.sum(precisions * (x[:, None] - y) ** 2, axis=-1))
    np.testing.assert_allclose(RBF(1.0 / np.sqrt(precisions))(x, y), expected, rtol=1e-12)


@pytest.mark.spec("KER-14", "E003-13")
def test_gaussian_kernel_by_factors_and_on_another_kernels_distance(rng):
    x, y = rng.standard_normal((5, 2)), rng.standard_normal((3, 2))
    outer = lambda rows: np.exp(-np.sum(rows**2, axis=1) / (2 * 1.3**2))  # noqa: E731
    factors = Scaled(Exponentiated(1.3**-2 * Linear(0.0)), function=outer)
    np.testing.assert_allclose(factors(x, y), RBF(1.3)(x, y), rtol=1e-12)
    np.testing.assert_allclose(DistanceRBF(Linear(0.4), 1.3)(x, y), RBF(1.3)(x, y), rtol=1e-12)
    inner = Polynomial(2)
    features = np.linalg.norm(inner.features(x)[:, None] - inner.features(y), axis=-1)
    np.testing.assert_allclose(KernelDistance(kernel=inner)(x, y), features, rtol=1e-10)
    np.testing.assert_allclose(DistanceRBF(inner, 2.0)(x, y), np.exp(-(features**2) / 8.0), rtol=1e-10)
    np.testing.assert_allclose(KernelDistance(kernel=inner)(x).diagonal(), 0.0, atol=1e-6)


@pytest.mark.spec("KER-17", "KER-21", "GP-02")
def test_features_are_a_bayesian_linear_models_kernel(rng):
    x = rng.standard_normal((6, 1))
    basis = tractable.PolynomialBasis(degree=3).fit(x)
    kernel = 0.5 * Feature(basis)
    phi = basis.transform(x)
    np.testing.assert_allclose(kernel(x), 0.5 * phi @ phi.T, rtol=1e-12)
    np.testing.assert_allclose(kernel.features(x), np.sqrt(0.5) * phi, rtol=1e-12)
    # cov[Φw] of weights w ~ N(0, α⁻¹ I), by simulation.
    f = phi @ (np.sqrt(0.5) * rng.standard_normal((phi.shape[1], 40_000)))
    draws = f.T[:, :, None] * f.T[:, None, :]
    error = 5.0 * draws.std(axis=0) / np.sqrt(len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - kernel(x)) < error)


@pytest.mark.spec("KER-19")
def test_ornstein_uhlenbeck_is_markov():
    x = np.array([[0.0], [0.7], [2.0]])
    K = Matern(1.0 / 0.9, nu=0.5)(x)
    np.testing.assert_allclose(K, np.exp(-0.9 * np.abs(x - x.T)), rtol=1e-14)
    # Given the present, past and future are independent: their entry of the precision is zero.
    assert abs(np.linalg.inv(K)[0, 2]) < 1e-14


@pytest.mark.spec("E000-53")
def test_one_scale_a_column_is_stationary_and_not_isotropic():
    assert RBF(2.0).is_isotropic
    assert RBF([1.0, 2.0]).is_stationary
    assert not RBF([1.0, 2.0]).is_isotropic
    assert RBF([2.0, 2.0]).is_isotropic
    assert (RBF() + White()).is_isotropic
    assert not (RBF() * Linear()).is_stationary
    assert not Scaled(RBF(), function=np.sum).is_stationary
    assert not (RBF() + Sigmoid()).is_positive_semidefinite


@pytest.mark.spec("E000-46")
def test_short_scales_make_near_diagonal_matrices(rng):
    x = rng.standard_normal((20, 2))
    off = [np.abs(K - np.diag(np.diag(K))).max() for K in (RBF(s)(x) for s in (1e-3, 1e3))]
    assert off[0] < 1e-3
    assert off[1] > 0.999


@pytest.mark.spec("KER-04", "KER-08")
def test_kernels_of_columns_by_position_and_by_name(rng):
    frame = pd.DataFrame(rng.standard_normal((7, 3)), columns=["a", "b", "c"])
    x = frame.to_numpy()
    named = Subspace(RBF(0.5), ["c", "a"]) + 2.0 * Subspace(Linear(0.0), "b")
    placed = Subspace(RBF(0.5), [2, 0]) + 2.0 * Subspace(Linear(0.0), [1])
    expected = RBF(0.5)(x[:, [2, 0]]) + 2.0 * Linear(0.0)(x[:, [1]])
    np.testing.assert_allclose(named(frame), expected, rtol=1e-13)
    np.testing.assert_allclose(placed(x), expected, rtol=1e-13)
    assert named.with_columns(frame.columns) == placed
    np.testing.assert_array_equal(named.diagonal(frame), placed.diagonal(x))
    with pytest.raises(ValueError, match="'c'"):
        named(x)
    with pytest.raises(ValueError, match=r"among .*'z'"):
        Subspace(RBF(), ["z"])(frame)
    with pytest.raises(ValueError, match="columns must be below 3"):
        Subspace(RBF(), [3])(x)


def test_noise_is_each_rows_own():
    x = [[1.0], [1.0]]
    np.testing.assert_array_equal(White(0.2)(x), 0.2 * np.eye(2))
    np.testing.assert_array_equal(White(0.2)(x, x), np.zeros((2, 2)))
    np.testing.assert_allclose((2.0 * White(0.2) * Constant(3.0)).diagonal(x), [1.2, 1.2])


def test_an_estimators_kernel_is_replaced_and_not_changed():
    class Model(tractable.base.Estimator):
        def __init__(self, kernel=None):
            self.kernel = kernel

    kernel = 2.0 * RBF([1.0, 2.0]) + White(0.1)
    model = Model(kernel)
    copy = clone(model)
    assert copy.kernel is kernel
    model.set_params(kernel__k1__kernel__length_scale=[3.0, 4.0], kernel__k2__noise_level=0.7)
    assert model.kernel == 2.0 * RBF([3.0, 4.0]) + White(0.7)
    assert copy.kernel == 2.0 * RBF([1.0, 2.0]) + White(0.1)
    assert model.get_params()["kernel__k2__noise_level"] == 0.7
    model.set_params(kernel=RBF(1.0), kernel__length_scale=5.0)
    assert model.kernel == RBF(5.0)
    with pytest.raises(ValueError, match="width"):
        model.set_params(kernel__width=1.0)
    with pytest.raises(ValueError, match="no_such"):
        model.set_params(no_such__width=1.0)


def test_theta_has_the_free_parameters_alone():
    kernel = Scaled(RBF([1.0, 2.0]), 3.0, scale_bounds="fixed") + White(0.1, noise_level_bounds=(1e-3, 1.0))
    assert kernel.theta_names == ("RBF.length_scale[0]", "RBF.length_scale[1]", "White.noise_level")
    np.testing.assert_allclose(kernel.theta, np.log([1.0, 2.0, 0.1]))
    np.testing.assert_allclose(kernel.bounds, np.log([[1e-5, 1e5], [1e-5, 1e5], [1e-3, 1.0]]))
    assert kernel.with_theta(np.log([2.0, 4.0, 0.2])).terms[0].scale == 3.0
    each = RBF([1.0, 2.0], length_scale_bounds=[[0.1, 1.0], [0.2, 2.0]])
    np.testing.assert_allclose(each.bounds, np.log([[0.1, 1.0], [0.2, 2.0]]))
    assert Linear(0.0).theta_names == ()
    double = RBF(1.0) + RBF(2.0) * Linear(1.0)
    assert double.theta_names == ("k1.RBF.length_scale", "k2.k1.RBF.length_scale", "Linear.sigma_0")


def test_priors_are_of_the_numbers_themselves():
    prior = Gamma(shape=3.0, rate=2.0)
    kernel = RBF(0.7, length_scale_prior=prior) + White(0.1)
    assert kernel.log_prior() == pytest.approx(float(prior.log_prob(0.7)))
    # d/dlog ℓ of (a - 1) log ℓ - bℓ
    np.testing.assert_allclose(kernel.log_prior_gradient(), [2.0 - 2.0 * 0.7, 0.0], rtol=1e-8)
    batch = RBF([0.5, 2.0], length_scale_prior=InverseGamma(shape=[2.0, 3.0], scale=1.0))
    expected = InverseGamma(shape=[2.0, 3.0], scale=1.0).log_prob([0.5, 2.0]).sum()
    assert batch.log_prior() == pytest.approx(float(expected))
    fixed = RBF(0.7, length_scale_bounds="fixed", length_scale_prior=prior)
    assert fixed.log_prior() == 0.0


def test_kernels_are_compared_by_content():
    assert RBF([1.0, 2.0]) == RBF(np.array([1, 2]))
    assert RBF(1.0) != RBF([1.0])
    assert RBF(1.0) != Matern(1.0)
    assert RBF(1.0, length_scale_prior=Normal(mean=0.0, stddev=1.0)) == RBF(
        1.0, length_scale_prior=Normal(mean=0.0, stddev=1.0)
    )
    assert len({RBF(1.0) + 2.0, RBF(1.0) + 2.0, 2.0 + RBF(1.0)}) == 2
    assert Sum([RBF(), Sum([White(), Linear()])]) == RBF() + White() + Linear()
    assert 0 + RBF() == RBF()


@pytest.mark.parametrize(
    "text",
    [
        "2.0 * RBF(length_scale=[1.0, 2.0]) + White(noise_level=0.1)",
        "(RBF(length_scale=1.0) + Linear(sigma_0=0.5)) * Matern(length_scale=2.0, nu=2.5)",
        "3.0 * (RBF(length_scale=1.0) + White(noise_level=1.0))",
        "(2.0 * RBF(length_scale=1.0) * Linear(sigma_0=1.0)) ** 3",
        "Sum(terms=(RBF(length_scale=1.0),))",
        "Scaled(kernel=RBF(length_scale=1.0), scale=2.0, scale_bounds='fixed')",
        "Subspace(kernel=Cosine(periodicity=1.0), columns=(0, 'b'))",
    ],
)
def test_a_kernel_is_printed_as_what_makes_it(text):
    kernel = eval(text)
    assert repr(kernel) == text
    assert eval(repr(kernel)) == kernel


BAD = [
    (lambda: RBF(0.0), "length_scale"),
    (lambda: RBF([1.0, -1.0]), "length_scale"),
    (lambda: RBF(np.nan), "length_scale"),
    (lambda: RBF("long"), "length_scale"),
    (lambda: RBF([[1.0]]), "length_scale"),
    (lambda: RBF([]), "length_scale"),
    (lambda: RBF(1.0, length_scale_bounds="free"), "length_scale_bounds"),
    (lambda: RBF(1.0, length_scale_bounds=(1.0, 0.1)), "length_scale_bounds"),
    (lambda: RBF(1.0, length_scale_bounds=(0.0, 1.0)), "length_scale_bounds"),
    (lambda: RBF(1.0, length_scale_bounds=(0.1, np.inf)), "length_scale_bounds"),
    (lambda: RBF(1.0, length_scale_bounds=[(0.1, 1.0)]), "length_scale_bounds"),
    (lambda: RBF(1.0, length_scale_prior=3.0), "length_scale_prior"),
    (
        lambda: RBF(1.0, length_scale_prior=MultivariateNormal(mean=[0.0], covariance=[[1.0]])),
        "length_scale_prior",
    ),
    (lambda: RBF([1.0, 2.0], length_scale_prior=Normal(mean=[0.0] * 3, stddev=1.0)), "length_scale_prior"),
    (lambda: RBF([1.0, 2.0])(np.ones((2, 3))), "length_scale has 2 entries, and rows have 3 columns"),
    (lambda: Matern(nu=1.0), "nu"),
    (lambda: Matern(nu="rough"), "nu"),
    (lambda: White([0.1, 0.2]), "noise_level"),
    (lambda: Linear(-1.0), "sigma_0"),
    (lambda: Linear(center=np.nan), "center"),
    (lambda: Linear(center=[1.0, 2.0])([[1.0]]), "center"),
    (lambda: Polynomial(0), "degree"),
    (lambda: Polynomial(1.5), "degree"),
    (lambda: Polynomial(2, coef0=-1.0), "coef0"),
    (lambda: Sigmoid(coef0=np.inf), "coef0"),
    (lambda: Power(RBF(), 0.5), "exponent"),
    (lambda: RBF() ** -1, "exponent"),
    (lambda: Subspace(RBF(), []), "columns"),
    (lambda: Subspace(RBF(), [-1]), "columns"),
    (lambda: Subspace(RBF(), [0, 0]), "columns"),
    (lambda: Subspace(RBF(), None), "columns"),
    (lambda: Sum([]), "terms"),
    (lambda: Product([RBF(), 2.0]), "factors"),
    (lambda: RBF() + "noise", "noise"),
    (lambda: Feature(3.0), "function"),
    (lambda: Feature(np.sum)(np.ones((2, 1))), "function"),
    (lambda: Feature(np.log)(np.zeros((2, 1))), "function"),
    (lambda: Warped(RBF(), None), "function"),
    (lambda: Scaled(RBF(), function=2.0), "function"),
    (lambda: Precomputed([[1.0, 2.0], [2.0, 1.0]]), "positive semi-definite"),
    (lambda: Precomputed([[1.0, 0.0], [0.5, 1.0]]), "symmetric"),
    (lambda: Precomputed([[1.0, 0.0]]), "square"),
    (lambda: Precomputed([[np.nan]]), "finite"),
    (lambda: Precomputed([[1.0]])([[1.0]]), "from 0 to 0"),
    (lambda: Precomputed([[1.0]])([[-1.0]]), "from 0 to 0"),
    (lambda: Precomputed([[1.0]])([[0.5]]), "whole numbers"),
    (lambda: QuadraticForm([[1.0, 0.0], [0.0, -1.0]]), "matrix"),
    (lambda: QuadraticForm([[1.0]])([[1.0, 2.0]]), "columns"),
    (lambda: Categorical(0.0), "length_scale"),
    (lambda: Cosine(-1.0), "periodicity"),
    (lambda: RBF().random_features(0), "n must"),
    (lambda: RBF().random_features(5, columns=0), "columns"),
    (lambda: RBF().random_features(5, rng=0)(np.ones((2, 2))), "columns"),
    (lambda: (RBF() + White()).random_features(5), "spectral density"),
    (lambda: FourierFeatures(frequencies=[1.0], phases=[1.0], variance=1.0), "frequencies"),
    (lambda: FourierFeatures(frequencies=[[1.0]], phases=[1.0], variance=-1.0), "variance"),
]


@pytest.mark.parametrize(("make", "message"), BAD, ids=[str(i) for i in range(len(BAD))])
def test_bad_parameters_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_memory_of_a_gradient_is_that_of_blocks(rng, monkeypatch):
    import tracemalloc

    monkeypatch.setenv("TRACTABLE_NUM_THREADS", "2")
    n = 2000
    x, W = rng.standard_normal((n, 5)), np.ones((n, n))
    kernel = 1.5 * RBF(np.ones(5)) * RationalQuadratic(2.0) + White(0.1)
    kernel.contract_gradient(W[:50, :50], x[:50])
    tracemalloc.start()
    kernel.contract_gradient(W, x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Blocks of rows alone, of every kernel in it, on every thread.
    assert peak < 8 * 0.6 * n * n


def test_samples_of_random_features_have_the_spectrum(rng):
    phi = (2.0 * Periodic(0.8, periodicity=1.5)).random_features(50, rng)
    assert phi.variance == 2.0
    harmonics = np.abs(phi.frequencies) * 1.5 / (2.0 * np.pi)
    np.testing.assert_allclose(harmonics, np.round(harmonics), atol=1e-12)
    kernel = Feature(phi)
    assert kernel.n_features(1) == 50
    x = rng.standard_normal((4, 1))
    np.testing.assert_allclose(kernel(x), phi(x) @ phi(x).T)


@pytest.mark.parametrize("theta", [[1e3], [-1e3], [np.nan], [np.inf]])
def test_logarithms_of_hyper_parameters_are_of_positive_finite_numbers(theta):
    with pytest.raises(ValueError, match="theta must be logarithms of positive, finite numbers"):
        RBF().with_theta(theta)


def test_a_function_that_scales_is_finite():
    with pytest.raises(ValueError, match="function must return finite numbers"):
        Scaled(RBF(), function=lambda x: np.where(x[:, 0] > 0.0, np.nan, 1.0))(np.array([[1.0], [-1.0]]))


def test_a_kernel_of_ones_own_is_a_value():
    class Bare(Kernel):
        """A kernel without the decorator."""

        def block(self, x, y, same):
            return np.minimum(x, y.T)

        def block_diagonal(self, x):
            return x[:, 0]

    with pytest.raises(TypeError, match=r"Bare must be decorated with @value"):
        Bare()
    decorated = value(Bare)()
    np.testing.assert_array_equal((2.0 * decorated)([[1.0], [3.0]]), [[2.0, 2.0], [2.0, 6.0]])

    class Renamed(RBF):
        """Nothing of its own: what it inherits is known."""

    assert Renamed(2.0).with_theta([0.0]).length_scale == 1.0
