"""Rows counted and filtered on their way into a model, and the words that say how far it is."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tractable.cli.console import StepProgress, open_console
from tractable.cli.tables import CountedRows, MissingEntries, write_tables
from tractable.data import Batch, Source


class Rows(Source):
    """Three batches of two rows; the second has a hole, the third a row without a label."""

    n_rows, n_features, feature_names = 6, 2, ("a", "b")

    def batches(self):
        X = np.arange(12.0).reshape(6, 2)
        X[2, 1] = np.nan
        y = np.array(["u", "v", "u", "v", "NA", None], dtype=object)
        for k in (0, 2, 4):
            yield Batch(X=X[k : k + 2], y=y[k : k + 2], weights=np.arange(6.0)[k : k + 2])


def test_rows_are_left_out_with_their_labels_and_weights():
    seen = []
    rows = CountedRows(Rows(), allow_missing=False, drop=True, label="Ridge", progress=seen.append)
    assert (rows.n_rows, rows.n_features, rows.feature_names) == (None, 2, ("a", "b"))
    kept = list(rows.batches())
    assert [batch.X[:, 0].tolist() for batch in kept] == [[0.0, 2.0], [6.0], []]
    assert [batch.y.tolist() for batch in kept] == [["u", "v"], ["v"], []]
    assert [batch.weights.tolist() for batch in kept] == [[0.0, 1.0], [3.0], []]
    assert (rows.counted, rows.dropped) == (3, 3)
    assert seen == [2, 3, 3]


def test_a_pass_that_stops_half_way_does_not_count():
    rows = CountedRows(Rows(), allow_missing=False, drop=True, label="Ridge")
    list(rows.batches())
    next(rows.batches())
    assert (rows.counted, rows.dropped) == (3, 3)


def test_a_model_that_takes_holes_needs_labels_all_the_same():
    rows = CountedRows(Rows(), allow_missing=True, drop=True, label="GaussianNB")
    assert [batch.n_rows for batch in rows.batches()] == [2, 2, 0]
    with pytest.raises(MissingEntries, match="--target has missing entries"):
        list(CountedRows(Rows(), allow_missing=True, drop=False, label="GaussianNB").batches())
    with pytest.raises(MissingEntries, match="'b' has missing entries, which Ridge does not take"):
        list(CountedRows(Rows(), allow_missing=False, drop=False, label="Ridge").batches())


def test_numbers_that_are_missing_are_no_targets():
    class Targets(Source):
        n_rows, n_features, feature_names = 3, 1, None

        def batches(self):
            yield Batch(X=np.ones((3, 1)), y=np.array([1.0, np.nan, 2.0]))

    rows = CountedRows(Targets(), allow_missing=True, drop=True, label="Ridge")
    assert next(rows.batches()).y.tolist() == [1.0, 2.0]


def test_without_a_terminal_there_is_no_progress(capsys):
    for options in ({}, {"quiet": True}, {"as_json": True}):
        with open_console(**options) as console, StepProgress(console) as step:
            step("reading", 0.5)
        assert capsys.readouterr() == ("", "")


def test_progress_is_a_bar_in_a_terminal(capsys, monkeypatch):
    import sys

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with open_console() as console, StepProgress(console) as step:
        step("reading [bold]x", 0.5)
        step("counting", None)
        step.bar.refresh()
    assert "counting" in capsys.readouterr().err


@pytest.mark.parametrize(
    "answers",
    [[1.5, None, -2.0, None], [3, None, 4, 5], ["a", None, "b\n\nc", None], [True, None, None, False]],
)
def test_one_column_with_holes_keeps_its_rows(answers, tmp_path):
    halves = [
        pa.table({"prediction": pa.array(part, pa.array(answers).type)})
        for part in (answers[:2], answers[2:])
    ]
    assert write_tables(halves, tmp_path / "o.csv") == 4
    found = pd.read_csv(tmp_path / "o.csv")["prediction"]
    assert [None if pd.isna(x) else x for x in found] == answers
