"""The page of naive Bayes shows what it says."""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

PAGE = Path(__file__).parent.parent / "examples" / "classification" / "plot_naive_bayes.py"


@pytest.mark.spec("CLS-20", "CLS-23", "CLS-30")
@pytest.mark.filterwarnings("ignore:.*non-interactive.*:UserWarning")
def test_the_page_shows_what_it_says(capsys):
    try:
        page = runpy.run_path(str(PAGE))
    finally:
        plt.close("all")
    assert "kernel" in capsys.readouterr().out
    model, probabilities = page["model"], page["probabilities"]
    np.testing.assert_allclose(probabilities[0], model.class_prior_)  # of nothing known, the priors
    assert model.classes_[probabilities[-1].argmax()] == "Chinstrap"
    # Given the mass the weights are the posterior of a bird of which nothing else is known.
    np.testing.assert_allclose(page["given_mass"].weights.sum(axis=1), 1.0)
    assert page["given_mass"].weights[-1].argmax() == 2
    # Columns drawn are independent given the species, which real bills are not.
    drawn, penguins = page["drawn"], page["penguins"]
    bills = ["bill_length_mm", "bill_depth_mm"]
    for name in model.classes_:
        made, real = drawn[page["species"] == name][bills], penguins[penguins["species"] == name][bills]
        assert abs(made.corr().iloc[0, 1]) < 5.0 / np.sqrt(len(made))
        assert real.corr().iloc[0, 1] > 0.3
