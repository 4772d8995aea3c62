"""What users of naive Bayes should know of a fit."""

from collections.abc import Iterator

import numpy as np

from tractable.classification.naive_bayes_columns import NaiveColumns
from tractable.classification.naive_bayes_estimation import Estimation
from tractable.statistics import ByClass

__all__ = ["warnings_of"]


def warnings_of(statistic: ByClass, layout: NaiveColumns, how: Estimation) -> Iterator[str]:
    """Return what is to be said of columns that say nothing, and of classes that do not vary."""
    if len(layout.where("multinomial")) == 1 < len(layout.likelihoods):
        label = layout.columns.label(int(layout.where("multinomial")[0]))
        yield (
            f'likelihoods: the column {label!r} alone is "multinomial", and has all of its total in every '
            'class, so that it says nothing; "poisson" compares counts themselves'
        )
    known = how.shared_variance or how.variance is not None or how.bayes
    if known or not len(layout.where("normal")) or len(statistic.parts) < 2:
        return
    rigid = [label for label, part in statistic if _is_rigid(part.parts[0].scatter, part.parts[0].weight)]
    if rigid and len(rigid) < len(statistic.parts):
        yield (
            f"y: the class {rigid[0]!r} has a single row, or rows that are all alike: its variances are "
            f"var_smoothing={how.var_smoothing:g} of those of all rows, and a row that differs at all is not "
            'taken for one of it; NaiveBayes(estimate="bayes") learns from few rows'
        )


def _is_rigid(scatter: np.ndarray, weight: np.ndarray) -> bool:
    return bool(np.all(scatter[weight > 0] <= 0.0) and np.any(weight > 0))
