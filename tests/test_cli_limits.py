"""Each number that the command refuses, at its limit and one beyond; requested counts are returned."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tractable
from tractable.cli import app
from tractable.data import text_table
from tractable.report import completed_frames

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame({"x": RNG.normal(size=40).round(2), "g": ["a", "b"] * 20})
ROWS["y"] = (2.0 * ROWS["x"] + RNG.normal(size=40)).round(2)
ROWS.loc[[3, 8, 20], "y"] = np.nan

COVERAGE = "--interval is a coverage between 0 and 1"
QUANTILES = "--quantiles are numbers between 0 and 1"
LEVEL = "--level is a probability between 0 and 1"
ROWS_HELD = '--rows must be "all" or a whole number of at least 1'
#: Words of a command in which N is a number, those accepted and refused, and what the refusal says.
LIMITS = [
    ("complete t.csv -o o.csv -n N", ["1", "2"], ["0", "-1"], "--draws must be at least 1"),
    ("complete t.csv -o o.csv -n 1 --seed N", ["0", "1"], ["-1"], "--seed must not be negative"),
    (
        "compare t.csv t.csv --level N",
        ["1e-300", "0.9999"],
        ["0", "1", "-0.1", "nan"],
        "--level is a probability between 0 and 1",
    ),
    ("compare t.csv t.csv --seed N", ["0"], ["-1"], "--seed must not be negative"),
    (
        "ask t.csv x -i N",
        ["0.0001", "0.9999"],
        ["0", "1", "1.1", "nan"],
        "--interval is a coverage between 0 and 1",
    ),
    (
        "ask t.csv x --quantiles N",
        ["0.0001", "0.5,0.9999"],
        ["0", "1", "0.5,1", "", "a"],
        "--quantiles are numbers between 0 and 1",
    ),
    (
        "predict m t.csv -o o.csv -i N",
        ["0.0001", "0.9999"],
        ["0", "1", "nan"],
        "--interval is a coverage between 0 and 1",
    ),
    (
        "report t.csv -o o.html --rows N",
        ["1", "40", "all"],
        ["0", "-1", "1.5", "none"],
        '--rows must be "all" or a whole number of at least 1',
    ),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ROWS.to_csv("t.csv", index=False)
    whole = ROWS.dropna()
    tractable.save(tractable.LinearRegression().fit(whole[["x"]], whole["y"]), "m")
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, [*words])


@pytest.mark.parametrize(("words", "accepted", "refused", "said"), LIMITS, ids=[case[0] for case in LIMITS])
def test_numbers_at_their_limits_and_beyond(folder, words, accepted, refused, said):
    for number in accepted:
        found = run(*(number if word == "N" else word for word in words.split()))
        assert found.exit_code == 0, (number, found.output)
    for number in refused:
        for path in folder.glob("o.*"):
            path.unlink()
        found = run(*(number if word == "N" else word for word in words.split()))
        assert found.exit_code == 2, (number, found.output)
        assert said in found.stderr
        assert not list(folder.glob("o.*"))


def test_rows_of_a_joint_model_at_the_limit(folder):
    for n, code in ((10, 0), (9, 2)):
        ROWS[["x"]].head(n).to_csv("few.csv", index=False)
        found = run("ask", "few.csv", "x")
        assert (found.exit_code, "needs 10 rows" in found.stderr) == (code, code == 2)


@pytest.mark.parametrize("size", [2**18, 2**18 + 1])
def test_a_field_of_several_lines_at_the_limit_of_an_open_mark(folder, size):
    """The longest text with a line break that is taken for one field, and one letter more."""
    assert text_table.LONGEST_FIELD == 2**18
    (folder / "long.csv").write_text('x,w\n1,"' + "a" * (size - 2) + '\nb"\n2,c\n3,d\n')
    found = run("fit", "GaussianDensity", "long.csv", "-f", "x", "-s", "o.m")
    assert found.exit_code == (0 if size == 2**18 else 2), found.stderr
    assert ("a quotation mark is never closed" in found.stderr) == (size > 2**18)


@pytest.mark.parametrize("n", [9, 10])
def test_names_that_a_list_shows(n):
    from tractable.cli.console import abbreviated

    assert abbreviated("abcdefghij"[:n], 9).endswith(", …") == (n > 9)


# Counts


@pytest.mark.parametrize("n_draws", [1, 2, 5])
def test_as_many_tables_are_drawn_as_are_asked_for(folder, n_draws):
    frames, _ = completed_frames(ROWS, n_draws)
    assert len(frames) == n_draws
    assert all(len(one) == len(ROWS) and not one.isna().any().any() for one in frames)
    for model, rows in (
        (tractable.TableMixture(2, random_state=0), ROWS),
        (tractable.GaussianMixture(2, random_state=0), ROWS[["x", "y"]].to_numpy()),
        (tractable.GaussianDensity(), ROWS[["x", "y"]].to_numpy()),
    ):
        fitted = model.fit(rows)
        if hasattr(fitted, "impute"):
            assert len(fitted.impute(rows, n_draws=n_draws, random_state=0)) == n_draws
    found = run("complete", "t.csv", "-n", str(n_draws), "-o", "o_{draw}.csv", "--json")
    said = json.loads(found.stdout)
    assert said["draws"] == len(said["saved"]) == len(list(folder.glob("o_*.csv"))) == n_draws
