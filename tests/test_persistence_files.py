"""Foreign, later and damaged files are one ValueError that names them; classes come from lists alone."""

import json
import os
import pickle
import signal
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from persistence_samples import Box, Mean, archived, box, fitted, refuses, rewritten
from tractable import GaussianDensity, Moments, MultivariateNormal
from tractable.covariance import LowRankPlusDiagonal
from tractable.data.output import replacing
from tractable.persistence import load, save
from tractable.persistence import names as names_module
from tractable.testing.persistence_laws import PERSISTENCE_LAWS, assert_identical


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        b"PK",
        b"PK\x03\x04" + bytes(60),
        b"PK\x05\x06" + bytes(18),
        pickle.dumps([1]),
    ],
    ids=["empty", "png", "PK", "zip head", "empty zip", "pickle"],
)
def test_foreign_files_are_one_error(content, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(content)
    refuses(path, "cannot load")


def test_other_archives_folders_and_missing_files(tmp_path):
    refuses(archived({"a.txt": "b"}, tmp_path / "zip"), r"holds a.txt where model.json")
    refuses(archived({"model.json": "{}"}, tmp_path / "json"), "not a file written by")
    refuses(archived({"model.json": "[NaN]"}, tmp_path / "nan"), "not JSON")
    refuses(archived({"model.json": "[" * 100_000}, tmp_path / "deep"), "cannot load")
    refuses(archived({"model.json": '{"a":1,"a":2}'}, tmp_path / "twice"), "repeats a name")
    refuses(tmp_path, "not a file")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing")
    np.savez(tmp_path / "arrays.npz", np.zeros(3))
    refuses(tmp_path / "arrays.npz", "holds arr_0.npy")


def test_a_later_format_says_which_version_wrote_it(tmp_path):
    save(1, tmp_path / "m")
    refuses(
        rewritten(tmp_path / "m", lambda d: d.update(version=2, tractable="9.1")),
        "format 2, written by tractable 9.1.*reads formats up to 1",
    )
    refuses(rewritten(tmp_path / "m", lambda d: d.update(version="1")), "format version is '1'")


def test_a_file_from_the_future_of_a_class_names_it(tmp_path):
    save(Mean(), tmp_path / "m")
    path = rewritten(tmp_path / "m", lambda d: d["object"]["estimator"]["parameters"].update(new=1))
    refuses(path, "Mean refused its parameters.*new", types=[Mean])


def test_classes_are_found_among_those_given_and_nowhere_else(tmp_path, monkeypatch):
    save([Mean(), box()], tmp_path / "m")
    refuses(tmp_path / "m", r"Mean of persistence_samples.*pass types=\[Mean, Box\]")
    refuses(tmp_path / "m", r"pass types=\[Box\]", types=[Mean])
    with pytest.raises(ValueError, match="types must be classes, got 'Mean'"):
        load(tmp_path / "m", types=["Mean"])

    def forbidden(name):
        raise AssertionError(f"imported {name}")

    monkeypatch.setattr(names_module, "import_module", forbidden)
    assert isinstance(load(tmp_path / "m", types=[Mean, Box])[0], Mean)


def test_of_two_classes_with_one_name_the_module_decides(tmp_path):
    other = type("Mean", (Mean,), {"__module__": "elsewhere"})
    save([Mean(), other()], tmp_path / "m")
    mine, theirs = load(tmp_path / "m", types=[other, Mean])
    assert (type(mine), type(theirs)) == (Mean, other)
    refuses(tmp_path / "m", "pass types", types=[other, type("Mean", (Mean,), {"__module__": "third"})])


def test_public_classes_need_no_types(tmp_path, rng):
    moments = Moments.of(rng.standard_normal((10, 2)))
    save({"m": moments}, tmp_path / "m")
    assert_identical(load(tmp_path / "m"), {"m": moments}, "m")
    assert json.loads(zipfile.ZipFile(tmp_path / "m").read("model.json"))["object"]["dict"][0][1]["value"][
        "class"
    ] == ("tractable:Moments")


def test_damage_anywhere_is_a_value_error_or_harmless(tmp_path, rng):
    path, damaged = tmp_path / "m", tmp_path / "damaged"
    original = fitted(rng, kernel=box(label="é"))
    save(original, path)
    whole = path.read_bytes()
    flips = [(place, 1 << rng.integers(8)) for place in rng.integers(len(whole), size=300)]
    harmless = 0
    for place, bit in flips:
        content = bytearray(whole)
        content[place] ^= bit
        damaged.write_bytes(content)
        harmless += loads_equal_or_refuses(damaged, original)
    for length in rng.integers(len(whole), size=200):
        damaged.write_bytes(whole[:length])
        assert not loads_equal_or_refuses(damaged, original)
    assert harmless < len(flips) / 4


def loads_equal_or_refuses(path, original):
    try:
        found = load(path, types=[Mean, Box])
    except ValueError:
        return False
    assert_identical(found, original, "damaged")
    return True


def test_random_documents_never_do_anything_but_fail(tmp_path, rng):
    path = tmp_path / "m"
    save(fitted(rng, kernel=(slice(1), range(3), np.float32(1), {"a": np.array(["b"], dtype=object)})), path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    document = members["model.json"]
    for place in rng.integers(len(document), size=300):
        content = bytearray(document)
        content[place] = rng.integers(32, 127)
        archived({**members, "model.json": bytes(content)}, path)
        try:
            load(path, types=[Mean, Box])
        except ValueError:
            continue


@pytest.mark.parametrize("law", PERSISTENCE_LAWS)
@pytest.mark.parametrize("covariance_type", ["full", "diag", "spherical"])
def test_a_fitted_density_survives(law, covariance_type, rng):
    X = rng.standard_normal((40, 3))
    law(GaussianDensity(covariance_type=covariance_type).fit(X), rng)
    X[rng.random(X.shape) < 0.2] = np.nan
    law(GaussianDensity(covariance_type=covariance_type).fit(X), rng)


def test_a_loaded_density_answers_and_learns_as_before(tmp_path, rng):
    X, more = rng.standard_normal((2, 30, 2))
    density = GaussianDensity().fit(X)
    save(density, tmp_path / "density")
    back = load(tmp_path / "density")
    np.testing.assert_array_equal(back.score_samples(more), density.score_samples(more))
    np.testing.assert_array_equal(back.partial_fit(more).covariance_, density.partial_fit(more).covariance_)


def test_structures_of_a_package_need_no_types(tmp_path, rng):
    structure = LowRankPlusDiagonal(factor=rng.standard_normal((3, 1)), variances=np.ones(3))
    for law in PERSISTENCE_LAWS:
        law(MultivariateNormal(mean=np.zeros(3), covariance=structure), rng)
    save(structure, tmp_path / "structure")
    tree = json.loads(zipfile.ZipFile(tmp_path / "structure").read("model.json"))["object"]
    assert tree["value"]["class"] == "tractable.covariance:LowRankPlusDiagonal"


def test_what_a_killed_save_left_goes_with_the_next(tmp_path):
    path = tmp_path / "m"
    script = f"""
import os, signal
import tractable
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
tractable.save([1.0], {str(path)!r})
"""
    told = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", script], check=False, env=told).returncode == -signal.SIGKILL
    [left] = tmp_path.iterdir()
    assert left.suffix == ".part"
    save([2.0], path)
    assert left.exists()  # it may be a moment old, and not yet locked
    os.utime(left, (0.0, 0.0))
    other = tmp_path / ".other.0123456789abcdef.part"
    other.write_bytes(b"")
    os.utime(other, (0.0, 0.0))
    save([3.0], path)
    assert sorted(tmp_path.iterdir()) == [other, path]  # drafts of other files are not looked at


def test_a_draft_that_is_being_written_stays(tmp_path):
    target = tmp_path / "m"
    with replacing(target) as slow:
        [draft] = tmp_path.iterdir()
        os.utime(draft, (0.0, 0.0))
        save([1.0], target)
        assert draft.exists()
        slow.write(b"last")
    assert target.read_bytes() == b"last"
    assert [*tmp_path.iterdir()] == [target]
