"""Predictions streamed into a file: the same as in memory, whole or not at all."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import tractable


class Normals:
    """A predictive distribution with one entry a row."""

    def __init__(self, mean):
        self.mean, self.stddev = mean, np.full_like(mean, 2.0)


class Regressor:
    """The least a model of p(y given x) offers."""

    def predict_dist(self, X):
        return Normals(np.asarray(X).sum(axis=1))

    def predict(self, X):
        return self.predict_dist(X).mean

    def predict_interval(self, X, coverage=0.9):
        return np.stack([self.predict(X) - coverage, self.predict(X) + coverage], axis=-1)

    def score_samples(self, X):
        return -self.predict(X)


class TwoTargets(Regressor):
    def predict_dist(self, X):
        total = np.asarray(X).sum(axis=1)
        return Normals(np.column_stack([total, -total]))


@pytest.fixture
def rows(rng):
    return rng.normal(size=(500, 3))


@pytest.fixture
def parquet(rows, tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(dict(zip("abc", rows.T, strict=True))), path, row_group_size=70)
    return path


def test_predictions_are_those_in_memory(rows, parquet, tmp_path):
    out = tractable.predict_to(Regressor(), tractable.scan(parquet), tmp_path / "out.parquet")
    assert out == tmp_path / "out.parquet"
    table = pq.read_table(out)
    assert table.column_names == ["prediction"]
    np.testing.assert_array_equal(table["prediction"], Regressor().predict(rows))


@pytest.mark.parametrize(
    "source",
    [
        lambda X: X,
        lambda X: pd.DataFrame(X, columns=list("abc")),
        lambda X: [X[:10], X[10:11], X[11:]],
        lambda X: lambda: iter([X[:0], X]),
    ],
    ids=["array", "frame", "batches", "function"],
)
def test_anything_that_can_be_walked_is_a_source(rows, tmp_path, source):
    out = tractable.predict_to(Regressor(), source(rows), str(tmp_path / "out.parquet"))
    np.testing.assert_array_equal(pq.read_table(out)["prediction"], Regressor().predict(rows))


def test_intervals_columns_and_other_methods(rows, parquet, tmp_path):
    source, out = tractable.scan(parquet), tmp_path / "out.parquet"
    table = pq.read_table(tractable.predict_to(Regressor(), source, out, interval=0.5, columns=["c", "a"]))
    assert table.column_names == ["c", "a", "prediction", "low", "high"]
    np.testing.assert_array_equal(table["a"], rows[:, 0])
    np.testing.assert_array_equal(table["high"], Regressor().predict(rows) + 0.5)
    table = pq.read_table(tractable.predict_to(Regressor(), source, out, method="predict_dist"))
    assert table.column_names == ["mean", "stddev"]
    np.testing.assert_array_equal(table["stddev"], np.full(500, 2.0))
    table = pq.read_table(tractable.predict_to(Regressor(), source, out, method="score_samples"))
    np.testing.assert_array_equal(table["score"], -Regressor().predict(rows))


def test_several_targets_are_numbered(rows, tmp_path):
    out = tractable.predict_to(TwoTargets(), rows, tmp_path / "out.parquet", interval=0.9)
    names = ["prediction_0", "prediction_1", "low_0", "low_1", "high_0", "high_1"]
    assert pq.read_table(out).column_names == names


def test_classes_name_their_probabilities(rows, tmp_path):
    labels = np.where(rows[:, 0] > 0, "warm", "cold")
    model = LogisticRegression().fit(rows, labels)
    out = tmp_path / "out.parquet"
    table = pq.read_table(tractable.predict_to(model, rows, out, method="predict_proba"))
    assert table.column_names == ["probability_cold", "probability_warm"]
    np.testing.assert_allclose(table["probability_warm"], model.predict_proba(rows)[:, 1], rtol=1e-12)
    table = pq.read_table(tractable.predict_to(model, rows, out))
    assert table["prediction"].to_pylist() == model.predict(rows).tolist()


def test_the_target_of_files_is_carried_along(rows, parquet, tmp_path):
    """The truth beside the prediction is what one wants to look at."""
    labels = np.where(rows[:, 0] > 0, "yes", "no")
    names = tmp_path / "labels.parquet"
    pq.write_table(pa.table({"a": rows[:, 0], "b": rows[:, 1], "said": labels}), names, row_group_size=70)
    out = tmp_path / "out.parquet"
    for path, target, truth in ((parquet, "c", rows[:, 2]), (names, "said", labels)):
        source = tractable.scan(path, features=["a", "b"], target=target)
        table = pq.read_table(tractable.predict_to(Regressor(), source, out, columns=[target, "a"]))
        assert table.column_names == [target, "a", "prediction"]
        assert table[target].to_pylist() == truth.tolist()
        np.testing.assert_array_equal(table["prediction"], Regressor().predict(rows[:, :2]))
    several = tractable.scan(parquet, features=["a"], target=["b", "c"])
    table = pq.read_table(tractable.predict_to(Regressor(), several, out, columns=["c", "b"]))
    np.testing.assert_array_equal(np.column_stack([table["b"], table["c"]]), rows[:, 1:])


def test_a_model_fitted_on_names_picks_its_columns(rows, parquet, tmp_path):
    frame = pd.DataFrame({"c": rows[:, 2], "a": rows[:, 0]})
    model = LinearRegression().fit(frame, rows[:, 1])
    table = pq.read_table(
        tractable.predict_to(model, tractable.scan(parquet), tmp_path / "out.parquet", columns="b")
    )
    np.testing.assert_allclose(table["prediction"], model.predict(frame), rtol=1e-12)
    np.testing.assert_array_equal(table["b"], rows[:, 1])


def test_small_batches_share_row_groups(rows, tmp_path):
    out = tractable.predict_to(
        Regressor(), [rows[k : k + 5] for k in range(0, 500, 5)], tmp_path / "o.parquet"
    )
    assert pq.ParquetFile(out).metadata.num_row_groups == 1


class Failing:
    """Fails at the second batch."""

    def __init__(self, error):
        self.error, self.calls = error, 0

    def predict(self, X):
        self.calls += 1
        if self.calls > 1:
            raise self.error
        return np.zeros(len(X))


@pytest.mark.parametrize("error", [RuntimeError("midway"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_and_nothing_else(rows, tmp_path, error):
    out = tmp_path / "out.parquet"
    tractable.predict_to(Regressor(), rows, out)
    before = out.read_bytes()
    with pytest.raises(type(error)):
        tractable.predict_to(Failing(error), [rows, rows], out)
    assert out.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["out.parquet"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"estimator": object()}, "method: object has no predict"),
        ({"method": "predict_proba"}, "method: Regressor has no predict_proba"),
        (
            {"estimator": LinearRegression(), "interval": 0.9},
            "method: LinearRegression has no predict_interval",
        ),
        ({"interval": 1.5}, "interval is a coverage between 0 and 1; got 1.5"),
        ({"columns": ["d"]}, "columns: no column 'd' in the source"),
        ({"path": "out.csv"}, r"path must end in \.parquet"),
        ({"path": "nowhere/out.parquet"}, "path: no such folder"),
        ({"path": "rows.parquet"}, "is a file that is being read"),
        ({"path": "folder.parquet"}, "is a folder"),
    ],
)
def test_bad_input_is_refused_before_any_work(parquet, tmp_path, asked, message):
    (tmp_path / "folder.parquet").mkdir()
    before = sorted(tmp_path.iterdir())
    asked = {"estimator": Regressor(), "source": tractable.scan(parquet), "path": "out.parquet", **asked}
    path = tmp_path / asked.pop("path")
    with pytest.raises(ValueError, match=message):
        tractable.predict_to(asked.pop("estimator"), asked.pop("source"), path, **asked)
    assert sorted(tmp_path.iterdir()) == before


def test_a_source_that_does_not_fit_the_model(rows, parquet, tmp_path):
    out = tmp_path / "out.parquet"
    model = LinearRegression().fit(rows[:, :2], rows[:, 2])
    with pytest.raises(ValueError, match="source has 3 features, the model was fitted on 2"):
        tractable.predict_to(model, rows, out)
    named = LinearRegression().fit(pd.DataFrame({"a": rows[:, 0], "elevation": rows[:, 1]}), rows[:, 2])
    with pytest.raises(ValueError, match="source: no column 'elevation'"):
        tractable.predict_to(named, tractable.scan(parquet), out)
    with pytest.raises(ValueError, match="columns: prediction would be written twice"):
        tractable.predict_to(Regressor(), pd.DataFrame({"prediction": [1.0]}), out, columns=["prediction"])
    with pytest.raises(ValueError, match="source has no rows"):
        tractable.predict_to(Regressor(), rows[:0], out)


def test_an_answer_of_the_wrong_length_is_refused(rows, tmp_path):
    class Short:
        def predict(self, X):
            return X[:-1, 0]

    with pytest.raises(ValueError, match="one result for each of 500 rows"):
        tractable.predict_to(Short(), rows, tmp_path / "out.parquet")


MEMORY = """
import resource, sys
import numpy as np, pyarrow.parquet, tractable

class Total:
    def predict(self, X):
        return X.sum(axis=1)

def rows():
    for _ in range(40):
        yield np.ones((50_000, 16))

peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = peak()
tractable.predict_to(Total(), rows, sys.argv[1])
print(peak() - before)
"""


def test_memory_does_not_grow_with_the_rows(tmp_path):
    command = [sys.executable, "-c", MEMORY, str(tmp_path / "out.parquet")]
    extra = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert int(extra) < 60  # the rows are 256 MB
    assert pq.ParquetFile(tmp_path / "out.parquet").metadata.num_rows == 2_000_000
