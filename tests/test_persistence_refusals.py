"""What is not data is refused before anything is written; no failure leaves a trace."""

from collections import OrderedDict

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

from persistence_samples import Mean
from tractable.data.output import replacing
from tractable.persistence import load, save


class Slotless:
    pass


def loop():
    x = []
    x.append([x])
    return x


def deep():
    x = []
    for _ in range(2000):
        x = [x]
    return x


def with_private_state():
    estimator = Mean()
    estimator._cache = 1
    return estimator


REFUSED = {
    "function": (lambda: Mean(kernel=np.sin), "Mean.kernel: it is a numpy.ufunc"),
    "lambda": (lambda: Mean(kernel=lambda x: x), "Mean.kernel: it is a function"),
    "class": (lambda: Mean(kernel=dict), "Mean.kernel: it is a type"),
    "generator": (lambda: Mean(random_state=np.random.default_rng(0)), "Mean.random_state.*integer seed"),
    "random state": (lambda: Mean(random_state=np.random.RandomState(0)), "Mean.random_state.*integer seed"),
    "object": (lambda: Mean(kernel=Slotless()), "Mean.kernel.*Slotless"),
    "in a pipeline": (
        lambda: Pipeline([("a", Mean(kernel=[1, {"k": open}]))]),
        r"steps\[0\]\[1\].kernel\[1\]\['k'\]",
    ),
    "private state": (with_private_state, "Mean._cache"),
    "set": (lambda: {1, 2}, "cannot save set"),
    "ordered dict": (lambda: OrderedDict(a=1), "OrderedDict"),
    "key": (lambda: {(1, frozenset()): 3}, r"its key \(1, frozenset\(\)\)"),
    "object array": (lambda: {"a": np.array(["b", [1]], dtype=object)}, r"dict\['a'\]\[1\]: it is a list"),
    "structured array": (lambda: np.zeros(2, dtype="i4,f8"), "an array of"),
    "structured dtype": (lambda: np.dtype("i4,f8"), "VoidDType"),
    "kind of objects": (lambda: Mean(kernel=np.void), "Mean.kernel: it is a type"),
    "void": (lambda: np.void(b"ab"), "void"),
    "itself": (loop, "contains itself"),
    "deep": (deep, "nested more than"),
    "long": (lambda: 1 << 10_000, "an integer"),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_data_is_refused_before_anything_is_written(make, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        save(make(), tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_an_open_file_is_refused(tmp_path):
    with (tmp_path / "x").open("w") as file, pytest.raises(ValueError, match=r"Mean.kernel.*TextIOWrapper"):
        save(Mean(kernel=file), tmp_path / "m")


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "m"
    save("old", path)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    for step in ("numpy.lib.format.write_array", "os.fsync", "pathlib.Path.replace"):
        with monkeypatch.context() as patch:
            patch.setattr(step, full)
            with pytest.raises(OSError, match="No space"):
                save(np.zeros(3), path)
    assert load(path) == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_save_leaves_nothing(tmp_path):
    def interrupted():
        with replacing(tmp_path / "m") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not list(tmp_path.iterdir())


def test_a_read_only_folder_is_a_permission_error(tmp_path, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")  # made here: root may write anywhere

    save("old", tmp_path / "m")
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.open", denied)
        with pytest.raises(PermissionError):
            save(1, tmp_path / "m")
    assert load(tmp_path / "m") == "old"


def test_a_missing_folder_and_a_folder_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        save(1, tmp_path / "no" / "m")
    with pytest.raises(ValueError, match="is a folder"):
        save(1, tmp_path)


def test_a_link_is_followed(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "m")
    save(3, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "m") == 3


def test_the_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    save(1, tmp_path / "m")
    assert (tmp_path / "m").stat().st_mode == (tmp_path / "plain").stat().st_mode
