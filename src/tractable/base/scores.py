"""What R² and accuracy are sums of, over whatever `fit` takes: arrays, frames, files and streams."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from tractable.arrays.devices import on_host
from tractable.arrays.namespace import check_real_kind, check_unmasked, namespace_of
from tractable.base.labels import as_labels
from tractable.base.validation import as_rows_source, require_targets
from tractable.data import Batch, Source, is_frame, is_streamed, with_passes
from tractable.data.frames import split_frame
from tractable.data.predict_to import FittedColumns
from tractable.data.streamed_tables import streamed_tables
from tractable.statistics.by_class import check_one_kind
from tractable.statistics.moments import DiagonalMoments
from tractable.value import replace, value


def rows_in_memory(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Return rows, targets and weights held in memory; columns of a frame may be named.

    Sources are read into memory, with the columns that the model was fitted on.
    """
    if is_streamed(X):
        held = _collected(estimator, X, y, sample_weight)
        if held.y is None:
            raise _no_target()
        return held.X, held.y, held.weights
    require_targets(estimator, y)
    rows, targets, weights = _split(X, y, sample_weight)
    (check_real_kind if is_regressor(estimator) else check_unmasked)("y", targets)
    return rows, targets, weights


def held_with_weights(estimator: Any, X: Any, sample_weight: Any) -> tuple[Any, Any]:
    """Return rows and weights held in memory, as `rows_in_memory` does, of what needs no targets."""
    if is_streamed(X):
        held = _collected(estimator, X, None, sample_weight)
        return held.X, held.weights
    rows, _, weights = _split(X, None, sample_weight)
    return rows, weights


def _collected(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Batch:
    """Return the rows of a stream in memory, with the columns that the model was fitted on."""
    source = as_rows_source(X, y, sample_weight).beside_model(getattr(estimator, "_library_", None))
    held = source.collect()
    return replace(held, X=FittedColumns.of(estimator, source, "X")(held.X))


def _split(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Return rows, targets and weights, of which columns of a frame may be named."""
    if sample_weight is not None:
        check_real_kind("sample_weight", sample_weight)
    if is_frame(X):
        return split_frame(X, y, sample_weight)
    if isinstance(y, str) or isinstance(sample_weight, str):
        as_rows_source(X, y, sample_weight)  # an array has no names: its error says so
    return X, y, sample_weight


def reduced(
    estimator: Any, X: Any, y: Any, sample_weight: Any, of: Callable[..., Callable[[Batch], Any]]
) -> Any:
    """Return the sum of a statistic of predictions over a stream, which has its targets and weights."""
    reads_text = estimator.__sklearn_tags__().input_tags.string
    X = with_passes(X)
    tables = streamed_tables(X, y, sample_weight) if reads_text else None
    if tables is not None:
        return tables.reduce(of(estimator=estimator, columns=_same))
    source: Source = as_rows_source(X, y, sample_weight)
    source = source.beside_model(getattr(estimator, "_library_", None))
    return source.reduce(of(estimator=estimator, columns=FittedColumns.of(estimator, source)))


def _same(X: Any) -> Any:
    return X


@value
class SquaredErrors:
    """Moments of targets, and the sum of squares of their residuals: what R² needs."""

    targets: DiagonalMoments
    residual: np.ndarray  # Σ w (y - ŷ)², one entry a target

    @classmethod
    def of(cls, y: Any, predicted: Any, weights: Any = None) -> "SquaredErrors":
        """Summarise predictions beside their targets; of those on a device, there."""
        xp = namespace_of(predicted)
        y, predicted = (xp.astype(xp.reshape(x, (x.shape[0], -1)), xp.float64) for x in (y, predicted))
        w = xp.ones_like(y[:, 0]) if weights is None else xp.astype(weights, xp.float64)
        if not bool(xp.all(xp.isfinite(y))):
            raise ValueError("y contains NaN or infinity")
        return cls(targets=DiagonalMoments.of(y, w), residual=w @ (y - predicted) ** 2)

    def __add__(self, other: "SquaredErrors") -> "SquaredErrors":
        return SquaredErrors(targets=self.targets + other.targets, residual=self.residual + other.residual)

    @property
    def r_squared(self) -> float:
        """The mean of R² over the targets; of a constant one, 1 where it is predicted exactly, else 0."""
        total = np.asarray(self.targets.scatter)
        exact = np.where(self.residual > 0.0, 0.0, 1.0)
        return float(
            np.mean(np.where(total > 0.0, 1.0 - self.residual / np.where(total > 0.0, total, 1.0), exact))
        )


@value
class SquaredErrorsOf:
    """The squared errors of a model on a block of rows."""

    estimator: Any
    columns: Callable[[Any], Any]  # a block's columns as the model takes them

    def __call__(self, block: Batch) -> SquaredErrors:
        targets, weights = _targets_and_weights(block)
        check_real_kind("y", targets)
        predicted = np.asarray(on_host(self.estimator.predict(self.columns(block.X))))
        return SquaredErrors.of(np.asarray(targets, dtype=np.float64), predicted, weights)


@value
class CorrectlyClassified:
    """Weights of the rows of a block whose class a model predicts, and of all its rows."""

    estimator: Any
    columns: Callable[[Any], Any]

    def __call__(self, block: Batch) -> np.ndarray:
        targets, weights = _targets_and_weights(block)
        labels = as_labels(targets)
        predicted = np.asarray(on_host(self.estimator.predict(self.columns(block.X))))
        check_one_kind([predicted, labels])
        weights = np.ones(block.n_rows) if weights is None else weights
        return np.array([weights @ (predicted == labels), weights.sum()])


def _targets_and_weights(block: Batch) -> Any:
    """Return the targets and weights of a block, which are compared with predictions on the host."""
    if block.y is None:
        raise _no_target()
    return on_host((block.y, block.weights))


def _no_target() -> ValueError:
    return ValueError("y is missing: the source has no target; name its column")
