"""The pages on parameter estimation print the numbers that they should."""

from functools import partial

import numpy as np
import pytest
from scipy.special import betaincc, betaln

from gallery_pages import numbers, page, pages

page = partial(page, "parameter_estimation")


#: Pages that take their time.
SLOW = {"plot_bias_of_the_variance", "plot_outlier"}
NAMES = [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in pages("parameter_estimation")]


@pytest.mark.parametrize("name", NAMES)
def test_every_page_runs_and_draws(name):
    assert page(name).n_axes >= 1


@pytest.mark.spec("W-06")
def test_the_die():
    line = page("plot_die").lines[1]
    assert line.endswith("= 1/6 1/12 1/6 1/4 1/6 1/6")
    assert numbers(line.split("=")[0]) == [0.167, 0.083, 0.167, 0.25, 0.167, 0.167]


@pytest.mark.spec("W-07", "E001-35")
def test_the_mean_in_batches():
    own, known = np.split(np.array([numbers(x)[-2:] for x in page("plot_mean_in_batches").lines]), [4])
    # The last is what a variance taken for a standard deviation gives.
    expected = [(0.0, 1.0), (2.77347, 0.55614), (4.531049, 0.287335), (4.01791, 0.20345)]
    np.testing.assert_allclose(own, expected, atol=5.1e-6)
    np.testing.assert_allclose(own[2], expected[2], atol=5.1e-7)
    expected = [(4.463271, 0.285714), (5.274308, 0.166667), (5.274308, 0.166667)]
    np.testing.assert_allclose(known, expected, atol=5.1e-7)


@pytest.mark.spec("W-15", "SEQ-09")
def test_the_running_mean_from_any_start():
    at_once, running, found = (numbers(line)[-1] for line in page("plot_running_mean").lines[:3])
    assert at_once == pytest.approx(page("plot_running_mean").names["rows"].mean(), abs=1e-12)
    assert running == pytest.approx(at_once, abs=2e-12)
    assert found == pytest.approx(at_once, abs=2e-12)


@pytest.mark.spec("W-23", "DIST-50", "DIST-51")
def test_neither_mean_nor_variance():
    first, second, third, last = (
        numbers(line.replace("scale²", "scale")) for line in page("plot_unknown_mean_and_variance").lines
    )
    assert (first, second) == ([5.666667, 6.0], [4.5, 38.666667])
    assert third == [9.0, 10.024691, 6.0, 0.121804]
    assert last[0] == pytest.approx(last[1], abs=1e-9)


@pytest.mark.spec("W-25")
@pytest.mark.slow
def test_the_variance_that_comes_out_too_small():
    mean, ml, unbiased = (numbers(line) for line in page("plot_bias_of_the_variance").lines)
    assert mean[1] == 0.8
    assert (ml[2], ml[4]) == (-0.8, 5.12)
    assert (unbiased[2], unbiased[4]) == (0.0, 8.0)
    # 20,000 samples, to four standard errors; of a χ² with four degrees of freedom the variance is found to a
    # share of √(5/20,000) of itself.
    share = 4 * np.sqrt(5 / 20_000)
    assert abs(mean[0] - 0.8) < 4 * 0.8 * np.sqrt(2 / 20_000) + 5e-4
    for (_, bias, truth, spread, variance, error), squared in ((ml, 5.76), (unbiased, 8.0)):
        assert abs(bias - truth) < 4 * np.sqrt(variance / 20_000) + 5e-4
        assert abs(spread / variance - 1.0) < share
        assert abs(error / squared - 1.0) < share


@pytest.mark.spec("PROB-26", "DIST-05")
def test_the_prior_holds_few_tosses_back():
    lines = [numbers(line) for line in page("plot_prior_and_likelihood").lines[:3]]
    for n, best, mode, _, low, high in lines:
        heads = round(best * n)
        assert mode == pytest.approx((heads + 4) / (n + 8), abs=5.1e-4)
        assert low < mode < high
        assert abs(mode - 0.5) < abs(best - 0.5)


@pytest.mark.spec("PROB-25")
def test_the_likelier_distribution_is_named():
    names = page("plot_which_distribution").names
    assert names["found"].best == "wide, at 2"
    assert names["compared"].best == "StudentT"


@pytest.mark.spec("DIST-45")
def test_an_outlier_moves_the_normal_alone():
    moves = {line.split()[0]: numbers(line)[-2:] for line in page("plot_outlier").lines}
    shifts = {name: abs(after - before) for name, (before, after) in moves.items()}
    assert shifts["normal"] > 1.0
    assert max(shifts["Laplace"], shifts["Student-t"]) < 0.2


def test_small_clinics_are_shrunk_to_the_common_mean():
    errors = dict(zip(("own", "shrunk", "same"), page("plot_many_clinics").lines[1:], strict=True))
    errors = {name: numbers(line)[-1] for name, line in errors.items()}
    assert errors["shrunk"] < min(errors["own"], errors["same"])
    names = page("plot_many_clinics").names
    # The prior that the clinics were drawn from is worth 20 patients, with a mean of 0.7.
    assert abs(names["a"] / (names["a"] + names["b"]) - 0.7) < 0.05
    pulls = (names["means"] - names["fractions"]) * (names["sizes"] + names["a"] + names["b"])
    expected = names["a"] - (names["a"] + names["b"]) * names["fractions"]
    np.testing.assert_allclose(pulls, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.spec("PROB-14")
def test_a_prior_of_two_modes():
    found = [numbers(line) for line in page("plot_prior_of_any_shape").lines]
    for heads, tails, share, evidence in found[:3]:
        fair = 0.8 * np.exp(betaln(60 + heads, 60 + tails) - betaln(60, 60))
        bent = 0.2 * np.exp(betaln(36 + heads, 4 + tails) - betaln(36, 4))
        assert evidence == pytest.approx(fair + bent, abs=5.1e-6)
        # A little of the biased mode is below 0.7, and of the fair one nothing above.
        assert share == pytest.approx(bent / (fair + bent), abs=2e-3)
    assert found[3][0] == pytest.approx(found[3][1], abs=1e-9)


@pytest.mark.spec("DIST-14", "DIST-16")
def test_dirichlet_posteriors_add_counts():
    names = page("plot_dirichlet_posterior").names
    for line in page("plot_dirichlet_posterior").lines[:3]:
        n, *shares = numbers(line)
        counts = np.bincount(names["played"][: int(n)], minlength=3)
        np.testing.assert_allclose(shares, (counts + 2.0) / (n + 6.0), atol=5.1e-4)
    before, half = (numbers(line)[-1] for line in page("plot_dirichlet_posterior").lines[3:])
    assert before > 0.9
    # One share of a Dirichlet is a Beta.
    a, b = names["after"].prior.concentration[0], names["after"].prior.concentration[1:].sum()
    assert half == pytest.approx(betaincc(a, b, 0.5), abs=4 * np.sqrt(0.25 / 20_000) + 5e-4)


@pytest.mark.spec("DIST-50", "DIST-51")
def test_the_predictive_distribution_scores_better():
    lines = [numbers(line) for line in page("plot_gaussian_posterior").lines]
    for n, student, plugged in lines[:3]:
        assert student > plugged, n
    gaps = [student - plugged for _, student, plugged in lines[:3]]
    assert gaps[0] > gaps[1] > gaps[2]
    (_, _, low, high), (_, _, near, far) = lines[3:]
    assert far - near < high - low
    assert near < 0.7 < far


@pytest.mark.spec("W-04", "W-05", "PROB-08", "PROB-13")
def test_bayes_rule_in_fractions():
    salary, english, tourist, *tests = page("plot_bayes_rule").lines
    assert numbers(salary)[-1] == 0.35
    assert english.endswith("= 9/50")
    assert tourist.endswith("= 5/9")
    odds = [18**n / (18**n + 99) for n in (1, 2, 3)]
    assert [numbers(line)[-1] for line in tests] == [round(p, 4) for p in odds]
