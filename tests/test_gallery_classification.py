"""The pages about classes print the right numbers of the worked examples, and show what they say."""

import re

import numpy as np
import pytest

import tractable
from gallery_pages import page, pages

#: Pages that take their time.
SLOW = {
    "plot_generative_vs_discriminative",
    "plot_lda_qda",
    "plot_many_columns",
    "plot_neighbours",
    "plot_perceptron",
}
NAMES = [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in pages("classification")]


@pytest.mark.parametrize("name", NAMES)
def test_every_page_runs_and_draws(name):
    assert page("classification", name).n_axes >= 1


WORKED = [
    pytest.param(
        "eight_points",
        [
            "means [3.66667, 9.0] [7.0, 4.33333]",
            "covariance [[1.111111, -0.5], [-0.5, 0.444444]]",
            "w = (3.49367089, 14.43037975), w0 = -114.83544304",
            "signed distance of (2, 5): -2.40422575",
            "p(one | (5, 6.5)) = 0.02739493",
            "squared distances: [20.  5. 20.  5. 10.  8. 25.  9.]",
            "['X2 of class 3', 'X4 of class 1', 'X6 of class 2']",
            "fractions of the votes: [0.3333 0.3333 0.3333] decision: 1",
            "density at (4, 6): 0.01492078",
        ],
        marks=pytest.mark.spec("W-19", "CLS-14", "CLS-32"),
    ),
]


@pytest.mark.parametrize(("name", "lines"), WORKED)
def test_worked_examples_print_the_right_numbers(name, lines):
    printed = "\n".join(page("classification", f"plot_{name}").lines) + "\n"
    assert [line for line in lines if line not in printed] == []


@pytest.mark.spec("CLS-35")
@pytest.mark.slow
def test_one_neighbour_is_right_about_itself_and_most_often_wrong_elsewhere():
    found = page("classification", "plot_neighbours").names
    errors = found["errors"]
    assert errors[1][0] == 0.0
    assert errors[1][1] > max(errors[5][1], errors[25][1]) + 0.02
    chosen = 1 - found["chosen"].score(found["fresh"], found["truth"])
    assert chosen < min(error for _, error in errors.values()) + 0.01


@pytest.mark.spec("CLS-14", "CLS-17")
@pytest.mark.slow
def test_a_covariance_for_each_class_needs_more_rows():
    found = page("classification", "plot_lda_qda").names
    one, each = (np.array(found["errors"][name]) for name in ("one covariance", "one for each class"))
    assert np.all(np.diff(each - one) < 0.0)  # the price falls with every row
    assert one[0] < each[0] - 0.05
    assert abs(each[-1] - one[-1]) < 0.01
    X, y = found["X"], found["y"]
    line, curve = found["fits"].values()
    assert curve.score(X, y) > line.score(X, y)


def test_no_direction_is_better_than_fishers():
    found = page("classification", "plot_fisher").names
    best = found["criterion"](found["fisher"])
    np.testing.assert_allclose(best, found["model"].criterion_[0], rtol=1e-10)
    assert max(found["turned"]) <= best * (1 + 1e-12)
    assert max(found["turned"]) > 0.999 * best
    assert found["criterion"](found["plain"]) < 0.5 * best


@pytest.mark.slow
def test_the_perceptron_stops_where_a_line_parts_the_classes():
    found = page("classification", "plot_perceptron").names
    printed = "\n".join(page("classification", "plot_perceptron").lines)
    assert found["model"].score(found["X"], found["y"]) == 1.0
    assert len(found["lines"]) <= (found["longest"] / found["margin"]) ** 2
    # The bound holds for any line that parts the classes, so this one must.
    sides = np.hstack([found["constant"], found["X"]]) @ found["line"]
    np.testing.assert_array_equal(np.where(sides > 0, "above", "below"), found["y"])
    last, pocket, average = (np.array(found["trials"][keep]) for keep in ("last", "pocket", "average"))
    assert np.all(np.diff(pocket) <= 0.0)
    assert last[10:].std() > 5 * average[10:].std()
    assert "mistakes in" in printed


def test_the_predictive_curve_is_less_sure_than_the_most_probable_one():
    found = page("classification", "plot_bayesian_logistic").names
    printed = "\n".join(page("classification", "plot_bayesian_logistic").lines)
    assert "12 rows" in printed
    # On the page the last fit has 200 rows; with twelve the difference is plain.
    few = tractable.BayesianLogisticRegression().fit(*found["rows"](12))
    grid = found["grid"]
    p = few.predict_proba(grid)[:, 1]
    best = 1.0 / (1.0 + np.exp(-(grid[:, 0] * few.coef_[0] + few.intercept_)))
    sure = np.abs(best - 0.5) > 0.05
    assert np.all(np.abs(p - 0.5)[sure] < np.abs(best - 0.5)[sure])
    assert np.all((found["low"] < found["p"]) & (found["p"] < found["high"]))


def test_naive_bayes_is_too_sure_of_columns_that_depend_on_each_other():
    found = page("classification", "plot_assessment").names
    losses, gaps = [], []
    for model in found["models"].values():
        p = model.predict_proba(found["fresh"])
        losses.append(tractable.log_loss(found["truth"], p, classes=model.classes_))
        gaps.append(np.mean(p.max(axis=1)) - np.mean(model.predict(found["fresh"]) == found["truth"]))
    assert losses[0] > 3 * losses[1]
    assert gaps[0] > 0.1
    assert abs(gaps[1]) < 0.02


@pytest.mark.spec("CLS-31")
def test_height_says_nothing_of_vocabulary_given_the_age():
    found = page("classification", "plot_height_and_vocabulary").names
    people = len(found["age"])
    # Where two columns are independent, 2 n times their information is about a chi-square of at most 16.
    for age, nats in found["within"].items():
        assert 2.0 * np.sum(found["age"] == age) * nats < 45.0
    assert 2.0 * people * found["information"](found["height"], found["words"]) > 5000.0
    assert found["loss"] < found["baseline"] - 0.5
    curve = found["curve"]
    assert np.all(np.abs(curve.observed - curve.predicted) < 4.0 * curve.standard_errors + 0.01)


@pytest.mark.spec("CLS-12", "CLS-13", "CLS-14")
def test_gaussian_classes_have_the_log_odds_of_the_page():
    """For variances s² and t²: (μ₁/s² - μ₂/t²) x + (1/t² - 1/s²) x²/2, and a constant."""
    lines = page("classification", "plot_sigmoid").lines
    assert [line.endswith("True") for line in lines[:4:2]] == [True, True]
    coefficients = [[float(c) for c in re.findall(r"[-+]\d+\.\d+", line)] for line in lines[1:4:2]]
    # log(0.4/0.6) - 4/(2 · 1.44), and log(0.4/0.6) + log 2.2 - 2.
    constants = np.log(0.4 / 0.6) + np.array([-4.0 / 2.88, np.log(2.2) - 2.0])
    expected = [[constants[0], 2.0 / 1.44, 0.0], [constants[1], 2.0, 0.5 * (1 / 2.2**2 - 1.0)]]
    np.testing.assert_allclose(coefficients, expected, atol=5.1e-5)
    for model in page("classification", "plot_sigmoid").names["models"].values():
        assert abs(model.coef_[0, 0] - 2.0 / 1.44) < 0.2
