"""Covariance structures: full, diagonal, isotropic, low-rank plus diagonal; structure is a type."""

from tractable.covariance.diagonal import Diagonal, Isotropic
from tractable.covariance.full import Full
from tractable.covariance.low_rank import LowRankPlusDiagonal
from tractable.covariance.shapes import MCLUST_SHAPES
from tractable.covariance.structure import Covariance, as_structure, other_dims, resolve_dims

__all__ = [
    "MCLUST_SHAPES",
    "Covariance",
    "Diagonal",
    "Full",
    "Isotropic",
    "LowRankPlusDiagonal",
    "as_structure",
    "other_dims",
    "resolve_dims",
]
