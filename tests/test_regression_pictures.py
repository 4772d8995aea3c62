"""Pictures of regressions: bands, predictions beside targets, coefficients."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

import tractable
from tractable import LinearRegression


@pytest.fixture
def data(rng):
    x = rng.uniform(0.0, 5.0, 30)
    return x[:, None], 1.0 + x + rng.standard_normal(30)


def test_line_band_and_data_are_drawn(data):
    X, y = data
    model = LinearRegression().fit(X, y)
    ax = tractable.plot(model, X=X, y=y, coverage=0.8)
    (line,) = ax.get_lines()
    np.testing.assert_allclose(line.get_ydata(), model.predict(line.get_xdata()[:, None]))
    assert line.get_xdata().min() < X.min()
    assert line.get_xdata().max() > X.max()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["data", "80%, new targets", "80%, the function", "prediction"]
    wide, narrow = (band.get_paths()[0].get_extents() for band in ax.collections[1:])
    assert wide.y0 < narrow.y0 < narrow.y1 < wide.y1


def test_column_names_and_grids_are_used(data):
    X, y = data
    model = LinearRegression().fit(pd.DataFrame(X, columns=["age"]), y)
    ax = tractable.plot(model, grid=[3.0, 1.0, 2.0])
    assert ax.get_xlabel() == "age"
    np.testing.assert_array_equal(ax.get_lines()[0].get_xdata(), [1.0, 2.0, 3.0])
    assert len(ax.collections) == 2  # no data


def test_what_has_no_such_picture_is_said(data):
    X, y = data
    model = LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match="data must be given with y"):
        tractable.plot(model, y=y)
    with pytest.raises(ValueError, match="data must be given with y"):
        tractable.plot(model, y=y, grid=X)
    with pytest.raises(ValueError, match="data and X are the same"):
        tractable.plot(model, data=X, X=X)
    with pytest.raises(ValueError, match="grid must have one column"):
        tractable.plot(LinearRegression().fit(np.hstack([X, X**2]), y), grid=np.hstack([X, X**2]))
    with pytest.raises(ValueError, match="one target"):
        tractable.plot(LinearRegression().fit(X, np.column_stack([y, y])), X=X)


def test_several_columns_are_drawn_as_predictions_beside_targets(data):
    X, y = data
    both = np.hstack([X, X**2])
    model = LinearRegression().fit(both, y)
    ax = tractable.plot(model, data=both, y=pd.Series(y, name="price"), coverage=0.8)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted price", "price")
    points = next(c for c in ax.collections if c.get_label() == "data").get_offsets()
    order = np.argsort(model.predict(both))
    np.testing.assert_allclose(points, np.column_stack([model.predict(both), y])[order])
    bars = next(c for c in ax.collections if c.get_label() == "80%, new targets").get_segments()
    np.testing.assert_allclose(np.array(bars)[:, :, 1], model.predict_interval(both, 0.8)[order])


def test_without_rows_coefficients_are_drawn_with_their_intervals(data):
    X, y = data
    both = pd.DataFrame(np.hstack([X, X**2]), columns=["width", "square"])
    for model in (LinearRegression(), tractable.BayesianLinearRegression()):
        ax = tractable.plot(model.fit(both, y), coverage=0.8)
        assert [tick.get_text() for tick in ax.get_yticklabels()] == ["width", "square"]
        np.testing.assert_allclose(ax.get_lines()[-3].get_xdata(), model.coef_)
        (bars,) = ax.collections
        found = np.array(bars.get_segments())[:, :, 0]
    belief = model.posterior_
    expected = [belief.marginal([name]).as_univariate().interval(0.8) for name in both.columns]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("rows", [5, 2], ids=["without errors", "too few rows"])
@pytest.mark.parametrize("columns", [1, 2])
def test_a_fit_that_knows_no_noise_is_drawn_without_bands(rows, columns):
    X = np.arange(1.0, rows + 1.0)[:, None] ** np.arange(1.0, columns + 1.0)
    ax = tractable.plot(LinearRegression().fit(X, 2.0 * X[:, 0]), data=X, y=2.0 * X[:, 0])
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"data", "prediction"}
