"""Diagnostics of Markov chains, against ArviZ and where the answer is known."""

import warnings

import numpy as np
import pytest

from tractable.sampling import (
    Chains,
    autocorrelation,
    autocorrelation_time,
    diagnose,
    effective_sample_size,
    kish_ess,
    mcse,
    pareto_k,
    r_hat,
)


@pytest.fixture(scope="module")
def arviz():
    """ArviZ, which takes a second to import, without compiled code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz
        from arviz.utils import Numba
    Numba.disable_numba()
    return arviz


def autoregression(shape, phi, rng):
    x = np.zeros(shape)
    for t in range(1, shape[1]):
        x[:, t] = phi * x[:, t - 1] + rng.standard_normal((shape[0], *shape[2:]))
    return x


CASES = [(4, 400), (2, 7), (1, 50), (3, 101), (4, 4), (2, 5), (2, 21), (8, 33)]


@pytest.mark.spec("SAMP-14", "SAMP-15")
@pytest.mark.parametrize("phi", [-0.9, 0.0, 0.5, 0.95])
@pytest.mark.parametrize("shape", CASES, ids=str)
@pytest.mark.parametrize("ties", [False, True])
def test_equal_to_arviz(shape, phi, ties, rng, arviz):
    x = autoregression(shape, phi, rng)
    x = np.round(x) if ties else x
    if np.ptp(x) == 0.0:
        x[0, 0] += 1.0
    found = diagnose(x)
    for kind in ("bulk", "tail", "mean", "sd"):
        np.testing.assert_allclose(effective_sample_size(x, kind), arviz.ess(x, method=kind), rtol=1e-9)
    for of in ("mean", "sd"):
        np.testing.assert_allclose(mcse(x, of), arviz.mcse(x, method=of), rtol=1e-9)
        np.testing.assert_allclose(getattr(found, f"mcse_{of}"), mcse(x, of), rtol=1e-12)
    np.testing.assert_allclose(mcse(x, 0.3), arviz.mcse(x, method="quantile", prob=0.3), rtol=1e-9)
    np.testing.assert_allclose(found.ess_bulk, effective_sample_size(x, "bulk"), rtol=1e-12)
    np.testing.assert_allclose(found.ess_tail, effective_sample_size(x, "tail"), rtol=1e-12)
    np.testing.assert_allclose(found.r_hat, r_hat(x), rtol=1e-12)
    if shape[0] > 1:  # ArviZ has no R-hat of one chain, whose halves are compared here
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(r_hat(x), arviz.rhat(x), rtol=1e-9)


@pytest.mark.parametrize("size", [0.1, 0.3, 0.45])
def test_pareto_k_is_arviz_s(size, rng, arviz):
    log_w = size * rng.standard_normal(2000) ** 2
    assert pareto_k(log_w) == pytest.approx(float(arviz.psislw(log_w)[1]), rel=1e-9)


def test_entries_of_an_event_are_looked_at_one_by_one(rng):
    x = rng.standard_normal((3, 60, 2, 3))
    x[:, :, 1, 2] = np.cumsum(x[:, :, 1, 2], axis=1)
    found = diagnose(x)
    assert found.r_hat.shape == (2, 3)
    for i, j in np.ndindex(2, 3):
        alone = diagnose(x[:, :, i, j])
        for name in ("mean", "sd", "mcse_mean", "ess_bulk", "ess_tail", "r_hat", "autocorrelation_time"):
            assert getattr(found, name)[i, j] == pytest.approx(float(getattr(alone, name)), rel=1e-10), name


@pytest.mark.spec("SAMP-15", "SAMP-02")
@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_the_autocorrelation_time_of_an_autoregression(phi, rng):
    x = autoregression((8, 4000), phi, rng)
    assert float(autocorrelation_time(x)) == pytest.approx((1 + phi) / (1 - phi), rel=0.3)
    np.testing.assert_allclose(autocorrelation(x)[:, :4].mean(axis=0), phi ** np.arange(4), atol=0.05)
    thinned = x[:, ::10]  # keeping one in ten loses little where draws depend on each other
    assert float(autocorrelation_time(thinned)) < max(1.3, float(autocorrelation_time(x)) / 5)


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1.0, 1e100, 1e200])
def test_units_do_not_matter(scale, rng):
    x = autoregression((4, 100), 0.5, rng)
    ours, theirs = diagnose(x), diagnose(scale * x)
    for name in ("ess_bulk", "ess_tail", "r_hat", "autocorrelation_time"):
        np.testing.assert_allclose(getattr(theirs, name), getattr(ours, name), rtol=1e-9)
    for name in ("mcse_mean", "mcse_sd", "sd"):
        np.testing.assert_allclose(getattr(theirs, name), scale * getattr(ours, name), rtol=1e-9)


def test_chains_that_are_stuck_are_seen(rng):
    same = np.full((4, 500), 3.0)
    assert np.isnan(r_hat(same))
    assert effective_sample_size(same) == 2000.0
    assert diagnose(same).complaints(4) == ["an entry has the same value in all draws"]
    apart = rng.standard_normal((4, 500)) + 5.0 * np.arange(4)[:, None]
    (first, second) = diagnose(apart).complaints(4)
    assert "R-hat" in first
    assert "effective" in second
    assert diagnose(rng.standard_normal((4, 2000))).complaints(4) == []


@pytest.mark.spec("SAMP-09", "E000-59")
def test_the_sum_of_weights_says_nothing_of_their_worth(rng):
    x = 0.2 * rng.standard_normal(20_000)  # a proposal far narrower than the target
    log_w = -0.5 * (x - 1.0) ** 2 + 0.5 * (x / 0.2) ** 2 + np.log(0.2)
    assert kish_ess(np.exp(log_w)) < 1000
    assert kish_ess(np.ones(50)) == pytest.approx(50.0)
    assert kish_ess(7.0 * np.ones(50)) == pytest.approx(50.0)
    assert kish_ess([1e300, 1e300]) == pytest.approx(2.0)
    assert kish_ess([0.0, 0.0, 5.0]) == 1.0


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: r_hat(np.zeros(5)), "draws"),
        (lambda: r_hat(np.zeros((2, 3))), "draws"),
        (lambda: diagnose(np.full((2, 10), np.nan)), "draws"),
        (lambda: effective_sample_size(np.zeros((2, 10)), "median"), "kind"),
        (lambda: mcse(np.zeros((2, 10)), 1.5), "of"),
        (lambda: mcse(np.zeros((2, 10)), "median"), "of"),
        (lambda: kish_ess([-1.0, 2.0]), "weights"),
        (lambda: kish_ess([]), "weights"),
        (lambda: pareto_k([np.nan, 1.0]), "log_weights"),
        (lambda: Chains(draws={}), "draws"),
        (lambda: Chains(draws={"x": np.zeros((2, 3)), "y": np.zeros((2, 4))}), "draws"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()


def test_chains_go_to_arviz_and_come_back(rng, arviz):
    draws = rng.standard_normal((4, 100, 2))
    info = {"acceptance": np.full((4, 100), 0.8), "divergent": np.zeros((4, 100), dtype=bool)}
    chains = Chains(draws={"x": draws}, info=info, names={"x": ("width", "height")})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = chains.to_arviz()
        table = arviz.summary(theirs, round_to="none")
    np.testing.assert_allclose(theirs.posterior["x"].values, draws)
    assert list(table.index) == chains.entries("x") == ["x[width]", "x[height]"]
    ours = chains.summary()
    np.testing.assert_allclose(table["r_hat"], ours["r_hat"], rtol=1e-9)
    np.testing.assert_allclose(table["ess_tail"], ours["ess_tail"], rtol=1e-9)
    np.testing.assert_allclose(table["mean"], ours["mean"], rtol=1e-9, atol=1e-12)
    assert "diverging" in theirs.sample_stats
