"""Models whose steps run on the host alone."""

from typing import Any

from tractable.arrays.namespace import is_foreign_array

__all__ = ["on_host"]


def on_host(X: Any) -> Any:
    """Return rows as they are, unless another library holds them: nothing moves to the host silently."""
    if is_foreign_array(X):
        raise ValueError(
            f"X is an array of {type(X).__module__.split('.')[0]}, which is not moved to the host silently; "
            "convert it to NumPy first"
        )
    return X
