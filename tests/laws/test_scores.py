"""`score` takes what `fit` takes: arrays, frames with named columns, files and streams give one number."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.exceptions import ConvergenceWarning

import tractable
from catalogue import ESTIMATORS
from tractable.data import ArraySource
from tractable.testing.estimator_laws import example, learn

#: One row of each class of the library that has a score; and those that have no `distribution_`.
OWN = [row for row in ESTIMATORS if type(row.make()).__module__.startswith("tractable.")]
FIRST = {type(row.make()): row for row in reversed(OWN) if hasattr(row.make(), "score")}
ROWS = [*FIRST.values(), *(row for row in OWN if row.name == "AdaptiveKernelDensity-balloon")]


def rows_for(estimator):
    rng = np.random.default_rng(3)
    X, y = example(estimator, rng)
    return X, y, rng.integers(1, 4, len(X)).astype(float)


@pytest.mark.filterwarnings("ignore", category=ConvergenceWarning)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_form_of_the_rows_has_the_same_score(row, tmp_path):
    X, y, w = rows_for(row.make())
    fitted = learn(row.make(), X, y)
    expected = fitted.score(X, y, sample_weight=w)
    halves = [slice(0, 37), slice(37, None)]
    source = ArraySource(X=X, y=y, weights=w)
    batches = [(X[part], None if y is None else y[part], w[part]) for part in halves]
    for given in (source, batches):
        np.testing.assert_allclose(fitted.score(given), expected, rtol=1e-9)
    names = [f"x{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    fitted = learn(row.make(), frame, y)
    whole = frame.assign(w=w, **({} if y is None else {"y": y}))
    target = None if y is None else "y"
    pq.write_table(pa.Table.from_pandas(whole), tmp_path / "rows.parquet")
    scanned = tractable.scan(tmp_path / "rows.parquet", target=target, weight="w")
    np.testing.assert_allclose(fitted.score(scanned), expected, rtol=1e-9)
    np.testing.assert_allclose(fitted.score(whole, target, sample_weight="w"), expected, rtol=1e-9)


def test_several_targets_and_constant_ones(rng):
    X = rng.normal(size=(50, 2))
    Y = np.column_stack([X @ [1.0, 2.0] + rng.normal(size=50), np.full(50, 3.0)])
    fitted = tractable.LinearRegression().fit(X, Y)
    for y in (Y, Y + np.array([0.0, 1.0])):
        moved = fitted.score(ArraySource(X=X, y=y))
        np.testing.assert_allclose(moved, fitted.score(X, y), rtol=1e-9, atol=1e-9)


def test_words_in_columns_and_classes_of_a_file(tmp_path):
    table = pd.DataFrame(
        {"pet": ["cat", "dog", "eel", "cat"] * 9, "legs": list(range(36)), "home": ["a", "b", "b", "a"] * 9}
    )
    table.to_csv(tmp_path / "pets.csv", index=False)
    source = tractable.scan(tmp_path / "pets.csv", target="home")
    fitted = tractable.NaiveBayes().fit(source)
    expected = fitted.score(table[["pet", "legs"]], table["home"])
    assert fitted.score(source) == fitted.score(table, "home") == expected
    assert fitted.score([table.iloc[:7], table.iloc[7:]], "home") == expected


def test_columns_are_found_by_name_whatever_their_order(tmp_path, rng):
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "y"])
    fitted = tractable.LinearRegression().fit(frame, "y")
    frame[["y", "b", "a"]].to_csv(tmp_path / "t.csv", index=False)
    streamed = fitted.score(tractable.scan(tmp_path / "t.csv", target="y"))
    np.testing.assert_allclose(streamed, fitted.score(frame, "y"), rtol=1e-9)


@pytest.mark.parametrize("model", [tractable.LinearRegression(), tractable.LogisticRegression()])
def test_what_cannot_be_scored_is_refused_by_name(model, rng):
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    fitted = model.fit(X, y)
    with pytest.raises(ValueError, match="y"):
        fitted.score(X)
    with pytest.raises(ValueError, match="y is missing"):
        fitted.score(ArraySource(X=X))
    with pytest.raises(ValueError, match="y"):
        fitted.score(X, "y")
    with pytest.raises(ValueError, match="features"):
        fitted.score(ArraySource(X=X[:, :1], y=y))
    with pytest.raises(ValueError, match="y"):
        fitted.score(pd.DataFrame(X, columns=["a", "b"]), "missing")


def test_labels_of_another_kind_are_refused(rng):
    X = rng.normal(size=(40, 2))
    fitted = tractable.LogisticRegression().fit(X, np.arange(40) % 2)
    with pytest.raises(ValueError, match="two kinds"):
        fitted.score(ArraySource(X=X, y=np.array(["a", "b"] * 20)))
