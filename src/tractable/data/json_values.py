"""Values as JSON has them."""

import math
from typing import Any

__all__ = ["as_json"]


def as_json(x: Any) -> Any:
    """Return text, numbers, lists and dicts: numbers that are none are null, what JSON does not know is text.

    Examples
    --------
    >>> import numpy as np
    >>> as_json({"scores": np.array([0.5, np.nan]), 3: ("a", None)})
    {'scores': [0.5, None], '3': ['a', None]}
    """
    if isinstance(x, dict):
        return {str(name): as_json(part) for name, part in x.items()}
    if hasattr(x, "tolist"):
        return as_json(x.tolist())
    if isinstance(x, list | tuple):
        return [as_json(part) for part in x]
    if isinstance(x, float):
        return x if math.isfinite(x) else None  # JSON has no word for it
    return x if isinstance(x, str | int | None) else str(x)
