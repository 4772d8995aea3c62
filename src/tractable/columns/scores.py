"""Scores of rows of a table given each of K classes or components: a sum over the families of its columns."""

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tractable.columns.categorical import BernoulliScores, CategoryScores
from tractable.columns.counts import CountScores
from tractable.columns.family import PartScores
from tractable.columns.normal import NormalScores
from tractable.distributions.independent_columns import IndependentColumns, some_columns
from tractable.value import value

#: The scores of each family, and the field of `IndependentColumns` that has its positions.
SCORES: dict[str, Any] = {
    "normal": NormalScores,
    "categorical": CategoryScores,
    "binary": BernoulliScores,
    "counted": CountScores,
}


@value
class ColumnScores:
    """log π_k + Σ_j log p(x_j | k) of blocks of rows, (n, K), with the constants of K classes computed once.

    A missing entry (NaN) is left out of the sum, which integrates it out. Make one with `of`.
    """

    log_weights: np.ndarray  # (K,)
    families: tuple[tuple[np.ndarray, Any], ...]  # positions of columns, and their scores

    @classmethod
    def of(cls, columns: IndependentColumns, log_weights: np.ndarray, **options: Any) -> "ColumnScores":
        """Compute the constants.

        Parameters
        ----------
        columns : IndependentColumns
            The columns given each class.
        log_weights : array (K,)
            log π.
        options
            Of the scores of families: `relative` scores of counts omit what is the same for all k, relative
            to `average` rates; logarithms are at least `least`; `noise` is the variance of errors of numbers.
        """
        each = [(getattr(columns, name), scores) for name, scores in SCORES.items()]
        some = [(where, scores.of(columns, **options)) for where, scores in each if len(where)]
        others = np.array([j for j, part in enumerate(columns.parts) if part is not None], dtype=np.int64)
        if len(others):
            some.append((others, PartScores.of(columns)))
        return cls(log_weights=log_weights, families=tuple(some))

    def __call__(self, x: Any) -> Any:
        """Return the scores of rows (n, d), categories by their codes; dense, or sparse and complete."""
        found = [scores(some_columns(x, where)) for where, scores in self.families]
        total = sum(found[1:], found[0]) if found else np.zeros((x.shape[0], len(self.log_weights)))
        total += self.log_weights
        return total

    @property
    def log_prior(self) -> float:
        """The log prior of one pseudo-count of each category, and of a row of the average counts."""
        return sum(getattr(scores, "log_prior", 0.0) for _, scores in self.families)


_relative: WeakKeyDictionary[IndependentColumns, ColumnScores] = WeakKeyDictionary()


def relative_scores(columns: IndependentColumns) -> ColumnScores:
    """Return scores that omit what is the same for all k, without log π_k; they are computed once."""
    if columns not in _relative:
        _relative[columns] = ColumnScores.of(columns, np.zeros(columns.n_components), relative=True)
    return _relative[columns]
