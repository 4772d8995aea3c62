"""Values, an estimator and archive tools for the tests of saving."""

import io
import json
import zipfile
from functools import cached_property

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from tractable.persistence import load
from tractable.value import value


@value
class Box:
    """A value that checks and freezes what it is given."""

    low: np.ndarray
    high: np.ndarray
    label: str = ""

    def __post_init__(self):
        for name in ("low", "high"):
            array = np.array(getattr(self, name))
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if not (self.low <= self.high).all():
            raise ValueError("low must not exceed high")

    @cached_property
    def volume(self):
        return np.prod(self.high - self.low)


@value
class Centred:
    """A value with a constructor of its own."""

    half: float
    centre: float

    def __init__(self, *, low, high):
        object.__setattr__(self, "half", (high - low) / 2)
        object.__setattr__(self, "centre", (high + low) / 2)

    def _parameters(self):
        return {"low": self.centre - self.half, "high": self.centre + self.half}


class Mean(BaseEstimator):
    """A small estimator."""

    def __init__(self, scale=1.0, kernel=None, random_state=None):
        self.scale = scale
        self.kernel = kernel
        self.random_state = random_state

    def fit(self, X, y=None):
        self.mean_ = np.mean(X, axis=0) * self.scale
        self.n_features_in_ = X.shape[1]
        self.box_ = Box(low=X.min(0), high=X.max(0), label="seen")
        self.trace_ = [1.0, -np.inf]
        return self


def box(**changes):
    return Box(**{"low": np.zeros(2), "high": np.array([1.0, 2.0]), **changes})


def fitted(rng, **params):
    return Mean(**params).fit(rng.standard_normal((20, 3)))


def rewritten(path, change=None, **extra):
    """The archive at path with its document changed and members added."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if change is not None:
        document = json.loads(members["model.json"])
        change(document)
        members["model.json"] = json.dumps(document).encode()
    return archived({**members, **extra}, path)


def archived(members, path, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def npy_bytes(array, **options):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, **options)
    return stream.getvalue()


def model(tree, **header):
    return json.dumps({"format": "tractable", "version": 1, "tractable": "0.1", **header, "object": tree})


def refuses(path, message, **options):
    with pytest.raises(ValueError, match=message) as caught:
        load(path, **options)
    assert str(path) in str(caught.value)
