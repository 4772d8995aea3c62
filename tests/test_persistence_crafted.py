"""Files crafted from every estimator: a ValueError at load or first use, or a model that works; never a hang.

Every array becomes one with NaN or infinity, of another shape or another kind; every learned attribute is
missing or of another kind, and so is every parameter. `make test` takes some of these of each estimator, in
turn, and `make test-all` all of them.
"""

import io
import json

import numpy as np
import pytest

import quick
from catalogue import ESTIMATORS
from changed_files import judged, members_of, renumbered
from persistence_samples import npy_bytes
from tractable.persistence import save
from tractable.testing.estimator_laws import example, learn

FIRST = list({type(row.make()): row for row in reversed(ESTIMATORS)}.values())
ROWS = [row for row in FIRST if not row.name.startswith("toy-")]
OTHER_KINDS = ("words", -3, 2.5, {"float": "nan"}, None, [1, 2], {"dict": []})
#: Of the files of one estimator, those that `make test` takes.
ONE_IN = 40


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


@pytest.mark.parametrize(("number", "row"), list(enumerate(ROWS)), ids=lambda x: getattr(x, "name", ""))
def test_crafted_files(number, row, tmp_path):
    estimator = row.make()
    X, y = example(estimator, np.random.default_rng(0))
    save(learn(estimator, X, y), tmp_path / "model")
    members = members_of(tmp_path / "model")
    refused = 0
    for i, (what, archive) in enumerate(crafted(members)):
        if quick.ALONE and (i + number) % ONE_IN:
            continue
        try:
            refused += judged(archive, tmp_path / "crafted", X[:4]) == "refused"
        except Exception as error:
            raise AssertionError(f"{what}: {error!r}") from error
    assert refused or quick.ALONE
