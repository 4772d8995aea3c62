"""Saved models changed at random, by field and by byte, and judged: refused, accepted or equal to before."""

import copy
import io
import json
import resource
import signal
import warnings
import zipfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from persistence_samples import archived, npy_bytes
from tractable.persistence import load
from tractable.testing.estimator_laws import ROW_METHODS

METHODS = (*ROW_METHODS, "predict_interval", "predict_quantiles", "predict_dist", "kneighbors", "impute")
#: What stands in the place of a field: numbers that nothing can have as its size, other kinds, and nothing.
OTHERS = (
    *(0, -1, 1, 3, 150_000_000, 2**31, 2**63, -(2**63), 10**30, 0.5, 1e300, -1e300, 1e-320, 0.0),
    *("", "words", "full", "x:y", None, True, False, [], [1, 2], [[0.0]], [["a"]]),
    *({"float": "nan"}, {"float": "inf"}, {"range": [0, 150_000_000, 1]}, {"range": [0, 3, 1]}),
    *({"tuple": []}, {"tuple": [0, 0]}, {"dict": []}, {"dict": [["a", 1]]}, {"slice": [None, None, None]}),
    *(
        {"objects": [[0], []]},
        {"objects": [[2], ["a", None]]},
        {"scalar": ["<f8", "00" * 8]},
        {"dtype": "<U9"},
    ),
    *({"class": "tractable:Normal"}, {"value": {"class": "tractable.kernels:RBF", "parameters": {}}}),
    *({"complex": [0.0, 1.0]}, {"fraction": [1, 3]}),
)
#: Seconds after which a load or an answer is taken not to end, and bytes that it may take beside those in use
LONGEST, MOST_MEMORY = 20, 1 << 30


def members_of(path):
    """Return the members of a saved file by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _nodes(node, path=()):
    """Yield the path of every node that may be changed."""
    yield path
    parts = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, part in parts:
        yield from _nodes(part, (*path, key))


def _at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def by_field(members, rng):
    """Return members with one field replaced, removed, repeated or exchanged with another."""
    document = json.loads(members["model.json"])
    tree = {"object": document["object"]}
    paths = [path for path in _nodes(tree) if len(path) > 1]
    if not paths:
        return {
            **members,
            "model.json": json.dumps({**document, "object": OTHERS[rng.integers(len(OTHERS))]}).encode(),
        }
    path = paths[rng.integers(len(paths))]
    inside, key = _at(tree, path[:-1]), path[-1]
    how = rng.choice(["other", "other", "other", "node", "remove", "repeat", "swap", "number"])
    node = inside[key]
    if how == "node":
        inside[key] = copy.deepcopy(_at(tree, paths[rng.integers(len(paths))]))
    elif how == "remove":
        del inside[key]
    elif how == "repeat" and isinstance(inside, list):
        inside.insert(key, copy.deepcopy(node))
    elif how == "swap":
        other = (
            list(inside)[rng.integers(len(inside))]
            if isinstance(inside, dict)
            else int(rng.integers(len(inside)))
        )
        inside[key], inside[other] = inside[other], node
    elif how == "number" and type(node) in (int, float):
        inside[key] = type(node)(node + rng.choice([-1, 1]) * rng.choice([1, 2, 100]))
    else:
        inside[key] = OTHERS[rng.integers(len(OTHERS))]
    return renumbered({**document, **tree}, members)


def renumbered(document, members):
    """Return the members of a document that no longer names all arrays, or names one of them twice."""
    used = []

    def walk(node):
        if isinstance(node, dict) and set(node) == {"array"}:
            if not (type(node["array"]) is int and f"arrays/{node['array']}.npy" in members):
                return node
            used.append(node["array"])
            return {"array": len(used) - 1}
        if isinstance(node, dict):
            return {key: walk(part) for key, part in node.items()}
        return [walk(part) for part in node] if isinstance(node, list) else node

    whole = {"model.json": json.dumps(walk(document)).encode()}
    return whole | {f"arrays/{new}.npy": members[f"arrays/{old}.npy"] for new, old in enumerate(used)}


def by_array(members, rng):
    """Return members with one array changed: its entries, its shape or its kind."""
    names = [name for name in members if name != "model.json"]
    if not names:
        return by_field(members, rng)
    name = names[rng.integers(len(names))]
    array = np.load(io.BytesIO(members[name]))
    return {**members, name: npy_bytes(_other_array(array, rng))}


_NUMBERS = {
    "f": (np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300, 1e-300, 0.5),
    "i": (-1, 0, 1, 100, 10**6),
    "u": (0, 1, 200),
    "b": (True, False),
}


def _other_array(array, rng):
    how = rng.integers(8)
    if how <= 3 and array.size and array.dtype.kind in "fiub":
        changed = array.copy()
        numbers = _NUMBERS[array.dtype.kind]
        if array.dtype.kind in "iu":
            numbers = (*numbers, np.iinfo(array.dtype).max, np.iinfo(array.dtype).min)
        number = numbers[rng.integers(len(numbers))]
        with np.errstate(all="ignore"):
            changed.flat[rng.integers(array.size)] = np.asarray(number).astype(array.dtype)
        return changed
    if how == 4:
        return rng.permutation(array) if array.ndim else array
    if how == 5 and array.ndim:
        axis = int(rng.integers(array.ndim))
        length = array.shape[axis]
        keep = [slice(0, max(length - 1, 0)), np.r_[np.arange(length), max(length - 1, 0)], slice(0, 0)]
        return array.take(np.arange(length)[keep[rng.integers(3)]], axis=axis) if length else array
    if how == 6:
        return (array[None], array.reshape(-1), np.ascontiguousarray(array.T), array[..., None])[
            rng.integers(4)
        ]
    kinds = ("f8", "f4", "i8", "u1", "?", "U3", "M8[ns]", "c16")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return array.astype(kinds[rng.integers(len(kinds))])
    except (ValueError, TypeError):
        return array


def by_byte(members, rng):
    """Return members with some bytes of one of them changed; the archive's checksums are made right again."""
    name = list(members)[rng.integers(len(members))]
    data = bytearray(members[name])
    for _ in range(int(rng.integers(1, 4))):
        place, how = int(rng.integers(len(data))), int(rng.integers(4))
        if how == 0:
            data[place] ^= 1 << int(rng.integers(8))
        elif how == 1:
            data[place] = int(rng.choice(list(b'0123456789-e.,[]{}":tfn')))
        elif how == 2:
            del data[place : place + int(rng.integers(1, 9))]
        else:
            data[place:place] = data[place : place + int(rng.integers(1, 9))]
        if not data:
            break
    return {**members, name: bytes(data)}


CHANGES = (by_field, by_field, by_array, by_byte)


class DoesNotEnd(BaseException):
    """A load or an answer took too long: no error that `load` makes a refusal of."""


@contextmanager
def bounded():
    """Fail if what is inside does not end, or takes memory that no small file needs."""

    def too_long(*_):
        raise DoesNotEnd

    used, (soft, hard) = Path("/proc/self/statm"), resource.getrlimit(resource.RLIMIT_AS)
    most = hard  # where the system does not say how much is used
    if used.exists():
        most = int(used.read_text(encoding="ascii").split()[0]) * resource.getpagesize() + MOST_MEMORY
    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(LONGEST)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def quietly():
    """Let models of strange numbers warn, and divide by zero."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def answers_of(model, X):
    """Return what a loaded model says of rows; only a ValueError is a refusal, and NaN is none."""
    repr(model)
    asked = {name: getattr(model, name) for name in METHODS if X is not None and hasattr(model, name)}
    found = {}
    if hasattr(model, "sample"):
        found["sample"] = _answer(
            lambda: (
                model.sample(3, random_state=0) if hasattr(model, "get_params") else model.sample(3, rng=0)
            )
        )
    if hasattr(model, "log_prob") and found.get("sample") is not None:
        found["log_prob"] = _answer(lambda: model.log_prob(found["sample"]))
    for name, ask in asked.items():
        found[name] = _answer(lambda ask=ask: ask(X))
        if isinstance(found[name], np.ndarray) and found[name].dtype.kind == "f" and name != "impute":
            assert not np.isnan(found[name]).any(), f"{name} gives NaN"
    return found


def _answer(ask):
    try:
        return ask()
    except ValueError:
        return None


def equal(a, b):
    """Whether two answers are the same."""
    if a is None or b is None:
        return a is b
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[name], b[name]) for name in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, np.ndarray):
        if not isinstance(b, np.ndarray) or a.dtype.kind != b.dtype.kind:
            return False
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return True


def judged(changed, path, X, before=None):
    """Return "refused", "accepted" or "equal" for a changed file; any other outcome is an error.

    The file is given by its members, or by its bytes; equal are its answers to those before.
    """
    if isinstance(changed, bytes):
        path.write_bytes(changed)
    else:
        archived(changed, path)
    with bounded(), quietly():
        try:
            model = load(path)
        except ValueError:
            return "refused"
        return "equal" if equal(answers_of(model, X), before) else "accepted"
