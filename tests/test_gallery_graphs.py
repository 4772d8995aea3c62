"""The pages on graphs show what they say."""

import numpy as np
import pytest

from gallery_pages import page, pages


@pytest.mark.parametrize("name", pages("graphs"))
def test_every_page_runs_and_draws(name):
    assert page("graphs", name).n_axes >= 2


@pytest.mark.spec("GRAPH-09", "GRAPH-10")
def test_the_regression_graph_and_the_naive_bayes_graph():
    found = page("graphs", "plot_d_separation")
    assert "True False" in found.lines
    assert "False True" in found.lines
    assert found.names["all_ages"] > 0.7
    assert abs(found.names["one_age"]) < 1e-12


def test_asia_gives_the_published_probabilities():
    """Lauritzen and Spiegelhalter 1988, table 5 and what follows from their tables."""
    asia = page("graphs", "plot_asia").names["asia"]
    prior = [asia.marginal(name).probabilities[1] for name in ("tuberculosis", "cancer", "bronchitis")]
    np.testing.assert_allclose(prior, [0.0104, 0.055, 0.45], atol=1e-12)
    np.testing.assert_allclose(asia.marginal("xray").probabilities[1], 0.1102900, atol=1e-7)
    np.testing.assert_allclose(asia.marginal("dyspnoea").probabilities[1], 0.4359706, atol=1e-7)
    rows = page("graphs", "plot_asia").names["rows"]
    assert rows[-1, 0] > rows[0, 0] * 20


def test_a_latent_tree_answers_as_the_table_counts():
    found = page("graphs", "plot_latent_tree").names
    for island, counted in found["counts"].items():
        np.testing.assert_allclose(found["answers"][island], counted, atol=0.05)
    assert found["model"].n_states_ > 1


def test_a_tree_knows_more_than_the_commonest_level():
    found = page("graphs", "plot_tree_of_a_table").names
    assert found["criteria"]["tree"] < found["criteria"]["no edges"]
    assert np.mean(list(found["by_tree"].values())) > np.mean(list(found["by_mode"].values())) + 0.15
    assert found["model"].converged_
