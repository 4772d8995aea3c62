"""Every mistake a user can make is one line that says what was wrong, and leaves no file behind."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

import tractable
from tractable.cli import app

PENGUINS = tractable.datasets.load("penguins").frame
TWO = pd.DataFrame({"a": [1.0, 2.0, 3.0, 5.0], "b": [2.0, 1.0, 4.0, 3.0], "y": [1.0, 2.0, 2.5, 4.0]})
NUMBERS = "bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,year"

FILES = {
    "penguins.csv": PENGUINS.to_csv(index=False).encode(),
    "two.csv": TWO.to_csv(index=False).encode(),
    "empty.csv": b"",
    "names.csv": b"a,b,y\n",
    "doubled.csv": b"a,a,y\n1,2,3\n4,5,6\n",
    "ragged.csv": b"a,b,y\n1,2,3\n4,5\n",
    "binary.csv": bytes(range(256)) * 8,
    "holes.csv": b"a,b,y\n1,,1\n2,,2\n3,,3\n",
    "broken.parquet": b"PAR1 this is no table",
    "notes.txt": b'{"a": 1}',
    "sheet.csv": b"PK\x03\x04 and so on",
    "page.csv": b"<html></html>",
    "page.html": b"<html></html>",
    "constant.csv": b"a,b,y\n1,2,x\n2,3,x\n4,4,x\n",
    "hostile.csv": b"<script>,y\n1,2\n2,3\n3,5\n",
    "dates.csv": b"day,a,k,y\n2020-01-02,1,u,p\n2020-01-03,2,v,q\n2020-01-04,3,u,p\n",
    "mixed/a.csv": b"a,y\n1,2\n",
    "mixed/b.parquet": b"PAR1",
    "other.tractable": b"not a model",
}

FITS = [
    ("Gausianmixture two.csv", "no model 'Gausianmixture'; did you mean 'GaussianMixture'?"),
    ("xyzzy two.csv", "no model 'xyzzy'; `tractable models` lists them"),
    ("Normal two.csv", "no model 'Normal'"),
    ("scan two.csv", "no model 'scan'"),
    ("__version__ two.csv", "no model '__version__'"),
    ("LinearRegression two.csv", "name it by --target: one of a, b, y"),
    ("LinearRegression two.csv -t z", "--target: no column 'z' in "),
    ("LinearRegression penguins.csv -t bodymass_g", "did you mean 'body_mass_g'?"),
    ("LinearRegression two.csv -t y -f a,bb", "--features: no column 'bb'"),
    ("LinearRegression two.csv -t y -f a,y", "--features: 'y' is already the --target"),
    ("LinearRegression two.csv -t y -f a,a", "--features names a column twice"),
    ("LinearRegression two.csv -t y -f ,", "no columns are left"),
    ("LinearRegression two.csv -t y --weight ww", "--weight: no column 'ww'"),
    (
        "LinearRegression penguins.csv -t species -f year",
        "predicts numbers, which 'species' (string) does not",
    ),
    ("GaussianMixture penguins.csv", f"--features {NUMBERS} are those that do"),
    (
        "Ridge two.csv -t y --set alhpa=1",
        "Ridge has no parameter 'alhpa'; did you mean 'alpha'? it has alpha, ",
    ),
    ("Ridge two.csv -t y --set alpha", "--set takes name=value"),
    ("Ridge two.csv -t y --set =1", "--set takes name=value"),
    ("Ridge two.csv -t y --set alpha=", "--set alpha= has no value"),
    ("Ridge two.csv -t y --set alpha=1 --set alpha=2", "--set gives alpha twice"),
    ("Ridge two.csv -t y --set alpha=[1,", "--set alpha: not a Python literal"),
    ("Ridge two.csv -t y --set alpha=-1", "alpha"),
    ("Ridge two.csv -t y --set alpha=words", "alpha"),
    ("Ridge two.csv -t y --set alpha__deep=1", "Ridge has no parameter 'alpha__deep'"),
    ("GenerativeClassifier two.csv -t y", "needs --set density=…, such as --set density=KernelDensity"),
    (
        "GenerativeClassifier two.csv -t y --set density=GaussianMixture --set density__n_component=2",
        "no parameter 'density__n_component'; did you mean 'density__n_components'?",
    ),
    ("GaussianMixture none.csv", "no such file or folder: "),
    ("GaussianMixture penguin", "no such file or folder: "),
    ("GaussianMixture iris.csv", "`tractable datasets iris -o iris.csv` writes"),
    ("GaussianMixture none*.csv", "no files of a known kind"),
    ("GaussianMixture empty.csv", "empty.csv is empty"),
    ("GaussianMixture names.csv", "names.csv has no rows"),
    ("GaussianMixture doubled.csv", "several columns named 'a'"),
    ("GaussianMixture ragged.csv", "ragged.csv cannot be read as CSV: a line has 2 fields, the first 3"),
    ("GaussianMixture binary.csv", "binary.csv"),
    ("GaussianMixture holes.csv", "b"),
    ("LinearRegression holes.csv -t y --drop-missing", "there are no rows without missing entries"),
    ("RobustRegression holes.csv -t y --drop-missing", "there are no rows without missing entries"),
    ("NaiveBayes holes.csv -t y --set unseen=x", "unseen"),
    ("GaussianMixture broken.parquet", "broken.parquet cannot be read"),
    ("GaussianMixture notes.txt", "notes.txt is not a table but JSON"),
    ("GaussianMixture page.html", "page.html is not a table but a web page"),
    ("GaussianMixture penguin.csv", "no such file or folder: penguin.csv; did you mean penguins.csv?"),
    ("GaussianMixture page.csv", "page.csv is not a table but a web page"),
    ("GaussianMixture sheet.csv", "sheet.csv is not a table but a spreadsheet"),
    ("GaussianMixture mixed", "files of several kinds: .csv, .parquet"),
    ("LogisticRegression constant.csv -t y", "class"),
    ("Ridge hostile.csv -t <scrip>", "did you mean '<script>'?"),
    (
        "NaiveBayes dates.csv -t y",
        "numbers and words, which these columns do not hold: 'day' (date32[day]); --features a,k ",
    ),
    ("TableMixture dates.csv", "--features a,k,y are those that do"),
    ("Ridge - -t y", "standard input is empty"),
    ("SupportVectorMachine two.csv -t y", "`tractable models` lists them"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(words):
    found = CliRunner().invoke(app, words)
    assert found.exit_code == 2, found.output
    said = {"error": found.stderr.splitlines()[-1].removeprefix("error: ")}
    assert found.stdout == (json.dumps(said) + "\n" if "--json" in words else "")
    assert "Traceback" not in found.stderr
    lines = [line for line in found.stderr.splitlines() if not line.endswith("…")]
    errors = [line for line in lines if line.startswith("error: ")]
    assert len(errors) == 1
    assert "--debug" not in errors[0]  # a user's mistake is no mistake of ours
    return errors[0]


def test_where_an_error_came_from_is_shown_before_the_line():
    found = CliRunner().invoke(app, ["models", "Rigde", "--debug"])
    assert found.exit_code == 2
    assert found.stderr.startswith("Traceback")
    assert found.stderr.endswith("\nerror: no model 'Rigde'; did you mean 'Ridge'?\n")


@pytest.mark.parametrize("walk", ["held", "streamed"])
@pytest.mark.parametrize(("words", "said"), FITS, ids=[words for words, _ in FITS])
def test_fits_that_cannot_be(folder, words, said, walk, monkeypatch):
    if walk == "streamed":
        monkeypatch.setattr("tractable.cli.fit.HELD_BYTES", 0)
    before = {path.name for path in folder.iterdir()}
    assert said in refused(["fit", *words.split(), "--save", "model.tractable"])
    assert {path.name for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("save", "said"),
    [
        ("none/m", "no such folder: none"),
        ("mixed", "mixed is a folder"),
        ("two.csv", "--save: two.csv is a file that is being read"),
        ("two.csv/../two.csv", "no such folder: two.csv/.."),
        ("m" * 300, f"--save: {300 * 'm'} cannot be written to: file name too long"),
    ],
)
def test_models_that_cannot_be_saved(folder, save, said):
    assert said in refused(["fit", "Ridge", "two.csv", "-t", "y", "--save", save])
    assert (folder / "two.csv").read_bytes() == FILES["two.csv"]


PREDICTIONS = [
    ("none.tractable two.csv -o o.csv", "no such file or directory: none.tractable"),
    ("other.tractable two.csv -o o.csv", "cannot load other.tractable"),
    ("value.tractable two.csv -o o.csv", "holds no model but a dict"),
    ("two.csv two.csv -o o.csv", "cannot load two.csv"),
    ("mixed two.csv -o o.csv", "cannot load mixed"),
    ("ridge.tractable none.csv -o o.csv", "no such file or folder: none.csv"),
    ("ridge.tractable penguins.csv -o o.csv", "DATA: no column 'a' in penguins.csv"),
    ("ridge.tractable words.csv -o o.csv", "takes numbers, which these columns do not hold: 'b' (string)"),
    ("ridge.tractable two.csv -o o.xls", "--output must end in .parquet or .csv, or be -; got o.xls"),
    ("ridge.tractable two.csv -o none/o.csv", "--output: no such folder: none"),
    ("ridge.tractable two.csv -o folder.csv", "--output: folder.csv is a folder"),
    ("ridge.tractable two.csv -o two.csv", "two.csv is a file that is being read"),
    ("ridge.csv two.csv -o ridge.csv", "ridge.csv is a file that is being read"),
    ("ridge.tractable - -o o.csv", "standard input is empty"),
    ("- - -o o.csv", "cannot load standard input"),
    ("ridge.tractable two.csv -o - --json", "--output - and --json both write to standard output"),
    ("ridge.tractable two.csv -o o.csv -i 1.5", "--interval is a coverage between 0 and 1; got 1.5"),
    ("ridge.tractable two.csv -o o.csv --proba", "Ridge has no predict_proba; it has predict"),
    ("ridge.tractable two.csv -o o.csv -m transform", "Ridge has no transform; it has predict"),
    ("ridge.tractable two.csv -o o.csv -m _learn", "Ridge has no _learn"),
    ("ridge.tractable two.csv -o o.csv -m coef_", "Ridge has no coef_"),
    (
        "ridge.tractable two.csv -o o.csv -m get_params",
        "Ridge has no get_params; it has predict, predict_var",
    ),
    (
        "density.tractable two.csv -o o.csv -i 0.9",
        "GaussianDensity has no predict_interval; it has score_samples",
    ),
    (
        "neighbours.tractable two.csv -o o.csv",
        "NearestNeighbors has none of the methods predict, score_samples",
    ),
    ("ridge.tractable names.csv -o o.csv", "names.csv has no rows"),
    (
        "ridge.tractable twice.csv -o o.csv --keep prediction",
        "--keep: 'prediction' is also the name of a column of predictions",
    ),
    ("nameless.tractable penguins.csv -o o.csv", "has 8 columns, the model was fitted on 2 without names"),
]


@pytest.mark.parametrize(("words", "said"), PREDICTIONS, ids=[words for words, _ in PREDICTIONS])
def test_predictions_that_cannot_be(folder, words, said):
    (folder / "folder.csv").mkdir()
    (folder / "words.csv").write_text("a,b\n1,x\n2,y\n")
    TWO.assign(prediction=1.0).to_csv(folder / "twice.csv", index=False)
    rows = TWO[["a", "b"]]
    tractable.save(tractable.Ridge().fit(rows, TWO["y"]), folder / "ridge.tractable")
    tractable.save(tractable.Ridge().fit(rows, TWO["y"]), folder / "ridge.csv")
    tractable.save(tractable.Ridge().fit(rows.to_numpy(), TWO["y"]), folder / "nameless.tractable")
    tractable.save(tractable.GaussianDensity().fit(rows), folder / "density.tractable")
    tractable.save(tractable.NearestNeighbors(n_neighbors=1).fit(rows), folder / "neighbours.tractable")
    tractable.save({"a": 1}, folder / "value.tractable")
    before = {path.name for path in folder.iterdir()}
    assert said in refused(["predict", *words.split()])
    assert {path.name for path in folder.iterdir()} == before
    assert (folder / "two.csv").read_bytes() == FILES["two.csv"]
