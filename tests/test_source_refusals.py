"""What cannot be walked is refused, with the argument's name and the reason."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tractable.data import as_source


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"X": np.ones(3)}, "X must be 2-D"),
        ({"X": np.ones((2, 2, 2))}, "X must be 2-D"),
        ({"X": [["a", "b"]]}, "X must hold real numbers"),
        ({"X": np.ones((2, 2), complex)}, "X must hold real numbers"),
        ({"X": np.array([[object()]])}, "X must hold real numbers"),
        ({"X": [[1.0, 2.0], [3.0]]}, "X is not an array"),
        ({"X": {"a": 1}}, "X must be an array; got dict"),
        ({"X": None}, "X must be an array; got NoneType"),
        ({"X": "rows.parquet"}, "tractable.scan"),
        ({"X": [[1.0], [2.0]], "y": [1.0]}, "y has 1 rows, but X has 2"),
        ({"X": [[1.0]], "y": np.ones((1, 1, 1))}, "y must be 1-D or 2-D"),
        ({"X": [[1.0]], "y": "fare"}, "y must be an array; got str: X has no column 'fare'"),
        ({"X": [[1.0], [2.0]], "weights": [1.0]}, "weights must have one entry a row"),
        ({"X": [[1.0], [2.0]], "weights": [1.0, np.nan]}, "weights must be finite"),
        ({"X": [[1.0], [2.0]], "weights": [1.0, -1.0]}, "weights must be finite and not negative, found -1"),
        ({"X": [[1.0]], "weights": ["a"]}, "weights must be numbers"),
        ({"X": [[1.0]], "weights": [[1.0]]}, "weights must have one entry a row"),
        ({"X": pd.DataFrame({"fare": [1.0], "km": [2.0]}), "y": "fair"}, "y: no column 'fair'.*'fare'"),
        ({"X": pd.DataFrame({"a": [1.0], "b": ["u"], "c": ["v"]})}, "not numeric: 'b' .*, 'c' "),
        ({"X": pl.DataFrame({"a": [1.0], "b": ["u"]})}, "not numeric: 'b'"),
        ({"X": pd.DataFrame({"a": [1.0], "d": pd.to_datetime(["2020-01-01"])})}, "not numeric: 'd'"),
        ({"X": pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])}, "several columns named a"),
        ({"X": pd.DataFrame({"a": [1.0]}), "y": "a"}, "X: no columns are left"),
        ({"X": [np.ones((2, 2)), np.ones((2, 3))]}, "batch 1 has 3 features, the first has 2"),
        ({"X": [np.ones((2, 2)), np.ones(2)]}, "batch 1: X must be 2-D"),
        ({"X": [np.ones((2, 2))], "y": np.ones(2)}, "y: batches bring their own"),
        ({"X": [(np.ones((2, 2)), 1, 2, 3)]}, "batch 0: a tuple is"),
        ({"X": [pd.DataFrame({"a": [1.0]}), pd.DataFrame({"b": [1.0]})]}, "batch 1 has columns"),
        ({"X": (np.ones((2, 2)) for _ in range(3))}, "generator, which can be walked only once"),
        ({"X": iter([np.ones((2, 2))])}, "walked only once"),
        ({"X": lambda: None}, "does not return an iterator"),
        ({"X": lambda: iter(())}, "there are no batches"),
        ({"X": []}, "X must be 2-D"),
    ],
)
def test_bad_input_is_one_error_that_names_the_argument(given, message):
    with pytest.raises(ValueError, match=message):
        as_source(**given)


def test_the_same_iterator_twice_is_refused():
    walk = iter([np.ones((2, 2))])
    with pytest.raises(ValueError, match="same iterator twice"):
        as_source(lambda: walk)


def test_a_frame_with_bad_weights_is_refused_when_it_is_walked():
    source = as_source(pd.DataFrame({"a": [1.0], "w": [-1.0]}), weights="w")
    with pytest.raises(ValueError, match=r"weights .w. must be finite and not negative, found -1"):
        list(source.batches())


def test_targets_in_some_batches_only_are_refused():
    X = np.ones((2, 2))
    with pytest.raises(ValueError, match="batch 1 and the first"):
        list(as_source([(X, [1, 2]), X]).batches())


def test_arrays_of_other_libraries_stay_on_their_device(backend):
    source = as_source(backend.asarray([[1.0, 2.0]]))
    assert source.n_rows == 1
    assert backend.owns(next(source.batches()).X)
    if not backend.name.startswith("numpy"):
        with pytest.raises(TypeError, match=r"y is a .*not moved to the host silently"):
            as_source([[1.0, 2.0]], backend.asarray([1.0]))


def test_sparse_rows_are_refused():
    from scipy.sparse import csr_array

    with pytest.raises(TypeError, match=r"X is a sparse csr_array.*toarray"):
        as_source(csr_array(np.eye(2)))
