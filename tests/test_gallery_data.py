"""The pages about data of any kind show what they say: parts, files and weights give one answer."""

import re

import numpy as np
import pytest

from gallery_pages import page, pages

#: Pages that take their time.
SLOW = {"plot_ask_compare_complete", "plot_pictures"}
NAMES = [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in pages("data")]


@pytest.mark.parametrize("name", NAMES)
def test_every_page_runs_and_draws(name):
    assert page("data", name).n_axes >= 1


def test_merged_fits_are_the_fit_to_all_rows():
    found = page("data", "plot_two_machines").names
    merged, whole = found["fits"]["merged"], found["whole"]
    np.testing.assert_allclose(merged.coef_, whole.coef_, rtol=1e-12)
    np.testing.assert_allclose(merged.log_evidence_, whole.log_evidence_, rtol=1e-12)
    np.testing.assert_allclose(merged.posterior_.covariance, whole.posterior_.covariance, rtol=1e-10)
    assert abs(merged.coef_[0] - 0.6) < 0.1


def test_a_file_gives_the_fit_of_its_rows():
    found = page("data", "plot_parquet").names
    printed = "\n".join(page("data", "plot_parquet").lines)
    np.testing.assert_allclose(found["model"].coef_, found["memory"].coef_, rtol=1e-10)
    assert found["counts"].counts_.sum() == len(found["answers"]) == 100_000
    assert abs(found["inside"] - 0.9) < 0.005
    assert "streamed" in printed


def test_tensors_give_the_fit_of_the_host():
    found = page("data", "plot_tensors").names
    assert not isinstance(found["mixture"].means_, np.ndarray)
    assert not isinstance(found["process"].X_train_, np.ndarray)
    np.testing.assert_allclose(found["back"].means_, found["host"].means_, rtol=1e-6)


def test_weights_are_repeated_rows():
    found = page("data", "plot_weights").names
    printed = "\n".join(page("data", "plot_weights").lines)
    slopes = re.findall(r"grows by ([\d.]+) a point; log evidence ([-\d.]+)", printed)
    means = re.findall(r"mixture of two: (.*)", printed)
    assert slopes[0] == slopes[1]
    assert means[0] == means[1]
    assert found["counts"].sum() == len(found["long"])
    incomes = [float(number) for number in re.findall(r"mean income ([\d.]+)", printed)]
    assert (
        abs(incomes[1] - float(found["country"].mean)) < 1.5 < abs(incomes[0] - float(found["country"].mean))
    )


@pytest.mark.spec("W-15")
def test_one_point_at_a_time_is_the_batch():
    found = page("data", "plot_streaming_and_merging").names
    np.testing.assert_allclose(found["theta"], found["x"].mean(), rtol=1e-13)
    np.testing.assert_allclose(found["mean"][-1], found["x"].mean(), rtol=1e-13)
    np.testing.assert_allclose(
        found["merged"].distribution_.variance, found["whole"].distribution_.variance, rtol=1e-12
    )


def test_holes_left_in_leave_the_answer_straight():
    found = page("data", "plot_missing_values").names
    errors = {name: abs(fit.distribution_.mean[1]) for name, fit in found["fits"].items()}
    assert errors["marginalised"] < 0.1
    assert min(errors["rows dropped"], errors["mean imputed"]) > 0.3
