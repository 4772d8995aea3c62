"""Plain arrays skip scikit-learn's checks of other kinds of input, and are read as they read them."""

import numpy as np
import pandas as pd
import pytest

import tractable
from tractable.base import validation


@pytest.fixture
def model(rng):
    X = rng.integers(0, 9, (40, 3))
    return tractable.LinearRegression().fit(X, X @ [1.0, 2.0, 3.0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int8, np.uint32, bool, object])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_kind_of_numbers_is_read_alike(model, dtype, order):
    X = np.array([[0, 1, 1], [1, 0, 1]], dtype=dtype, order=order)
    np.testing.assert_allclose(model.predict(X), model.predict(X.tolist()), rtol=1e-6)


def test_plain_rows_are_not_checked_twice(model, monkeypatch):
    def refused(*_, **__):
        raise AssertionError("a plain array went through scikit-learn's checks")

    monkeypatch.setattr(validation, "validate_data", refused)
    assert model.predict(np.ones((1, 3))).shape == (1,)
    assert model.fit(np.eye(4), np.arange(4.0)).n_features_in_ == 4


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.ones((1, 2)), "X has 2 features, but LinearRegression is expecting 3 features"),
        (np.ones(3), "Expected 2D array, got 1D array instead"),
        (np.ones((0, 3)), r"Found array with 0 sample\(s\)"),
        (np.array([[0.0, np.nan, 0.0]]), "X contains NaN"),
        (np.array([[0.0, np.inf, 0.0]]), "X contains infinity"),
        (np.ones((1, 3), dtype=complex), "Complex data"),
    ],
)
def test_what_is_wrong_is_said_as_before(model, X, words):
    with pytest.raises(ValueError, match=words):
        model.predict(X)


def test_names_of_columns_are_compared_and_forgotten(model):
    frame = pd.DataFrame(np.eye(3), columns=["a", "b", "c"])
    model.fit(frame, np.arange(3.0))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(np.ones((1, 3)))
    assert not hasattr(model.fit(np.eye(3), np.arange(3.0)), "feature_names_in_")
