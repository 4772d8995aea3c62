"""`tractable fit` and `tractable predict` on tables in files."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tractable
from tractable.cli import app

BILLS = ["bill_length_mm", "bill_depth_mm"]


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def done(*words):
    """Run a command that must succeed, and return what it says to programs."""
    found = run(*words, "--json")
    assert found.exit_code == 0, found.stderr
    assert found.stderr == ""
    return json.loads(found.stdout)


def refused(*words):
    """Run a command that must refuse in one line, and return the line."""
    found = run(*words)
    assert found.exit_code == 2, found.output
    lines = [line for line in found.stderr.splitlines() if not line.endswith("…")]
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    assert found.stdout == ""
    return lines[0]


@pytest.fixture(params=["held", "streamed"])
def walk(request, monkeypatch):
    """Small tables are held in memory, large ones streamed: here small ones are both."""
    if request.param == "streamed":
        monkeypatch.setattr("tractable.cli.fit.HELD_BYTES", 0)


@pytest.fixture
def penguins(tmp_path):
    """The penguins in a file, and the file."""
    frame = tractable.datasets.load("penguins").frame
    frame.to_csv(tmp_path / "penguins.csv", index=False)
    frame.to_parquet(tmp_path / "penguins.parquet", index=False)
    return tmp_path


@pytest.fixture
def plane(tmp_path):
    """Rows about a plane, with a weight and a name, in several files."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    frame = pd.DataFrame(x, columns=["a", "b"])
    frame["y"] = 1.0 + 2.0 * x[:, 0] - x[:, 1] + 0.1 * rng.normal(size=300)
    frame["w"] = rng.integers(0, 3, size=300)
    frame["name"] = [f"row {i}" for i in range(300)]
    for i in range(3):
        part = frame.iloc[100 * i : 100 * (i + 1)]
        part.to_parquet(tmp_path / f"part{i}.parquet", index=False)
        part.to_csv(tmp_path / f"part{i}.csv", index=False)
    return tmp_path, frame


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_streamed_fit_is_the_fit_of_the_rows_in_memory(plane, kind, walk):
    folder, frame = plane
    said = done(
        *("fit", "BayesianRidge", folder / f"part*.{kind}", "--target", "y", "--weight", "w"),
        *("--features", "b, a", "--set", "tol=1e-8", "--save", folder / "m.tractable"),
    )
    assert (said["rows"], said["features"], said["target"]) == (300, ["b", "a"], "y")
    assert said["parameters"]["tol"] == "1e-08"
    model = tractable.load(folder / "m.tractable")
    wanted = tractable.BayesianRidge(tol=1e-8).fit(frame[["b", "a"]], frame["y"], frame["w"])
    np.testing.assert_allclose(model.coef_, wanted.coef_, rtol=1e-10)
    np.testing.assert_allclose(said["log_evidence"], wanted.log_evidence_, rtol=1e-10)
    assert list(model.feature_names_in_) == ["b", "a"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_answers_are_those_of_the_model(plane, ending):
    folder, frame = plane
    done("fit", "LinearRegression", folder / "*.csv", "-t", "y", "-f", "a,b", "-s", folder / "m")
    out = folder / f"out.{ending}"
    said = done("predict", folder / "m", folder / "*.parquet", "-o", out, "--interval", "0.8")
    assert (said["rows"], said["columns"]) == (300, ["prediction", "low", "high"])
    found = pd.read_csv(out) if ending == "csv" else pd.read_parquet(out)
    model = tractable.load(folder / "m")
    np.testing.assert_allclose(found["prediction"], model.predict(frame[["a", "b"]]), rtol=1e-12)
    ends = model.predict_interval(frame[["a", "b"]], coverage=0.8)
    np.testing.assert_allclose(found[["low", "high"]], ends, rtol=1e-12)


def test_columns_are_carried_along(plane):
    folder, frame = plane
    done("fit", "Ridge", folder / "*.csv", "-t", "y", "-f", "a,b", "-s", folder / "m")
    done("predict", folder / "m", folder / "*.csv", "-o", folder / "o.parquet", "--keep", "name,y")
    found = pd.read_parquet(folder / "o.parquet")
    assert list(found.columns) == ["name", "y", "prediction"]
    assert found["name"].tolist() == frame["name"].tolist()
    np.testing.assert_array_equal(found["y"], frame["y"])
    said = done("predict", folder / "m", folder / "part0.csv", "-o", folder / "o.csv", "--keep", "all")
    assert said["columns"] == ["a", "b", "y", "w", "name", "prediction"]
    error = refused("predict", folder / "m", folder / "part*.csv", "-o", folder / "o.csv", "--keep", "nam")
    assert "--keep: no column 'nam'" in error
    assert "'name'" in error


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_words_go_to_models_that_read_them(penguins, kind):
    data = penguins / f"penguins.{kind}"
    said = done("fit", "NaiveBayes", data, "-t", "species", "-s", penguins / "m")
    assert said["classes"] == ["Adelie", "Chinstrap", "Gentoo"]
    assert said["features"] == ["island", *BILLS, "flipper_length_mm", "body_mass_g", "sex", "year"]
    said = done("predict", penguins / "m", data, "-o", penguins / "o.csv", "--proba")
    assert said["columns"] == [
        "prediction",
        "probability_Adelie",
        "probability_Chinstrap",
        "probability_Gentoo",
    ]
    found = pd.read_csv(penguins / "o.csv")
    frame = pd.read_csv(penguins / "penguins.csv")
    model = tractable.NaiveBayes().fit(frame.drop(columns="species"), frame["species"])
    assert found["prediction"].tolist() == model.predict(frame.drop(columns="species")).tolist()
    wanted = model.predict_proba(frame.drop(columns="species"))
    np.testing.assert_allclose(found.iloc[:, 1:], wanted, rtol=1e-9, atol=1e-12)


def test_a_density_by_name_inside_a_model(penguins):
    done(
        *("fit", "GenerativeClassifier", penguins / "penguins.csv", "-t", "species", "-s", penguins / "m"),
        *(
            "--set",
            "density=TableMixture",
            "--set",
            "density__n_components=2",
            "--set",
            "density__random_state=0",
        ),
    )
    model = tractable.load(penguins / "m")
    assert isinstance(model.density, tractable.TableMixture)
    assert model.density.n_components == 2


def test_missing_entries_are_marginalised_refused_or_left_out(penguins, walk):
    data, features = penguins / "penguins.csv", ",".join(BILLS)
    said = done("fit", "GaussianDensity", data, "-f", features, "-s", penguins / "g")
    assert (said["rows"], said["rows_left_out"]) == (344, 0)
    words = ("fit", "LinearRegression", data, "-t", "year", "-f", features, "-s", penguins / "m")
    error = refused(*words)
    assert "'bill_length_mm' has missing entries" in error
    assert "--drop-missing" in error
    assert not (penguins / "m").exists()
    said = done(*words, "--drop-missing")
    assert (said["rows"], said["rows_left_out"]) == (342, 2)
    assert "2 rows" in said["warnings"][0]
    rest = pd.read_csv(data).dropna(subset=BILLS)
    wanted = tractable.LinearRegression().fit(rest[BILLS], rest["year"])
    np.testing.assert_allclose(tractable.load(penguins / "m").coef_, wanted.coef_, rtol=1e-8)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rows_that_a_model_does_not_take_have_no_answer(penguins, ending):
    """They keep their place, and the command says how many there are."""
    data, out = penguins / "penguins.csv", penguins / f"o.{ending}"
    done("fit", "Ridge", data, "-t", "year", "-f", ",".join(BILLS), "-s", penguins / "m", "--drop-missing")
    said = done("predict", penguins / "m", data, "-o", out, "-i", "0.9")
    assert (said["rows"], said["rows_without_prediction"]) == (344, 2)
    found = pd.read_csv(out) if ending == "csv" else pd.read_parquet(out)
    holes = pd.read_csv(data)[BILLS].isna().any(axis=1)
    assert found.isna().any(axis=1).tolist() == holes.tolist()
    model = tractable.load(penguins / "m")
    kept = pd.read_csv(data).loc[~holes, BILLS]
    np.testing.assert_allclose(found.loc[~holes, "prediction"], model.predict(kept), rtol=1e-12)


@pytest.mark.parametrize("model", ["NaiveBayes", "LogisticRegression"])
def test_rows_without_a_target_are_left_out_when_asked(penguins, model, walk):
    """From frames and from streams alike."""
    features = ",".join(BILLS) + (",island" if model == "NaiveBayes" else "")
    words = ("fit", model, penguins / "penguins.csv", "-t", "sex", "-f", features, "-s", penguins / "m")
    assert "--target has missing entries" in refused(*words)
    said = done(*words, "--drop-missing")
    assert (said["rows"], said["rows_left_out"]) == (333, 11)
    assert said["classes"] == ["female", "male"]


def test_a_model_without_a_target_leaves_the_column_out(penguins):
    """Even one with missing entries, which nobody needs."""
    data, features = penguins / "penguins.csv", f"{BILLS[0]},year"
    for chosen in (["-f", features], []):
        words = ("fit", "TableMixture", data, "-t", "sex", "-s", penguins / "m", *chosen)
        said = done(*words)
        assert (said["rows"], said["target"]) == (344, None)
        assert "sex" not in said["features"]
        assert said["warnings"] == ["TableMixture predicts no column: sex is left out"]
    assert "predict sex" not in run(*words).stdout


def test_models_that_hold_their_rows(plane):
    folder, frame = plane
    done("fit", "RobustRegression", folder / "*.csv", "-t", "y", "-f", "a,b", "-s", folder / "m")
    wanted = tractable.RobustRegression().fit(frame[["a", "b"]], frame["y"])
    np.testing.assert_allclose(tractable.load(folder / "m").coef_, wanted.coef_, rtol=1e-8)


def test_other_questions(penguins):
    data = penguins / "penguins.csv"
    done(
        *("fit", "GaussianMixture", data, "-f", ",".join(BILLS), "-s", penguins / "m"),
        *("--set", "n_components=2", "--set", "random_state=0"),
    )
    frame, model = pd.read_csv(data), tractable.load(penguins / "m")
    done("predict", penguins / "m", data, "-o", penguins / "o.parquet")
    found = pd.read_parquet(penguins / "o.parquet")["prediction"]
    np.testing.assert_array_equal(found, model.predict(frame[BILLS]))
    for method, name in (("score_samples", "score"), ("outlier_scores", "outlier_scores")):
        done("predict", penguins / "m", data, "-o", penguins / "o.csv", "-m", method)
        found = pd.read_csv(penguins / "o.csv")[name]
        np.testing.assert_allclose(found, getattr(model, method)(frame[BILLS]), rtol=1e-12)
    said = done("predict", penguins / "m", data, "-o", penguins / "o.csv", "-p")
    assert said["columns"] == ["prediction", "probability_0", "probability_1"]
    done("fit", "GaussianDensity", data, "-f", ",".join(BILLS), "-s", penguins / "d")
    assert done("predict", penguins / "d", data, "-o", penguins / "o.csv")["columns"] == ["score"]


def test_the_spread_of_an_answer(plane):
    folder, frame = plane
    done("fit", "Ridge", folder / "*.csv", "-t", "y", "-f", "a,b", "-s", folder / "m")
    done("predict", folder / "m", folder / "*.parquet", "-o", folder / "o.csv", "-m", "predict_dist")
    found = pd.read_csv(folder / "o.csv")
    answer = tractable.load(folder / "m").predict_dist(frame[["a", "b"]])
    np.testing.assert_allclose(found["mean"], answer.mean, rtol=1e-12)
    np.testing.assert_allclose(found["stddev"], answer.stddev, rtol=1e-12)


def test_columns_of_numpy_files_go_by_number(plane):
    folder, frame = plane
    np.save(folder / "rows.npy", frame[["a", "b", "y"]].to_numpy())
    np.save(folder / "new.npy", frame[["a", "b"]].to_numpy())
    said = done("fit", "Ridge", folder / "rows.npy", "-t", "2", "-s", folder / "m")
    assert said["rows"] == 300
    wanted = tractable.Ridge().fit(frame[["a", "b"]].to_numpy(), frame["y"])
    for name in ("o.parquet", "o.csv"):
        done("predict", folder / "m", folder / "new.npy", "-o", folder / name)
        found = pd.read_csv(folder / name) if name.endswith("csv") else pd.read_parquet(folder / name)
        np.testing.assert_allclose(found["prediction"], wanted.predict(frame[["a", "b"]].to_numpy()))
    assert "go by number" in refused("fit", "Ridge", folder / "rows.npy", "-t", "y", "-s", folder / "m")


def test_what_people_read(penguins):
    found = run(
        "fit", "GaussianNB", penguins / "penguins.csv", "-t", "species", "-f", BILLS[0], "-s", penguins / "m"
    )
    assert found.exit_code == 0
    assert found.stderr == ""  # progress is for terminals
    assert "score       accuracy 0." in found.stdout
    assert "learned     from 344 rows to predict species" in found.stdout
    assert "classes     Adelie, Chinstrap, Gentoo" in found.stdout
    found = run("predict", penguins / "m", penguins / "penguins.csv", "-o", penguins / "o.csv")
    assert "344 rows: prediction" in found.stdout
    found = run("predict", penguins / "m", penguins / "penguins.csv", "-o", penguins / "o.csv", "-q")
    assert (found.stdout, found.stderr) == ("", "")


def test_warnings_of_a_fit_are_lines(penguins):
    words = ("fit", "GaussianMixture", penguins / "penguins.csv", "-f", ",".join(BILLS), "-s", penguins / "m")
    settings = ("--set", "n_components=3", "--set", "max_iter=1", "--set", "random_state=0")
    found = run(*words, *settings)
    assert found.exit_code == 0
    assert [line for line in found.stderr.splitlines() if line.startswith("warning: ")]
    assert "Warning:" not in found.stderr
    said = done(*words, *settings)
    assert said["converged"] is False
    assert said["warnings"]


def test_an_interrupted_search_saves_the_best_so_far(penguins, monkeypatch):
    from tractable.base.estimator import FitInterrupted

    learn = tractable.GaussianMixture.fit

    def stopped(self, *rows):
        learn(self, *rows)
        raise FitInterrupted

    monkeypatch.setattr(tractable.GaussianMixture, "fit", stopped)
    found = run("fit", "GaussianMixture", penguins / "penguins.csv", "-f", BILLS[0], "-s", penguins / "m")
    assert found.exit_code == 130
    assert "the best model so far is saved" in found.stderr
    assert tractable.load(penguins / "m").n_features_in_ == 1
