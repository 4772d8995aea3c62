"""Types of numbers: what becomes a float, what stays as it is."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tractable.data import as_source


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_numbers_of_every_kind_become_floats_and_nulls_nan(frame):
    table = frame({"whole": [1, 2], "truth": [True, False], "gap": [0.5, None]})
    X = next(as_source(table).batches()).X
    np.testing.assert_array_equal(X, [[1.0, 1.0, 0.5], [2.0, 0.0, np.nan]])


def test_nullable_pandas_columns_keep_their_gaps_as_nan():
    frame = pd.DataFrame({"n": pd.array([1, None], "Int64"), "t": pd.array([None, True], "boolean")})
    np.testing.assert_array_equal(next(as_source(frame).batches()).X, [[1, np.nan], [np.nan, 1]])


@pytest.mark.parametrize("kind", ["array", pd.DataFrame, pl.DataFrame, pa.table])
def test_float32_stays_float32(kind):
    X = np.ones((4, 2), np.float32)
    table = X if kind == "array" else kind({"a": X[:, 0], "b": X[:, 1]})
    assert next(as_source(table).batches()).X.dtype == np.float32


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_target_keeps_its_own_type(frame):
    table = frame({"x": [1.0, 2.0, 3.0], "label": ["u", "v", "u"], "k": [0, 1, 2], "t": [True, False, True]})
    features = {"label": "O", "k": "i", "t": "b"}
    for name, kind in features.items():
        part = table[["x", name]] if frame is not pa.table else table.select(["x", name])
        y = next(as_source(part, name).batches()).y
        assert y.dtype.kind == kind
        assert y.tolist() == {"label": ["u", "v", "u"], "k": [0, 1, 2], "t": [True, False, True]}[name]
