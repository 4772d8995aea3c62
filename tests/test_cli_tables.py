"""Every model from the command line, and tables however they are written."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tractable
from quick import late, some
from tractable.cli import app
from tractable.cli.console import Console
from tractable.cli.models import describe, model_classes
from tractable.cli.predict import predictor
from tractable.data import text_table as text_blocks

PENGUINS = tractable.datasets.load("penguins").frame
#: Which table each kind of model learns from, and which column it predicts.
TABLES = {
    "regression": ("diabetes", "progression"),
    "classification": ("iris", "species"),
    "density": ("old_faithful", None),
    "clustering": ("old_faithful", None),
    "features": ("old_faithful", None),
}
OPTIONS = {
    "GenerativeClassifier": ["--set", "density=GaussianDensity"],
    "MixtureOfExperts": ["--set", "max_iter=3"],
    "Perceptron": ["--set", "max_iter=50"],
}
CODES = ("CategoricalNB", "CategoricalMixture", "BayesianNetworkDensity")  # they take categories alone
KINDS = {name: describe(kind)["kind"] for name, kind in model_classes().items()}
#: Of each kind of model two, and those that take other options or other tables; the others wait.
FITTED = [
    name if list(KINDS.values())[:i].count(kind) < 2 or name in (*OPTIONS, *CODES) else late(name)
    for i, (name, kind) in enumerate(KINDS.items())
    if kind in TABLES
]


@pytest.fixture(params=some(["held", "streamed"]))
def walk(request, monkeypatch):
    """Small tables are held in memory, large ones streamed: here small ones are both."""
    if request.param == "streamed":
        monkeypatch.setattr("tractable.cli.fit.HELD_BYTES", 0)


def done(*words):
    found = CliRunner().invoke(app, [*map(str, words), "--json"])
    assert found.exit_code == 0, found.stderr
    return json.loads(found.stdout)


@pytest.mark.parametrize("name", FITTED)
def test_every_model_learns_from_a_file_and_answers_into_one(name, tmp_path, walk):
    """The answers in the file are those of the saved model in Python."""
    table, target = TABLES[KINDS[name]]
    frame = tractable.datasets.load(table).frame
    if name in CODES:
        frame, target = PENGUINS[["species", "island", "year"]], target and "species"
    frame.to_csv(tmp_path / "rows.csv", index=False)
    chosen = [] if target is None else ["-t", target]
    words = ("fit", name, tmp_path / "rows.csv", "-s", tmp_path / "m", *chosen, *OPTIONS.get(name, []))
    assert done(*words)["rows"] == len(frame)
    said = done("predict", tmp_path / "m", tmp_path / "rows.csv", "-o", tmp_path / "o.parquet")
    found = pd.read_parquet(tmp_path / "o.parquet")
    assert list(found.columns) == said["columns"]
    model = tractable.load(tmp_path / "m")
    rows = frame[list(model.feature_names_in_)]
    for column, wanted in predictor(model, None, None, proba=False)(rows).items():
        if found[column].dtype.kind == "f":
            np.testing.assert_allclose(found[column], wanted, rtol=1e-9, atol=1e-12)
        else:
            assert found[column].tolist() == np.asarray(wanted).tolist()


@pytest.mark.parametrize(
    ("options", "encoding"),
    [
        ({"sep": ";", "decimal": ","}, "utf-8"),
        ({"sep": ";"}, "cp1252"),
        ({"sep": "|"}, "utf-8-sig"),
        ({"sep": "\t"}, "utf-16"),
        ({}, "cp1252"),
    ],
)
def test_tables_as_other_programs_write_them(options, encoding, tmp_path, walk):
    """Semicolons, commas before fractions and encodings are found out, in streams and in frames."""
    frame = PENGUINS.rename(columns={"island": "île"}).assign(île=PENGUINS["island"] + " é")
    frame.to_csv(tmp_path / "odd.csv", index=False, encoding=encoding, **options)
    bills = ["bill_length_mm", "bill_depth_mm"]
    done("fit", "GaussianDensity", tmp_path / "odd.csv", "-f", ",".join(bills), "-s", tmp_path / "g")
    wanted = tractable.GaussianDensity().fit(frame[bills])
    np.testing.assert_allclose(tractable.load(tmp_path / "g").location_, wanted.location_, rtol=1e-12)
    said = done("fit", "NaiveBayes", tmp_path / "odd.csv", "-t", "species", "-s", tmp_path / "n")
    assert "île" in said["features"]
    done("predict", tmp_path / "n", tmp_path / "odd.csv", "-o", tmp_path / "o.csv", "--keep", "île")
    found = pd.read_csv(tmp_path / "o.csv")
    assert found["île"].tolist() == frame["île"].tolist()
    done("predict", tmp_path / "g", tmp_path / "odd.csv", "-o", tmp_path / "o.parquet")
    scores = pd.read_parquet(tmp_path / "o.parquet")["score"]
    np.testing.assert_allclose(scores, wanted.score_samples(frame[bills]), rtol=1e-10)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "parquet"])
@pytest.mark.parametrize("model", ["GaussianNB", "NaiveBayes"])
def test_classes_that_are_whole_numbers_stay_whole(ending, model, tmp_path, walk):
    frame = tractable.datasets.load("wine").frame.assign(word=["x", "y"] * 89)
    frame = frame if model == "NaiveBayes" else frame.drop(columns="word")
    rows = tmp_path / f"rows.{ending}"
    if ending == "parquet":
        frame.to_parquet(rows, index=False)
    else:
        frame.to_csv(rows, index=False, sep="\t" if ending == "tsv" else ",")
    assert done("fit", model, rows, "-t", "cultivar", "-s", tmp_path / "m")["classes"] == [1, 2, 3]
    said = done("predict", tmp_path / "m", rows, "-o", tmp_path / "o.parquet", "--proba")
    assert said["columns"] == ["prediction", "probability_1", "probability_2", "probability_3"]
    assert pd.read_parquet(tmp_path / "o.parquet")["prediction"].dtype == np.int64


@pytest.mark.slow
def test_whole_numbers_may_be_followed_by_fractions(tmp_path):
    """What a column holds is judged by the beginning of a file, and read as it turns out."""
    words = [f"word {i % 3}" for i in range(400_000)]
    numbers = ["1"] * 399_999 + ["2.5"]
    lines = "\n".join(f"{a},{b},{c}" for a, b, c in zip(numbers, words, ["u", "v"] * 200_000, strict=True))
    (tmp_path / "long.csv").write_text(f"number,word,y\n{lines}\n")
    assert (tmp_path / "long.csv").stat().st_size > 2**22
    assert (
        done("fit", "NaiveBayes", tmp_path / "long.csv", "-t", "y", "-s", tmp_path / "m")["rows"] == 400_000
    )
    done("predict", tmp_path / "m", tmp_path / "long.csv", "-o", tmp_path / "o.csv", "--keep", "number")
    kept = pd.read_csv(tmp_path / "o.csv")["number"]
    assert (len(kept), kept.iloc[0], kept.iloc[-1]) == (400_000, 1.0, 2.5)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("NaiveBayes", ["-t", "species"], "piece by piece"),
        (
            "TableMixture",
            ["--set", "random_state=0"],
            "into memory: TableMixture reads columns of words all at once",
        ),
        ("GaussianDensity", ["-f", "year"], "piece by piece"),
        ("RobustRegression", ["-t", "year", "-f", "body_mass_g", "--drop-missing"], "needs all rows at once"),
    ],
)
def test_how_a_large_table_is_read_is_said(name, options, said, tmp_path, monkeypatch):
    PENGUINS.to_csv(tmp_path / "rows.csv", index=False)
    words = ["fit", name, str(tmp_path / "rows.csv"), "-s", str(tmp_path / "m"), *options]
    monkeypatch.setattr(Console, "progress", Console.say)  # as on a terminal
    assert "MB" not in CliRunner().invoke(app, words).stderr
    monkeypatch.setattr("tractable.cli.fit.HELD_BYTES", 0)
    assert said in CliRunner().invoke(app, words).stderr


def test_words_are_streamed_with_their_holes_and_weights(tmp_path, monkeypatch):
    """In pieces of a few lines the model is that of all rows together."""
    frame = PENGUINS.assign(weight=1 + np.arange(len(PENGUINS)) % 3)
    frame.loc[::50, "species"] = None
    frame.to_csv(tmp_path / "rows.csv", index=False)
    words = (
        "fit",
        "NaiveBayes",
        tmp_path / "rows.csv",
        "-t",
        "species",
        "--weight",
        "weight",
        "--drop-missing",
        "-s",
    )
    held = done(*words, tmp_path / "held")
    monkeypatch.setattr("tractable.cli.fit.HELD_BYTES", 0)
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 4096)
    streamed = done(*words, tmp_path / "streamed")
    assert streamed["rows"] == held["rows"] == len(frame) - 7
    assert streamed["rows_left_out"] == held["rows_left_out"] == 7
    X = PENGUINS.drop(columns="species")
    one, other = (tractable.load(tmp_path / name) for name in ("held", "streamed"))
    np.testing.assert_allclose(other.predict_log_proba(X), one.predict_log_proba(X), rtol=1e-9)
