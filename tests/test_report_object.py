"""`tractable.report(frame)`: a page that shows itself, and the best model, kept for new tables."""

import importlib
import inspect
from html import unescape

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from typer.testing import CliRunner

import tractable
from tractable.cli import app
from tractable.report import (
    Report,
    TableError,
    best_predictor,
    classifiers,
    log_regressors,
    regressors,
    table_of,
)
from tractable.report.candidates import _tree_columns
from tractable.report.fitted import BoostedTrees, coded_rows
from tractable.report.report import SECTIONS
from tractable.value import replace

PENGUINS = tractable.datasets.load("penguins").frame
#: Where it makes no difference what the report says.
SMALL = PENGUINS[["species", "body_mass_g", "bill_length_mm"]].iloc[::6]


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr("tractable.report.report.SECTIONS", SECTIONS[:1])


def mixed(n=120, seed=0):
    """Return a table with all that a report reads: dates, amounts, codes, words, truth values, gaps."""
    rng = np.random.default_rng(seed)
    size = rng.normal(10.0, 2.0, n)
    frame = pd.DataFrame(
        {
            "when": pd.date_range("2019-01-01", periods=n, freq="9D").strftime("%Y-%m-%d"),
            "paid": [f"${100 * x:,.2f}" for x in np.exp(0.3 * size)],
            "size": size.round(3),
            "grade": rng.integers(1, 4, n),
            "shape": rng.choice(["round", "flat", "tall"], n),
            "new": rng.choice(["TRUE", "FALSE"], n),
        }
    )
    frame.loc[::7, "size"] = np.nan
    frame.loc[::11, "shape"] = None
    return frame


def test_the_package_is_the_verb_too(short):
    assert importlib.import_module("tractable.report") is tractable.report
    assert list(inspect.signature(tractable.report).parameters)[:2] == ["data", "target"]
    found = tractable.report(SMALL)
    assert isinstance(found, Report)
    assert found.summary.rows == 58
    assert "58 rows, 3 columns" in repr(found)


def test_it_shows_itself_in_a_frame_of_its_own(short, tmp_path, monkeypatch):
    found = tractable.report(SMALL)
    shown = found._repr_html_()
    assert shown.startswith("<iframe ")
    assert 'sandbox="allow-scripts allow-downloads"' in shown  # no access to the notebook around it
    inside = shown.partition('srcdoc="')[2].partition('"></iframe>')[0]
    assert '"' not in inside
    assert unescape(inside) == found.html
    assert found.save(tmp_path / "r.html").read_text(encoding="utf-8") == found.html
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    path = found.open()
    assert opened == [path.as_uri()]
    assert path.read_text(encoding="utf-8") == found.html
    path.unlink()


def test_without_a_target_there_is_no_model(short):
    with pytest.raises(TableError, match="target: the report has none"):
        tractable.report(SMALL).predictor()
    with pytest.raises(TableError, match="target: 'species' cannot be predicted"):
        tractable.report(SMALL, target="species").predictor()  # the section on models is left out here


@pytest.mark.parametrize("target", ["species", "body_mass_g"])
def test_trees_as_arrays_answer_as_scikit_learn_does(target, rng):
    X, y = PENGUINS.drop(columns=target).astype({"year": float}), PENGUINS[target]
    X, y = X[y.notna()], y.dropna()
    columns, categories = _tree_columns(X)
    Z, words = coded_rows(X, columns, categories), [known is not None for known in categories]
    kind = HistGradientBoostingClassifier if target == "species" else HistGradientBoostingRegressor
    model = kind(max_iter=10, min_samples_leaf=5, categorical_features=words).fit(Z, y)
    trees = BoostedTrees.of(model, columns, categories)
    assert (trees.bitset >= 0).any()  # some splits are of categories
    new = X.sample(200, random_state=0).mask(rng.random((200, X.shape[1])) < 0.2)
    new.loc[new.index[:9], "island"] = "Atlantis"
    theirs = model._raw_predict(coded_rows(new, columns, categories))
    np.testing.assert_array_equal(trees(new), theirs.reshape(len(new), -1))
    with pytest.raises(ValueError, match="nodes of the trees"):
        replace(trees, left=np.zeros_like(trees.left))  # a walk that would not end


NAMES = [
    *(("species", one.name) for one in classifiers()),
    *(("body_mass_g", one.name) for one in (*regressors(), log_regressors()[1])),
]


@pytest.mark.parametrize(("target", "name"), NAMES)
def test_every_candidate_can_be_saved(target, name, tmp_path):
    frame = PENGUINS.copy()
    if "logarithms" in name:
        frame["body_mass_g"] = np.exp(frame["body_mass_g"] / 500.0)  # strongly skewed
    model = best_predictor(table_of(frame), target, name)
    tractable.save(model, tmp_path / "best.tractable")
    again = tractable.load(tmp_path / "best.tractable")
    np.testing.assert_array_equal(model.predict(frame), again.predict(frame))
    assert hasattr(again, "predict_proba") == (target == "species")
    assert hasattr(again, "predict_interval") == (target != "species")


def test_new_rows_are_read_as_the_report_read_them(tmp_path):
    frame = mixed()
    table = table_of(frame)
    assert {c.name: c.kind for c in table.columns} == {
        "when": "date",
        "paid": "number",
        "size": "number",
        "grade": "category",
        "shape": "category",
        "new": "boolean",
    }
    model = best_predictor(table, "paid", "Bayesian ridge regression of logarithms")
    assert {c.kind for c in model.columns} == {"number", "category", "boolean", "year", "month", "weekday"}
    assert set(model.feature_names_in_) == {"size", "grade", "shape", "new", "when"}
    typed = frame.assign(
        when=pd.to_datetime(frame["when"]), grade=frame["grade"].astype(float), new=frame["new"] == "TRUE"
    )
    np.testing.assert_array_equal(model.predict(frame), model.predict(typed))
    np.testing.assert_allclose(model.predict(frame[::-1])[::-1], model.predict(frame), rtol=1e-12)
    one_row = pd.concat([frame.iloc[[k]] for k in range(3)])
    np.testing.assert_allclose(model.predict(one_row), model.predict(frame)[:3], rtol=1e-12)
    with pytest.warns(UserWarning, match="'shape' has categories that it did not have"):
        odd = model.predict(frame.head(2).assign(shape="square"))
    np.testing.assert_allclose(odd, model.predict(frame.head(2).assign(shape=None)), rtol=1e-12)
    with pytest.raises(ValueError, match="no column 'size' in the table; did you mean 'sizes'"):
        model.predict(frame.rename(columns={"size": "sizes"}))
    with pytest.raises(ValueError, match="X must be a frame"):
        model.predict(np.zeros((2, 5)))


@pytest.mark.slow
def test_the_command_keeps_the_best_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = mixed()
    frame.to_csv("old.csv", index=False)
    frame.drop(columns="paid").iloc[::-1].to_csv("new.csv", index=False)
    run = CliRunner().invoke
    found = run(app, ["report", "old.csv", "-t", "paid", "--save", "best.tractable", "-o", "r.html"])
    assert found.exit_code == 0, found.output
    assert "model     best.tractable: " in found.stdout
    done = run(
        app, ["predict", "best.tractable", "new.csv", "-o", "out.csv", "--interval", "0.9", "--keep", "size"]
    )
    assert done.exit_code == 0, done.output
    out, paid = pd.read_csv("out.csv"), frame["paid"].str.replace("[$,]", "", regex=True).astype(float)[::-1]
    assert list(out.columns) == ["size", "prediction", "low", "high"]
    assert np.mean((out["low"] <= paid.to_numpy()) & (paid.to_numpy() <= out["high"])) > 0.8


def test_a_model_is_kept_of_a_target_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PENGUINS.to_csv("p.csv", index=False)
    for words, said in {
        "report p.csv --save best.tractable": "--save keeps a model of a column: name it by --target",
        "report p.csv -t sex --save none/best.tractable": "--save: no such folder: none",
    }.items():
        found = CliRunner().invoke(app, words.split())
        assert f"error: {said}\n" in found.stderr
        assert found.exit_code != 0
