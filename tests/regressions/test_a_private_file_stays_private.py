"""A model saved over a file that its owner alone could read was readable by everybody."""

import stat

import pytest

import tractable


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_saving_over_a_file_keeps_its_permissions(tmp_path, mode):
    path = tmp_path / "model"
    tractable.save({"a": 1}, path)
    path.chmod(mode)
    tractable.save({"a": 2}, path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert tractable.load(path) == {"a": 2}
