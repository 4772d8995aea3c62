"""Crafted files: nothing in them runs, nothing grows, nothing is written."""

import os
import pickle
import zipfile

import numpy as np
import pytest

from persistence_samples import Box, Mean, archived, model, npy_bytes, refuses, rewritten
from tractable.persistence import save


class Bomb:
    def __reduce__(self):
        return (os.mkdir, ("exploded",))


@pytest.fixture
def array_file(tmp_path):
    save(np.arange(6.0), tmp_path / "m")
    return tmp_path / "m"


def test_pickles_in_arrays_are_never_opened(array_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    payload = npy_bytes(np.array([Bomb()], dtype=object), allow_pickle=True)
    refuses(rewritten(array_file, **{"arrays/0.npy": payload}), "dtype object")
    refuses(rewritten(array_file, **{"arrays/0.npy": pickle.dumps(Bomb())}), "cannot load")
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize(
    "name", ["../evil.npy", "/tmp/evil", "arrays/../../x", "arrays/1.npy", "arrays/01.npy", "x"]
)
def test_members_that_nobody_asked_for_are_refused(name, array_file):
    before = sorted(array_file.parent.parent.rglob("*"))
    refuses(rewritten(array_file, **{name: npy_bytes(np.zeros(2))}), "cannot load")
    assert sorted(array_file.parent.parent.rglob("*")) == before


def header(text):
    text = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    "text",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 99999999999999999999)}",
        "{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,)}",
        "{'descr': '|V0', 'fortran_order': False, 'shape': (1000000000000,)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}",
        "{'descr': 'nonsense', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': __import__('os').mkdir('exploded'), 'shape': (1,)}",
        "{'shape': (1,)}",
        "(" * 9000,
        "[]",
        " " * 60_000,
    ],
)
def test_headers_are_not_believed(text, array_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refuses(rewritten(array_file, **{"arrays/0.npy": header(text) + bytes(8)}), "cannot load")
    assert not (tmp_path / "exploded").exists()


def test_trailing_bytes_and_later_npy_versions_are_refused(array_file):
    refuses(rewritten(array_file, **{"arrays/0.npy": npy_bytes(np.zeros(2)) + b"x"}), "not what follows")
    refuses(rewritten(array_file, **{"arrays/0.npy": npy_bytes(np.zeros(2), version=(2, 0))}), "npy version")


def test_compressed_members_are_refused(array_file):
    members = {"model.json": model({"array": 0}), "arrays/0.npy": npy_bytes(np.zeros(10**6))}
    refuses(archived(members, array_file, zipfile.ZIP_DEFLATED), "is compressed")


def test_duplicated_members_are_refused(array_file):
    with zipfile.ZipFile(array_file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("arrays/0.npy", npy_bytes(np.ones(6)))
    refuses(array_file, "it holds model.json, arrays/0.npy, arrays/0.npy where")


def test_members_that_overlap_are_refused(tmp_path):
    inner = npy_bytes(np.zeros(1000))
    path = archived({"model.json": model([{"array": 0}]), "arrays/0.npy": inner}, tmp_path / "m")
    with zipfile.ZipFile(path, "a") as archive:
        shared = archive.getinfo("arrays/0.npy")
        for index in range(1, 50):
            copy = zipfile.ZipInfo(f"arrays/{index}.npy")
            for name in (
                "header_offset",
                "CRC",
                "compress_size",
                "file_size",
                "external_attr",
                "create_system",
            ):
                setattr(copy, name, getattr(shared, name))
            archive.filelist.append(copy)
            archive.NameToInfo[copy.filename] = copy
        archive._didModify = True
    refuses(path, "larger than the file")


TREES = {
    "two tags": {"list": [], "tuple": []},
    "unknown tag": {"pickle": "gASV"},
    "array used twice": [{"array": 0}, {"array": 0}],
    "missing array": {"array": 1},
    "array by name": {"array": "../x"},
    "unused array": 3,
    "float": {"float": "1e5"},
    "complex": {"complex": [1.0, "j"]},
    "fraction of zero": {"fraction": [1, 0]},
    "fraction of text": {"fraction": ["1", 2]},
    "tuple": {"tuple": 3},
    "range": {"range": [0, "a", 1]},
    "range of step 0": {"range": [0, 1, 0]},
    "short slice": {"slice": [1]},
    "dict": {"dict": {"a": 1}},
    "dict key": {"dict": [[{"tuple": [1, []]}, 2]]},
    "unhashable key": {"dict": [[[], 2]]},
    "object array": {"objects": [[10**9, 10**9], []]},
    "object array, negative": {"objects": [[-1, -1], ["a"]]},
    "object array of arrays": {"objects": [[1], [[1]]]},
    "object scalar": {"scalar": ["|O", "00" * 8]},
    "scalar of wrong size": {"scalar": ["<f8", "00"]},
    "huge scalar": {"scalar": ["<U1000000000", ""]},
    "no dtype": {"scalar": ["zz", "00"]},
    "class of None": {"value": {"class": None, "parameters": {}}},
    "missing names": {"value": {"class": "x:Box"}},
    "more names": {"value": {"class": "x:Box", "parameters": {}, "attributes": {}}},
    "parameters": {"value": {"class": "x:Box", "parameters": []}},
    "os.system": {"value": {"class": "os:system", "parameters": {"command": "mkdir exploded"}}},
    "builtins": {"estimator": {"class": "builtins:eval", "parameters": {}, "attributes": {}}},
    "subprocess": {"value": {"class": "subprocess:Popen", "parameters": {"args": "ls"}}},
    "a function of ours": {"value": {"class": "tractable:save", "parameters": {}}},
    "a private module": {"value": {"class": "tractable.persistence.names:Registry", "parameters": {}}},
    "a source": {"value": {"class": "tractable.data:Batch", "parameters": {}}},
    "an attribute of the package": {"value": {"class": "tractable:__getattr__", "parameters": {}}},
    "an import of a package": {"value": {"class": "tractable.arrays:np", "parameters": {}}},
    "a value as an estimator": {"estimator": {"class": "x:Box", "parameters": {}, "attributes": {}}},
    "an estimator as a value": {"value": {"class": "x:Mean", "parameters": {}}},
    "invalid value": {
        "value": {"class": "x:Box", "parameters": {"low": {"scalar": ["<f8", "00" * 8]}, "high": -1.0}}
    },
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_crafted_trees_are_refused(tree, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = archived({"model.json": model(tree), "arrays/0.npy": npy_bytes(np.zeros(2))}, tmp_path / "m")
    refuses(path, "cannot load", types=[Box, Mean])
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize(
    "name", ["__class__", "__dict__", "fit", "_private", "__init__", "a b_", "__x_", "scale", "_", "__"]
)
def test_only_learned_names_are_set(name, tmp_path):
    attributes = {name: 1}
    tree = {"estimator": {"class": "x:Mean", "parameters": {"scale": 1.0}, "attributes": attributes}}
    refuses(archived({"model.json": model(tree)}, tmp_path / "m"), "no learned attribute", types=[Mean])


def test_private_state_does_not_replace_what_a_class_defines(tmp_path):
    class Own(Mean):
        def _step_(self):
            return 1

    tree = {"estimator": {"class": "x:Own", "parameters": {"scale": 1.0}, "attributes": {"_step_": 1}}}
    refuses(archived({"model.json": model(tree)}, tmp_path / "m"), "no learned attribute", types=[Own])
