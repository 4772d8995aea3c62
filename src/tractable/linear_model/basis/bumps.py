"""Centres and widths of local basis functions."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.base.parameters import check_number
from tractable.linear_model.basis.places import check_placement, spread_over

__all__ = ["check_centers", "check_width", "column_centers", "column_names", "gaps"]


def check_width(width: Any) -> None:
    """Refuse a width that is not positive."""
    if width is not None:
        check_number("width", width, above=0.0)


def check_centers(centers: Any, placement: Any, X: Array) -> Array | None:
    """Return given centres, (k, d), in the library of the rows; None for a number of them."""
    check_placement(placement)
    if np.ndim(centers) == 0:
        check_number("centers", centers, least=1, whole=True)
        return None
    xp = namespace_of(X)
    found = xp.asarray(centers, dtype=xp.float64, device=device(X))
    if found.ndim != 2 or found.shape[0] < 1 or found.shape[1] != X.shape[1]:
        raise ValueError(f"centers must be of shape (n_centers, {X.shape[1]}), got {tuple(found.shape)}")
    if not bool(xp.all(xp.isfinite(found))):
        raise ValueError("centers contains NaN or infinity")
    return found


def column_centers(X: Array, weights: Array, n: int, placement: str) -> list[Array]:
    """Return at most n centres for each column."""
    return [spread_over(X[:, j], weights, n, placement) for j in range(X.shape[1])]


def gaps(centers: Array) -> float:
    """Return the average distance between neighbours, or 1 where there is one centre alone."""
    n = centers.shape[0]
    return float(centers[-1] / (n - 1) - centers[0] / (n - 1)) if n > 1 else 1.0


def column_names(what: str, inputs: list[str], centers: list[Array]) -> list[str]:
    """Return a name for each function of each column, which says where its centre is."""
    names = [
        [f"{what}({name} at {float(c):.4g})" for c in of] for name, of in zip(inputs, centers, strict=True)
    ]
    # Centres that four digits do not tell apart are counted instead.
    return [
        label if len(set(labels)) == len(labels) else f"{what}({name}; {k})"
        for name, labels in zip(inputs, names, strict=True)
        for k, label in enumerate(labels)
    ]
