"""Which columns of a distribution of vectors are drawn."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.covariance import resolve_dims
from tractable.data import as_source, is_frame
from tractable.distributions import Distribution
from tractable.plotting.given import columns_by_name

__all__ = [
    "as_number",
    "check_coverages",
    "check_single",
    "chosen_columns",
    "named_columns",
    "shown_data",
    "told_coverages",
    "two_columns",
]

#: What intervals of one column hold, and regions of two.
INTERVAL, REGIONS = 0.9, (0.5, 0.9, 0.99)


def check_single(x: Any) -> None:
    """Refuse a batch."""
    if x.batch_shape:
        raise ValueError(f"x must be one distribution, got a batch of shape {x.batch_shape}")


def chosen_columns(x: Any, dims: Any, most: int = 2) -> list[int]:
    """Return the positions of the one or two columns to draw: the first ones when not given."""
    dim = x.event_shape[0]
    wanted = range(min(dim, most)) if dims is None else dims
    columns = list(resolve_dims(wanted, dim, getattr(x, "names", None)))
    if not 1 <= len(columns) <= 2:
        raise ValueError(f"dims must name one or two columns, got {dims!r}")
    return columns


def named_columns(x: Any, columns: list[int]) -> list[str]:
    """Return what the columns are called."""
    names = getattr(x, "names", None)
    return [names[j] if names else f"x{j}" for j in columns]


def shown_data(x: Any, data: Any, columns: list[int]) -> np.ndarray | None:
    """Return the columns of the rows to show: by name where both the distribution and the rows have names."""
    if data is None:
        return None
    names = getattr(x, "names", None)
    if names and is_frame(data):
        source = as_source(columns_by_name(data, [names[j] for j in columns], "data"))
        return np.concatenate([batch.X for batch in source.batches()])
    rows = np.asarray(data, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != x.event_shape[0]:
        raise ValueError(f"data must be rows of {x.event_shape[0]} columns, got shape {rows.shape}")
    return rows[:, columns]


def told_coverages(
    coverage: Any, coverages: Any, usual: Sequence[float] = REGIONS
) -> tuple[float, list[float]]:
    """Return the probability of the interval of one column, and those of the regions of two.

    Either is told by the one name or the other; intervals hold 90 % when nothing is told.
    """
    if coverage is not None and coverages is not None:
        raise ValueError("coverage and coverages are the same: give one of them")
    if coverage is None and coverages is None:
        return INTERVAL, [*usual]
    name, told = ("coverage", coverage) if coverages is None else ("coverages", coverages)
    found = check_coverages(told, name)
    return found[-1], found


def check_coverages(coverages: Any, name: str = "coverages") -> list[float]:
    """Return probabilities between 0 and 1, in order."""
    found = sorted(np.atleast_1d(np.asarray(coverages, dtype=float)).tolist())
    if not found or not all(0.0 < coverage < 1.0 for coverage in found):
        raise ValueError(f"{name} must be probabilities between 0 and 1, got {coverages!r}")
    return found


def as_number(x: Distribution) -> Any:
    """Return a distribution of vectors of one entry as one of numbers."""
    return x.as_univariate()


def two_columns(x: Any, dims: Any) -> list[int]:
    """Return the positions of the two columns of a fitted model to draw: the first ones when not given."""
    names = getattr(x, "feature_names_in_", None)
    wanted = range(2) if dims is None else dims
    columns = list(resolve_dims(wanted, x.n_features_in_, None if names is None else tuple(names)))
    if len(columns) != 2:
        raise ValueError(f"dims must name two columns, got {dims!r}")
    return columns
