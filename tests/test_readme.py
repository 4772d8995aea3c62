"""The README's code runs as written."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def test_there_is_code_to_run():
    assert BLOCKS


def test_blocks_run_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), names)


def test_the_waits_are_what_the_ten_lines_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(BLOCKS[0], "README.md", "exec"), names)
    low, high = names["low"].item(), names["high"].item()
    assert f"from {low:.0f} to {high:.0f} minutes" in BLOCKS[0]


def test_the_ten_lines_are_about_ten():
    assert BLOCKS[0].count("\n") <= 12


def test_there_is_one_picture_and_it_is_small():
    (picture,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert (ROOT / picture).stat().st_size < 150_000


@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_the_two_commands_are_shown(command):
    assert command in README


def test_links_to_files_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith(("http", "mailto")):
            assert (ROOT / target).exists(), target
