"""Laws of kernels: symmetric, positive semi-definite, with the derivatives and the algebra they claim."""

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tractable.arrays.gradient import check_gradient
from tractable.arrays.linalg import is_psd
from tractable.kernels import Constant, Kernel, Linear, Matern
from tractable.testing.assertions import assert_frozen, assert_mean, check_laws, laws_above, refused
from tractable.value import value


@value
class KernelOfRows:
    """A kernel under examination that is not one of any rows: how to draw those it is of."""

    kernel: Kernel
    draw: Callable[[np.random.Generator, int], np.ndarray]


def matrix_is_symmetric(k: Any, rng: np.random.Generator) -> None:
    """K = Kᵀ to the last digit; k(x, x) is K but for the noise on its diagonal; k(x, y) = k(y, x)ᵀ."""
    k, x, y = _given(k, rng, 9, 4)
    K = k(x)
    assert K.shape == (9, 9)
    np.testing.assert_array_equal(K, K.T)
    noise = K - k(x, x)
    size = 1e-12 * np.max(np.abs(K))
    np.testing.assert_allclose(noise, np.diag(np.diag(noise)), atol=size)
    assert np.all(np.diag(noise) >= -size)
    np.testing.assert_allclose(k(x, y), k(y, x).T, rtol=1e-12, atol=size)
    np.testing.assert_array_equal(np.tril(k.lower_triangle(x)), np.tril(K))


def matrix_is_positive_semidefinite(k: Any, rng: np.random.Generator) -> None:
    """No eigenvalue is negative, on random rows, on rows near each other, and on rows given twice."""
    k, x = _given(k, rng, 30)
    if k.is_positive_semidefinite:
        for rows in (x, np.concatenate([x, x[:10]]), _near(x)):
            assert is_psd(k(rows), tol=1e-12), f"eigenvalue {np.linalg.eigvalsh(k(rows))[0]}"


def diagonal_is_that_of_the_matrix(k: Any, rng: np.random.Generator) -> None:
    """`diagonal` is the diagonal of the matrix of x."""
    k, x = _given(k, rng, 9)
    np.testing.assert_allclose(k.diagonal(x), np.diag(k(x)), rtol=1e-13, atol=1e-14)


def blocks_of_rows_make_the_matrix(k: Any, rng: np.random.Generator) -> None:
    """A matrix of several blocks has the entries that its rows have by themselves, and no rows are none."""
    k, x = _given(k, rng, 400)
    K, some = k(x), [0, 1, 57, 399]
    for i in some:
        alone = k(x[[i]], x)[0]
        alone[i] = k.diagonal(x[[i]])[0]
        np.testing.assert_allclose(K[i], alone, rtol=1e-11, atol=1e-12 * np.max(np.abs(K)))
    V = rng.standard_normal((400, 2))
    np.testing.assert_allclose(
        k.multiply(x[some], x, V), k(x[some], x) @ V, rtol=1e-10, atol=1e-11 * np.max(np.abs(K))
    )
    assert k(x[:0]).shape == (0, 0)
    assert k(x[:0], x).shape == (0, 400)
    assert k(x, x[:0]).shape == (400, 0)
    assert k.diagonal(x[:0]).shape == (0,)


def states_have_the_covariance_of_the_kernel(k: Any, rng: np.random.Generator) -> None:
    """Where there is a state-space form, Σ v hᵀ exp(F λt) P h over its terms is k of the time t."""
    k, _ = _given(k, rng, 1)
    try:
        terms = k.markov_terms()
    except ValueError as error:
        assert "state-space form" in str(error) or "one number" in str(error), error
        return
    times = np.concatenate([[0.0], rng.gamma(1.0, 2.0, 20)])
    found = np.zeros(21)
    for term in terms:
        states = term.transitions(term.rate * times)
        found += term.variance * (states @ term.stationary)[:, 0, 0]
        kept = states @ term.stationary @ np.swapaxes(states, 1, 2) * term.variance
        whole = kept + term.noises(term.rate * times, states)
        limit = np.broadcast_to(term.variance * term.stationary, whole.shape)
        np.testing.assert_allclose(whole, limit, atol=1e-12 * term.variance)
    np.testing.assert_allclose(found, k(np.zeros((1, 1)), times[:, None])[0], rtol=1e-10, atol=1e-12)


def gradient_is_the_derivative(k: Any, rng: np.random.Generator) -> None:
    """`contract_gradient` is the derivative of Σ W ∘ K in theta, in one block of rows and in several."""
    k, x = _given(k, rng, 12)
    W = rng.standard_normal((12, 12))
    W += W.T
    _check_contraction(k, x, W)
    np.testing.assert_array_equal(k.contract_gradient(np.tril(W), x), k.contract_gradient(W, x))
    if len(k.theta):
        spread = np.zeros((300, 300))
        spread[:12, :12] = spread[-12:, -12:] = 0.5 * W
        repeated = np.concatenate([x] * 25)
        size = 1e-10 * np.sum(np.abs(W)) * max(1.0, float(np.max(np.abs(k(x)))))
        np.testing.assert_allclose(
            k.contract_gradient(spread, repeated), k.contract_gradient(W, x), rtol=1e-10, atol=size
        )


def prior_gradient_is_the_derivative(k: Any, rng: np.random.Generator) -> None:
    """`log_prior_gradient` is the derivative of `log_prior` in theta."""
    k, _ = _given(k, rng, 1)
    assert isinstance(k.log_prior(), float)
    assert k.log_prior_gradient().shape == k.theta.shape
    if len(k.theta):
        check_gradient(lambda t: k.with_theta(t).log_prior(), k.log_prior_gradient(), k.theta, atol=1e-7)


def algebra_is_pointwise(k: Any, rng: np.random.Generator) -> None:
    """Sums, products, powers and multiples are those of the entries, at any depth and from both sides."""
    k, x, y = _given(k, rng, 5, 4)
    other, third = Matern(0.7, nu=2.5), Constant(0.3) + Linear(0.2)
    a, b, c = k(x, y), other(x, y), third(x, y)
    expected = [
        ((k + other) * third, (a + b) * c),
        (k * other + third, a * b + c),
        (third * (k + other * (k + third)), c * (a + b * (a + c))),
        (2.0 * k + 1.5, 2.0 * a + 1.5),
        (np.float64(1.5) + k * np.float64(2.0), 1.5 + 2.0 * a),
        (3 * (2.0 * k) * other, 6.0 * a * b),
        ((k + 1.0) ** 2 * 0.5, 0.5 * (a + 1.0) ** 2),
        (sum([k, other, third]), a + b + c),
    ]
    for made, entries in expected:
        np.testing.assert_allclose(made(x, y), entries, rtol=1e-12, atol=1e-13 * np.max(np.abs(entries)))
        assert np.all(made.bounds[:, 0] <= made.bounds[:, 1])
        assert len(set(made.theta_names)) == len(made.theta) == len(made.bounds)


def invariances_are_as_declared(k: Any, rng: np.random.Generator) -> None:
    """A stationary kernel ignores shifts of all rows; an isotropic one rotations too."""
    k, x, y = _given(k, rng, 6, 5)
    K, width = k(x, y), x.shape[1]
    assert k.is_stationary or not k.is_isotropic
    if k.is_stationary:
        shift = rng.standard_normal(width)
        np.testing.assert_allclose(k(x + shift, y + shift), K, atol=1e-12 * np.max(np.abs(k.diagonal(x))))
        np.testing.assert_allclose(np.ptp(k.diagonal(x)), 0.0, atol=1e-12 * np.max(k.diagonal(x)))
    if k.is_isotropic:
        turn, _ = np.linalg.qr(rng.standard_normal((width, width)))
        np.testing.assert_allclose(k(x @ turn, y @ turn), K, atol=1e-12 * np.max(np.abs(k.diagonal(x))))


def features_reproduce_the_kernel(k: Any, rng: np.random.Generator) -> None:
    """φ(x)ᵀφ(x') = k(x, x') where there is a finite feature map, and one error where there is none."""
    k, x, y = _given(k, rng, 6, 5)
    try:
        n = k.n_features(x.shape[1])
    except ValueError:
        refused(partial(k.features, x), "feature map")
        return
    phi, psi = k.features(x), k.features(y)
    assert phi.shape == (6, n)
    K = k(x, y)
    np.testing.assert_allclose(phi @ psi.T, K, rtol=1e-11, atol=1e-12 * np.max(np.abs(K)))


def random_features_are_unbiased(k: Any, rng: np.random.Generator) -> None:
    """Products of random features are the kernel on average: within five standard errors."""
    k, x = _given(k, rng, 5)
    if not k.is_stationary:
        refused(partial(k.random_features, 10, rng, columns=x.shape[1]), "not stationary")
        return
    try:
        phi = k.random_features(20_000, rng, columns=x.shape[1])
    except ValueError as error:
        assert "spectral density" in str(error)
        return
    features = phi(x)
    draws = features.shape[1] * features.T[:, :, None] * features.T[:, None, :]
    assert_mean(draws, k(x), "products of random features")


def theta_round_trips(k: Any, rng: np.random.Generator) -> None:
    """Theta → kernel → theta; bounds and names have its length; each entry changes the kernel."""
    k, x = _given(k, rng, 4)
    theta, p = k.theta, len(k.theta)
    assert theta.shape == (p,)
    assert k.bounds.shape == (p, 2)
    assert len(set(k.theta_names)) == p
    other = theta + 0.3 * rng.standard_normal(p)
    np.testing.assert_allclose(k.with_theta(other).theta, other, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(k.with_theta(theta)(x), k(x), rtol=1e-12, atol=1e-13)
    assert k.with_theta(other).theta_names == k.theta_names
    np.testing.assert_array_equal(k.with_theta(other).bounds, k.bounds)
    for j in range(p):
        moved = k.with_theta(theta + 0.1 * (np.arange(p) == j))
        assert moved != k, f"{k.theta_names[j]} changes nothing"


def parameters_rebuild_the_kernel(k: Any, rng: np.random.Generator) -> None:
    """Equal parameters make equal kernels, with equal hashes; pickles are equal; none can change."""
    k, _ = _given(k, rng, 1)
    shallow = k.get_params(deep=False)
    again = type(k)(**shallow)
    assert again == k
    assert hash(again) == hash(k)
    assert k.with_params(**shallow) == k
    assert k.with_params() == k
    assert k != Constant(0.123456)
    for name, x in k.get_params().items():
        assert k.with_params(**{name: x}) == k, f"{name} does not round trip"
    if not any(callable(x) and not isinstance(x, Kernel) for x in k.get_params().values()):
        assert pickle.loads(pickle.dumps(k)) == k  # noqa: S301
    assert_frozen(k)
    refused(partial(k.with_params, no_such_parameter=1.0), "no_such_parameter")


def precision_is_preserved(k: Any, rng: np.random.Generator) -> None:
    """Rows of float32 make a matrix of float32; rows are not changed."""
    k, x = _given(k, rng, 6)
    narrow = x.astype(np.float32)
    narrow.setflags(write=False)
    before = narrow.copy()
    for found in (k(narrow), k(narrow, narrow), k.diagonal(narrow)):
        assert found.dtype == np.float32
    np.testing.assert_allclose(
        k(narrow), k(narrow.astype(float)), rtol=2e-3, atol=1e-5 * np.max(np.abs(k(x)))
    )
    np.testing.assert_array_equal(narrow, before)


def bad_arguments_are_refused(k: Any, rng: np.random.Generator) -> None:
    """Rows that are not finite numbers of one width, and weights and theta of another shape."""
    k, x = _given(k, rng, 4)
    for bad in (np.nan, np.inf, 1e200):
        spoilt = x.copy()
        spoilt[1, -1] = bad
        refused(partial(k, spoilt), "x")
        refused(partial(k, x, spoilt), "y")
        refused(partial(k.diagonal, spoilt), "x")
    for bad_rows in (x[:, 0], x[:, :0], x[None], "text", [["a"]], None):
        refused(partial(k, bad_rows), "x")
    refused(partial(k, x, np.ones((3, x.shape[1] + 1))), "y")
    refused(partial(k.contract_gradient, np.ones((3, 4)), x), "weights")
    p = len(k.theta)
    refused(partial(k.with_theta, np.zeros(p + 1)), "theta")
    if p:
        refused(partial(k.with_theta, np.full(p, np.nan)), "theta")
    for factor in (-1.0, 0.0, np.nan, np.inf):
        refused(partial(k.__mul__, factor), "scale")


KERNEL_LAWS = laws_above(globals())


def check_kernel(kernel: Any, rng: Any = 0) -> None:
    """Run every law of kernels on one.

    Parameters
    ----------
    kernel : Kernel or KernelOfRows
        A kernel, of rows of standard normal numbers unless it comes with rows of its own.
    rng : int or Generator
        Source of randomness.

    Examples
    --------
    >>> from tractable.kernels import RBF
    >>> check_kernel(2.0 * RBF([1.0, 3.0]))
    """
    check_laws(KERNEL_LAWS, kernel, rng)


def _given(k: Any, rng: np.random.Generator, *numbers: int) -> Any:
    """Return the kernel and rows of it, so many at a time."""
    if isinstance(k, KernelOfRows):
        return k.kernel, *(k.draw(rng, n) for n in numbers)
    width = max(2, k.n_columns)
    return k, *(rng.standard_normal((n, width)) for n in numbers)


def _near(x: np.ndarray) -> np.ndarray:
    """Return rows close to each other, where they are numbers and not names of objects."""
    return x if np.all(x == np.floor(x)) else x[:1] + 1e-3 * (x - x[:1])


def _check_contraction(k: Kernel, x: np.ndarray, W: np.ndarray) -> None:
    if not len(k.theta):
        assert k.contract_gradient(W, x).shape == (0,)
        return
    size = np.sum(np.abs(W * k(x)))
    check_gradient(
        lambda t: np.sum(W * k.with_theta(t)(x)),
        k.contract_gradient(W, x),
        k.theta,
        rtol=1e-7,
        atol=1e-9 * size,
    )
