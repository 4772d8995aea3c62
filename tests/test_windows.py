"""Windows: what makes them windows, by quadrature; and the check of those that users bring."""

import pickle

import numpy as np
import pytest
from mpmath import mp
from scipy.integrate import quad
from scipy.special import gamma

from quick import some
from tractable.smoothing import WINDOWS, Window, check_window
from tractable.testing.assertions import assert_mean

NAMES = sorted(WINDOWS)
FORMULAS = {
    "gaussian": lambda u: np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi),
    "epanechnikov": lambda u: 0.75 * max(1 - u * u, 0.0),
    "tophat": lambda u: 0.5 * (abs(u) <= 1),
    "triangular": lambda u: max(1 - abs(u), 0.0),
    "biweight": lambda u: 15 / 16 * max(1 - u * u, 0.0) ** 2,
    "cosine": lambda u: np.pi / 4 * np.cos(np.pi * u / 2) * (abs(u) <= 1),
    "laplace": lambda u: 0.5 * np.exp(-abs(u)),
}


def radial(f, window):
    """∫ f(r) dr over the radii of a window."""
    end = 1.0 if window.support == 1.0 else 60.0
    return quad(f, 0.0, end, epsabs=1e-13, epsrel=1e-12, limit=300, points=[0.5 * end, 0.1 * end])[0]


@pytest.mark.spec("DENS-08", "DENS-09", "DENS-10", "DENS-11")
@pytest.mark.parametrize("name", NAMES)
def test_the_formulas_are_the_textbooks(name):
    u = np.linspace(-1.5, 1.5, 61)
    expected = [FORMULAS[name](v) for v in u]
    np.testing.assert_allclose(WINDOWS[name].density(u), expected, rtol=1e-13, atol=1e-15)
    np.testing.assert_array_equal(WINDOWS[name].density(u), WINDOWS[name].density(-u))


@pytest.mark.spec("DENS-07", "DENS-10")
@pytest.mark.parametrize("dim", [1, 2, 3, 7])
@pytest.mark.parametrize("name", NAMES)
def test_mass_variance_and_roughness_by_quadrature(name, dim):
    window = WINDOWS[name]
    surface = 2 * np.pi ** (dim / 2) / gamma(dim / 2)

    def density(r):
        return float(np.exp(window.log_profile(np.array(r * r)) - window.log_normaliser(dim)))

    mass = radial(lambda r: surface * r ** (dim - 1) * density(r), window)
    spread = radial(lambda r: surface * r ** (dim + 1) * density(r) / dim, window)
    rough = radial(lambda r: surface * r ** (dim - 1) * density(r) ** 2, window)
    np.testing.assert_allclose(mass, 1.0, rtol=1e-10)
    np.testing.assert_allclose(window.variance(dim), spread, rtol=1e-10)
    np.testing.assert_allclose(window.roughness(dim), rough, rtol=1e-10)


def moment_by_mpmath(name, power, times):
    """∫ k(r²)^times r^power dr in 30 digits, over radii scaled so that the mass is where the nodes are."""
    profile = {
        "gaussian": lambda r: mp.exp(-r * r / 2),
        "laplace": lambda r: mp.exp(-r),
        "epanechnikov": lambda r: 1 - r * r,
        "tophat": lambda r: mp.mpf(1),
        "triangular": lambda r: 1 - r,
        "biweight": lambda r: (1 - r * r) ** 2,
        "cosine": lambda r: mp.cos(mp.pi * r / 2),
    }[name]
    peak = {"gaussian": mp.sqrt(mp.mpf(power) / times), "laplace": mp.mpf(power) / times}.get(name, 1)
    width = {"gaussian": 1 / mp.sqrt(times), "laplace": mp.sqrt(peak)}.get(name, mp.mpf(1) / power)
    ends = (-40, -20, -10, -4, 0) + ((4, 10, 20, 40) if np.isinf(WINDOWS[name].support) else ())
    points = [0, *sorted({peak + i * width for i in ends if peak + i * width > 0})]
    with mp.workdps(30):
        return mp.log(mp.quad(lambda r: profile(r) ** times * r**power, points))


@pytest.mark.slow
@pytest.mark.parametrize("dim", some([436, 784, 2000]))
@pytest.mark.parametrize("name", NAMES)
def test_constants_of_volume_are_right_in_thousands_of_dimensions(name, dim):
    """Surfaces and volumes of spheres are beyond doubles there; their logarithms are not."""
    window, log_sphere = WINDOWS[name], mp.log(2) + mp.log(mp.pi) * dim / 2 - mp.loggamma(mp.mpf(dim) / 2)
    mass, mass_squared, spread = (
        moment_by_mpmath(name, power, times) for power, times in ((dim - 1, 1), (dim - 1, 2), (dim + 1, 1))
    )
    variance = mp.exp(spread - mass) / dim
    log_roughness = mass_squared - log_sphere - 2 * mass
    np.testing.assert_allclose(window.log_normaliser(dim), float(log_sphere + mass), rtol=1e-11)
    np.testing.assert_allclose(window.variance(dim), float(variance), rtol=1e-10)
    np.testing.assert_allclose(window.log_roughness(dim), float(log_roughness), rtol=1e-11)
    canonical = float(mp.exp((log_roughness - 2 * mp.log(variance)) / (dim + 4)))
    np.testing.assert_allclose(window.canonical(dim), canonical, rtol=1e-10)


@pytest.mark.parametrize("dim", [300, 784, 2000])
def test_a_window_without_formulas_has_those_of_its_twin(dim, rng):
    """Quadrature in the logarithm of the radius finds the thin shell in which the mass is."""
    for name in ("gaussian", "laplace", "biweight"):
        twin = WINDOWS[name]
        plain = Window(name=name, log_profile=twin.log_profile, support=twin.support)
        np.testing.assert_allclose(plain.log_normaliser(dim), twin.log_normaliser(dim), rtol=1e-11)
        np.testing.assert_allclose(plain.canonical(dim), twin.canonical(dim), rtol=1e-9)
        draws = plain.sample(2000, dim, rng)
        assert_mean(np.sum(draws * draws, axis=1) / dim, twin.variance(dim), "squares of draws")


def test_a_function_that_underflows_where_it_has_mass_is_refused():
    window = check_window(lambda u: np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi))
    np.testing.assert_allclose(window.variance(784), 1.0, rtol=1e-9)
    with pytest.raises(ValueError, match=r"kernel.*underflows"):
        window.log_normaliser(2000)


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("name", NAMES)
def test_draws_have_the_variance_and_no_direction(name, dim, rng):
    u = WINDOWS[name].sample(20_000, dim, rng)
    assert u.shape == (20_000, dim)
    assert_mean(u, 0.0, "draws of a window")
    assert_mean(u * u, WINDOWS[name].variance(dim), "their squares")
    radius = np.sqrt(np.sum(u * u, axis=1))
    assert radius.max() <= WINDOWS[name].support
    if dim == 1:
        level = WINDOWS[name].cdf(u[:, 0])
        assert_mean(level, 0.5, "levels")
        assert_mean(level * level, 1 / 3, "squares of levels")


@pytest.mark.parametrize("name", NAMES)
def test_distribution_functions_are_integrals(name):
    window = WINDOWS[name]
    for u in (-0.95, -0.3, 0.0, 0.7):
        low = -1.0 if window.support == 1.0 else -60.0
        area = quad(lambda v: float(window.density(v)), low, u, points=[-0.5, 0.0], limit=300, epsabs=1e-13)[
            0
        ]
        np.testing.assert_allclose(window.cdf(np.array(u)), area, rtol=1e-9)
    far = np.array([-1e6, 1e6])
    np.testing.assert_array_equal(window.cdf(far), [0.0, 1.0])


@pytest.mark.spec("DENS-07", "E002-02")
@pytest.mark.parametrize(
    ("kernel", "what"),
    [
        (
            lambda u: (
                1.125 - 1.875 * u**2 if np.ndim(u) == 0 else np.where(abs(u) < 1, 1.125 - 1.875 * u**2, 0)
            ),
            "negative",
        ),
        (lambda u: np.where((u > 0) & (u < 1), 1.0, 0.0), "symmetric"),
        (lambda u: np.exp(-0.5 * u * u), "integral 1"),
        (lambda u: np.full_like(u, np.nan), "finite"),
        (lambda u: 1.0, "one number for each"),
        (lambda u: np.exp(u, "no"), "array of numbers"),
        ("gauss", "one of"),
        (3.0, "one of"),
    ],
)
def test_what_is_no_window_is_refused(kernel, what):
    with pytest.raises(ValueError, match=f"kernel.*{what}"):
        check_window(kernel)


def logistic(u):
    return 0.25 / np.cosh(0.5 * np.minimum(np.abs(u), 700.0)) ** 2


def cauchy(u):
    return 1.0 / (np.pi * (1.0 + u * u))


@pytest.mark.spec("DENS-07")
def test_windows_of_users_are_windows(rng):
    window = check_window(logistic)
    assert isinstance(window, Window)
    assert check_window(window) is window
    assert check_window("cosine") is WINDOWS["cosine"]
    np.testing.assert_allclose(window.variance(), np.pi**2 / 3, rtol=1e-10)
    np.testing.assert_allclose(window.density(np.array([0.3])), logistic(0.3), rtol=1e-10)
    u = np.array([-30.0, -2.0, -1e-3, 0.0, 5.0])
    np.testing.assert_allclose(window.cdf(u), 1 / (1 + np.exp(-u)), rtol=1e-8)
    draws = window.sample(20_000, 2, rng)
    assert_mean(draws * draws, window.variance(2), "squares of a user's window")
    disc = check_window(lambda u: np.where(np.abs(u) <= 1, 0.75 * (1 - u * u), 0.0))
    np.testing.assert_allclose(disc.roughness(2), WINDOWS["epanechnikov"].roughness(2), rtol=1e-8)


def test_a_window_without_a_variance_says_so():
    window = check_window(cauchy)
    assert window.variance() == np.inf
    with pytest.raises(ValueError, match="no variance"):
        window.canonical()


@pytest.mark.parametrize("name", NAMES)
def test_windows_survive_pickling(name):
    again = pickle.loads(pickle.dumps(WINDOWS[name]))
    assert again.log_normaliser(3) == WINDOWS[name].log_normaliser(3)


def test_bandwidths_of_other_windows_are_canonical():
    """The Epanechnikov's is 2.214 times, the box's 1.740 times the Gaussian's (Härdle 1991)."""
    one = WINDOWS["gaussian"].canonical()
    np.testing.assert_allclose(WINDOWS["epanechnikov"].canonical() / one, 2.214, atol=1e-3)
    np.testing.assert_allclose(WINDOWS["tophat"].canonical() / one, 1.740, atol=1e-3)
    np.testing.assert_allclose(WINDOWS["biweight"].canonical() / one, 2.623, atol=1e-3)


@pytest.mark.parametrize("box", [lambda u: np.where(abs(u) <= 0.5, 1, 0), lambda u: abs(u) < 0.5])
def test_windows_of_users_may_return_whole_numbers_and_truth_values(box):
    window = check_window(box)
    np.testing.assert_allclose(window.density([0.0, 0.4, 0.6]), [1.0, 1.0, 0.0], rtol=1e-12)
    np.testing.assert_allclose(window.support, 0.5, rtol=1e-15)
    np.testing.assert_allclose(window.variance(), 1 / 12, rtol=1e-12)
    np.testing.assert_allclose(window.cdf(np.array([-0.25, 0.1])), [0.25, 0.6], rtol=1e-12)


def test_the_end_of_a_users_window_is_found():
    """A window that only underflows has none."""
    assert check_window(logistic).support == np.inf
    assert check_window(lambda u: np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi)).support == np.inf
    disc = check_window(lambda u: np.where(np.abs(u) <= 3, 0.25 * (1 - u * u / 9), 0.0))
    np.testing.assert_allclose(disc.support, 3.0, rtol=1e-15)
