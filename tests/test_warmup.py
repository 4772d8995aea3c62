"""Kernels have one signature; `tractable warmup` compiles them in advance, else a word says when one is."""

import ast
import json
import os
import subprocess
import sys
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tractable import primitives
from tractable.cli import app
from tractable.primitives import compiled_options
from tractable.primitives.compiled_options import (
    ARRAYS,
    SCALARS,
    Kernel,
    compiled,
    entry,
    entry_kernels,
    read_only,
)

FOLDER = Path(primitives.__file__).parent

LOGGED = """
import logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(name)s: %(message)s")
"""
FIT = (
    LOGGED
    + """
import numpy as np, tractable
tractable.MetricMDS(eps=1.0).fit(np.random.default_rng(0).standard_normal((800, 2)))
"""
)

#: Two kernels under a name of the library, whose compilations alone are announced.
KERNELS = """
__name__ = "tractable.kernels"
from tractable.primitives.compiled_options import entry

@entry("FLOAT FLOAT")
def add(a, b):
    return a + b

@entry("FLOAT FLOAT")
def multiply(a, b):
    return a * b
"""


def python(*words, cache, **options):
    """Run Python with an empty folder, or one of an earlier run, for compiled code."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    options = {"stderr": subprocess.PIPE, **options}
    done = subprocess.run(
        [sys.executable, *words], env=environment, stdout=subprocess.PIPE, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def called_kernels(path):
    """The kernels that a module names: those it imports, and attributes of modules that it imports."""
    tree = ast.parse(path.read_text())
    found, modules = [], defaultdict(list)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(primitives.__name__):
            for name in node.names:
                module = import_module(node.module)
                inside = hasattr(module, name.name)
                thing = getattr(module, name.name) if inside else import_module(f"{node.module}.{name.name}")
                found.append(thing)
                modules[name.asname or name.name].append(thing)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found += [getattr(thing, node.attr, None) for thing in modules[node.value.id]]
    return [thing for thing in found if isinstance(thing, Kernel)]


def test_every_kernel_that_python_calls_has_a_signature():
    dispatchers = [path for path in FOLDER.rglob("*.py") if not path.name.startswith("compiled")]
    called = [kernel for path in dispatchers for kernel in called_kernels(path)]
    assert len(called) > 40
    assert [kernel.__name__ for kernel in called if not kernel.signature] == []
    assert set(called) == set(entry_kernels())


def test_a_signature_names_the_type_of_every_argument():
    for kernel in entry_kernels():
        names = kernel.signature.split()
        assert len(names) == kernel.function.__code__.co_argcount, kernel.__name__
        assert {name.removeprefix("OUT_") for name in names} <= {*ARRAYS, *SCALARS}, kernel.__name__


def test_a_kernel_without_a_signature_is_not_called_from_python():
    with pytest.raises(TypeError, match="has no signature"):
        Kernel(lambda n: n + 1)(2)


@compiled()
def entry_of(array, i):
    return array[i]


@entry("OUT_VECTOR DENSE_VECTOR LABELS")
def sum_of_entries(written, read, labels):
    return entry_of(read_only(written), 0) + entry_of(read, 1) + entry_of(read, labels[0])


def test_arrays_of_both_sorts_and_numbers_of_any_width_are_one_compilation(monkeypatch):
    def no_folder(_):
        raise RuntimeError

    monkeypatch.setattr(compiled_options, "_disk_cache", no_folder)  # or nothing is compiled the next time
    given = np.array([1.0, 2.0]), np.array([4.0, 8.0]), np.zeros(1, np.int32)
    assert sum_of_entries(*given) == sum_of_entries.interpreted(*given) == 13.0
    assert len(entry_of.dispatcher.overloads) == 1


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A folder into which the kernels of one family were compiled in advance."""
    folder = tmp_path_factory.mktemp("kernels")
    said = json.loads(python("-m", "tractable", "warmup", "stress", "--json", cache=folder))
    assert Path(said["folder"]).is_relative_to(folder)
    own = [kernel for kernel in entry_kernels() if kernel.family == "stress"]
    assert said["kernels"] == [f"stress.{kernel.__name__}" for kernel in own]
    return folder


def test_nothing_is_compiled_after_a_warmup(warm):
    before = {path: path.stat().st_mtime_ns for path in warm.rglob("*.nb?")}
    assert python("-c", FIT, cache=warm) == ""
    assert {path: path.stat().st_mtime_ns for path in warm.rglob("*.nb?")} == before


def test_a_compilation_is_announced_once(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    code = f"{LOGGED}import kernels; print(kernels.add(1.0, 2.0), kernels.multiply(1.0, 2.0))"
    line, answers = python("-c", code, cache=tmp_path, cwd=tmp_path).splitlines()
    assert answers == "3.0 2.0"
    assert line.startswith("tractable: compiling numerical kernels, once on this machine")
    assert "tractable warmup" in line


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there is no terminal to open")
def test_a_terminal_is_told_of_a_compilation(tmp_path):
    reader, writer = os.openpty()
    assert python("-c", FIT, cache=tmp_path, stderr=writer) == ""
    os.close(writer)
    assert os.read(reader, 4096).decode().count("compiling numerical kernels") == 1
    os.close(reader)


def test_a_warmup_without_a_folder_is_refused(monkeypatch):
    monkeypatch.setattr(Kernel, "folder", None)
    done = CliRunner().invoke(app, ["warmup", "bins"])
    assert done.exit_code == 2
    assert "error: no folder can be written to" in done.output


def test_an_unknown_family_is_refused():
    words = [sys.executable, "-m", "tractable", "warmup", "nothing"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "FAMILY must be one of bins, em, " in done.stderr


@pytest.mark.slow
def test_all_kernels_are_compiled_in_advance(tmp_path):
    said = json.loads(python("-m", "tractable", "warmup", "--json", cache=tmp_path))
    assert len(said["kernels"]) == len(entry_kernels())
    assert said["folder"] == str(tmp_path)
    assert python("-c", FIT, cache=tmp_path) == ""
