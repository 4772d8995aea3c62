"""The classes of scikit-learn that a file may name: those of pipelines and searches around a model.

A row says where the class is offered, and what it keeps under names that do not end in an underscore. Adding
a class is adding its row: one whose instances are numbers, text, arrays and other classes that are known.
"""

import inspect
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from tractable.value import value


@value
class Row:
    """A class of scikit-learn."""

    module: str
    state: tuple[str, ...] = ()
    splits: bool = False  # a splitter of rows, which is its arguments
    left_out: tuple[str, ...] = ()  # what a fit leaves behind and nothing needs afterwards
    rebuilt: tuple[tuple[str, Callable[[Any], Any]], ...] = ()  # functions, made again from the rest


def _scorers(search: Any) -> Any:
    """Return the scorer of a search, or of each of its scores, from the names it was given."""
    from sklearn.metrics import check_scoring

    named = search.scoring
    if named is None or isinstance(named, str):
        return check_scoring(search.estimator, named)
    pairs: Iterable[tuple[str, Any]] = named.items() if isinstance(named, dict) else ((x, x) for x in named)
    return {name: check_scoring(search.estimator, score) for name, score in pairs}


_ENCODER = ("_infrequent_enabled", "_drop_idx_after_grouping", "_n_features_outs", "_missing_indices")
_SEARCH = Row(
    module="sklearn.model_selection", left_out=("_checked_cv_orig",), rebuilt=(("scorer_", _scorers),)
)
_SCALER = Row(module="sklearn.preprocessing")
_SPLITTER = Row(module="sklearn.model_selection", splits=True)

CLASSES: dict[str, Row] = {
    "Pipeline": Row(module="sklearn.pipeline"),
    "FeatureUnion": Row(module="sklearn.pipeline"),
    "ColumnTransformer": Row(
        module="sklearn.compose",
        state=("_columns", "_transformer_to_input_indices", "_remainder", "_n_features"),
    ),
    "TransformedTargetRegressor": Row(module="sklearn.compose", state=("_training_dim",)),
    "GridSearchCV": _SEARCH,
    "RandomizedSearchCV": _SEARCH,
    "StandardScaler": _SCALER,
    "MinMaxScaler": _SCALER,
    "MaxAbsScaler": _SCALER,
    "RobustScaler": _SCALER,
    "Normalizer": _SCALER,
    "Binarizer": _SCALER,
    "QuantileTransformer": _SCALER,
    "LabelEncoder": _SCALER,
    "FunctionTransformer": _SCALER,
    "PowerTransformer": Row(module="sklearn.preprocessing", state=("_scaler",)),
    "PolynomialFeatures": Row(
        module="sklearn.preprocessing", state=("_min_degree", "_max_degree", "_n_out_full")
    ),
    "OneHotEncoder": Row(module="sklearn.preprocessing", state=_ENCODER),
    "OrdinalEncoder": Row(module="sklearn.preprocessing", state=_ENCODER),
    "SimpleImputer": Row(module="sklearn.impute", state=("_fit_dtype", "_fill_dtype")),
    "VarianceThreshold": Row(module="sklearn.feature_selection"),
    "PCA": Row(module="sklearn.decomposition", state=("_fit_svd_solver",)),
    "KFold": _SPLITTER,
    "StratifiedKFold": _SPLITTER,
    "GroupKFold": _SPLITTER,
    "ShuffleSplit": _SPLITTER,
    "StratifiedShuffleSplit": _SPLITTER,
    "TimeSeriesSplit": _SPLITTER,
    "LeaveOneOut": _SPLITTER,
}


def row_of(cls: type) -> Row | None:
    """Return the row of a class, where it has one; a class of the same name from elsewhere has none."""
    row = CLASSES.get(cls.__name__)
    return row if row is not None and f"{cls.__module__}.".startswith(f"{row.module}.") else None


def class_of(module: str, name: str) -> Any:
    """Return the class that a row names, or None; imports nothing that no row names."""
    row = CLASSES.get(name)
    return getattr(import_module(module), name, None) if row is not None and row.module == module else None


def is_splitter(cls: type) -> bool:
    """Whether the class splits rows: its instances are the arguments they were made with."""
    row = row_of(cls)
    return row is not None and row.splits


def arguments(splitter: Any) -> dict[str, Any]:
    """Return what a splitter was made with."""
    return {name: getattr(splitter, name) for name in inspect.signature(type(splitter)).parameters}
