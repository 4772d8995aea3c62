"""Read-only installs without a home crashed where a kernel was imported, damaged caches at its first call."""

import errno
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core.caching import IndexDataCacheFile

import tractable
from quick import some

KERNEL = """
from tractable.primitives.compiled_options import entry

@entry("FLOAT FLOAT")
def add(a, b):
    return a + b
"""

ADD = "import kernel; print(kernel.add(1.0, 2.0))"


def run(code, folder, **environment):
    kept = {name: x for name, x in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    options = {"HOME": os.devnull, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, env={**kept, **options}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_kernel_imports_where_nothing_can_be_written(tmp_path):
    package = Path(tractable.__file__).parent
    shutil.copytree(package, tmp_path / "tractable", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "kernel.py").write_text(KERNEL)
    for folder in [tmp_path, *filter(Path.is_dir, (tmp_path / "tractable").rglob("*"))]:
        (folder / "__pycache__").write_text("")  # a file in its place: not even root can write into it
    names = [
        ".".join(path.relative_to(package.parent).with_suffix("").parts)
        for path in sorted((package / "primitives").rglob("compiled*.py"))
    ]
    assert len(names) > 10
    code = f"import importlib\nfor name in {names}: importlib.import_module(name)\n"
    assert run(code + ADD, tmp_path) == "3.0\n"


DAMAGES = [b"no code at all", b"", b"\x80\x04"]


def new_kernel(path):
    """The kernel as a new process has it: nothing of it is loaded."""
    spec = importlib.util.spec_from_file_location("kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.add


@pytest.fixture
def kernel_file(tmp_path, monkeypatch):
    """A module with a kernel, whose code is stored in the folder `cache` beside it."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL)
    return path


@pytest.mark.parametrize("damage", some(DAMAGES))
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_cache_is_rebuilt(kernel_file, ending, damage):
    def files():
        return sorted(kernel_file.with_name("cache").rglob(f"*.{ending}"))

    new_kernel(kernel_file)(1.0, 2.0)
    (file,) = files()
    file.write_bytes(damage)
    assert new_kernel(kernel_file)(1.0, 2.0) == 3.0
    (rebuilt,) = files()
    assert rebuilt.stat().st_size > len(damage)
    written = rebuilt.stat().st_mtime_ns
    assert new_kernel(kernel_file)(1.0, 2.0) == 3.0
    assert [found.stat().st_mtime_ns for found in files()] == [written]  # read, not compiled again


def test_a_full_disk_is_done_without(kernel_file, monkeypatch):
    def no_space(self, path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(IndexDataCacheFile, "_open_for_write", no_space)
    assert new_kernel(kernel_file)(1.0, 2.0) == 3.0
    assert list(kernel_file.with_name("cache").rglob("*.nb?")) == []
