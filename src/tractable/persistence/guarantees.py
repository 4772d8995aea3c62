"""What every fit guarantees, checked of a model that comes from a file.

A file may have been written by another program, or altered: its checksums are then right and its numbers are
not. A model that no fit can have given is refused, so that predictions do not fail, or search without end.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import is_dataclass
from functools import partial
from typing import Any

import numpy as np

from tractable.persistence.fields import check_fields
from tractable.value import parameters

#: Attributes that hold finite numbers, and their axes: d columns, C classes, K components, n stored rows, u
#: distinct ones, any number (None).
_FINITE: dict[str, tuple[tuple[str | None, ...], ...]] = {
    "coef_": (("d",), (None, "d")),
    "intercept_": ((), (None,)),
    "means_": (("K", "d"),),
    "weights_": (("K",),),
    "cluster_centers_": ((None, "d"),),
    "class_prior_": (("C",),),
    "class_count_": (("C",),),
    "feature_names_in_": (("d",),),
    "classes_": (("C",),),
    "codes_": (("n",), ("n", None)),
    "targets_": (("n",), ("n", None)),
    "row_indices_": (("n",),),
    "_distinct_": (("u",),),
}

#: Attributes in which NaN stands for what cannot be known: uncertainties after a selection of columns, or
#: targets that are missing.
_UNKNOWN = (
    *("std_error", "parameter_covariance_", "dof_", "trace_", "score", "log_"),
    *("y_train_", "_training_rows_"),
)

#: The methods that are called with a few rows of zeros and of ones.
_METHODS = (
    *("score_samples", "predict_proba", "decision_function", "predict", "predict_interval", "transform"),
    *("predict_var", "leverage", "decide", "kneighbors"),
)

#: Columns of rows on which a model of a small file may be tried.
_MAX_COLUMNS = 1 << 20

#: What NumPy says of arrays that do not fit each other: no refusal of rows.
_SHAPES = re.compile(r"broadcast|matmul|einsum|not aligned|reshape|inhomogeneous|ambiguous")


def check_guarantees(estimator: Any, size: int = 0) -> None:
    """Refuse a loaded model that no fit can have given: one ValueError that names the attribute.

    Parameters
    ----------
    estimator : estimator
        As it was in the file.
    size : int
        The number of bytes of the file. A model is tried on rows of as many columns as it names; it may name
        more than a million only if its file is larger than their number.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> model = tractable.Ridge().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0])
    >>> check_guarantees(model)
    >>> model.coef_ = np.array([np.nan])
    >>> check_guarantees(model)
    Traceback (most recent call last):
    ...
    ValueError: Ridge.coef_ holds NaN or infinity, which no fit gives
    """
    from tractable.base import Estimator

    learned = {name: x for name, x in vars(estimator).items() if name.endswith("_")}
    if not isinstance(estimator, Estimator) or not learned:
        return
    kind = type(estimator).__name__
    width = learned.get("n_features_in_")
    if width is not None and (type(width) is not int or not 1 <= width <= _MAX_COLUMNS + size):
        raise ValueError(f"{kind}.n_features_in_ is {str(width)[:60]}, which no fit gives")
    incomplete = estimator.model_tags.missing_values  # NaN in rows and their statistics is a missing entry
    for name, x in learned.items():
        if name in _FINITE or not incomplete:
            _check_numbers(f"{kind}.{name}", name, x)
    _check_axes(kind, learned)
    _check_names(kind, learned)
    _check_codes(kind, learned)
    getattr(estimator, "_check_parameters", _nothing)()
    if width is not None:
        _check_methods(kind, estimator, width)
        _check_sample(kind, estimator)


def _check_numbers(where: str, name: str, x: Any) -> None:
    unknown = any(part in name for part in _UNKNOWN)
    for array in _arrays(x):
        if array.dtype.kind == "c":
            raise ValueError(f"{where} holds complex numbers, which no fit gives")
        if array.dtype.kind != "f":
            continue
        bad = ~np.isfinite(array) if name in _FINITE else np.isnan(array)
        if not unknown and bad.any():
            what = "NaN or infinity" if name in _FINITE else "NaN"
            raise ValueError(f"{where} holds {what}, which no fit gives")


def _arrays(x: Any) -> Iterator[np.ndarray]:
    """Yield the arrays in an attribute; models inside a model are checked by themselves."""
    if isinstance(x, np.ndarray):
        yield x
    elif isinstance(x, dict):
        yield from _arrays(list(x.values()))
    elif isinstance(x, list | tuple):
        for part in x:
            yield from _arrays(part)
    elif is_dataclass(x) and not isinstance(x, type):
        yield from _arrays(parameters(x))


def _check_axes(kind: str, learned: dict[str, Any]) -> None:
    """Refuse attributes whose axes do not fit each other."""
    given = {"d": "n_features_in_", "n": "n_samples_fit_"}
    lengths = {axis: learned[name] for axis, name in given.items() if name in learned}
    points = getattr(learned.get("index_"), "points", None)  # of a neighbour search
    stored = "u" if "_distinct_" in learned else "n"  # equal rows may be one point
    if points is not None and lengths.setdefault(stored, len(points)) != len(points):
        raise ValueError(f"{kind}.index_ has {len(points)} points, where {lengths[stored]} were expected")
    for name, shapes in _FINITE.items():
        if name not in learned or learned[name] is None or isinstance(learned[name], list):
            continue  # classes of several labels are a list
        shape = np.shape(learned[name])
        fitting = [axes for axes in shapes if len(axes) == len(shape)]
        if not fitting:
            raise ValueError(f"{kind}.{name} has the shape {shape}, which no fit gives")
        for axis, length in zip(fitting[0], shape, strict=True):
            if axis is not None and lengths.setdefault(axis, length) != length:
                raise ValueError(f"{kind}.{name} has the shape {shape}, where {lengths[axis]} was expected")


def _check_names(kind: str, learned: dict[str, Any]) -> None:
    """Refuse names of columns that are no texts, or not distinct."""
    names = learned.get("feature_names_in_")
    if names is not None and not (all(isinstance(x, str) for x in names) and len(set(names)) == len(names)):
        raise ValueError(f"{kind}.feature_names_in_ are not the names of columns")


def _check_codes(kind: str, learned: dict[str, Any]) -> None:
    """Refuse codes of rows that stand for no class."""
    codes, classes = learned.get("codes_"), learned.get("classes_")
    if codes is None or classes is None or not np.size(codes):
        return
    codes, each = np.asarray(codes), classes if isinstance(classes, list) else [classes]
    codes = codes.reshape(len(codes), -1)  # a column a label
    if codes.dtype.kind not in "iu" or codes.shape[1] != len(each) or np.min(codes) < 0:
        raise ValueError(f"{kind}.codes_ are not those of its classes_")
    if np.any(codes.max(axis=0) >= [np.size(labels) for labels in each]):
        raise ValueError(f"{kind}.codes_ are not those of its classes_")


def _nothing() -> None:
    """Do nothing: some models check their parameters together with their rows."""


def check_value(record: Any) -> None:
    """Refuse a loaded value whose fields have other types than declared, or that cannot answer rows it names.

    Rows that a value must answer are what its method `_trial_rows` returns.

    Examples
    --------
    >>> from tractable.report import SameForAll, TableColumn, TablePredictor
    >>> mass = TableColumn(name="mass", kind="number", source="mass")
    >>> model = TablePredictor(name="none", target="age", columns=(mass,), model=SameForAll(distribution=3))
    >>> check_value(model)
    Traceback (most recent call last):
    ...
    ValueError: TablePredictor cannot predict: its parts do not fit each other ('int' object has no ...
    """
    check_fields(record)
    if hasattr(record, "_trial_rows"):
        kind = type(record).__name__
        try:
            _check_answers(kind, record, record._trial_rows())  # noqa: SLF001
        except _RefusedRowsError as error:
            raise ValueError(f"{kind} does not answer the rows that it describes: {error}") from error


def _check_methods(kind: str, estimator: Any, width: int) -> None:
    """Refuse a model whose methods fail on ordinary rows with another error than a ValueError."""
    # Numbers of rows that are hardly those of classes, components or columns.
    for rows in (np.zeros((7, width)), np.ones((11, width))):
        with suppress(_RefusedRowsError):
            _check_answers(kind, estimator, rows)


def _check_answers(kind: str, model: Any, rows: Any) -> None:
    """Ask each method; at the end raise the first refusal: zeros may be none of text, or of directions."""
    refusals = []
    for method in filter(partial(hasattr, model), _METHODS):
        try:
            result = _asked(kind, method, partial(getattr(model, method), rows))
        except _RefusedRowsError as error:
            refusals.append(error)
            continue
        several = isinstance(result, list)  # an entry a label
        for part in result if several else [result]:
            if method != "kneighbors" and len(part) != len(rows):
                raise ValueError(f"{kind}.{method} of {len(rows)} rows has {len(part)} entries")
        if method == "transform" and getattr(model, "_n_features_out", result.shape[1]) != result.shape[1]:
            raise ValueError(f"{kind}.transform makes {result.shape[1]} columns, and others are named")
        if method in ("predict_proba", "decision_function") and hasattr(model, "classes_"):
            labels = model.classes_ if several else [model.classes_]
            for part, classes in zip(result if several else [result], map(np.shape, labels), strict=True):
                one = method == "decision_function" and classes == (2,)
                if part.shape[1:] != (() if one else classes):
                    raise ValueError(f"{kind}.classes_ are not those of its scores")
    if refusals:
        raise refusals[0]


def _check_sample(kind: str, estimator: Any) -> None:
    if hasattr(estimator, "sample"):
        with suppress(_RefusedRowsError):
            _asked(kind, "sample", partial(estimator.sample, 2, random_state=0))


class _RefusedRowsError(Exception):
    """A method answered by a ValueError, as it may."""


def _asked(kind: str, method: str, ask: Callable[[], Any]) -> Any:
    """Return what a method returns, or refuse the model where it fails or returns NaN."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = ask()
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, ValueError) and not _SHAPES.search(str(error)):
            raise _RefusedRowsError(str(error)) from error
        raise ValueError(f"{kind} cannot {method}: its parts do not fit each other ({error})") from error
    if any(array.dtype.kind == "f" and np.isnan(array).any() for array in _arrays(result)):
        raise ValueError(f"{kind}.{method} returns NaN, which it does after no fit")
    return result
