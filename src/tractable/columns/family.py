"""What the family of a column does: sums of rows by class, estimates from these sums, scores of rows."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tractable.columns.independent import independent_columns
from tractable.columns.likelihoods import ColumnLikelihoods
from tractable.columns.membership import ClassCodes, Responsibilities
from tractable.statistics.rows import NotYetDetermined
from tractable.value import value

Membership = ClassCodes | Responsibilities


@value
class Estimation:
    """How the columns' own sums become priors: of naive Bayes, whose priors are centred on all classes.

    Parameters
    ----------
    bayes : bool
        Whether parameters are integrated out rather than estimated.
    pseudocounts : float
        Strength of the priors, in observations.
    var_smoothing : float
        Added to variances, as a fraction of the variance of the column, or `of_largest` of them.
    shared_variance : bool
        Whether a column has one variance in all classes.
    variance : float or array (d,), optional
        Known variances.
    bandwidth, kernel
        Of kernel density estimates.
    min_categories : int or array (d,), optional
        Least number of categories of a column of codes.
    """

    bayes: bool = False
    pseudocounts: float = 1.0
    var_smoothing: float = 1e-9
    of_largest: bool = False
    shared_variance: bool = False
    variance: Any = None
    bandwidth: Any = "silverman"
    kernel: Any = "gaussian"
    min_categories: Any = None


@value
class PartScores:
    """log p_k(x) of rows, (n, K), of columns whose parameters are distributions; summed over columns."""

    parts: tuple[Any, ...]  # distributions of batch K

    @classmethod
    def of(cls, columns: Any, **_: Any) -> "PartScores":
        """Take the distributions of columns."""
        return cls(parts=tuple(part for part in columns.parts if part is not None))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the scores of rows (n, d)."""
        found = np.zeros((len(x), *self.parts[0].batch_shape))
        for part, column in zip(self.parts, x.T, strict=True):
            seen = ~np.isnan(column)
            found[seen] += part.log_prob(np.asarray(column[seen, None], dtype=np.float64))
        return found


class ColumnFamily(ABC):
    """Columns of a table that have a family in common, at some positions.

    Rows belong to K classes or components. The membership says how: `ClassCodes` in naive Bayes,
    `Responsibilities` in a mixture, and those of a hidden state in a latent tree.

    Parameters
    ----------
    layout : ColumnLikelihoods
        The columns of the table.
    where : array of int
        Positions of the columns of this family.
    """

    #: From parameters, as `estimate` returns them in `IndependentColumns`, to scores: rows (n, d) → (n, K).
    scores: ClassVar[Callable[..., Any]] = PartScores.of

    def __init__(self, layout: ColumnLikelihoods, where: np.ndarray) -> None:
        self.layout, self.where = layout, where

    @abstractmethod
    def summarize(self, x: Any, membership: Membership) -> Any:
        """Return the statistic of the columns x (n, d) of all classes: arrays (K, …), or a tuple of K.

        Missing entries (NaN) count for nothing. Statistics of blocks of rows add up.
        """

    @abstractmethod
    def prior(self, sums: Any, how: Estimation, classes: Any = None) -> Any:
        """Return the prior that is centred on the average of all classes; `classes` are their labels."""

    @abstractmethod
    def estimate(self, sums: Any, prior: Any) -> dict[str, Any]:
        """Return the parameters of all classes: fields of `IndependentColumns`.

        ``parts`` is a mapping from positions to distributions of batch K.
        """

    def predictive(self, sums: Any, prior: Any) -> dict[str, Any]:
        """Return the same with parameters integrated out; where this changes nothing, the estimates."""
        return self.estimate(sums, prior)

    def log_evidence(self, sums: Any, prior: Any) -> float:
        """Return Σ_k log p(columns of class k), of likelihoods that have a conjugate prior."""
        raise NotImplementedError(f"{type(self).__name__} has no conjugate prior")

    def distributions(self, estimate: dict[str, Any]) -> list[Any]:
        """Return the distributions of batch K of the columns, given what `estimate` returned."""
        return independent_columns(len(self.layout.likelihoods), [estimate]).distributions(self.where)

    def check_observed(self, sums: Any) -> None:
        """Refuse columns without an observed value in any class."""
        weight = sums.weight.sum(axis=0)
        if not weight.min() > 0:
            raise self._unobserved(int(np.argmin(weight)))

    def _unobserved(self, i: int) -> NotYetDetermined:
        return NotYetDetermined(f"X has no observed value in the column {self.label(i)!r}")

    def check(self, x: np.ndarray) -> np.ndarray:
        """Refuse entries that the likelihoods exclude; return the largest of each column."""
        return self.layout.check(self.where, x)

    def label(self, i: int = 0) -> Any:
        """Return the name of the family's i-th column."""
        return self.layout.columns.label(int(self.where[i]))
