"""Laws of estimators on arrays of other libraries, on the host or on a device: the answers of NumPy's arrays.

Rows, targets and weights of a library give fitted arrays and predictions of that library, equal to those of
the same numbers in NumPy. So do rows with missing entries, where a model takes them, and several classes.
"""

from collections.abc import Callable
from functools import partial
from inspect import getattr_static
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tractable.arrays.devices import map_arrays
from tractable.arrays.namespace import is_array_api_obj, to_numpy
from tractable.base.estimator import RECORDS
from tractable.persistence import load, save
from tractable.testing.estimator_laws import assert_close, cloned, example, learn, quiet

#: What is asked of a fitted model, with one answer a row, and more that it is given: the coverage of
#: intervals is one that few neighbours have.
QUESTIONS: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(
        ("predict", "predict_proba", "decision_function", "score_samples", "transform", "predict_var"), ()
    ),
    "predict_interval": (0.5,),
}

#: Of how many rows that is asked.
N_ASKED = 12

#: A search: as many steps here as there, from one start; of hyper-parameters, those it starts with.
SEARCH = {"max_iter": 4, "n_init": 1, "optimizer": None}

#: How many entries are missing.
HOLES = 0.2

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
    compare_fits(estimator, X, y, None, asarray, owns)
    weights = rng.integers(1, 4, len(X)).astype(float)
    compare_fits(estimator, *harder(estimator, X, y, rng), weights, asarray, owns)


def harder(estimator: Any, X: Any, y: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return the rows with missing entries, and with three classes, where a model takes them."""
    tags = estimator.__sklearn_tags__()
    if tags.input_tags.allow_nan:
        X = np.where(rng.random(X.shape) < HOLES, np.nan, X)
    if tags.estimator_type == "classifier" and tags.classifier_tags.multi_class:
        y = y + (rng.random(len(y)) < 1.0 / 3.0)
    return X, y


def compare_fits(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    asarray: Callable[[Any], Any],
    owns: Callable[[Any], bool],
) -> None:
    """Raise unless a fit to arrays of another library is that of NumPy's, and stays so when it is moved."""
    more = {} if sample_weight is None else {"sample_weight": sample_weight}
    there = {name: asarray(x) for name, x in more.items()}
    own = None if y is None else asarray(y)
    with quiet():
        host = learn(cloned(estimator), X, y, **more)
        other = learn(cloned(estimator), asarray(X), own, **there)
    X, y = X[:N_ASKED], None if y is None else y[:N_ASKED]
    own = None if y is None else asarray(y)
    answers = {}
    for name in (name for name in QUESTIONS if hasattr(host, name)):
        try:
            answers[name] = _table(getattr(host, name)(X, *QUESTIONS[name]))
        except ValueError as reason:  # a fit that did not compute it
            refuses_too(other, name, asarray(X), reason)
    compare(answers, other, asarray(X), owns)
    if hasattr(host, "score"):
        assert_close(np.array([other.score(asarray(X), own)]), np.array([host.score(X, y)]), DIGITS)
    name, wanted = next(iter(answers.items()))
    for back in (other.numpy(), _saved_and_loaded(other)):
        assert_close(_table(getattr(back, name)(X)), wanted, DIGITS)


def compare(answers: dict[str, np.ndarray], other: Any, X: Any, owns: Callable[[Any], bool]) -> None:
    """Raise unless a model of arrays of another library gives the host's answers, in that library."""
    for name, wanted in answers.items():
        found = getattr(other, name)(X, *QUESTIONS[name])
        if not owns(found):
            raise AssertionError(f"{name} returns {type(found).__name__}, not an array of the rows' library")
        assert_close(_table(to_numpy(found)), wanted, DIGITS)
    for name in learned_names(other):
        map_arrays(getattr(other, name, None), partial(_owned, owns=owns, name=name))
    if hasattr(other, "sample"):
        drawn = other.sample(3, random_state=0)
        _owned(drawn[0] if isinstance(drawn, tuple) else drawn, owns, "sample")


def refuses_too(other: Any, name: str, X: Any, reason: ValueError) -> None:
    """Raise unless a question is refused with the words that the host has for it."""
    try:
        getattr(other, name)(X, *QUESTIONS[name])
    except ValueError as found:
        if str(found) == str(reason):
            return
    raise AssertionError(f"{name} is not refused as on the host: {reason}")


def learned_names(estimator: Any) -> list[str]:
    """Return the names of what users read of a fitted model: attributes and properties that end in ``_``."""
    kind = type(estimator)
    computed = [name for name in dir(kind) if isinstance(getattr_static(kind, name), property)]
    stay = (*RECORDS, "theta_") if hasattr(estimator, "kernel_") else RECORDS  # hyper-parameters of a kernel
    return [
        name
        for name in (*vars(estimator), *computed)
        if name.endswith("_") and not name.startswith("_") and name not in stay
    ]


def _saved_and_loaded(estimator: Any) -> Any:
    with TemporaryDirectory() as folder:
        path = f"{folder}/model"
        save(estimator, path)
        return load(path)


def _owned(array: Any, owns: Callable[[Any], bool], name: str) -> Any:
    # Words, which no library of numbers holds, and single numbers may be NumPy's.
    plain = isinstance(array, np.ndarray) and (array.dtype.kind not in "fiub" or not array.ndim)
    if is_array_api_obj(array) and not plain and not owns(array):
        raise AssertionError(f"{name} holds an array of {type(array).__module__}, not of the rows' library")
    return array


def _table(found: Any) -> np.ndarray:
    found = np.asarray(found, dtype=float)
    return found.reshape(len(found), -1)
