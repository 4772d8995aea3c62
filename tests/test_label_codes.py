"""Labels and their codes: whole numbers are counted, objects hashed, others sorted, and the rest refused."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tractable
from tractable.base.labels import check_labels
from tractable.statistics import ByClass


@pytest.mark.parametrize(
    "y",
    [
        np.array([3, 1, 3, 2]),
        np.array([-5, 250, -5], dtype=np.int16),
        np.array([True, False, True]),
        np.array([7], dtype=np.uint8),
        np.array([2**63 + 1, 2**63 + 3], dtype=np.uint64),
        np.array([-(2**62), 2**62]),
        np.array([0, 10**9, 5]),
        np.arange(1000)[::-1],
        np.array([1.0, 0.0, 1.0]),
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b"], dtype=object),
    ],
    ids=lambda y: f"{y.dtype}-{len(y)}-{y.ravel()[0]}",
)
@pytest.mark.filterwarnings("ignore:The number of unique classes:UserWarning")
@pytest.mark.spec("CLS-01")
def test_codes_are_places_among_the_labels(y):
    classes, codes = check_labels(y)
    np.testing.assert_array_equal(classes, np.unique(y))
    assert classes.dtype == y.dtype
    np.testing.assert_array_equal(classes[codes], y)
    assert codes.dtype.kind == "u"


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (pd.Series([2, 1, 2], dtype="Int64"), np.array([1, 2])),
        (pd.Series([True, False], dtype="boolean"), np.array([False, True])),
        (np.array([3, 1], dtype=object), np.array([1, 3])),
        (np.array([True, False], dtype=object), np.array([False, True])),
        (pd.Series(["b", "a"], dtype="string"), np.array(["a", "b"], dtype=object)),
        (pd.Categorical(["b", "a", "b"], categories=["c", "b", "a"]), np.array(["a", "b"], dtype=object)),
        (pd.Series([7, 5, 7], dtype="category"), np.array([5, 7])),
    ],
    ids=["Int64", "boolean", "ints", "bools", "string", "categorical", "category-of-ints"],
)
@pytest.mark.spec("CLS-01")
def test_labels_of_pandas_keep_what_they_are(y, classes):
    found, codes = check_labels(y)
    np.testing.assert_array_equal(found, classes)
    assert found.dtype == classes.dtype
    assert found[codes].tolist() == list(y)


@pytest.mark.parametrize(
    "y",
    [
        np.array(["a", None], dtype=object),
        np.array(["a", pd.NA], dtype=object),
        np.array(["a", float("nan")], dtype=object),
        np.array(["a", 1], dtype=object),
        np.array([True, 2], dtype=object),
        np.array([["a"], ["b", "c"]], dtype=object),
        np.array([dt.date(2020, 1, 1)], dtype=object),
        np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"),
        np.array([1.0, 2.5]),
        np.array([1.0, np.inf]),
        np.array([1.0, 2.0j]),
        np.array([b"a"]),
        pd.Series(["a", None], dtype="category"),
        pd.Series([1, None], dtype="Int64"),
        pd.Series([True, None], dtype="boolean"),
    ],
    ids=lambda y: f"{y.dtype}-{y[1:].tolist()}",
)
@pytest.mark.spec("CLS-01")
def test_what_is_no_label_is_refused(y):
    with pytest.raises(ValueError, match=r"\by\b"):
        check_labels(y)


def test_the_statistic_of_classes_refuses_what_is_no_label_by_itself():
    with pytest.raises(ValueError, match="y contains NaN or None"):
        ByClass.of(np.zeros((2, 1)), np.array(["a", None], dtype=object))
    with pytest.raises(ValueError, match="y has labels of two kinds, such as 'a' and 1"):
        ByClass.of(np.zeros((1, 1)), np.array(["a"])) + ByClass.of(np.zeros((1, 1)), np.array([1]))


@pytest.mark.parametrize(
    "make",
    [
        tractable.LinearDiscriminant,
        tractable.LogisticRegression,
        tractable.LeastSquaresClassifier,
        tractable.GaussianNB,
        lambda: tractable.GenerativeClassifier(tractable.GaussianDensity()),
        lambda: tractable.GenerativeClassifier(tractable.KernelDensity()),
    ],
)
@pytest.mark.spec("CLS-01")
def test_a_file_may_not_lack_labels(make, tmp_path):
    table = {"x": np.arange(8.0), "y": ["a", "b", None, "a", "b", "a", "b", "a"]}
    pq.write_table(pa.table(table), tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="y contains NaN or None"):
        make().fit(tractable.scan(tmp_path / "rows.parquet", target="y"))


@pytest.mark.spec("CLS-01")
def test_a_stream_of_many_classes_is_not_taken_for_numbers():
    X, y = np.arange(120.0)[:, None] % 7 + np.repeat(np.arange(40.0), 3)[:, None], np.repeat(np.arange(40), 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = tractable.LinearDiscriminant().fit([(X[:60], y[:60]), (X[60:], y[60:])])
    assert len(model.classes_) == 40
