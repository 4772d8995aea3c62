"""Pictures of regressions on one column."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt

import tractable
from tractable import LinearRegression


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


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
    with pytest.raises(ValueError, match="X must be given"):
        tractable.plot(model)
    with pytest.raises(ValueError, match="X must be given with y"):
        tractable.plot(model, y=y, grid=X)
    with pytest.raises(ValueError, match="one column"):
        tractable.plot(LinearRegression().fit(np.hstack([X, X**2]), y), X=np.hstack([X, X**2]))
    with pytest.raises(ValueError, match="one target"):
        tractable.plot(LinearRegression().fit(X, np.column_stack([y, y])), X=X)
