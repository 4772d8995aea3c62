"""The pages on kernels show what they say."""

import numpy as np
import pytest

from gallery_pages import page, pages

#: Pages that take their time.
SLOW = {
    "plot_co2",
    "plot_counts_in_cells",
    "plot_forecast",
    "plot_gp_classifier",
    "plot_many_rows",
    "plot_kernel_regression",
    "plot_kernel_search",
}
NAMES = [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in pages("kernels")]


@pytest.mark.parametrize("name", NAMES)
def test_every_page_runs_and_draws(name):
    assert page("kernels", name).n_axes >= 1


@pytest.mark.slow
def test_carbon_dioxide_rises_with_the_seasons():
    found = page("kernels", "plot_co2").names
    assert found["parts"].names == ("mean", "RBF", "RBF * Periodic", "RationalQuadratic")
    assert 0.8 <= found["held"] <= 1.0
    assert found["error"] < 0.7
    assert 5.0 < found["swing"] < 7.0


@pytest.mark.slow
def test_counts_in_cells_have_a_peak_and_a_scale_in_each_direction():
    found = page("kernels", "plot_counts_in_cells").names
    assert found["counts"].sum() == 52
    assert np.all(found["scales"] > 0.0)
    assert found["rate"].max() > 10.0 * found["rate"].min()


@pytest.mark.slow
def test_a_forecast_covers_later_years():
    found = page("kernels", "plot_forecast").names
    assert 0.8 <= found["covered"] <= 1.0


@pytest.mark.slow
def test_a_trend_and_a_growing_season_are_found():
    found = page("kernels", "plot_kernel_search").names
    assert found["found"].best.expression == "Linear + Periodic * Linear"
    assert found["error"] < 1.0


def test_smoothers_of_old_faithful():
    found = page("kernels", "plot_kernel_regression").names
    for name in ("ridge", "mean", "line"):
        weights = found[name].equivalent_kernel(found["at"])[0]
        assert weights.sum() == pytest.approx(1.0)
        assert (weights.min() < -1e-4) == (name != "mean")
    assert 5.0 < found["ridge"].cv_curve_.best_score ** 0.5 < 7.0
    np.testing.assert_allclose(found["densities"].mean, found["mean"].predict(found["middle"]), rtol=1e-9)


@pytest.mark.slow
def test_penguins_are_told_apart_and_unknown_far_away():
    found = page("kernels", "plot_gp_classifier").names
    assert found["accuracy"] > 0.93
    assert found["certain"].max() > 0.9
    assert found["certain"].min() < 0.5


@pytest.mark.slow
def test_many_rows_are_nearly_the_exact_process():
    found = page("kernels", "plot_many_rows").names["measured"]
    assert found["sparse"].mean_difference < 0.05
    assert found["committee"].mean_difference < 0.3
