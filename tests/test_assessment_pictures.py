"""Pictures of cross-validation curves, calibration, and the parts of an error."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

import tractable
from tractable import LinearRegression, Normal, Ridge, RidgeCV


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize(("method", "first"), [("loo", "± 1 s.e."), ("gcv", "generalised cross-validation")])
def test_a_curve_shows_every_penalty_and_the_best(method, first, rng):
    X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    curve = RidgeCV([10.0, 0.1, 1000.0], method=method).fit(X, y).cv_curve_
    ax = tractable.plot(curve)
    line, best = ax.get_lines()
    np.testing.assert_allclose(line.get_xdata(), [0.1, 10.0, 1000.0])
    np.testing.assert_allclose(line.get_ydata(), curve.scores[[1, 0, 2]])
    assert (float(best.get_xdata()[0]), float(best.get_ydata()[0])) == (curve.best_alpha, curve.best_score)
    assert labels(ax)[0] == first
    assert ax.get_xscale() == "log"


def test_no_penalty_has_its_place_and_what_cannot_be_judged_has_none(rng):
    X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    assert tractable.plot(RidgeCV([0.0, 0.1, 100.0]).fit(X, y).cv_curve_).get_xscale() == "symlog"
    curve = tractable.linear_model.CVCurve(
        alphas=np.array([0.0, 1.0]), scores=np.array([np.inf, 2.0]), method="loo"
    )
    assert tractable.plot(curve).get_lines()[0].get_xdata().tolist() == [1.0]


def test_calibration_is_drawn_beside_what_was_promised(rng):
    curve = tractable.calibration_curve(Normal(mean=0.0, stddev=1.0), rng.standard_normal(200))
    ax = tractable.plot(curve)
    promised, observed = ax.get_lines()
    np.testing.assert_allclose(promised.get_xdata(), promised.get_ydata())
    np.testing.assert_allclose(observed.get_ydata(), curve.observed)
    assert labels(ax) == ["± 2 s.e., if right", "observed"]


def test_parts_of_an_error_are_stacked_along_one_column():
    x = np.linspace(0, 1, 12)[::-1, None]
    found = tractable.bias_variance(LinearRegression(), lambda x: x[:, 0] ** 2, 0.1, x, n_repeats=20, rng=0)
    ax = tractable.plot(found)
    assert labels(ax) == ["noise", "squared bias", "variance", "measured error"]
    (measured,) = ax.get_lines()
    np.testing.assert_allclose(measured.get_xdata(), x[::-1, 0])
    np.testing.assert_allclose(measured.get_ydata(), found.pointwise.error.value[::-1])


def test_parts_of_an_error_over_several_columns_are_averages(rng):
    X = rng.standard_normal((20, 2))
    found = tractable.bias_variance(Ridge(), lambda x: x[:, 0] * x[:, 1], 0.5, X, n_repeats=20, rng=0)
    ax = tractable.plot(found)
    heights = [bar.get_height() for bar in ax.patches]
    np.testing.assert_allclose(sum(heights), found.average.total)
    assert labels(ax)[:3] == ["noise", "squared bias", "variance"]
