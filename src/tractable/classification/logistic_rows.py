"""Rows with codes for classes, in units in which columns have the mean 0 and the variance 1."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tractable.base import Rows, classes_of
from tractable.data import Batch, Source
from tractable.data.sample import sample_rows
from tractable.engines import fold
from tractable.statistics import DiagonalMoments
from tractable.value import replace, value

__all__ = ["ClassRows", "class_rows"]

#: Rows that a thread is handed at a time.
BLOCK = 16_384


@value
class ClassRows:
    """Rows to walk: ``walk(of)`` is the sum of ``of(x, codes, weights)`` over blocks.

    Parameters
    ----------
    data, y, weights : as of `Rows`
        Targets are labels where there are `labels`, and codes already where there are none.
    labels : array (K,) or None
    worth : array (K,) or None
        What rows of each class count, times their weights.
    shift, scale : arrays (d,)
        ``(x - shift) * scale`` has the mean 0 and the variance 1; of a column that never varies, 0.
    total : array (K,)
        Weight of the rows of each class.
    """

    data: Any
    y: Any
    weights: Any
    labels: np.ndarray | None
    worth: np.ndarray | None
    shift: np.ndarray
    scale: np.ndarray
    total: np.ndarray

    @property
    def n_rows(self) -> int | None:
        return self.data.n_rows if isinstance(self.data, Source) else len(self.data)

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return float(np.sum(self.total))

    def coded(self, y: Any, weights: Any) -> tuple[np.ndarray, Any]:
        """Return codes and weights of a block."""
        if self.labels is not None:
            y = np.minimum(np.searchsorted(self.labels, y), len(self.labels) - 1)
        if self.worth is None:
            return y, weights
        return y, self.worth[y] if weights is None else self.worth[y] * weights

    def walk(self, of: Callable[..., Any], **options: Any) -> Any:
        def block(x: Any, y: Any, weights: Any = None) -> Any:
            return of(x, *self.coded(y, weights))

        options = {"rows": BLOCK, "label": "LogisticRegression", **options}
        return fold(block, self.data, self.y, weights=self.weights, **options)

    def sample(self, n: int) -> "ClassRows":
        """Return at most n rows, each as likely as any other, whose weights add up to those of all."""
        rng = np.random.default_rng(0)
        if isinstance(self.data, Source):
            return self._streamed(n, rng)
        if len(self.data) <= n:
            return self
        chosen = np.sort(rng.choice(len(self.data), n, replace=False, shuffle=False))
        w = np.ones(n) if self.weights is None else self.weights[chosen]
        return self._scaled(self.data[chosen], self.y[chosen], w)

    def _streamed(self, n: int, rng: np.random.Generator) -> "ClassRows":
        rows, weights = sample_rows(_WithCodes(self), None, n, rng)
        x, codes = rows[:, :-1], rows[:, -1].astype(np.int64)
        return self._scaled(x, codes, np.ones(len(x)) if weights is None else weights)

    def _scaled(self, x: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> "ClassRows":
        counted = weights if self.worth is None else weights * self.worth[codes]
        w = weights * (self.weight / float(np.sum(counted)))
        return replace(self, data=x, y=codes, weights=w, labels=None)


class _WithCodes(Source):
    """A source whose last column is the code of the class."""

    def __init__(self, rows: ClassRows) -> None:
        self._rows = rows

    @property
    def n_rows(self) -> int | None:
        return self._rows.n_rows

    @property
    def n_features(self) -> int:
        return int(self._rows.data.n_features) + 1

    @property
    def feature_names(self) -> None:
        return None

    def batches(self) -> Iterator[Batch]:
        for batch in self._rows.data.batches():
            codes, _ = replace(self._rows, worth=None).coded(batch.y, None)
            yield Batch(X=np.column_stack([batch.X, codes]).astype(float), weights=batch.weights)


def class_rows(
    rows: Rows, classes: np.ndarray | None, class_weight: Any, *, located: bool
) -> tuple[ClassRows, np.ndarray]:
    """Look at the rows once, and once more where a source does not say which classes it has.

    Returns the rows in units of their columns, and the labels of the classes that count.
    """
    found = classes_of(rows, classes)
    if len(found) < 2:
        raise ValueError(
            f"y must have at least 2 classes, but there is 1 class: {found[0]!r}"
            if len(found)
            else "y has no class: all rows have weight zero in sample_weight"
        )
    if classes is not None and rows.weights is not None and not np.all(rows.weights > 0):
        some = rows.weights > 0
        codes = np.searchsorted(found, classes)[rows.y[some]]
        rows = Rows(data=rows.data[some], y=codes, weights=rows.weights[some])
    d = rows.data.n_features if isinstance(rows.data, Source) else rows.data.shape[1]
    plain = ClassRows(
        data=rows.data,
        y=rows.y,
        weights=rows.weights,
        labels=found if classes is None else None,
        worth=None,
        shift=np.zeros(d),
        scale=np.ones(d),
        total=np.ones(len(found)),
    )
    survey = plain.walk(lambda x, y, w: _Survey.of(x, y, w, len(found)), rows=None)
    shift, scale = _units(survey.moments, located=located)
    worth = _worth(class_weight, found, survey.counts)
    total = survey.counts if worth is None else survey.counts * worth
    return replace(plain, worth=worth, shift=shift, scale=scale, total=total), found


@value
class _Survey:
    moments: DiagonalMoments
    counts: np.ndarray

    @classmethod
    def of(cls, x: Any, codes: Any, weights: Any, k: int) -> "_Survey":
        return cls(moments=DiagonalMoments.of(x, weights), counts=np.bincount(codes, weights, minlength=k))

    def __add__(self, other: "_Survey") -> "_Survey":
        return _Survey(moments=self.moments + other.moments, counts=self.counts + other.counts)


def _units(moments: DiagonalMoments, *, located: bool) -> tuple[np.ndarray, np.ndarray]:
    mean = np.asarray(moments.mean)
    spread = np.sqrt(moments.scatter / moments.total)
    size = spread if located else np.hypot(spread, mean)
    varies = size > 8.0 * np.finfo(np.float64).eps * np.abs(mean)
    scale = np.where(varies, 1.0 / np.where(varies, size, 1.0), 0.0)
    return (mean if located else np.zeros_like(mean)), scale


def _worth(class_weight: Any, classes: np.ndarray, counts: np.ndarray) -> np.ndarray | None:
    """Return what rows of each class count: 1, what a dictionary says, or so much that classes are even."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.sum(counts) / (len(counts) * counts)
    if not isinstance(class_weight, Mapping):
        raise ValueError(f'class_weight must be None, "balanced" or a dictionary, got {class_weight!r}')
    unknown = [label for label in class_weight if label not in classes.tolist()]
    if unknown:
        raise ValueError(f"class_weight has the label {unknown[0]!r}, which y does not have")
    found = np.array([class_weight.get(label, 1.0) for label in classes.tolist()], dtype=np.float64)
    if not (np.all(np.isfinite(found)) and np.all(found > 0.0)):
        raise ValueError(f"class_weight must be positive numbers, got {dict(class_weight)}")
    return found
