"""E-steps over rows with missing entries, grouped by which are missing."""

from functools import cached_property, partial
from typing import Any

import numpy as np

from tractable.base import Rows
from tractable.covariance import Covariance, Diagonal, Isotropic
from tractable.data import Source
from tractable.data.blocks import tree_sum
from tractable.engines import fold
from tractable.mixture.units import Units
from tractable.primitives.em import PatternRows, group_by_pattern, pattern_pass
from tractable.primitives.threads import ordered_map, single_threaded_blas
from tractable.value import value

__all__ = ["IncompleteRows", "PassSums"]

#: Rows of a source that are grouped at a time.
GROUPED = 131_072

#: Log weights, means and covariances of the components.
Given = tuple[np.ndarray, np.ndarray, np.ndarray]


@value
class PassSums:
    """What a pass over some rows sums; they add."""

    sums: np.ndarray  # (K, P)
    evidence: float

    def __add__(self, other: "PassSums") -> "PassSums":
        return PassSums(sums=self.sums + other.sums, evidence=self.evidence + other.evidence)


class IncompleteRows:
    """Rows with missing entries, and the passes over them.

    Rows held in memory are grouped once, which takes a copy of what was observed. Rows of a source are
    grouped anew, a batch at a time, in every pass.
    """

    def __init__(self, rows: Rows, units: Units) -> None:
        self.rows, self.units = rows, units

    def sums(self, log_weights: np.ndarray, means: np.ndarray, structure: Covariance) -> PassSums:
        """Return the completed sums about the components' means, and the log likelihood of the entries."""
        given = log_weights, means, _covariances(structure, len(means))
        if isinstance(self.rows.data, Source):
            return fold(partial(self._batch, given), self.rows.data, rows=GROUPED, label="E-step")
        grouped, jacobian = self._grouped
        with single_threaded_blas():
            parts = ordered_map(partial(_part, grouped, given), grouped.parts())
            return tree_sum([PassSums(sums=0.0, evidence=jacobian), *parts])  # type: ignore[arg-type]

    @cached_property
    def _grouped(self) -> tuple[PatternRows, float]:
        return self._group(self.rows.data, self.rows.weights)

    def _group(self, x: np.ndarray, weights: Any) -> tuple[PatternRows, float]:
        """Group rows; with the logarithm of what standardising multiplies their densities by."""
        grouped = group_by_pattern(x, weights, self.units.shift, self.units.scale)
        weight = np.ones(grouped.n_rows) if grouped.weights is None else grouped.weights
        total = np.add.reduceat(weight, grouped.begins[:-1]) if grouped.n_rows else np.zeros(0)
        return grouped, float(total @ (grouped.masks @ np.log(self.units.scale)))

    def _batch(self, given: Given, x: np.ndarray, weights: Any = None) -> PassSums:
        grouped, jacobian = self._group(x, weights)
        sums, evidence = pattern_pass(grouped, grouped.weights, *given)
        return PassSums(sums=sums, evidence=float(evidence) + jacobian)


def _part(grouped: PatternRows, given: Given, part: tuple[int, int]) -> PassSums:
    sums, evidence = pattern_pass(grouped, grouped.weights, *given, part=part)
    return PassSums(sums=sums, evidence=float(evidence))


def _covariances(structure: Covariance, K: int) -> np.ndarray:
    independent = isinstance(structure, Diagonal | Isotropic)
    found = structure.diagonal if independent else structure.dense()
    return np.broadcast_to(found, (K, *found.shape[-1 if independent else -2 :]))
