"""What naive Bayes refuses, and what it warns of."""

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np

from tractable.base import check_choice
from tractable.columns import ColumnLikelihoods, Estimation
from tractable.statistics import ByClass


def check_rule(bandwidth: Any) -> None:
    """Refuse a bandwidth that is neither a rule nor a positive number."""
    if isinstance(bandwidth, str):
        check_choice("bandwidth", bandwidth, ("silverman", "scott", "isj", "loo", "lscv"))
    elif isinstance(bandwidth, bool) or not (
        isinstance(bandwidth, Real) and 0.0 < float(bandwidth) < float("inf")
    ):
        raise ValueError(f"bandwidth must be a rule or a positive number, got {bandwidth!r}")


def warnings_of(statistic: ByClass, layout: ColumnLikelihoods, how: Estimation) -> Iterator[str]:
    """Return warnings about columns that cannot distinguish classes, and about classes without variance."""
    if len(layout.where("multinomial")) == 1 < len(layout.likelihoods):
        label = layout.columns.label(int(layout.where("multinomial")[0]))
        yield (
            f'likelihoods: the column {label!r} alone is "multinomial": it has all of its total in every '
            'class and cannot distinguish them; "poisson" compares counts themselves'
        )
    known = how.shared_variance or how.variance is not None or how.bayes
    if known or not len(layout.where("normal")) or len(statistic.parts) < 2:
        return
    moments = statistic.parts.parts[0]
    if moments.scatter.min() > 0.0:
        return
    unseen = moments.weight <= 0
    rigid = np.all((moments.scatter <= 0.0) | unseen, axis=1) & ~np.all(unseen, axis=1)
    if np.any(rigid) and not np.all(rigid):
        name = statistic.labels[rigid].tolist()[0]
        yield (
            f"y: the class {name!r} has a single row, or rows that are all alike: its variances are "
            f"var_smoothing={how.var_smoothing:g} of those of all rows, and a row that differs at all is not "
            'taken for one of it; NaiveBayes(estimate="bayes") learns from few rows'
        )
