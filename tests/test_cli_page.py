"""The page about the command shows commands that run, and what they say."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import tractable
from tractable.cli import app

PAGE = Path(__file__).parent.parent / "docs" / "guide" / "command.md"


def blocks(language):
    found = re.findall(
        rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    return "".join(found)


@pytest.mark.slow
def test_the_commands_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wine = tractable.datasets.load("wine").frame
    wine = wine.iloc[np.random.default_rng(0).permutation(len(wine))]
    wine[:89].to_csv("last_year.csv", index=False)
    wine[89:].assign(alcohol=wine["alcohol"] + 1.0).to_parquet("this_year.parquet", index=False)
    said = ""
    lines = blocks("sh").replace("\\\n", " ").splitlines()
    assert len(lines) > 8
    for line in lines:
        start, *words = shlex.split(line, comments=True)
        assert start == "tractable"
        found = CliRunner().invoke(app, words)
        assert found.exit_code == 0, found.output
        said += found.stdout
    for line in blocks("text").splitlines():
        assert line.partition(" (")[0] in said
    names = (tmp_path / "species.csv").read_text().splitlines()[0]
    assert names == "island,prediction,probability_Adelie,probability_Chinstrap,probability_Gentoo"
    assert tractable.load(tmp_path / "bills.tractable").density.n_components == 2
