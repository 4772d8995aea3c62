"""What distributions of vectors ask of their arguments: locations, names of coordinates, observed values."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals, positions
from tractable.arrays.linalg import cholesky
from tractable.arrays.namespace import Array, freeze, namespace_of
from tractable.covariance import Covariance, as_structure
from tractable.distributions.checks import check_finite
from tractable.distributions.distribution import broadcast_batches

__all__ = ["as_location", "as_names", "as_scale", "as_values", "split_mapping", "taken"]


def as_location(name: str, x: Any, structure: Covariance) -> Array:
    """Return a mean (*batch, d) that fits the structure's library, dtype, dimension and batch."""
    like = structure.diagonal
    xp = namespace_of(like)
    if hasattr(x, "dtype") and namespace_of(x, like) is not xp:
        raise ValueError(f"{name} and covariance must be arrays of one library")
    x = as_reals(name, x, like)
    if x.ndim < 1 or x.shape[-1] != structure.dim:
        raise ValueError(f"{name} must have shape (*batch, {structure.dim}), got {tuple(x.shape)}")
    check_finite(name, x)
    batch = broadcast_batches(**{name: tuple(x.shape[:-1]), "covariance": structure.batch_shape})
    return xp.broadcast_to(freeze(xp.astype(x, xp.result_type(x, like))), (*batch, structure.dim))


def as_scale(name: str, scale: Any, like: Any) -> Covariance:
    """Return a structure as it is, and a matrix (*batch, d, d) as :class:`Full`; errors name the argument."""
    if isinstance(scale, Covariance):
        return scale
    scale = as_reals(name, scale)
    cholesky(scale, name=name)
    return as_structure(scale, like=like)


def as_names(names: Iterable[str] | None, dim: int) -> tuple[str, ...] | None:
    """Return the names of the coordinates: distinct strings, one each."""
    if names is None:
        return None
    names = (names,) if isinstance(names, str) else tuple(names)
    if len(names) != dim or len(set(names)) < dim or not all(isinstance(n, str) for n in names):
        raise ValueError(f"names must be {dim} distinct strings, got {names!r}")
    return names


def as_values(values: Any, given: Sequence[int], like: Array, *, missing: bool = False) -> Array:
    """Return observed values (*batch, len(given)), finite, or NaN where they may be `missing`."""
    if values is None:
        raise ValueError("values must say what was observed of dims")
    values = as_reals("values", values, like)
    if values.ndim == 0:
        values = values[None]
    if values.shape[-1] != len(given):
        raise ValueError(
            f"values must have {len(given)} entries on the last axis, got shape {tuple(values.shape)}"
        )
    xp = namespace_of(values)
    check_finite("values", xp.where(xp.isnan(values), xp.zeros_like(values), values) if missing else values)
    return values


def split_mapping(observed: Mapping[Any, Any], values: Any, like: Array) -> tuple[list[Any], Array]:
    """Return the dims and the values, stacked on a last axis, of ``{dim: value}``."""
    if values is not None:
        raise ValueError("values must not be given twice: dims is a mapping that has them")
    xp = namespace_of(like)
    columns = [as_reals("values", v, like) for v in observed.values()]
    shape = np.broadcast_shapes(*(tuple(c.shape) for c in columns))
    stacked = [xp.broadcast_to(c, shape) for c in columns] or [like[..., 0]]
    return list(observed), xp.stack(stacked, axis=-1)[..., : len(columns)]


def taken(x: Array, dims: Sequence[int]) -> Array:
    """Return some of the entries of the last axis."""
    return namespace_of(x).take(x, positions(dims, x), axis=-1)
