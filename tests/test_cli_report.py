"""`tractable report`: a page, and what it says to people and to programs."""

import json

import pytest
from typer.testing import CliRunner

import tractable
from tractable.cli import app
from tractable.report.report import SECTIONS


@pytest.fixture
def geyser(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tractable.datasets.load("old_faithful").frame[:60].to_csv("geyser.csv", index=False)
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, ["report", *map(str, words)])


def test_a_report_is_one_page(geyser, monkeypatch):
    monkeypatch.setattr("tractable.report.report.SECTIONS", SECTIONS[:2])  # all of them: see test_report.py
    found = run("geyser.csv", "-o", "page.html", "--target", "waiting")
    assert found.exit_code == 0, found.output
    assert "rows      60" in found.stdout
    assert "target    waiting" in found.stdout
    assert "saved     page.html" in found.stdout
    assert found.stderr == ""  # progress is for terminals
    page = (geyser / "page.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "eruptions" in page


@pytest.mark.slow
def test_a_report_for_programs(geyser):
    found = run("geyser.csv", "--json")
    assert (found.exit_code, found.stderr) == (0, "")
    said = json.loads(found.stdout)
    assert (said["rows"], said["columns"], said["path"]) == (60, 2, "report.html")
    assert "overview" in said["sections"]
    assert (geyser / "report.html").exists()


@pytest.mark.slow
def test_without_data_there_is_a_table_to_look_at(geyser):
    found = run("--quiet")
    assert (found.exit_code, found.stdout, found.stderr) == (0, "", "")
    assert "bill_length_mm" in (geyser / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.csv"], "there is no file none.csv"),
        (["geysr.csv"], "there is no file geysr.csv; did you mean geyser.csv?"),
        (["wine.csv"], "`tractable datasets wine -o wine.csv` writes"),
        (
            ["geyser.csv", "-t", "waitin"],
            "error: --target: no column 'waitin' in geyser.csv; did you mean 'waiting'?",
        ),
        (
            ["geyser.csv", "-o", "none/page.html"],
            "--output: no such folder: ",
        ),
        (["geyser.csv", "-o", "."], "--output: . is a folder"),
        (["geyser.csv", "-o", "geyser.csv"], "--output: geyser.csv is a file that is being read"),
        (["empty.csv"], "empty"),
        (["-"], "standard input is empty"),
    ],
)
def test_reports_that_cannot_be(geyser, words, said):
    (geyser / "empty.csv").touch()
    before = (geyser / "geyser.csv").read_bytes()
    found = run(*words)
    assert found.exit_code == 2
    assert found.stdout == ""
    errors = [line for line in found.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert said in errors[0]
    assert "Traceback" not in found.stderr
    assert (geyser / "geyser.csv").read_bytes() == before
    assert not list(geyser.glob("*.html"))
