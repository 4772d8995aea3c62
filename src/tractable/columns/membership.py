"""Which class or component rows belong to, as codes or responsibilities, and the sums of columns by class."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from tractable.arrays.devices import beside, on_host
from tractable.arrays.grouping import weighted_counts
from tractable.arrays.limits import LARGEST, too_large
from tractable.arrays.namespace import is_foreign_array, is_sparse, namespace_of
from tractable.primitives.naive_bayes import category_counts, class_moments, class_sums, sparse_class_sums
from tractable.statistics import DiagonalMoments, Totals
from tractable.statistics.rows import as_rows, check_squares
from tractable.statistics.rows import counts as row_weights
from tractable.value import replace, value

#: Below, a sum of squares may have been lost.
SMALL = 1e-290


@value
class ClassCodes:
    """The class of each row, by its code from 0 to K - 1, and how often rows count."""

    #: Whether entries have been checked before.
    checked: ClassVar = False

    codes: Any  # (n,)
    n_classes: int
    weights: Any = None  # (n,)

    @property
    def total(self) -> np.ndarray:
        """How often each class counts, (K,)."""
        total = on_host(weighted_counts(self.codes, self.weights, self.n_classes))
        return np.asarray(total, dtype=np.float64)

    def moments(self, x: Any, about: Any = None) -> DiagonalMoments:
        """Return weight, mean and scatter of the observed entries of every class, (K, d)."""
        xp = namespace_of(x)
        found = class_moments(x, self.codes, self.n_classes, self.weights)
        weight, mean, scatter, total = on_host(found) if is_foreign_array(x) else found
        unseen = np.zeros(self.n_classes)
        if weight.shape[1] > 1 and np.any(weight != total[:, None]):
            check_no_infinity(x)
            empty = xp.nonzero(xp.all(xp.isnan(x), axis=1))[0]
            one = xp.take(row_weights(self.weights, as_rows(x[:, :1])), empty)
            unseen += on_host(weighted_counts(xp.take(self.codes, empty), one, self.n_classes))
        if not (scatter.min(initial=1.0) > SMALL and are_moderate(mean, scatter)):
            self._check_squares(scatter, mean, x)
        return DiagonalMoments(weight=weight, mean=mean, scatter=scatter, total=total, unseen=unseen)

    def totals(
        self,
        x: Any,
        check: Callable[[Any], Any] | None = None,
        *,
        within: tuple[float, float] = (0.0, LARGEST),
        above: float | None = None,
    ) -> Totals:
        """Return weight and sum of the observed entries of every class, (K, 1) or (K, d), and (K, d).

        Parameters
        ----------
        x : array (n, d), or sparse rows without missing entries
            Rows.
        check : callable, optional
            Refuses rows; called if an entry is missing or not within an interval.
        within, above
            The interval; and a threshold above which entries are ones, others zeros.
        """
        if is_sparse(x):
            sums = sparse_class_sums(x, self.codes, self.n_classes, self.weights)
            return Totals(weight=self.total[:, None], total=sums)
        given = self.codes, self.n_classes, self.weights
        sums = class_sums(x, *given, within=within, above=above)
        if np.all(np.isfinite(sums)):
            return Totals(weight=self.total[:, None], total=sums)
        if check is not None:
            check(x)
        seen = observed(x)
        sums = class_sums(np.where(seen, x, 0.0 if above is None else above), *given, above=above)
        if not np.all(np.isfinite(sums)):
            raise too_large("X")
        return Totals(weight=class_sums(seen.astype(np.float64), *given), total=sums)

    def category_counts(self, x: Any, n_categories: int) -> np.ndarray | None:
        """Return how often each column has each category by class, (K, d, C); None if x has fractions."""
        return category_counts(x, self.codes, self.n_classes, self.weights, n_categories)

    def indicator_sums(self, indicators: Any) -> np.ndarray:
        """Return the sums of sparse rows of zeros and ones in every class, (K, m)."""
        return sparse_class_sums(indicators, self.codes, self.n_classes, self.weights)

    def each_class(self) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """Yield which rows each class has, as a mask, and how often they count."""
        for k in range(self.n_classes):
            own = np.asarray(self.codes == k)
            yield own, None if self.weights is None else self.weights[own]

    def _check_squares(self, scatter: np.ndarray, mean: np.ndarray, x: Any) -> None:
        """Raise where the sum of squares of a column in a class overflows, or underflows though it varies."""
        xp = namespace_of(x)
        check_no_infinity(x)
        if not are_moderate(mean, scatter):
            raise too_large("X")
        several = replace(self, weights=None).total > 1.0  # one row differs from none
        small = (scatter <= SMALL) & several[:, None]
        if not np.any(small):
            return
        own = xp.nonzero(xp.take(beside(np.any(small, axis=1), x), self.codes, axis=0))[0]
        codes, x = xp.take(self.codes, own), xp.take(x, own, axis=0)
        center, small = (xp.take(beside(a, x), codes, axis=0) for a in (mean, small))
        lost = small & (xp.abs(x - center) > 4.0 * float(np.finfo(np.float64).eps) * xp.abs(center))
        if bool(xp.any(lost)):
            k = int(codes[xp.nonzero(xp.any(lost, axis=1))[0][0]])
            w = None if self.weights is None else xp.take(self.weights, xp.nonzero(self.codes == k)[0])
            check_squares(beside(scatter[k], x), x[codes == k, :], beside(mean[k], x), w)


@value
class Responsibilities:
    """How much of each row each of K components has, times the weight of the row; rows are checked before."""

    checked: ClassVar = True

    values: np.ndarray  # (n, K)

    @classmethod
    def of(cls, values: np.ndarray, weights: np.ndarray | None = None) -> "Responsibilities":
        """Weight responsibilities (n, K) by how often rows count."""
        return cls(values=values if weights is None else values * weights[:, None])

    @property
    def n_classes(self) -> int:
        """K."""
        return self.values.shape[1]

    @cached_property
    def total(self) -> np.ndarray:
        """How often each component counts, (K,)."""
        return np.asarray(self.values.sum(axis=0))

    def moments(self, x: np.ndarray, about: np.ndarray | None = None) -> DiagonalMoments:
        """Return weight, mean and scatter of the observed entries of every component, (K, d).

        Sums are taken about points (K, d) near the means, such as those of the last step of EM; the means are
        found first when none are given.
        """
        if about is None:
            found = self.totals(x)
            about = found.total / np.where(found.weight > 0, found.weight, 1.0)
        weight, unseen = np.repeat(self.total[:, None], x.shape[1], axis=1), 0.0 * self.total
        first, second = self._about(x, about)
        if not np.all(np.isfinite(first)):  # a missing entry spoils its sum
            seen = ~np.isnan(x)
            weight = self.values.T @ seen.astype(np.float64)
            unseen = self.values.T @ (~seen.any(axis=1)).astype(np.float64)
            first, second = self._about(x, about, complete=False)
        first /= np.where(weight > 0, weight, 1.0)
        scatter = np.maximum(second - weight * first * first, 0.0)
        return DiagonalMoments(
            weight=weight, mean=about + first, scatter=scatter, total=self.total, unseen=unseen
        )

    def _about(
        self, x: np.ndarray, about: np.ndarray, *, complete: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return Σ_n r_nk (x_n - a_k) and Σ_n r_nk (x_n - a_k)², (K, d) each."""
        first, second = np.zeros_like(about), np.zeros_like(about)
        for k, (r, center) in enumerate(zip(self.values.T, about, strict=True)):
            step = x - center
            if not complete:
                np.nan_to_num(step, copy=False, nan=0.0)
            first[k] = r @ step
            np.multiply(step, step, out=step)
            second[k] = r @ step
        return first, second

    def totals(self, x: np.ndarray, check: Any = None, *, within: Any = None, above: Any = None) -> Totals:
        """Return weight and sum of the observed entries, (K, d); see `ClassCodes.totals`."""
        ones = x if above is None else np.where(np.isnan(x), np.nan, x > above)
        total = self.indicator_sums(x) if is_sparse(x) else self.values.T @ ones
        if np.all(np.isfinite(total)):
            return Totals(weight=np.repeat(self.total[:, None], x.shape[1], axis=1), total=total)
        seen = ~np.isnan(x)
        total = self.values.T @ np.where(seen, ones, 0.0)
        return Totals(weight=self.values.T @ seen.astype(np.float64), total=total)

    def category_counts(self, x: np.ndarray, n_categories: int) -> np.ndarray:
        """Return the weight of each category of each column in every component, (K, d, C)."""
        sums = self.indicator_sums(indicators(x, np.full(x.shape[1], n_categories)))
        return sums.reshape(self.n_classes, x.shape[1], n_categories)

    def indicator_sums(self, indicators: Any) -> np.ndarray:
        """Return the sums of sparse rows of zeros and ones in every component, (K, m)."""
        return np.asarray((indicators.T @ self.values).T)

    def each_class(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield which rows each component has, as a mask, and how often they count."""
        for own in self.values.T:
            yield own > 0.0, own[own > 0.0]


def indicators(x: np.ndarray, sizes: np.ndarray) -> Any:
    """Return sparse rows with a one for the category of each observed entry, (n, Σ C_j).

    Examples
    --------
    >>> indicators(np.array([[0.0, 2.0], [np.nan, 1.0]]), np.array([2, 3])).toarray().tolist()
    [[1.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0, 0.0]]
    """
    seen = ~np.isnan(x)
    codes = (x + (np.cumsum(sizes) - sizes))[seen].astype(np.int32)
    ends = np.concatenate([[0], np.cumsum(seen.sum(axis=1))]).astype(np.int32)
    return csr_array((np.ones(len(codes)), codes, ends), shape=(len(x), int(sizes.sum())))


def check_no_infinity(x: Any) -> None:
    """Refuse rows with an infinite entry."""
    xp = namespace_of(x)
    if bool(xp.any(xp.isinf(x))):
        raise ValueError("X contains infinity; remove the rows or mark the entries as missing (NaN)")


def observed(x: np.ndarray) -> np.ndarray:
    """Return which entries are not missing; refuse those that are infinite or too large to square."""
    check_no_infinity(x)
    seen = ~np.isnan(x)
    if np.max(np.abs(x), where=seen, initial=0.0) > LARGEST:
        raise too_large("X")
    return seen


def are_moderate(mean: np.ndarray, scatter: np.ndarray) -> bool:
    """Whether no entry is infinite or too large to square, by the moments of all entries."""
    far = max(mean.max(initial=0.0), -mean.min(initial=0.0))
    return bool(far < LARGEST and scatter.max(initial=0.0) < LARGEST**2)
