"""The pages on maps show what they say."""

import numpy as np
import pytest

from gallery_pages import page, pages

#: Pages that take their time.
SLOW = {"plot_digits_map", "plot_swiss_roll"}
NAMES = [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in pages("maps")]


@pytest.mark.parametrize("name", NAMES)
def test_every_page_runs_and_draws(name):
    assert page("maps", name).n_axes >= 1


@pytest.mark.spec("DR-31")
def test_cities_are_where_they_are():
    found = page("maps", "plot_cities").names
    assert np.median(found["error"]) < 200.0
    assert found["metric"].stress_ < 0.5 * np.sum(found["distances"] ** 2) * 1e-3
    assert found["nearest"] == ["Berlin", "Oslo"]


@pytest.mark.slow
@pytest.mark.spec("DR-33")
def test_a_roll_is_unrolled():
    found = page("maps", "plot_swiss_roll").names
    assert found["kept"] > 0.99
    assert found["lost"] < 0.6
    assert found["residual"][0] > 5 * found["residual"][1]
    assert found["residual"][1] < 2 * found["residual"][4] + 1e-3
    assert found["ways"][3].n_connected_components_ > 1


@pytest.mark.slow
@pytest.mark.spec("DR-41")
def test_digits_find_their_class():
    found = page("maps", "plot_digits_map").names
    assert found["right"] >= 0.95
    assert np.mean(found["report"].trustworthiness) > 0.98
    assert np.mean(found["before"].trustworthiness) < 0.9
