"""Predictions of paths and bridges took columns in any order for theirs, and NaN for a number."""

import warnings

import numpy as np
import pandas as pd
import pytest

from tractable import bridge_regression, lars_path, lasso_path, load, save

MAKERS = {
    "lasso": lasso_path,
    "lars": lars_path,
    "bridge": lambda X, y: bridge_regression(X, y, 0.1, 1.5),
    "bridge of absolutes": lambda X, y: bridge_regression(X, y, 0.1, 1.0),
}
make = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(40, 3))
    return pd.DataFrame(X, columns=["a", "b", "c"]), X @ [1.0, 2.0, 0.0] + rng.normal(size=40)


@make
def test_columns_in_another_order_are_refused(make, rows):
    frame, y = rows
    fit = make(frame, y)
    assert fit.names == ("a", "b", "c")
    for other in (frame[["c", "b", "a"]], frame.rename(columns={"a": "z"})):
        with pytest.raises(ValueError, match="feature names"):
            fit.predict(other)


@make
def test_rows_must_be_numbers_and_as_wide(make, rows):
    frame, y = rows
    fit = make(frame.to_numpy(), y)
    assert fit.names is None
    with pytest.raises(ValueError, match="X has 2 features"):
        fit.predict(np.ones((5, 2)))
    with pytest.raises(ValueError, match=r"X.*NaN"):
        fit.predict([[1.0, np.nan, 1.0]])
    with pytest.raises(ValueError, match="X"):
        fit.predict([1.0, 2.0, 3.0])


@make
def test_predictions_are_those_of_the_coefficients(make, rows, tmp_path):
    frame, y = rows
    X = frame.to_numpy()
    fit = make(frame, y)
    coefs, intercepts = (
        (fit.coef, fit.intercept) if "Bridge" in type(fit).__name__ else (fit.coefs, fit.intercepts)
    )
    np.testing.assert_allclose(fit.predict(frame), X @ coefs + intercepts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows without names are taken in their order, as by any model
        np.testing.assert_array_equal(fit.predict(X), fit.predict(frame))
    save(fit, tmp_path / "fit.tractable")
    again = load(tmp_path / "fit.tractable")
    assert again.names == fit.names
    np.testing.assert_array_equal(again.predict(frame), fit.predict(frame))
