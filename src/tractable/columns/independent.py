"""Parameters of all families of columns as one value."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from tractable.distributions.independent_columns import IndependentColumns


def independent_columns(
    n_columns: int, estimates: Iterable[dict[str, Any]], n_classes: int = 0
) -> IndependentColumns:
    """Return the columns of a table of K classes, given the estimates of each family.

    Parameters
    ----------
    n_columns : int
        Number of columns of the table.
    estimates : iterable of dict
        What `ColumnFamily.estimate` returns of each family.
    n_classes : int
        K.
    """
    fields: dict[str, Any] = {}
    for name in ("normal", "counted", "binary", "categorical", "sizes"):
        fields[name] = np.zeros(0, dtype=np.int64)
    for name in ("mean", "variance", "rate", "probability", "probabilities"):
        fields[name] = np.zeros((n_classes, 0))
    parts: list[Any] = [None] * n_columns
    for estimate in estimates:
        own = dict(estimate)
        for j, part in own.pop("parts", {}).items():
            parts[j] = part
        if "counted" in own and len(fields["counted"]):  # Poisson columns and multinomial ones
            own = {name: np.concatenate([fields[name], more], axis=-1) for name, more in own.items()}
        fields |= own
    return IndependentColumns(parts=tuple(parts), **fields)
