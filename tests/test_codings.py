"""Codings of labels, each way."""

import numpy as np
import pytest

from tractable.arrays.namespace import to_numpy
from tractable.distributions import LabelCoding, from_one_hot, one_hot
from tractable.testing import check_persistence

LABELS = [
    ["spam", "ham", "ham"],
    [3, -1, 7, 3],
    [True, False],
    [0.5, 2.0, 0.5],
    np.array(["b", "a"]),
    np.array([10, 5], dtype=np.int32),
    [("a", 1), ("a", 0), ("b", 0)],
    [None, "x", 3, (1, 2)],
]
ALLOWED = {"binary": {0, 1}, "sign": {-1, 1}}


@pytest.mark.spec("CLS-01")
@pytest.mark.parametrize("coding", ["index", "binary", "sign", "one_hot", "rank"])
@pytest.mark.parametrize("y", LABELS)
def test_there_and_back(y, coding):
    labels = LabelCoding.of(y)
    if coding in ALLOWED and labels.n_classes != 2:
        with pytest.raises(ValueError, match="is for two classes"):
            labels.encode(y, coding)
        return
    codes = labels.encode(y, coding)
    assert codes.shape == ((len(y), labels.n_classes) if coding == "one_hot" else (len(y),))
    assert labels.decode(codes, coding).tolist() == list(np.asarray(y).tolist() if hasattr(y, "dtype") else y)
    if coding in ALLOWED:
        assert set(codes.tolist()) <= ALLOWED[coding]


@pytest.mark.spec("CLS-01")
def test_codes_follow_the_order_of_the_classes():
    labels = LabelCoding.of(["c", "a", "b", "a"])
    assert labels.classes.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(labels.encode(["c", "a"]), [2, 0])
    np.testing.assert_array_equal(labels.encode(["c", "a"], "rank"), [3, 1])
    np.testing.assert_array_equal(labels.encode(["c", "a"], "one_hot"), [[0, 0, 1], [1, 0, 0]])
    two = LabelCoding.of(["no", "yes"])
    np.testing.assert_array_equal(two.encode(["yes", "no"], "binary"), [1, 0])
    np.testing.assert_array_equal(two.encode(["yes", "no"], "sign"), [1, -1])
    given = LabelCoding(classes=["low", "high"])
    np.testing.assert_array_equal(given.encode(["high", "low"]), [1, 0])


REFUSED = [
    (lambda c: c.encode(["a", "z"]), "y has the label 'z', not one of the 2 classes 'a', 'b'"),
    (lambda c: c.encode([1, 2]), "y has the label 1"),
    (lambda c: c.encode(["a"], "gray"), "coding must be one of"),
    (lambda c: c.decode([2]), "codes must be those of 2 classes"),
    (lambda c: c.decode([0.5], "binary"), "codes must be"),
    (lambda c: c.decode([0], "sign"), "codes must be"),
    (lambda c: c.decode([np.nan]), "codes must be"),
    (lambda c: c.decode([0], "rank"), "codes must be"),
    (lambda c: c.decode(["a"]), "codes must be numbers"),
    (lambda c: c.decode([[1, 1]], "one_hot"), "codes must be zeros but for a single one"),
    (lambda c: c.decode([[0, 0, 1]], "one_hot"), "codes must be those of 2 classes"),
    (lambda c: LabelCoding.of([]), "y must have at least one"),
    (lambda c: LabelCoding.of([1.0, np.nan]), "y has NaN"),
    (lambda c: LabelCoding.of([["a"], ["b"]]), "y must have labels that can be hashed"),
    (lambda c: LabelCoding.of(np.eye(2)), "y must be a sequence"),
    (lambda c: LabelCoding(classes=["a", "a"]), "classes must be distinct"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_what_is_no_label_or_code_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(LabelCoding.of(["a", "b"]))


@pytest.mark.spec("DIST-12")
def test_one_hot_in_every_library(backend):
    labels = backend.asarray(np.array([[1, 0], [2, 1]]))
    codes = one_hot(labels, 4)
    assert backend.owns(codes)
    assert tuple(codes.shape) == (2, 2, 4)
    np.testing.assert_array_equal(to_numpy(codes).sum(axis=-1), 1.0)
    back = from_one_hot(codes)
    assert backend.owns(back)
    np.testing.assert_array_equal(to_numpy(back), to_numpy(labels))
    assert one_hot(np.array([], dtype=int)).shape == (0, 0)


@pytest.mark.spec("DIST-12")
def test_bad_labels_have_no_code():
    for bad in ([0.5], [-1], [np.nan]):
        with pytest.raises(ValueError, match="labels must be whole"):
            one_hot(bad)
    with pytest.raises(ValueError, match="labels must be below n_classes=2, got 2"):
        one_hot([2], 2)
    for bad in ([[0.5, 0.5]], [[1, 1]], [[0, 0]], 1):
        with pytest.raises(ValueError, match="codes must be zeros"):
            from_one_hot(bad)


def test_saved_and_loaded():
    for y in (["a", "b"], [1, 2]):
        check_persistence(LabelCoding.of(y))
