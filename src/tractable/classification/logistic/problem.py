"""Logistic regression as a problem of linear predictors: units of columns, class weights, coefficients."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.grouping import weighted_counts
from tractable.arrays.limits import reciprocals
from tractable.arrays.namespace import is_numpy_array, is_sparse, namespace_of, to_numpy
from tractable.data import Batch, Source
from tractable.data.arrays import ArraySource
from tractable.data.blocks import stacked
from tractable.engines.glm.losses import ClassLoss
from tractable.engines.glm.problem import IN_MEMORY, LinearPredictorProblem, Penalty
from tractable.engines.linear_estimate import NotComputedError
from tractable.engines.newton import NewtonResult
from tractable.primitives.sparse_rows import sparse_quantiles
from tractable.statistics import DiagonalMoments, Standardizer, column_varies
from tractable.value import replace, value

#: Entries of rows that a fitted model may refer to, to compute a covariance when it is asked for.
MOST_REFERRED = 2**23
#: Objectives of the same rows, and mean squares of their columns, differ by less than this part, by rounding.
SAME_ROWS = 1e-8

#: Rows of a block, and in all, from which the quartiles of columns are estimated.
QUARTILE_ROWS, MOST_QUARTILE_ROWS = 32, 4096
#: A column whose standard deviation is this many times that by its quartiles has outliers.
OUTLIERS = 100.0
#: Interquartile range of a standard normal.
IQR = 1.349


@value
class ClassSummary:
    """Moments of the columns, weights of the classes, and some of the rows; they add."""

    moments: DiagonalMoments
    class_weight: np.ndarray  # (K,)
    some: Any  # (m, d), sparse where the rows are
    most_rows: ClassVar = MOST_QUARTILE_ROWS  # of a sample, which a cluster may bring to one machine

    @classmethod
    def of(cls, x: Any, codes: Any, weights: Any = None, *, n_classes: int) -> "ClassSummary":
        """Summarise a block of rows with class codes."""
        counted = x if weights is None else x[weights > 0]
        some = counted[:: 1 + counted.shape[0] // QUARTILE_ROWS, :]
        return cls(
            moments=DiagonalMoments.of(x, weights),
            class_weight=weighted_counts(codes, weights, n_classes),
            some=some if is_sparse(some) else np.asarray(to_numpy(some), dtype=np.float64),
        )

    def __add__(self, other: "ClassSummary") -> "ClassSummary":
        some = stacked([self.some, other.some])
        return ClassSummary(
            moments=self.moments + other.moments,
            class_weight=self.class_weight + other.class_weight,
            some=some if some.shape[0] <= MOST_QUARTILE_ROWS else some[::2],
        )

    @property
    def sum_of_squares(self) -> float:
        """Σ w x² of all entries; NaN where one is missing."""
        known = self.moments
        if np.any(known.weight < known.total):
            return math.nan
        return float(np.sum(known.scatter + known.weight * known.mean**2))

    def standardizer(self, *, centered: bool) -> Standardizer:
        """Return the standardizer of the columns, with the scale 0 for constant ones.

        A column with outliers so large that they would hide the other rows is standardized by its quartiles.
        """
        found = Standardizer.from_moments(self.moments)
        low, median, high = _quartiles(self.some)
        width = (high - low) / IQR
        stddev = np.sqrt(self.moments.scatter / self.moments.total)
        robust = column_varies(median, width) & (stddev > OUTLIERS * width)
        shift, stddev = np.where(robust, median, found.shift), np.where(robust, width, stddev)
        varies = found.varies
        if not centered:
            stddev = np.hypot(stddev, shift)
            shift, varies = np.zeros_like(shift), stddev > 0.0
        scale = np.where(varies, reciprocals(np.where(varies, stddev, 1.0)), 0.0)
        return Standardizer(shift=shift, scale=scale, varies=varies)

    def mean_squares(self, standardizer: Standardizer) -> np.ndarray:
        """Return the mean squares of standardized columns: 1, but for constant ones and outliers."""
        second = self.moments.scatter / self.moments.total + (self.moments.mean - standardizer.shift) ** 2
        with np.errstate(over="ignore", invalid="ignore"):
            return np.nan_to_num(second * standardizer.scale * standardizer.scale)

    def class_weights(self, class_weight: Any, classes: np.ndarray) -> np.ndarray | None:
        """Return the factors of the weights of each class's rows that the parameter asks for, (K,)."""
        if class_weight is None:
            return None
        if isinstance(class_weight, str) and class_weight == "balanced":
            return np.sum(self.class_weight) / (len(classes) * self.class_weight)
        if not isinstance(class_weight, Mapping):
            raise ValueError(f'class_weight must be None, "balanced" or a dictionary, got {class_weight!r}')
        unknown = [label for label in class_weight if label not in classes.tolist()]
        if unknown:
            raise ValueError(f"class_weight has the label {unknown[0]!r}, which y does not have")
        found = np.array([class_weight.get(label, 1.0) for label in classes.tolist()], dtype=np.float64)
        if not (np.all(np.isfinite(found)) and np.all(found > 0.0)):
            raise ValueError(f"class_weight must be positive numbers, got {dict(class_weight)}")
        return found


def _quartiles(rows: Any) -> np.ndarray:
    levels = [0.25, 0.5, 0.75]
    if is_sparse(rows):
        return sparse_quantiles(rows, levels)
    # Columns that are contiguous are sorted in a fraction of the time of `np.quantile` over rows.
    ordered = np.sort(np.ascontiguousarray(rows.T), axis=1)
    place = np.multiply(levels, len(rows) - 1)
    below = place.astype(np.int64)
    low, high = ordered[:, below], ordered[:, np.minimum(below + 1, len(rows) - 1)]
    return (low + (place - below) * (high - low)).T


@value
class _ClassWeighted:
    """Multiplies the weights of a batch by those of the classes."""

    factors: np.ndarray

    def __call__(self, batch: Batch) -> Batch:
        factor = namespace_of(batch.y).take(beside(self.factors, batch.y), batch.y)
        return replace(batch, weights=factor if batch.weights is None else factor * batch.weights)


def with_class_weights(data: Source, factors: np.ndarray | None) -> Source:
    """Return rows whose weights are multiplied by those of their classes."""
    if factors is None:
        return data
    of = _ClassWeighted(factors=factors)
    return of(data) if isinstance(data, IN_MEMORY) else data.map(of)  # type: ignore[arg-type,return-value]


@value
class LogisticProblem(LinearPredictorProblem):
    """Loss and penalty over free coefficients (c, p) of standardized columns, over the weight of the rows.

    The objective is scikit-learn's, divided by C and the weight of the rows.
    """

    loss: ClassLoss
    class_factors: np.ndarray | None = None  # (K,), by which the weights of each class's rows are multiplied
    mean_factor: float = 1.0  # of a row

    def to_columns(self, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients and intercepts of the classes, in the units of the columns."""
        each = self.loss.class_coef(coef)
        first = int(self.has_intercept)
        slopes = each[:, first:] * self.standardizer.scale
        intercept = each[:, 0] - slopes @ self.standardizer.shift if first else np.zeros(len(each))
        return slopes, intercept - np.mean(intercept) if first and len(each) > 1 else intercept

    def from_columns(self, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Return free coefficients of the standardized columns, the inverse of `to_columns`."""
        scale, varies = self.standardizer.scale, self.standardizer.varies
        found = np.where(varies, coef / np.where(varies, scale, 1.0), 0.0)
        if self.has_intercept:
            found = np.column_stack([intercept + coef @ self.standardizer.shift, found])
        return self.loss.free_coef(found)

    def deferred_information(self, found: NewtonResult) -> "DeferredInformation | None":
        """Return `information` at a minimum, to be computed later from rows in memory; None of others."""
        data, entries = self.data, (self.data.n_rows or 0) * self.shape[1]
        held = isinstance(data, ArraySource) and is_numpy_array(data.X) and entries <= MOST_REFERRED
        return DeferredInformation(replace(self), found) if held and not self.by_newton else None

    def mean_squares_now(self) -> np.ndarray:
        """Return the mean squares of the standardized columns of the rows as they are."""
        found: ClassSummary = self.reduce(_summary_of_rows, n_classes=len(self.loss.contrasts))
        return found.mean_squares(self.standardizer)


def penalty_of(C: float, l1_ratio: float) -> Penalty:
    """Return scikit-learn's penalty, divided by C."""
    return Penalty(squares=(1.0 - l1_ratio) / C, absolute=l1_ratio / C)


class DeferredInformation:
    """The curvature of a loss at a minimum, computed from rows when it is asked for; they are then let go."""

    __slots__ = ("_known",)

    def __init__(self, problem: LogisticProblem, found: NewtonResult) -> None:
        self._known: Any = problem, found.x, found.value

    def __call__(self) -> np.ndarray:
        """Return the curvature, after a look at whether the rows are those that it is of."""
        if isinstance(self._known, tuple):
            problem, coef, before = self._known
            problem = replace(problem)  # nothing of rows that were changed is kept
            same = abs(problem.objective(coef)[0] - before) <= SAME_ROWS * abs(before)
            squares, known = problem.mean_squares_now(), np.asarray(problem.mean_squares)
            if not (same and np.all(np.abs(squares - known) <= SAME_ROWS * known)):
                raise NotComputedError(
                    "X was changed after the fit, and standard errors are computed from it when they are "
                    "asked for: fit again, or ask for them before X is changed"
                )
            self._known = problem.information(coef)
        return self._known

    def __getstate__(self) -> np.ndarray:
        return self()

    def __setstate__(self, known: np.ndarray) -> None:
        self._known = known


def _summary_of_rows(
    x: Any,
    codes: Any,
    weights: Any = None,
    *,
    n_classes: int,
    scaling: Any,  # noqa: ARG001
) -> ClassSummary:
    return ClassSummary.of(x, codes, weights, n_classes=n_classes)
