"""Counts that add up to a total: how many of each category are to be expected."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.distributions.discrete.counting import CountVectors
from tractable.plotting.bars import draw_bars
from tractable.plotting.columns import check_single
from tractable.plotting.plot import picture

__all__: list[str] = []


@picture.register
def _counts(
    x: CountVectors, ax: Any, *, data: Any = None, names: Sequence[str] | None = None, coverage: float = 0.9
) -> Any:
    """Draw the expected count of each category, and the interval it lies in; `data` are rows of counts."""
    check_single(x)
    rows = None if data is None else np.asarray(data, dtype=float)
    if rows is not None and (rows.ndim != 2 or rows.shape[1] != x.n_classes):
        raise ValueError(f"data must be rows of {x.n_classes} counts, got shape {rows.shape}")
    told = f"count, of {int(x.n_trials)}"
    ends = x.marginals.interval(coverage)
    return draw_bars(ax, x.mean, ends, coverage=coverage, names=names, label=told, data=rows)
