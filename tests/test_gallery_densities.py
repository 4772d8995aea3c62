"""The pages about densities print the right numbers of the worked examples, and show what they say."""

import re

import numpy as np
import pytest

from gallery_pages import page, pages

#: Pages that take their time.
SLOW = {"plot_curse_of_dimension", "plot_densities_compared", "plot_mean_shift", "plot_space_subdivision"}
NAMES = [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in pages("densities")]


@pytest.mark.parametrize("name", NAMES)
def test_every_page_runs_and_draws(name):
    assert page("densities", name).n_axes >= 1


WORKED = [
    pytest.param(
        "windows",
        [
            "Gaussian, h = 0.5  0.21576965  0.17339735  0.00000000  0.30390526",
            "Gaussian, h = 1.0  0.14381389  0.12747503  0.00029261  0.20883294",
            "Epanechnikov, h = 1.0  0.23635387  0.16432212  0.00000000  0.31945350",
            "flat, h = 1.0  0.20000000  0.15000000  0.00000000  0.30000000",
            "epanechnikov:  h = 0.25: inf  h = 0.5: inf  h = 0.9: 1.859575  h = 1: 1.809206",
            "h = 1.2: 1.800219",
        ],
        marks=pytest.mark.spec("W-18", "DENS-08", "DENS-09", "DENS-10"),
    ),
    pytest.param(
        "ten_points",
        [
            "counts  [3. 1. 0. 0. 2. 4.]",
            "heights [0.15 0.05 0.   0.   0.1  0.2 ]",
            "p(0.5) = 0.275028",
            "p(5.0) = 0.037931",
            "p(9.0) = 0.367287",
            "h = 0.25: left-out −log p 2.209377, squared error -0.035076",
            "h =  0.5: left-out −log p 1.843168, squared error -0.144346",
            "h =  1.0: left-out −log p 1.984147, squared error -0.154440",
            "h =  2.0: left-out −log p 2.478221, squared error -0.100926",
            "loo_nll: best at h = 0.571448, where it is 1.834510",
            "lscv: best at h = 0.750815, where it is -0.162293",
            "h = 0.5: modes at 0.421574 and 9.299108",
            "h = 1.0: modes at 0.447967 and 9.186041",
            "h = 5.0: modes at 7.154460\n",
        ],
        marks=pytest.mark.spec("W-18", "DENS-01", "DENS-15", "DENS-17", "DENS-19", "DENS-20"),
    ),
    pytest.param(
        "mean_shift",
        ["[9.299108 0.421574]", "[9.186041 0.447967]", "[7.15446]"],
        marks=pytest.mark.spec("W-18", "DENS-19"),
    ),
]


@pytest.mark.parametrize(("name", "lines"), WORKED)
def test_worked_examples_print_the_right_numbers(name, lines):
    printed = "\n".join(page("densities", f"plot_{name}").lines) + "\n"
    assert [line for line in lines if line not in printed] == []


@pytest.mark.spec("W-14", "DENS-14")
def test_the_middle_bandwidth_is_best():
    """Mean squared errors of fifty samples are 0.0549, 0.0071 and 0.0828, give or take a tenth."""
    printed = "\n".join(page("densities", "plot_kernel_density").lines)
    found = [float(number) for number in re.findall(r"integrated squared error ([\d.]+)", printed)]
    np.testing.assert_allclose(found, [0.0549, 0.0071, 0.0828], rtol=0.15)
    assert np.argmin(found) == 1


def test_altered_rows_are_found_and_their_entries_blamed():
    found = page("densities", "plot_outliers").names
    printed = "\n".join(page("densities", "plot_outliers").lines)
    assert set(found["altered"]) <= set(found["flagged"])
    assert len(found["flagged"]) == 4
    for line in (
        "row 10: bill_depth_mm 13.2",
        "row 200: body_mass_g 3100",
        "row 300: flipper_length_mm 222",
    ):
        assert line in printed
    ranges = found["birds"].drop(found["altered"]).agg(["min", "max"])
    odd = found["birds"].loc[found["altered"]]
    assert np.all((odd > ranges.loc["min"]) & (odd < ranges.loc["max"]))


@pytest.mark.spec("DENS-02", "DENS-03")
def test_shared_rows_depend_less_on_where_bins_begin():
    found = page("densities", "plot_bin_edges").names
    assert found["every"]["linear"] < 0.9 * found["every"]["plain"]
    # Averaged over the starts, shared bins are a window of two widths: near the smooth curve.
    smooth = found["smooth"].distribution_.prob(found["x"][:, None])
    assert np.abs(found["heights"].mean(axis=0) - smooth).max() < 0.15 * smooth.max()
