"""The numbers of the pages on decisions, and on generative and discriminative models."""

import runpy
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

import tractable

PAGES = Path(__file__).parent.parent / "examples" / "classification"


def run(name):
    try:
        return runpy.run_path(str(PAGES / name))
    finally:
        plt.close("all")


@pytest.mark.spec("CLS-29")
def test_a_generative_model_wins_where_it_is_true_and_rows_are_few(rng):
    centres, gains = np.array([[0.0] * 30, [0.4] * 30]), []
    new = rng.integers(0, 2, 400)
    X_new = centres[new] + rng.standard_normal((400, 30))
    y = np.arange(80) % 2
    models = tractable.GaussianNB(), tractable.LogisticRegression(C=1000.0)
    for _ in range(20):
        X = centres[y] + rng.standard_normal((80, 30))
        right = [m.fit(X, y).score(X_new, new) for m in models]
        gains.append(right[0] - right[1])
    assert np.mean(gains) > 2.0 * np.std(gains, ddof=1) / np.sqrt(len(gains))


@pytest.mark.slow
@pytest.mark.spec("CLS-29")
@pytest.mark.filterwarnings("ignore:.*non-interactive.*:UserWarning")
def test_generative_models_win_with_few_rows_and_discriminative_ones_with_many():
    page = run("plot_generative_vs_discriminative.py")
    true, false = page["curves"].values()

    def ahead(curve, one, other, place):
        """By how many standard errors one model is ahead of another."""
        (a, a_error), (b, b_error) = curve[one], curve[other]
        return (b[place] - a[place]) / np.hypot(a_error[place], b_error[place])

    logistic = "logistic regression"
    assert ahead(true, "naive Bayes", logistic, 1) > 2.0
    assert abs(true["linear discriminant"][0][-1] - true[logistic][0][-1]) < 0.003
    assert ahead(false, "naive Bayes", logistic, 1) > 2.0
    assert ahead(false, logistic, "naive Bayes", -1) > 5.0
    assert ahead(false, logistic, "linear discriminant", -1) > 5.0
    assert abs(true[logistic][0][-1] - float(page["least"])) < 0.01


@pytest.mark.spec("CLS-19", "CLS-02")
@pytest.mark.filterwarnings("ignore:.*non-interactive.*:UserWarning")
def test_losses_move_boundaries_and_rejections_open_them(capsys):
    page = run("plot_decision_theory.py")
    test, loss, x = page["test"], page["loss"], page["x"]
    plain, least = test.predict(x), test.decide(x, loss=loss)
    edges = [x[np.argmax(said == "ill")] for said in (plain, least)]
    # Normal classes of variance one: the boundary moves by log 100 / 2.5.
    np.testing.assert_allclose(edges[0] - edges[1], np.log(100.0) / 2.5, atol=0.011)
    decided = page["decided"]
    places = [np.array([d == what for d in decided]) for what in ("well", None, "ill")]
    assert all(np.all(np.diff(np.flatnonzero(own)) == 1) for own in places)
    costs = [float(tractable.bayes_error(test, loss=loss, **extra)) for extra in ({}, {"reject_loss": 0.5})]
    assert costs[1] < costs[0]
    assert "rejected" in capsys.readouterr().out
