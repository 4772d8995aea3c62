"""The pages on linear models print the numbers that they should."""

from functools import partial

import numpy as np
import pytest

from gallery_pages import numbers, page, pages

page = partial(page, "linear_models")


#: Pages that take their time.
SLOW = {"plot_bias_variance", "plot_least_mean_squares"}
NAMES = [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in pages("linear_models")]


@pytest.mark.parametrize("name", NAMES)
def test_every_page_runs_and_draws(name):
    assert page(name).n_axes >= 1


def of(name, start):
    """The numbers of the one line of a page that begins so."""
    (found,) = page(name).numbers(start)
    return found


@pytest.mark.spec("W-01", "LIN-21", "LIN-39", "LIN-41")
@pytest.mark.parametrize(
    ("model", "r2", "loo", "weights"),
    [
        ("line", 0.790124, 579.42740, [-53.17847902, 30.81420425]),
        ("square", 0.978058, 91.52592, None),
        ("cube", 0.998675, 9.74838, [-30.96260948, 52.07358344, -24.66414976, 4.26304438]),
        ("exponential", 1.0, 0.0, [0.0, 0.0, 1.0]),
    ],
)
def test_the_exponential_curve(model, r2, loo, weights):
    found = of("plot_exponential_curve", model)
    assert found[:2] == [r2, loo]
    assert weights is None or found[3:] == weights


@pytest.mark.spec("W-01", "ASSESS-04", "ASSESS-05", "ASSESS-06", "ASSESS-08")
def test_the_errors_of_the_line():
    name = "plot_exponential_curve"
    assert of(name, "line")[2] == 511.67660
    assert of(name, "sum of squared errors") == [5764.88974]
    assert of(name, "MSE") == [384.32598, 19.60423]
    assert of(name, "RMSE in units of the spread of y") == [0.458122]
    assert of(name, "MAE") == [16.22342]


@pytest.mark.spec("W-08", "BLR-10")
def test_hours_studied():
    name = "plot_hours_studied"
    assert of(name, "prior variance 1e+06:") == [2.00000011, 0.99999948]
    assert of(name, "prior variance 1e+03:") == [2.00010956, 0.99948238]
    wide, narrow = page(name).numbers("  covariance")
    assert wide == [0.12195108, -0.35365806, -0.35365806, 1.22560813, -20.2669924]
    assert narrow == [0.12181146, -0.35318259, -0.35318259, 1.22398472, -13.3624072]
    assert of(name, "at 3.5 hours:") == [8.0, 0.493865, 1.115304]


@pytest.mark.spec("W-08", "BLR-23")
def test_an_exact_line_has_no_noise_to_find():
    weights, noise = of("plot_hours_studied", "precision of the weights")
    assert weights == 0.4
    assert noise > 1e12
    assert page("plot_hours_studied").lines[-1].startswith("NoiseVanishedWarning: y is fitted without error")


#: Penalty, intercept, slope, Tr H, mean squared error, leave-one-out, generalised cross-validation.
RIDGE = [
    [0.0, -53.17848, 30.81420, 2.0, 384.32598, 579.42740, 511.67660],
    [0.01, -52.89461, 30.73134, 1.994983, 384.33769, 578.75435, 511.29748],
    [0.1, -50.46114, 30.02056, 1.951949, 385.39895, 574.74965, 509.33293],
    [1.0, -34.14587, 25.22880, 1.661598, 437.04585, 620.26518, 552.71585],
    [10.0, -5.68428, 16.24598, 1.111842, 722.08950, 938.28819, 842.33386],
]


@pytest.mark.spec("W-17", "BLR-17", "BLR-21")
def test_choosing_a_penalty():
    name = "plot_choosing_a_penalty"
    assert [numbers(line) for line in page(name).lines[1:6]] == RIDGE
    assert of(name, "chosen:") == [0.1, 0.1]
    assert of(name, "precision of the weights") == [6.356956e-4, 2.234162e-3]
    assert of(name, "weights") == [-46.06997, 28.73600, 1.874157]
    assert of(name, "log evidence")[0] == -71.305935


@pytest.mark.spec("W-24", "ASSESS-03")
@pytest.mark.parametrize(
    ("degree", "bias2", "variance"), [(1, 0.2114, 0.0068), (3, 0.0053, 0.0142), (8, 0.00003, 0.0298)]
)
def test_bias_and_variance(degree, bias2, variance):
    found = of("plot_bias_variance", f"degree {degree}:")
    # The published ones are rounded, come from 2,000 repeats, and leave the mean's variance in the bias.
    assert abs(found[0] - (bias2 - variance / 2000)) < 5 * found[1] + 5e-5
    assert abs(found[2] - variance) < 5 * found[3] + 5e-5


@pytest.mark.spec("W-28", "LIN-17")
def test_how_many_products():
    lines = [line.replace(",", "") for line in page("plot_how_many_products").lines[:4]]
    assert [numbers(line) for line in lines] == [[1, 4], [2, 10], [10, 286], [100, 176851]]
    assert len(page("plot_how_many_products").lines[4].split(", ")) == 10


@pytest.mark.spec("LIN-12", "LIN-13", "LIN-14", "LIN-23")
def test_each_table_has_its_own_problem():
    found = page("plot_what_can_go_wrong").names["found"]
    assert [x.problems for x in found.values()] == [("weak signal",), ("not linear",), ("outliers",)]
    slope, squares, robust = of("plot_what_can_go_wrong", "slope")
    assert abs(robust - slope) < 0.1 < abs(squares - slope)
    assert of("plot_what_can_go_wrong", "rows that counted least:") == [30, 37]


@pytest.mark.spec("SEQ-13", "BLR-05")
def test_row_by_row_is_all_at_once():
    lines = page("plot_line_row_by_row").lines
    assert numbers(lines[0]) == [0, 0.0, 0.707, 0.0, 0.707]
    spreads = np.array([numbers(line)[2::2] for line in lines[:4]])
    assert np.all(np.diff(spreads, axis=0) < 0)
    assert of("plot_line_row_by_row", "largest difference")[0] < 1e-15


@pytest.mark.spec("LIN-33", "LIN-35")
def test_only_the_diamond_is_touched_at_a_corner():
    weights = {q: of("plot_ball_and_diamond", f"q = {q}:") for q in ("1", "1.5", "2", "6")}
    assert weights["1"] == [0.9, 0.0]
    for q in ("1.5", "2", "6"):
        assert min(weights[q]) > 0.1
        assert np.sum(np.power(weights[q], float(q))) == pytest.approx(0.9 ** float(q), abs=1e-3)


def test_columns_that_matter_are_kept_and_most_noise_is_not():
    page_ = page("plot_relevant_columns")
    pruned = page_.names["each"].pruned_
    assert pruned[10:].sum() >= 9
    assert not np.any(pruned[[1, 2, 3, 8]])  # sex, bmi, bp and s5, which every method finds
    one, each = of("plot_relevant_columns", "log evidence:")
    assert each > one


@pytest.mark.spec("SEQ-10", "SEQ-12", "E004-13")
@pytest.mark.slow
def test_small_corrections_settle_and_large_ones_are_refused():
    lines = page("plot_least_mean_squares").lines
    assert "above the bound: step is too large" in lines[-1]
    for start in ("step 0.01", "step 6/(N + 60)", "least squares      ends"):
        assert of("plot_least_mean_squares", start)[-1] < 0.05
    start = np.linalg.norm(page("plot_least_mean_squares").names["truth"])
    assert of("plot_least_mean_squares", "step 0.1 ")[-1] < 0.1 * start


@pytest.mark.spec("LIN-04")
def test_digits_are_lost_and_found():
    least = {line.split(" at least")[0].strip(): numbers(line)[-1] for line in page("plot_digits").lines[2:6]}
    assert least["normal equations"] == 0.0
    assert least["QR"] > 6.0
    assert least["QR, rows streamed"] > 6.0
    assert least["QR, refined"] >= 15.0
    assert of("plot_digits", "condition of the columns")[0] > 1e14


@pytest.mark.spec("ASSESS-13", "LIN-42")
def test_training_errors_fall_and_the_other_judges_turn_around():
    rows = np.array(page("plot_how_rich_a_model").numbers("degree"))
    assert np.all(np.diff(rows[:, 1]) < 1e-4)
    assert [int(rows[np.argmin(rows[:, 2]), 0]), int(rows[np.argmax(rows[:, 3]), 0])] == [3, 3]
    assert of("plot_how_rich_a_model", "least error on rows left out: degree") == [3]
    assert of("plot_how_rich_a_model", "most evidence: degree") == [3]


@pytest.mark.spec("BLR-19", "BLR-20")
def test_more_rows_decide_more():
    decided = [numbers(line)[1] for line in page("plot_what_rows_decide").lines]
    assert 0 < decided[0] < decided[1] < decided[2] < 12


@pytest.mark.spec("LIN-06", "LIN-09")
def test_a_matrix_in_three_steps():
    names, lines = page("plot_turn_stretch_turn").names, page("plot_turn_stretch_turn").lines
    # The product of the singular values is the determinant, the sum of their squares that of the entries.
    S = np.array(of("plot_turn_stretch_turn", "singular values")[:2])
    assert np.prod(S) == pytest.approx(abs(np.linalg.det(names["A"])), abs=3e-4)
    assert np.sum(S**2) == pytest.approx(np.sum(names["A"] ** 2), abs=3e-4)
    np.testing.assert_allclose(list(names["steps"].values())[-1], names["A"], atol=1e-14)
    assert numbers(lines[1]) == numbers(lines[2])


@pytest.mark.spec("LIN-31")
def test_roughness_is_penalised_and_zeros_are_not_smooth():
    rough, right, stiff = (numbers(line) for line in page("plot_rough_or_smooth").lines[:3])
    assert right[1] < min(rough[1], stiff[1])
    assert rough[2] > right[2] > stiff[2]
    assert of("plot_rough_or_smooth", "ridge:") == [0.5, 0.0]
    names = page("plot_rough_or_smooth").names
    A, bends, signal = names["A"], names["bends"], names["signal"][names["seen"]]
    for penalty, curve in names["curves"].items():
        slope = A.T @ (A @ curve - signal) + penalty * bends.T @ (bends @ curve)
        assert np.max(np.abs(slope)) < 1e-9 * penalty + 1e-12


@pytest.mark.spec("W-09", "KER-18", "MATH-08")
def test_a_form_that_is_never_negative():
    name = "plot_never_negative"
    assert page(name).numbers("at [5.0, 3.0]:")[0][0] == 0.0
    assert page(name).numbers("at [5.0, 2.0]:")[0][0] == 25.0
    assert of(name, "eigenvalues") == [0.0, 34.0]
    assert "never negative: True - and zero at the origin alone: False" in page(name).lines
    assert of(name, "covariance of the rows:") == [9.0, -15.0, -15.0, 25.0]
    assert "refused: covariance must be positive definite" in page(name).lines
    (warned,) = [line for line in page(name).lines if line.startswith("DegenerateCovarianceWarning")]
    assert warned.endswith(
        "the covariance is singular: columns are constant or follow from others, or rows are few"
    )
    assert all(0.0 < added < 1e-12 for added in of(name, "added to the variances:"))


def test_a_regression_table_of_penguins():
    name = "plot_regression_table"
    assert any(line.startswith("LinearRegression: 333 rows, 7 parameters") for line in page(name).lines)
    by_wald, by_fits = (line for line in page(name).lines if "F(2, 326)" in line)
    assert by_wald.split("F(2, 326)")[1] == by_fits.split("F(2, 326)")[1]
