"""What is data comes back to the bit, and the laws that say so have power."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from persistence_samples import Box, Centred, Mean, box, fitted
from tractable import ProbabilityTable
from tractable.persistence import load, save
from tractable.testing.persistence_laws import (
    PERSISTENCE_LAWS,
    assert_identical,
    check_persistence,
    survives_saving,
)
from tractable.value import parameters, value


def readonly(x):
    x.setflags(write=False)
    return x


THINGS = {
    "none": None,
    "true": True,
    "int": -(2**70),
    "float": 0.1,
    "negative zero": -0.0,
    "inf": float("-inf"),
    "nan": float("nan"),
    "complex": complex(1.5, float("inf")),
    "fractions": [Fraction(-1, 3), np.array([Fraction(1, 7), Fraction(6, 7)], dtype=object)],
    "exact table": ProbabilityTable(probabilities=[Fraction(1, 3), Fraction(2, 3)], axes={"a": ["x", "y"]}),
    "text": "naïve \ud800 \x00 text",
    "list": [1, [2.0, None], []],
    "tuple": (1, (), ("a", (2,))),
    "dict": {"a": 1, 2: "b", True: None, None: 1.5, (0, (2, "c")): [1], np.int64(7): np.float32(0.1)},
    "slice": slice(1, None, -2),
    "range": range(3, 10, 2),
    "scalars": [
        np.float32(0.1),
        np.int8(-3),
        np.bool_(True),
        np.complex64(1j),
        np.str_("é"),
        np.bytes_(b"x"),
    ],
    "empty scalars": [np.str_(""), np.bytes_(b"")],
    "time": [np.datetime64("2020-01-01T00:00", "s"), np.timedelta64(3, "D")],
    "float array": np.linspace(0, 1, 7),
    "special floats": np.array([np.nan, np.inf, -0.0, 5e-324]),
    "bool array": np.array([[True], [False]]),
    "complex array": np.array([1j, 2.0]),
    "text array": np.array(["a", "bé", ""]),
    "bytes array": np.array([b"a", b"bc"]),
    "time array": np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"),
    "0-d array": np.array(3.0),
    "empty array": np.empty((0, 3), dtype=np.int16),
    "empty in the middle": np.empty((2, 0, 5)),
    "big endian": np.arange(4, dtype=">i4"),
    "big-endian text": np.array(["ab"], dtype=">U2"),
    "half": np.array([1.5], dtype=np.float16),
    "strided": np.arange(20.0).reshape(4, 5)[::2, ::-1],
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "broadcast": np.broadcast_to(np.arange(3), (2, 3)),
    "read-only": readonly(np.arange(3)),
    "names": np.array(["height", "width", None, 1.5, 3], dtype=object),
    "object matrix": np.array([["a"], ["b"]], dtype=object),
    "empty names": np.array([], dtype=object),
    "0-d object": np.array("a", dtype=object),
    "value": box(label="b"),
    "own constructor": Centred(low=1.0, high=4.0),
    "values": {"boxes": (box(), [box()])},
    "estimator": Mean(kernel=box()),
    "nested": Pipeline(
        [("a", Mean(scale=np.float64(2.0))), ("b", StandardScaler().set_output(transform="pandas"))]
    ),
}


@pytest.mark.parametrize("law", PERSISTENCE_LAWS)
@pytest.mark.parametrize("thing", THINGS.values(), ids=THINGS)
def test_everything_that_is_data_comes_back(thing, law, rng):
    law(thing, rng)


@pytest.mark.parametrize("law", PERSISTENCE_LAWS)
def test_fitted_estimators_come_back(law, rng):
    law(fitted(rng), rng)
    law(Pipeline([("scale", StandardScaler()), ("mean", fitted(rng))]), rng)


@pytest.mark.parametrize("law", PERSISTENCE_LAWS)
def test_private_learned_state_comes_back(law, rng):
    estimator = fitted(rng)
    estimator._search_ = {"trace": np.arange(3.0)}
    law(estimator, rng)


def test_the_suite_runs_every_law(rng):
    check_persistence(fitted(rng), rng=0)


def test_values_are_frozen_again_and_caches_stay_behind(tmp_path):
    original = box()
    assert original.volume == 2.0
    save(original, tmp_path / "box")
    back = load(tmp_path / "box", types=[Box])
    assert not back.low.flags.writeable
    assert "volume" not in vars(back)
    assert back.volume == 2.0


def test_loaded_attributes_can_be_written(tmp_path, rng):
    save(fitted(rng), tmp_path / "m")
    load(tmp_path / "m", types=[Mean, Box]).mean_[0] = 5.0


def test_memory_maps_are_saved_as_arrays(tmp_path, rng):
    x = np.memmap(tmp_path / "x.dat", dtype=float, shape=(3, 2), mode="w+")
    x[:] = rng.standard_normal((3, 2))
    survives_saving({"points": x}, rng)


def test_metadata_of_a_dtype_is_dropped(tmp_path):
    save(np.zeros(2, dtype=np.dtype("f8", metadata={"unit": "m"})), tmp_path / "a")
    assert load(tmp_path / "a").dtype.metadata is None


@value
class Drifts:
    """Normalises again what was normalised."""

    weight: float

    def __post_init__(self):
        object.__setattr__(self, "weight", self.weight / 3)


@pytest.mark.parametrize("law", PERSISTENCE_LAWS)
@pytest.mark.parametrize("broken", [Drifts(weight=1.0)])
def test_the_laws_reject_what_does_not_survive(law, broken, rng):
    with pytest.raises(AssertionError):
        law(broken, rng)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, True),
        (1.0, np.float64(1.0)),
        (0.0, -0.0),
        (np.zeros(2), np.zeros(2, dtype="f4")),
        ([1], [1, 2]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (np.zeros(2), np.zeros((1, 2))),
        (box(), box(label="x")),
        (np.array(["1"], dtype=object), np.array([1], dtype=object)),
        (Mean(), Mean(scale=2.0)),
    ],
)
def test_identity_sees_small_differences(a, b):
    with pytest.raises(AssertionError):
        assert_identical(a, b, "x")


def test_parameters_rebuild_a_value():
    assert parameters(Centred(low=1.0, high=4.0)) == {"low": 1.0, "high": 4.0}
