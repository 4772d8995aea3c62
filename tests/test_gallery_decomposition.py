"""The pages on principal components show what they say."""

import pytest

from gallery_pages import page, pages

#: Pages that take their time.
SLOW = {"plot_digits_denoised", "plot_pca_map", "plot_impute"}
NAMES = [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in pages("decomposition")]


@pytest.mark.parametrize("name", NAMES)
def test_every_page_runs_and_draws(name):
    assert page("decomposition", name).n_axes >= 1


def test_foods_set_one_country_apart():
    found = page("decomposition", "plot_food")
    assert found.numbers("variance along each:")[0] == [0.6744, 0.2905]
    first = dict(zip(found.names["food"].index, found.names["scores"][:, 0], strict=True))
    assert max(first, key=lambda country: abs(first[country])) == "n_ireland"


def test_rings_come_apart_with_kernels_alone():
    gaps = page("decomposition", "plot_rings").names["gaps"]
    assert gaps["PCA"] < 0.0 < min(gaps["quadratic kernel"], gaps["Gaussian kernel"])


@pytest.mark.slow
def test_digits_lose_their_noise():
    error = page("decomposition", "plot_digits_denoised").names["error"]
    assert error["kernel PCA"] < error["PCA"] < error["noisy"]


@pytest.mark.slow
def test_gaps_are_filled_in_as_well_as_is_said():
    found = page("decomposition", "plot_impute").names
    assert found["error"] < 0.85 * found["by_means"]
    assert 0.85 < found["held"] < 0.95


@pytest.mark.slow
@pytest.mark.spec("DR-12")
def test_genes_hold_a_map():
    assert min(page("decomposition", "plot_pca_map").names["r2"]) > 0.7
