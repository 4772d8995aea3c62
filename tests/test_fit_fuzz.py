"""Strange rows and strange arguments of every estimator: refused by a ValueError, accepted, or equal.

Arrays are of another layout, kind or size, and arguments of another type, by a seed; the summary of the tests
says how many were refused, accepted, and equal in their answers. `make test` takes some, and `make test-all`
many. An answer that is NaN is none.
"""

import zlib

import numpy as np
import pandas as pd
import pytest

import quick
from catalogue import ESTIMATORS
from changed_files import bounded, equal, quietly
from quick import late
from test_persistence_fuzz import first_of_each
from tractable.testing.estimator_laws import cloned, example

FIRST, LATER = first_of_each([row for row in ESTIMATORS if not row.name.startswith("toy-")])
#: Cases of one estimator.
N_QUICK, N_SLOW = 3, 25
QUESTIONS = ("score_samples", "predict_proba", "predict", "transform")


def strided(X):
    return np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]


def frozen(X):
    X = X.copy()
    X.setflags(write=False)
    return X


def with_entry(number):
    def changed(X):
        X = X.copy()
        X[3, 1] = number
        return X

    return changed


#: The same rows in another layout or type: the answers are the same, or they are refused.
SAME = {
    "Fortran order": np.asfortranarray,
    "strides": strided,
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": frozen,
    "other byte order": lambda X: X.astype(">f8"),
    "long doubles": lambda X: X.astype(np.longdouble),
    "lists": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
    "no mask": np.ma.MaskedArray,
    "frame": pd.DataFrame,
}
#: Other rows: answers are numbers, or they are refused.
OTHER = {
    "float16": lambda X: X.astype(np.float16),
    "whole": lambda X: np.round(X).astype(np.int8),
    "booleans": lambda X: X > 3.0,
    "complex": lambda X: X + 1j,
    "texts": lambda X: X.astype(str),
    "dates": lambda X: X.astype("M8[s]"),
    "nothing": lambda X: X[:0],
    "one row": lambda X: X[:1],
    "no columns": lambda X: X[:, :0],
    "one column": lambda X: X[:, :1],
    "three axes": lambda X: X[None],
    "one axis": lambda X: X[:, 0],
    "constant": np.ones_like,
    "zeros": np.zeros_like,
    "alike columns": lambda X: X[:, [0, 0, 0]],
    "large": lambda X: X * 1e150,
    "small": lambda X: X * 1e-155,
    "smallest": lambda X: X * 1e-310,
    "NaN": with_entry(np.nan),
    "infinite": with_entry(np.inf),
    "far": with_entry(1e100),
    "masked": lambda X: np.ma.MaskedArray(X, X > 3.0),
    "None": lambda X: None,
    "a word": lambda X: "words",
    "a number": lambda X: 2**64 - 1,
    "large whole numbers": lambda X: [[2**64 - 1, 2, 3], [4, 5, 6], [7, 8, 10]],
    "a dictionary": lambda X: {"a": 1},
}
ARGUMENTS = (
    *(0, 1, -1, 2, 7, 2**31, 2**63, -(2**63), 0.5, 1e-300, 1e300, float("nan"), float("inf"), True, None),
    *("words", "auto", "", b"bytes", [], [1, 2], [[0.5]], (), {"a": 1}, {1}, range(3), slice(1), np.ones(3)),
    *(np.zeros((0, 2)), np.float32(0.5), np.int8(3), object(), 1j, np.datetime64("2020-01-01")),
)
#: Whoever asks for 2³¹ repetitions is not refused, and waits.
REPETITIONS = ("n_init", "max_iter", "n_restarts_optimizer", "n_epochs", "n_boot")


def answers(model, X):
    found = {name: getattr(model, name)(X) for name in QUESTIONS if hasattr(model, name)}
    for name, x in found.items():
        if isinstance(x, np.ndarray) and x.dtype.kind == "f":
            assert not np.isnan(x).any(), f"{name} gives NaN"
    return found


def judged(learn, want=None):
    """Return "refused", "accepted" or "equal" for a fit and its answers."""
    with bounded(), quietly():
        try:
            found = learn()
        except ValueError:
            return "refused"
    return "equal" if want is not None and equal(found, want) else "accepted"


def cases(row):
    rng = np.random.default_rng(zlib.crc32(row.name.encode()))
    return rng, range(N_QUICK if quick.ALONE else N_SLOW)


@pytest.mark.parametrize("row", [*FIRST, *map(late, LATER)], ids=lambda row: row.name)
def test_rows_of_any_layout_and_kind(row, fuzzed):
    X, y = example(row.make(), np.random.default_rng(0))
    with quietly():
        want = answers(row.make().fit(X, y), X[:5])
    rng, numbers = cases(row)
    for _ in numbers:
        same = rng.random() < 0.3
        name, change = list((SAME if same else OTHER).items())[rng.integers(len(SAME if same else OTHER))]
        rows = change(X)
        targets = y if y is None or not isinstance(rows, np.ndarray | list) else y[: len(rows)]

        def learn(rows=rows, targets=targets, same=same):
            model = row.make().fit(rows, targets)
            return answers(model, X[:5] if same else rows[:5])

        try:
            found = judged(learn, want)
        except Exception as error:
            raise AssertionError(f"{row.name}: {name}: {error!r}") from error
        fuzzed["rows", found] += 1


@pytest.mark.parametrize("row", [*FIRST, *map(late, LATER)], ids=lambda row: row.name)
def test_arguments_of_any_type(row, fuzzed):
    X, y = example(row.make(), np.random.default_rng(0))
    with quietly():
        want = answers(row.make().fit(X, y), X[:5])
    rng, numbers = cases(row)
    names = sorted(row.make().get_params(deep=False))
    for _ in numbers if names else ():
        name, given = names[rng.integers(len(names))], ARGUMENTS[rng.integers(len(ARGUMENTS))]
        if name in REPETITIONS and type(given) is int and given > 7:
            continue

        def learn(name=name, given=given):
            return answers(cloned(row.make()).set_params(**{name: given}).fit(X, y), X[:5])

        try:
            found = judged(learn, want)
        except Exception as error:
            raise AssertionError(f"{row.name}: {name}={given!r}: {error!r}") from error
        fuzzed["arguments", found] += 1
