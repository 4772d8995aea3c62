"""The no-U-turn sampler, against exact distributions and long reference runs."""

from importlib.util import find_spec

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

import tractable
from quick import some
from tractable.sampling import nuts, sample
from tractable.testing.reference_posteriors import EFFECTS, ERRORS, eight_schools


def marginal_of_tau(tau):
    """The density of τ given the effects, up to a constant: θ and μ integrated out in closed form."""
    variance = ERRORS**2 + tau**2
    precision = np.sum(1.0 / variance) + 1.0 / 25.0
    mean = np.sum(EFFECTS / variance) / precision
    log_density = -0.5 * np.sum(np.log(variance) + EFFECTS**2 / variance)
    log_density += 0.5 * precision * mean**2 - 0.5 * np.log(precision)
    return np.exp(log_density + 30.0) / (1.0 + (tau / 5.0) ** 2), mean


@pytest.fixture(scope="module")
def schools():
    start = np.random.default_rng(0).normal(size=(4, 10))
    return sample(nuts(eight_schools, True, target_acceptance=0.9), start, 800, n_warm_up=300, rng=1)


def test_eight_schools_are_those_of_quadrature(schools):
    """E τ and E μ by one-dimensional quadrature over τ, given which all else is normal."""
    total = quad(lambda t: marginal_of_tau(t)[0], 0.0, 500.0, limit=500)[0]
    truth = [
        quad(lambda t: np.prod(marginal_of_tau(t)), 0.0, 500.0, limit=500)[0] / total,
        quad(lambda t: np.log(t) * marginal_of_tau(t)[0], 0.0, 500.0, limit=500)[0] / total,
    ]
    found = schools.diagnoses["x"]
    z = (found.mean[:2] - truth) / found.mcse_mean[:2]
    assert np.all(np.abs(z) < 5.0)
    assert np.all(found.r_hat < 1.05)
    assert schools.n_divergent < 10


def test_complaints_are_few_where_all_is_well(schools):
    assert not any("R-hat" in line for line in schools.complaints())
    assert {"acceptance", "divergent", "n_leapfrog", "tree_depth", "log_prob"} <= set(schools.info)
    assert schools.acceptance == pytest.approx(0.9, abs=0.07)


def funnel(x):
    """Neal's funnel: v ~ N(0, 3²), each other coordinate N(0, exp(v))."""
    v, rest = x[..., 0], x[..., 1:]
    k, squares = rest.shape[-1], np.sum(rest**2, axis=-1) * np.exp(-v)
    slope = np.concatenate(
        [(-v / 9.0 - 0.5 * k + 0.5 * squares)[..., None], -rest * np.exp(-v)[..., None]], axis=-1
    )
    return -v * v / 18.0 - 0.5 * k * v - 0.5 * squares, slope


def test_a_funnel_diverges_and_says_so():
    start = np.random.default_rng(0).normal(size=(4, 10))
    chains = sample(nuts(funnel, True, target_acceptance=0.6), start, 300, n_warm_up=150, rng=0)
    assert chains.n_divergent > 0
    assert any("diverged" in line for line in chains.complaints())


@pytest.mark.slow
def test_a_strongly_correlated_normal_needs_a_dense_mass():
    rho = 0.99
    precision = np.linalg.inv([[1.0, rho], [rho, 1.0]])

    def both(x):
        slope = -x @ precision
        return 0.5 * np.sum(x * slope, axis=-1), slope

    runs = {
        m: sample(nuts(both, True, mass=m), np.zeros((4, 2)), 300, n_warm_up=300, rng=0)
        for m in ("diagonal", "dense")
    }
    assert runs["dense"].info["n_leapfrog"].mean() < 0.5 * runs["diagonal"].info["n_leapfrog"].mean()
    for chains in runs.values():
        thinned = chains["x"][:, ::5, 0].ravel()
        assert stats.kstest(thinned, "norm").pvalue > 1e-4


@pytest.mark.parametrize("scale", some([1e-100, 1e-8, 1.0, 1e8, 1e100]))
def test_units_do_not_matter(scale):
    def both(x):
        return -0.5 * np.sum((x / scale) ** 2, axis=-1), -x / scale / scale

    if scale in (1e-100, 1e100):  # the first step size is found by doubling; the mass does the rest
        start = scale * np.ones((4, 2))
        step = nuts(both, True, step_size=scale)
    else:
        start, step = scale * np.ones((4, 2)), nuts(both, True)
    chains = sample(step, start, 200, n_warm_up=200, rng=0)
    assert chains.flat().std() / scale == pytest.approx(1.0, abs=0.2)


def test_a_logistic_posterior_is_that_of_a_grid(rng):
    X = rng.standard_normal((40, 2))
    y = np.where(rng.random(40) < 1 / (1 + np.exp(-X @ [1.0, -2.0])), 1.0, -1.0)
    Z = X * y[:, None]

    def both(b):
        m = b @ Z.T
        return -np.sum(np.logaddexp(0.0, -m), -1) - 0.5 * np.sum(b * b, -1), (1 / (1 + np.exp(m))) @ Z - b

    chains = sample(nuts(both, True), np.zeros((4, 2)), 600, n_warm_up=200, rng=0)
    grid = np.linspace(-6, 6, 301)
    points = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    weights = np.exp(both(points)[0])
    truth = weights @ points / weights.sum()
    found = chains.diagnoses["x"]
    assert np.all(np.abs(found.mean - truth) < 5 * found.mcse_mean)


if find_spec("torch"):  # as in `conftest.py`: where it is installed

    @pytest.mark.parametrize("batched", [True, False])
    def test_torch_differentiates(batched):
        import torch

        def log_prob(x):
            return -0.5 * torch.sum(x * x, dim=-1) if batched else -0.5 * torch.dot(x, x)

        def both(x):
            return -0.5 * np.sum(x * x, axis=-1), -x

        start = np.ones((4, 2))
        by_torch = sample(nuts(log_prob, "torch"), start, 50, n_warm_up=50, rng=0)
        by_hand = sample(nuts(both, True), start, 50, n_warm_up=50, rng=0)
        np.testing.assert_allclose(by_torch["x"], by_hand["x"], rtol=1e-6, atol=1e-8)


def test_a_run_is_resumed_where_it_was_broken_off(tmp_path):
    calls = [0]

    def breaks(x):
        calls[0] += 1
        if calls[0] == 1500:
            raise KeyboardInterrupt
        return -0.5 * np.sum(x * x, axis=-1), -x

    step, start = nuts(breaks, True, vectorized=True), np.ones((3, 2))
    with pytest.raises(KeyboardInterrupt), tractable.checkpoint(tmp_path / "run", every=0.0):
        sample(step, start, 300, n_warm_up=200, rng=5)
    assert (tmp_path / "run").exists()
    with tractable.checkpoint(tmp_path / "run", every=0.0):
        resumed = sample(step, start, 300, n_warm_up=200, rng=5)
    whole = sample(step, start, 300, n_warm_up=200, rng=5)
    np.testing.assert_array_equal(resumed["x"], whole["x"])


def nan_beyond(x):
    value = -0.5 * np.sum(x**2, axis=-1)
    return np.where(x[..., 0] > 0.5, np.nan, value), -x


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: nuts(lambda x: x), "gradient"),
        (lambda: nuts(funnel, True, mass="sparse"), "mass"),
        (lambda: nuts(funnel, True, target_acceptance=1.0), "target_acceptance"),
        (lambda: nuts(funnel, True, max_depth=0), "max_depth"),
        (lambda: nuts(funnel, True, step_size=-1.0), "step_size"),
        (lambda: sample(nuts(funnel, 3), np.zeros((2, 3))), "gradient"),
        (lambda: sample(nuts(funnel, True), np.zeros(3)), "start"),
        (lambda: sample(nuts(nan_beyond, True), np.zeros((2, 2)), rng=0), r"log_prob must be .* it is nan"),
        (lambda: sample(nuts(lambda x: (x[..., 0] - np.inf, x), True), np.ones((2, 2))), "start must have"),
        (lambda: sample(nuts(lambda x: (x[..., 0], x[..., :1]), True), np.ones((2, 2))), "gradient"),
        (
            lambda: sample(nuts(lambda x: (x[..., 0], x * np.nan), True), np.ones((2, 2))),
            "gradient must be fin",
        ),
    ],
)
def test_bad_input_is_one_clear_error(call, named):
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=named):
        call()
