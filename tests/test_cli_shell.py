"""The command without a model: help, version, lists, exit codes, and how it speaks."""

import importlib
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

import tractable
from tractable.cli import app, main
from tractable.cli.console import first_line, open_console
from tractable.cli.models import model_classes

COMMANDS = ("report", "fit", "predict", "models", "datasets", "warmup")


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def shell(*words, module=True):
    """Run the command as a program that has no terminal."""
    start = [sys.executable, "-m", "tractable"] if module else []
    return subprocess.run(
        [*start, *map(str, words)], capture_output=True, text=True, check=False, timeout=300
    )


def test_help_shows_every_command_and_an_example():
    for words in (("--help",), ("-h",), ()):
        found = run(*words)
        assert found.exit_code == 0
        for name in COMMANDS:
            assert name in found.stdout
        assert "tractable fit NaiveBayes penguins.csv" in found.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name):
    found = run(name, "--help")
    assert found.exit_code == 0
    assert f"tractable {name}" in found.stdout.split("Some examples:")[1]
    for option in ("--json", "--quiet", "--debug"):
        assert option in found.stdout


def test_help_imports_nothing_heavy():
    ask = (
        "import sys\nfrom typer.testing import CliRunner\nfrom tractable.cli import app\n"
        "for words in (['--help'], ['fit', '--help']):\n"
        "    assert CliRunner().invoke(app, words).exit_code == 0\n"
        "print(*sorted({m.split('.')[0] for m in sys.modules}))"
    )
    found = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    heavy = {
        "scipy",
        "sklearn",
        "numba",
        "pandas",
        "polars",
        "pyarrow",
        "matplotlib",
        "numpy",
        "dask",
        "torch",
    }
    assert not heavy & set(found.stdout.split())


def test_version():
    for found in (run("--version"), shell("--version")):
        first, loops, threads, *_ = found.stdout.splitlines()
        assert first == f"tractable {tractable.__version__}"
        assert loops.startswith(("loops native, level ", "loops array API"))
        assert int(threads.removeprefix("threads ")) >= 1
        assert "\nscipy 1." in found.stdout


def test_wrong_options_are_usage_errors():
    for words in (
        ("fitt",),
        ("models", "--jsonn"),
        ("fit", "Ridge"),
        ("predict", "m", "d", "-o", "o", "-i", "x"),
    ):
        found = run(*words)
        assert found.exit_code == 2
        assert found.stdout == ""
        assert "Traceback" not in found.stderr


def test_models_are_listed_for_people_and_for_programs():
    found = run("models", "--json")
    listed = {one["name"]: one for one in json.loads(found.stdout)["models"]}
    assert set(listed) == set(model_classes())
    assert listed["GaussianMixture"]["kind"] == "density"
    assert listed["GaussianMixture"]["missing_values"] is True
    assert listed["LinearRegression"]["streaming"] == "exact in one pass"
    assert listed["NaiveBayes"]["text"] is True
    assert listed["KMeans"]["kind"] == "clustering"
    assert listed["PolynomialBasis"]["kind"] == "features"
    assert listed["GenerativeClassifier"]["streaming"] is None  # as its density is
    assert listed["GenerativeClassifier"]["kind"] == "classification"
    lines = run("models").stdout.splitlines()
    assert max(map(len, lines)) <= 80  # where there is no terminal, too
    assert [line.split()[0] for line in lines if line.startswith("  ")] == list(listed)  # a line each
    assert "  LinearRegression                 s--  Linear regression by least squares" in lines
    assert all(
        len(line) <= 80 for line in run("models", "GaussianProcessPoissonRegressor").stdout.splitlines()
    )


def test_models_of_one_kind_and_one_model():
    names = [one["name"] for one in json.loads(run("models", "-k", "clustering", "--json").stdout)["models"]]
    assert names == ["KMeans", "MeanShift"]
    found = run("models", "--kind", "densty")
    assert (found.exit_code, found.stderr) == (2, "error: no kind 'densty'; did you mean 'density'?\n")
    card = run("models", "Ridge").stdout
    assert "alpha = 1.0" in card
    assert "density = (needed)" in run("models", "GenerativeClassifier").stdout
    assert json.loads(run("models", "Ridge", "--json").stdout)["defaults"]["alpha"] == "1.0"
    assert run("models", "Rigde").stderr == "error: no model 'Rigde'; did you mean 'Ridge'?\n"


def test_a_table_for_a_terminal(monkeypatch, capsys):
    """Rich draws it; markup in the text is shown as it is."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with open_console() as console:
        console.table(("a", "b"), [("x[/bold]", "[red]y")])
    said = capsys.readouterr().out
    assert "x[/bold]" in said
    assert "[red]y" in said


def test_bundled_tables_are_listed_described_and_written(tmp_path):
    listed = {one["name"]: one for one in json.loads(run("datasets", "--json").stdout)["datasets"]}
    assert set(listed) == set(tractable.datasets.names())
    assert (listed["penguins"]["rows"], listed["penguins"]["target"]) == (344, "species")
    assert "penguins" in run("datasets").stdout
    assert "CC0 1.0" in run("datasets", "penguins").stdout
    frame = tractable.datasets.load("penguins").frame
    for name, read in (("p.csv", pd.read_csv), ("p.parquet", pd.read_parquet)):
        found = run("datasets", "penguins", "-o", tmp_path / name)
        assert found.exit_code == 0
        pd.testing.assert_frame_equal(read(tmp_path / name), frame)


def test_whole_numbers_are_written_whole(tmp_path):
    run("datasets", "penguins", "-o", tmp_path / "p.csv")
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert lines[1] == "Adelie,Torgersen,39.1,18.7,181,3750,male,2007"
    assert lines[4] == "Adelie,Torgersen,,,,,,2007"


def test_the_installed_program_is_this_one():
    root = Path(__file__).parent.parent
    scripts = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    module, _, name = scripts["tractable"].partition(":")
    assert getattr(importlib.import_module(module), name) is main


def test_refusals_of_tables(tmp_path):
    def said(*words):
        found = run("datasets", *words)
        assert found.exit_code == 2
        return found.stderr

    assert "did you mean 'penguins'?" in said("penguin")
    assert "which table?" in said("-o", tmp_path / "x.csv")
    assert ".parquet or .csv" in said("iris", "-o", tmp_path / "x.xls")
    assert "no such folder" in said("iris", "-o", tmp_path / "none" / "x.csv")
    assert list(tmp_path.iterdir()) == []


def test_quiet_says_nothing():
    found = run("datasets", "iris", "--quiet")
    assert (found.exit_code, found.stdout, found.stderr) == (0, "", "")


def test_without_a_terminal_there_is_no_colour():
    found = shell("models", "Rigde")
    assert found.returncode == 2
    assert found.stdout == ""
    assert found.stderr == "error: no model 'Rigde'; did you mean 'Ridge'?\n"


@pytest.mark.slow
def test_signs_that_a_terminal_cannot_show_stop_nothing():
    """Formulas have Greek letters; some terminals do not."""
    words = [sys.executable, "-m", "tractable", "models", "LinearDiscriminant"]
    found = subprocess.run(
        words, capture_output=True, check=False, timeout=300, env=os.environ | {"PYTHONIOENCODING": "cp1252"}
    )
    assert found.returncode == 0
    assert found.stderr == b""
    assert b" ".join(found.stdout.split()).startswith(
        b"LinearDiscriminant: Linear discriminant analysis: Gaussian classes with one covariance, p(x | C_k)"
    )


@pytest.mark.slow
def test_debug_shows_where_an_error_came_from():
    found = shell("models", "Rigde", "--debug")
    assert found.returncode == 2
    assert "Traceback" in found.stderr
    assert "ValueError: no model 'Rigde'" in found.stderr


def test_whatever_goes_wrong_is_first_line(capsys):
    """Even what is no user's fault; and Ctrl-C has the code of shells."""
    for error, said in (
        (ValueError("first\nsecond"), "error: first\n"),
        (KeyError("odd"), "error: KeyError: 'odd' (--debug shows where it came from)\n"),
        (MemoryError(), "error: not enough memory for this table\n"),
        (FileNotFoundError(2, "No such file", "x.csv"), "error: no such file: x.csv\n"),
    ):
        with pytest.raises(typer.Exit) as exit_, open_console():
            raise error
        assert exit_.value.exit_code == 2
        assert capsys.readouterr().err == said
    with pytest.raises(typer.Exit) as exit_, open_console():
        raise KeyboardInterrupt
    assert exit_.value.exit_code == 130
    assert first_line("\n  \n a   b \n c") == "a b"
    assert len(first_line("x" * 5000)) < 1100


def test_json_is_one_object_without_nan(capsys):
    import numpy as np

    with open_console(as_json=True) as console:
        console.progress("nothing of this")
        console.warn("odd")
        console.warn("odd")
        console.result({"x": float("nan"), "y": np.arange(2), "path": sys, "n": np.float64(1.0)}, ["no line"])
    said = capsys.readouterr()
    assert said.err == ""
    found = json.loads(said.out)
    assert (found["x"], found["y"], found["n"], found["warnings"]) == (None, [0, 1], 1.0, ["odd"])


def test_errors_are_json_too(capsys):
    """A program that reads one object reads one, whatever happens; people read the line all the same."""
    found = run("models", "Rigde", "--json")
    assert found.exit_code == 2
    assert json.loads(found.stdout) == {"error": "no model 'Rigde'; did you mean 'Ridge'?"}
    assert found.stderr == "error: no model 'Rigde'; did you mean 'Ridge'?\n"
    with pytest.raises(typer.Exit), open_console(as_json=True):
        raise KeyboardInterrupt
    assert json.loads(capsys.readouterr().out) == {"error": "interrupted"}


def test_text_from_files_does_not_steer_the_terminal(capsys):
    """Escape codes are replaced, and spelled out in JSON."""
    hostile = "\x1b[31mred\x9b2J\u202eback"
    with open_console() as console:
        console.say(hostile)
        console.warn(hostile)
        console.result({}, [hostile])
        console.table(("name",), [(hostile,)])
    with pytest.raises(typer.Exit), open_console():
        raise ValueError(hostile)
    said = capsys.readouterr()
    assert (said.out + said.err).count("\ufffd[31mred\ufffd2J\ufffdback") == 5
    assert not set("\x1b\x9b\u202e") & set(said.out + said.err)
    with open_console(as_json=True) as console:
        console.result({"columns": [hostile]})
    out = capsys.readouterr().out
    assert not set("\x1b\x9b\u202e") & set(out)
    assert json.loads(out) == {"columns": [hostile]}


def test_quiet_keeps_progress_bars_away(monkeypatch):
    monkeypatch.setenv("TRACTABLE_PROGRESS", "1")
    with open_console(quiet=True):
        assert os.environ["TRACTABLE_PROGRESS"] == "0"
    assert os.environ["TRACTABLE_PROGRESS"] == "1"


def test_names_of_columns_do_not_steer_the_terminal(tmp_path):
    pd.DataFrame({"\x1b[31ma": [1.0, 2.0, 4.0], "y": [1.0, 2.0, 3.0]}).to_parquet(tmp_path / "odd.parquet")
    found = run("fit", "Ridge", tmp_path / "odd.parquet", "-t", "y", "-s", tmp_path / "m")
    assert found.exit_code == 0, found.stderr
    assert "columns     1: \ufffd[31ma" in found.stdout
    assert "\x1b" not in found.stdout + found.stderr
