"""Rows of functions that fit planes and are no estimators: checked as an estimator checks its own."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.base import check_columns, check_rows
from tractable.base.estimator import Estimator
from tractable.base.tags import ModelTags
from tractable.base.validation import check_names, refuse_foreign
from tractable.engines import fold
from tractable.linear_model.linear_rows import as_floats
from tractable.linear_model.sparse_columns import Columns, columns_of, columns_of_statistic
from tractable.statistics import LinearFactor

__all__ = ["predicted", "summarised"]


class LinearFit(Estimator):
    """Checks rows as every estimator does, for functions that have none."""

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact in one pass")


def predicted(X: Any, coefs: Array, intercepts: Any, names: tuple[str, ...] | None) -> Any:
    """Return planes at the rows of X, checked as an estimator's: finite, as wide, columns in their order."""
    fit = LinearFit()
    check_names(fit, names, coefs.shape[0], reset=True)
    if is_numpy_array(coefs):
        refuse_foreign(X)
    return as_floats(check_columns(fit, X)) @ coefs + intercepts


def summarised(
    X: Any, y: Any, sample_weight: Any, *, fit_intercept: bool
) -> tuple[Columns, tuple[str, ...] | None]:
    """Check rows and a target, or a statistic of them, and return their columns and the names of these."""
    if isinstance(X, LinearFactor):
        if y is not None or sample_weight is not None:
            raise ValueError("y and sample_weight must be None where X is a statistic: it has them in it")
        columns, names = columns_of_statistic(X, fit_intercept=fit_intercept), None
    else:
        columns, names = _columns_of_rows(X, y, sample_weight, fit_intercept=fit_intercept)
    if columns.n_targets != 1:
        raise ValueError(f"y must be one target for a path, got {columns.n_targets}")
    if not columns.weight > 0.0:
        raise ValueError("sample_weight must have a positive entry, all are zero")
    return columns, None if names is None else tuple(str(name) for name in names)


def _columns_of_rows(X: Any, y: Any, sample_weight: Any, *, fit_intercept: bool) -> tuple[Columns, Any]:
    table: Any = LinearFit()
    rows = check_rows(table, X, y, sample_weight, reset=True, supervised=True)
    names = getattr(table, "feature_names_in_", None)
    if rows.y is None or not isinstance(rows.data, np.ndarray):
        statistic = fold(LinearFactor.of, rows.data, rows.y, weights=rows.weights)
        return columns_of_statistic(statistic, fit_intercept=fit_intercept), names
    return columns_of(rows.data, rows.y, rows.weights, fit_intercept=fit_intercept), names
