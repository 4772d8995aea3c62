"""Rows with codes for classes, in units in which columns have the mean 0 and the variance 1."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tractable.base import Rows
from tractable.classification.labelled_rows import LabelledRows
from tractable.data import Batch, Source
from tractable.data.sample import sample_rows
from tractable.statistics import DiagonalMoments
from tractable.value import replace, value

__all__ = ["ClassRows", "class_rows"]

#: Rows that a thread is handed at a time.
BLOCK = 16_384
#: Rows of a block by which the middle half of a column is known, and the most that are held.
SOME, MOST = 256, 4096
#: A column whose standard deviation is this many times that of its middle half has rows far away.
FAR = 100.0
#: How far the quartiles of a Gaussian are apart, in standard deviations.
QUARTILES = 1.349


@value
class ClassRows:
    """Rows to walk: ``walk(of)`` is the sum of ``of(x, codes, weights)`` over blocks.

    Parameters
    ----------
    labelled : LabelledRows
    worth : array (K,) or None
        What rows of each class count, times their weights.
    shift, scale : arrays (d,)
        ``(x - shift) * scale`` has the mean 0 and the variance 1; of a column that never varies, 0. A column
        with rows so far away that they would hide the others has the quartiles of a Gaussian instead.
    total : array (K,)
        Weight of the rows of each class.
    """

    labelled: LabelledRows
    worth: np.ndarray | None
    shift: np.ndarray
    scale: np.ndarray
    total: np.ndarray

    @property
    def n_rows(self) -> int | None:
        """Number of rows, where it is known before a pass."""
        return self.labelled.rows.n_rows

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return float(np.sum(self.total))

    def walk(self, of: Callable[..., Any], **options: Any) -> Any:
        def block(x: Any, codes: Any, weights: Any = None) -> Any:
            return of(x, codes, self._counted(codes, weights))

        return self.labelled.fold(block, **{"rows": BLOCK, "label": "LogisticRegression", **options})

    def sample(self, n: int) -> "ClassRows":
        """Return at most n rows, each as likely as any other, whose weights add up to those of all."""
        rng, rows = np.random.default_rng(0), self.labelled.rows
        if isinstance(rows.data, Source):
            both, w = sample_rows(_WithCodes(self.labelled), None, n, rng)
            return self._scaled(both[:, :-1], both[:, -1].astype(np.int64), w)
        if len(rows.data) <= n:
            return self
        chosen = np.sort(rng.choice(len(rows.data), n, replace=False, shuffle=False))
        w = None if rows.weights is None else rows.weights[chosen]
        return self._scaled(rows.data[chosen], rows.y[chosen], w)

    def _counted(self, codes: Any, weights: Any) -> Any:
        if self.worth is None:
            return weights
        return self.worth[codes] if weights is None else self.worth[codes] * weights

    def _scaled(self, x: np.ndarray, codes: np.ndarray, weights: Any) -> "ClassRows":
        w = np.ones(len(x)) if weights is None else weights
        w = w * (self.weight / float(np.sum(self._counted(codes, w))))
        return replace(self, labelled=replace(self.labelled, rows=Rows(data=x, y=codes, weights=w)))


class _WithCodes(Source):
    """A source whose last column is the code of the class."""

    def __init__(self, labelled: LabelledRows) -> None:
        self._labelled = labelled

    @property
    def n_rows(self) -> int | None:
        return self._labelled.rows.n_rows

    @property
    def n_features(self) -> int:
        return int(self._labelled.rows.data.n_features) + 1

    @property
    def feature_names(self) -> None:
        return None

    def batches(self) -> Iterator[Batch]:
        for batch in self._labelled.batches():
            yield Batch(
                X=np.column_stack([batch.X, np.asarray(batch.y)]).astype(float), weights=batch.weights
            )


def class_rows(labelled: LabelledRows, class_weight: Any, *, located: bool) -> ClassRows:
    """Look at the rows once: return them in units of their columns."""
    k = len(labelled.classes)
    survey = labelled.fold(lambda x, y, weights=None: _Survey.of(x, y, weights, k), rows=BLOCK // 4)
    shift, scale = _units(survey, located=located)
    worth = _worth(class_weight, labelled.classes, survey.counts)
    total = survey.counts if worth is None else survey.counts * worth
    return ClassRows(labelled=labelled, worth=worth, shift=shift, scale=scale, total=total)


@value
class _Survey:
    moments: DiagonalMoments
    counts: np.ndarray
    some: np.ndarray  # a few of the rows

    @classmethod
    def of(cls, x: Any, codes: Any, weights: Any, k: int) -> "_Survey":
        seen = x if weights is None else x[weights > 0]
        return cls(
            moments=DiagonalMoments.of(x, weights),
            counts=np.bincount(codes, weights, minlength=k),
            some=np.asarray(seen[:: 1 + len(seen) // SOME], dtype=np.float64),
        )

    def __add__(self, other: "_Survey") -> "_Survey":
        some = np.concatenate([self.some, other.some])
        return _Survey(
            moments=self.moments + other.moments,
            counts=self.counts + other.counts,
            some=some if len(some) <= MOST else some[::2],
        )


def _units(survey: _Survey, *, located: bool) -> tuple[np.ndarray, np.ndarray]:
    mean = np.asarray(survey.moments.mean)
    spread = np.sqrt(survey.moments.scatter / survey.moments.total)
    low, middle, high = np.quantile(survey.some, [0.25, 0.5, 0.75], axis=0)
    with np.errstate(over="ignore"):
        half = (high - low) / QUARTILES
        far = (
            np.isfinite(half)
            & (half > 8.0 * np.finfo(np.float64).eps * np.abs(middle))
            & (spread > FAR * half)
        )
    mean, spread = np.where(far, middle, mean), np.where(far, half, spread)
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
