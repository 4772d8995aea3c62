"""The README's code runs as written."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import tractable
from tractable.cli import app

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
SHELL = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)


def test_there_is_code_to_run():
    assert BLOCKS


def test_blocks_run_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), names)
    # What the comments beside the lines say.
    again = tractable.load(tmp_path / "geyser.tractable")
    assert np.allclose(
        again.condition({"eruptions": 2.85}).interval(0.9)[0],
        names["model"].condition({"eruptions": 2.85}).interval(0.9)[0],
    )
    assert names["line"].coef_interval(0.95).shape == (1, 2)
    covered = names["line"].predict_interval(names["X"], coverage=0.9).T
    assert 0.85 < np.mean((covered[0] <= names["y"]) & (names["y"] <= covered[1])) < 0.95
    assert len(names["ridge"].cv_curve_.alphas) == 50
    p = names["bayes"].predict_proba(names["table"])
    assert p.shape == (len(names["penguins"]), 3)
    assert np.allclose(p.sum(axis=1), 1.0)
    assert 0.0 < names["low"] < 5.0 / 8.0 < names["high"] < 1.0  # Beta(5, 3) after three heads and a tail


def test_the_waits_are_what_the_ten_lines_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(BLOCKS[0], "README.md", "exec"), names)
    low, high = names["low"].item(), names["high"].item()
    assert f"from {low:.0f} to {high:.0f} minutes" in BLOCKS[0]


def test_the_ten_lines_are_ten():
    assert len([line for line in BLOCKS[0].splitlines() if line]) == 10


def test_the_commands_run_in_order(tmp_path, monkeypatch):
    """Those of the report, as they stand: the first makes the table that the others read."""
    (block,) = [block for block in SHELL if "tractable report" in block]
    monkeypatch.chdir(tmp_path)
    for line in block.splitlines():
        program, *arguments = shlex.split(line, comments=True)
        assert program == "tractable"
        if arguments[0] == "report":  # slow: its own tests run it; here, whether its table is there
            assert Path(arguments[1]).exists()
            continue
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.output


def test_it_is_said_how_to_install():
    assert "pip install ." in README
    assert ". .venv/bin/activate" in README


def test_there_is_one_picture_and_it_is_small():
    (picture,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert (ROOT / picture).stat().st_size < 150_000


@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_the_two_commands_are_shown(command):
    assert command in README


def test_formulas_are_where_it_says():
    """The files that the table of formulas names are there, and three of them say what they have."""
    rows = re.findall(r"^\| (.+) \| (.*`[a-z_]+/.*) \|$", README, flags=re.MULTILINE)
    assert len(rows) >= 8
    for _, where in rows:
        for path in re.findall(r"`([a-z_/]+/(?:[a-z_]+\.py)?)`", where):
            assert (ROOT / "src" / "tractable" / path).exists(), path
    for path, word in (
        ("mixture/gaussian/steps.py", "E-step"),
        ("linear_model/ridge/leave_one_out.py", "leave_one_out_errors"),
        ("engines/glm/laplace.py", "Laplace approximation"),
    ):
        assert path in README
        assert word in (ROOT / "src" / "tractable" / path).read_text()
