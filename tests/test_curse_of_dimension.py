"""The numbers of the page on the curse of dimension."""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

PAGE = Path(__file__).parent.parent / "examples" / "densities" / "plot_curse_of_dimension.py"


@pytest.mark.spec("CLS-37")
def test_the_nearest_row_is_as_far_as_the_farthest(rng):
    ratios = []
    for d in (1, 10, 1000):
        squares = np.sum((rng.random((300, d)) - rng.random((20, 1, d))) ** 2, axis=-1)
        ratios.append(np.mean(np.sqrt(squares.min(axis=1) / squares.max(axis=1))))
    assert ratios[0] < 0.05 < ratios[1] < 0.6 < ratios[2]


@pytest.mark.slow
@pytest.mark.spec("CLS-37")
@pytest.mark.filterwarnings("ignore:.*non-interactive.*:UserWarning")
def test_the_page_shows_what_it_says(capsys):
    try:
        page = runpy.run_path(str(PAGE))
    finally:
        plt.close("all")
    # Cells grow as 10^D, and 1,000 rows fill no more than 1,000 of them.
    filled = np.array(page["filled"])
    assert filled[0] == 1.0
    assert np.all(filled <= 1000 / 10.0 ** np.arange(1, 9))
    assert filled[3] < 0.1
    # The nearest is as far as the farthest.
    ratio = page["ratio"]
    assert ratio[0] < 0.01
    assert np.all(np.diff(ratio) > 0)
    assert ratio[-1] > 0.85
    # Noise drowns neighbours, and a model of few parameters far less.
    voted, judged = page["accuracy"]["neighbours"], page["accuracy"]["a Gaussian for each class"]
    assert voted[0] > 0.9
    assert voted[0] - voted[-1] > 0.1
    assert judged[-1] - voted[-1] > 0.05
    assert "nearest over farthest" in capsys.readouterr().out
