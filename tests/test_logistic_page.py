"""The page of logistic regression shows what it says."""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

PAGE = Path(__file__).parent.parent / "examples" / "classification" / "plot_logistic_regression.py"


@pytest.mark.spec("CLS-18", "E004-21")
@pytest.mark.filterwarnings("ignore:.*non-interactive.*:UserWarning")
def test_the_page_shows_what_it_says(capsys):
    try:
        page = runpy.run_path(str(PAGE))
    finally:
        plt.close("all")
    assert "SeparableClassesWarning: separable_ is True" in capsys.readouterr().out
    model, band = page["model"], page["band"]
    p = model.predict_proba(page["grid"])[:, 1]
    assert np.all((band[:, 0] < p) & (p < band[:, 1]))
    assert page["low"] < 1.2 < page["high"]
    steep = page["steep"]
    sides = page["x"] @ steep.separating_coef_[0] + steep.separating_intercept_[0]
    np.testing.assert_array_equal(sides > 0, page["parted"])
    assert steep.coef_[0, 0] > 10 * page["penalised"].coef_[0, 0]
