"""Which columns of a distribution of vectors are drawn."""

from functools import singledispatch
from typing import Any

import numpy as np

from tractable.covariance import resolve_dims
from tractable.distributions import (
    Mixture,
    MultivariateNormal,
    MultivariateStudentT,
    Normal,
    Product,
    StudentT,
)

__all__ = ["as_number", "check_single", "chosen_columns", "named_columns", "shown_data"]


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


def shown_data(data: Any, columns: list[int]) -> np.ndarray | None:
    """Return the columns of the rows to show."""
    return None if data is None else np.asarray(data, dtype=float)[:, columns]


@singledispatch
def as_number(x: Any) -> Any:
    """Return a distribution of vectors of one entry as one of numbers."""
    raise ValueError(f"x must have columns that can be drawn by themselves, got {type(x).__name__}")


@as_number.register
def _normal(x: MultivariateNormal) -> Normal:
    return Normal(mean=x.mean[..., 0], variance=x.variance[..., 0])


@as_number.register
def _student(x: MultivariateStudentT) -> StudentT:
    return StudentT(dof=x.dof, location=x.location[..., 0], scale=x.structure.diagonal[..., 0] ** 0.5)


@as_number.register
def _mixture(x: Mixture) -> Any:
    return Mixture(weights=x.weights, components=as_number(x.components))


@as_number.register
def _product(x: Product) -> Any:
    part = x.parts[0]
    return as_number(part) if part.event_shape else part
