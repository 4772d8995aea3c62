"""Files crafted from every estimator: a ValueError at load or first use, or a model that works; never a hang.

Every array becomes one with NaN or infinity, of another shape or another kind; every learned attribute is
missing or of another kind, and so is every parameter. `make test` takes some of these of each estimator, in
turn, and `make test-all` all of them.
"""

import io
import json
import signal
import warnings
import zipfile
from contextlib import contextmanager

import numpy as np
import pytest

import quick
from catalogue import ESTIMATORS
from persistence_samples import archived, npy_bytes
from tractable.persistence import load, save
from tractable.testing.estimator_laws import ROW_METHODS, example, learn

FIRST = list({type(row.make()): row for row in reversed(ESTIMATORS)}.values())
ROWS = [row for row in FIRST if not row.name.startswith("toy-")]
METHODS = (*ROW_METHODS, "predict_interval", "predict_dist", "kneighbors")
OTHER_KINDS = ("words", -3, 2.5, {"float": "nan"}, None, [1, 2], {"dict": []})
#: Of the files of one estimator, those that `make test` takes.
ONE_IN = 40
LONGEST = 30  # seconds, after which a load or an answer is taken not to end


def altered(array):
    """An array, changed in every way that another program might."""
    if array.dtype.kind == "f" and array.size:
        for position, number in ((0, np.nan), (-1, np.inf), (0, -np.inf)):
            changed = array.copy()
            changed.flat[position] = number
            yield changed
        yield from (np.full_like(array, np.nan), array.astype(complex))
    if array.dtype.kind in "fiu":
        yield from (array.astype(str), np.zeros(array.shape, "M8[ns]"), array.astype(bool))
    if array.dtype.kind in "iu":
        whole = array.astype(np.int64)
        yield from (array + 0.5, whole + 10**9, -whole - 1)
    if array.dtype.kind in "US":
        yield np.zeros(array.shape)
    yield array[None]
    if array.ndim:
        yield from (array[:-1], np.concatenate([array, array[-1:]]), array[..., :0], array.reshape(-1))
        yield from (np.ascontiguousarray(array.T), np.zeros((), array.dtype))


def crafted(members):
    """Every crafted archive, by what was changed."""
    document = json.loads(members["model.json"])
    names = [name for name in members if name != "model.json"]
    for name in names:
        for changed in altered(np.load(io.BytesIO(members[name]))):
            yield (name, changed.dtype, changed.shape), {**members, name: npy_bytes(changed)}
    parts = document["object"]["estimator"]
    for group, others in (("attributes", (..., *OTHER_KINDS)), ("parameters", OTHER_KINDS)):
        for name in parts[group]:
            for other in others:
                given = {key: node for key, node in parts[group].items() if key != name}
                given |= {} if other is ... else {name: other}
                estimator = {**parts, group: given}
                yield (
                    (group, name, other),
                    renumbered({**document, "object": {"estimator": estimator}}, members),
                )


def renumbered(document, members):
    """An archive of a document that no longer names some of the arrays."""
    used = []

    def walk(node):
        if isinstance(node, dict) and set(node) == {"array"}:
            used.append(node["array"])
            return {"array": len(used) - 1}
        if isinstance(node, dict):
            return {key: walk(part) for key, part in node.items()}
        return [walk(part) for part in node] if isinstance(node, list) else node

    whole = {"model.json": json.dumps(walk(document)).encode()}
    return whole | {f"arrays/{new}.npy": members[f"arrays/{old}.npy"] for new, old in enumerate(used)}


@contextmanager
def an_end():
    """Fail where what is inside does not end."""

    def too_long(*_):
        raise AssertionError("it does not end")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def is_refused_or_works(path, X):
    """Whether a file is refused; raises where the model gives another error, or NaN."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = load(path)
        except ValueError:
            return True
        asked = {name: getattr(model, name) for name in METHODS if hasattr(model, name)}
        if hasattr(model, "sample"):
            asked["sample"] = lambda _: model.sample(3, random_state=0)
        for name, ask in asked.items():
            try:
                result = ask(X)
            except ValueError:
                continue
            if isinstance(result, np.ndarray) and result.dtype.kind == "f":
                assert not np.isnan(result).any(), f"{name} gives NaN"
    return False


@pytest.mark.parametrize(("number", "row"), list(enumerate(ROWS)), ids=lambda x: getattr(x, "name", ""))
def test_crafted_files(number, row, tmp_path):
    estimator = row.make()
    X, y = example(estimator, np.random.default_rng(0))
    save(learn(estimator, X, y), tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    refused = 0
    for i, (what, archive) in enumerate(crafted(members)):
        if quick.ALONE and (i + number) % ONE_IN:
            continue
        try:
            with an_end():
                refused += is_refused_or_works(archived(archive, tmp_path / "crafted"), X[:4])
        except Exception as error:
            raise AssertionError(f"{what}: {error!r}") from error
    assert refused or quick.ALONE
