"""Mixtures that EM fitted: the density, whose rows are whose, or the climb of the likelihood."""

from typing import Any

import numpy as np

from tractable.base import check_fitted
from tractable.data import is_frame
from tractable.mixture.base import EMMixture
from tractable.mixture.table.estimator import BaseTableMixture
from tractable.plotting.categories import draw_categories
from tractable.plotting.climb import draw_climb
from tractable.plotting.column_axes import ColumnAxis
from tractable.plotting.given import columns_by_name
from tractable.plotting.options import with_options
from tractable.plotting.pictures.compound import usual_columns
from tractable.plotting.plot import draw, picture
from tractable.plotting.responsibilities import draw_responsibilities, model_columns
from tractable.plotting.rows import column_names

__all__: list[str] = []

SHOWN = ("density", "climb", "responsibilities")


@picture.register
def _mixture(x: EMMixture, ax: Any, *, show: str = "density", **options: Any) -> Any:
    """Draw the density; with ``show="responsibilities"`` rows in the colours of their components.

    With ``show="climb"`` what EM reached at each of its steps.
    """
    check_fitted(x)
    if show not in SHOWN:
        raise ValueError(f"show must be one of {', '.join(SHOWN)}, got {show!r}")
    if show == "climb":
        return with_options(_climb, x, ax, options)
    if show == "responsibilities":
        return with_options(_responsibilities, x, ax, options)
    if isinstance(x, BaseTableMixture) and _of_words(x, options.get("dims")):
        return with_options(_words, x, ax, options)
    return draw(x.distribution_, ax, **options)


def _climb(x: EMMixture, ax: Any, *, label: str = "") -> Any:
    return draw_climb(ax, x.objective_trace_, x.converged_, label=label)


def _responsibilities(x: EMMixture, ax: Any, *, data: Any = None, dims: Any = None) -> Any:
    axes = [_axis(x, j) for j in range(x.n_features_in_)]
    return draw_responsibilities(x, ax, axes, model_columns(x, dims), data)


def _words(x: Any, ax: Any, *, data: Any = None, dims: Any = None) -> Any:
    """Draw a column of categories by their names."""
    (column,) = model_columns(x, usual_columns(x.distribution_, dims))
    axis = _axis(x, column)
    codes = None
    if data is not None:
        rows = columns_by_name(data, [axis.name], "data")[axis.name] if is_frame(data) else data
        codes = axis.codes(rows if is_frame(data) else np.asarray(rows)[:, column])
    return draw_categories(x.distribution_, ax, axis, column, codes)


def _of_words(x: Any, dims: Any) -> bool:
    """Say whether what is to be drawn is one column of categories."""
    columns = model_columns(x, usual_columns(x.distribution_, dims))
    return len(columns) == 1 and _axis(x, columns[0]).categories is not None


def _axis(x: Any, column: int) -> ColumnAxis:
    """Return what the places of a column are: of a table, its categories."""
    name = column_names(x)[column]
    if not isinstance(x, BaseTableMixture):
        return ColumnAxis(name=name)
    kind, categories = x.columns_.kinds[column], x.columns_.categories[column]
    if kind == "bernoulli":
        return ColumnAxis(name=name, categories=(False, True), words=("no", "yes"))
    if kind == "categorical" and categories is None:
        categories = tuple(range(x.distribution_.components.parts[column].probabilities.shape[1]))
    return ColumnAxis(name=name, categories=categories, whole=kind == "poisson")
