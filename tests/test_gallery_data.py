"""The pages about data of any kind show what they say: parts, files and weights give one answer."""

import re
import runpy
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

ROOM = Path(__file__).parent.parent / "examples" / "data"


@pytest.fixture
def run(capsys):
    """Run a page; return its names, what it printed, and how many figures it drew."""

    def page(name):
        try:
            found = runpy.run_path(str(ROOM / f"plot_{name}.py"))
            return found, capsys.readouterr().out, len(plt.get_fignums())
        finally:
            plt.close("all")

    return page


def test_merged_fits_are_the_fit_to_all_rows(run):
    found, _, figures = run("two_machines")
    merged, whole = found["fits"]["merged"], found["whole"]
    np.testing.assert_allclose(merged.coef_, whole.coef_, rtol=1e-12)
    np.testing.assert_allclose(merged.log_evidence_, whole.log_evidence_, rtol=1e-12)
    np.testing.assert_allclose(merged.posterior_.covariance, whole.posterior_.covariance, rtol=1e-10)
    assert abs(merged.coef_[0] - 0.6) < 0.1
    assert figures == 1


def test_a_file_gives_the_fit_of_its_rows(run):
    found, printed, _ = run("parquet")
    np.testing.assert_allclose(found["model"].coef_, found["memory"].coef_, rtol=1e-10)
    assert found["counts"].counts_.sum() == len(found["answers"]) == 100_000
    assert abs(found["inside"] - 0.9) < 0.005
    assert "streamed" in printed


def test_weights_are_repeated_rows(run):
    found, printed, _ = run("weights")
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
def test_one_point_at_a_time_is_the_batch(run):
    found, _, _ = run("streaming_and_merging")
    np.testing.assert_allclose(found["theta"], found["x"].mean(), rtol=1e-13)
    np.testing.assert_allclose(found["mean"][-1], found["x"].mean(), rtol=1e-13)
    np.testing.assert_allclose(
        found["merged"].distribution_.variance, found["whole"].distribution_.variance, rtol=1e-12
    )


def test_holes_left_in_leave_the_answer_straight(run):
    found, _, _ = run("missing_values")
    errors = {name: abs(fit.distribution_.mean[1]) for name, fit in found["fits"].items()}
    assert errors["holes left in"] < 0.1
    assert min(errors["rows dropped"], errors["holes filled"]) > 0.3
