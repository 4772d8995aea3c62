"""Pipelines: the predictions or density of the last step over the input columns of the first."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from tractable.base import check_fitted
from tractable.neighbors import KNeighborsClassifier
from tractable.plotting.columns import INTERVAL
from tractable.plotting.pictures.density import draw_estimate
from tractable.plotting.pictures.regression import draw_coefficients
from tractable.plotting.plot import check_options, draw, draw_as, load_pictures, picture, with_options

#: The label of a density of transformed rows.
DENSITY = "density, as transformed"

#: Options that give the points to draw at.
WHERE = ("data", "X", "y", "limits", "grid")


class _Whole(Pipeline):
    """A fitted pipeline with `predict_interval`, which scikit-learn's does not forward."""

    @available_if(lambda self: hasattr(self[-1], "predict_interval"))
    def predict_interval(self, X: Any, coverage: float, **options: Any) -> Any:
        """Return prediction intervals of the last step for transformed rows."""
        return self[-1].predict_interval(self[:-1].transform(X), coverage, **options)


@picture.register
def _pipeline(x: Pipeline, ax: Any, **options: Any) -> Any:
    """Draw the predictions over the input columns; without rows, the coefficients of the last step."""
    check_fitted(x)
    last, whole = x[-1], _Whole(x.steps)
    if len(x) == 1:
        return draw(last, ax, **options)
    if is_classifier(x) or is_regressor(x):
        kind = ClassifierMixin if is_classifier(x) else RegressorMixin
        if hasattr(last, "coef_") and all(options.get(name) is None for name in WHERE):
            load_pictures(kind)
            check_options(picture.dispatch(kind), options)
            return _coefficients(x, ax, options.get("coverage", INTERVAL))
        if isinstance(last, KNeighborsClassifier):
            options = {"levels": (), **options}  # votes of neighbours have no contours
        return draw_as(kind, whole, ax, **options)
    if hasattr(last, "score_samples"):
        return with_options(_density, whole, ax, options)
    raise ValueError(f"x must end in a regressor, a classifier or a density, got {type(last).__name__}")


def _coefficients(x: Pipeline, ax: Any, coverage: float) -> Any:
    last = x[-1]
    coef, labels = np.atleast_2d(np.asarray(last.coef_, dtype=float)), None
    if len(coef) > 1:
        labels = [*map(str, getattr(last, "classes_", [f"target {k}" for k in range(len(coef))]))]
    return draw_coefficients(last, ax, coverage, labels, names=_names_before_last(x, coef.shape[1]))


def _names_before_last(x: Pipeline, n: int) -> list[str]:
    """Return the names of the input columns of the last step."""
    try:
        return [*map(str, x[:-1].get_feature_names_out())]
    except (AttributeError, ValueError):  # a step does not name its output
        return [f"x{j}" for j in range(n)]


def _density(x: Pipeline, ax: Any, *, data: Any = None, **options: Any) -> Any:
    """Draw the density of transformed rows: regions that hold given fractions of them."""
    if data is None:
        raise ValueError("data must be given, the rows to draw over")
    return with_options(partial(draw_estimate, np.asarray(data, dtype=float), DENSITY), x, ax, options)
