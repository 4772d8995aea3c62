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


@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_the_two_commands_are_shown(command):
    assert command in README


def test_links_to_files_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith(("http", "mailto")):
            assert (ROOT / target).exists(), target
