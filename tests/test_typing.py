"""Type checkers and editors see the public names, though the package finds them when they are used.

What types a user's script has is asserted in `user_script.py`, which `make types` checks.
"""

import tomllib
from pathlib import Path

from tools.stub import STUB, stub

import tractable

SOURCE = Path(tractable.__file__).parent
ROOT = SOURCE.parent.parent


def test_the_stub_has_every_public_name():
    assert STUB.read_text() == stub(), "run: python -m tools.stub"


def test_the_wheel_has_the_marker_and_the_stub():
    built = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]
    assert built["wheel"]["packages"] == ["src/tractable"]  # everything in the folder
    assert (SOURCE / "py.typed").exists()
    assert STUB.parent == SOURCE


def test_a_user_s_script_is_checked():
    checked = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    assert Path(__file__).with_name("user_script.py") in [ROOT / name for name in checked["files"]]
    assert checked["strict"]  # an error that is expected and does not come is one
