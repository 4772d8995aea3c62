"""Laws of estimators on arrays of other libraries, on the host or on a device: the answers of NumPy's arrays.

Rows, targets and weights of a library give fitted arrays and predictions of that library, equal to those of
the same numbers in NumPy.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tractable.arrays.devices import map_arrays
from tractable.arrays.namespace import is_array_api_obj, to_numpy
from tractable.base.estimator import RECORDS
from tractable.testing.estimator_laws import assert_close, cloned, example, learn, quiet

#: What is asked of a fitted model, with one answer a row.
QUESTIONS = ("predict", "predict_proba", "decision_function", "score_samples", "transform")

#: A search: as many steps here as there, from one start; of hyper-parameters, those it starts with.
SEARCH = {"max_iter": 4, "n_init": 1, "optimizer": None}

#: How closely answers agree, in double precision.
DIGITS = 1e-9


def answers_are_those_of_the_host(
    estimator: Any, asarray: Callable[[Any], Any], owns: Callable[[Any], bool], rng: np.random.Generator
) -> None:
    """Fitted arrays and predictions are of the library of the rows, and equal NumPy's."""
    X, y = example(estimator, rng)
    # A long search multiplies rounding, which also decides between starts that end alike.
    same = {name: n for name, n in SEARCH.items() if name in estimator.get_params(deep=False)}
    estimator = cloned(estimator).set_params(**same)
    weights = rng.integers(1, 4, len(X)).astype(float)
    for more in ({}, {"sample_weight": weights}):
        given = {name: asarray(x) for name, x in more.items()}
        with quiet():
            host = learn(cloned(estimator), X, y, **more)
            other = learn(cloned(estimator), asarray(X), None if y is None else asarray(y), **given)
        compare(host, other, X, asarray, owns)
        back = other.numpy()
        for name in asked(host):
            assert_close(_table(getattr(back, name)(X)), _table(getattr(host, name)(X)), DIGITS)


def compare(
    host: Any, other: Any, X: np.ndarray, asarray: Callable[[Any], Any], owns: Callable[[Any], bool]
) -> None:
    """Raise unless a model of arrays of another library gives the host's answers, in that library."""
    for name in asked(host):
        found, wanted = getattr(other, name)(asarray(X)), getattr(host, name)(X)
        if not owns(found):
            raise AssertionError(f"{name} returns {type(found).__name__}, not an array of the rows' library")
        assert_close(_table(to_numpy(found)), _table(wanted), DIGITS)
    for name, x in vars(other).items():
        if name.endswith("_") and not name.startswith("_") and name not in RECORDS:
            map_arrays(x, partial(_owned, owns=owns, name=name))
    if hasattr(host, "sample"):
        drawn = other.sample(3, random_state=0)
        _owned(drawn[0] if isinstance(drawn, tuple) else drawn, owns, "sample")


def asked(estimator: Any) -> list[str]:
    """Return which questions a fitted model answers."""
    return [name for name in QUESTIONS if hasattr(estimator, name)]


def _owned(array: Any, owns: Callable[[Any], bool], name: str) -> Any:
    # Words, which no library of numbers holds, and single numbers may be NumPy's.
    plain = isinstance(array, np.ndarray) and (array.dtype.kind not in "fiub" or not array.ndim)
    if is_array_api_obj(array) and not plain and not owns(array):
        raise AssertionError(f"{name} holds an array of {type(array).__module__}, not of the rows' library")
    return array


def _table(found: Any) -> np.ndarray:
    found = np.asarray(found, dtype=float)
    return found.reshape(len(found), -1)
