"""Histograms as estimators of a density."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from tractable.arrays.namespace import is_foreign_array
from tractable.base import (
    DensityMixin,
    ModelTags,
    NotYetDetermined,
    OnePassEstimator,
    check_choice,
)
from tractable.base.validation import check_rows
from tractable.density.bin_rules import as_bounds, as_column_bins, choose_edges, edges_are_known, known_edges
from tractable.density.univariate import UnivariateMixin
from tractable.distributions import HistogramDensity
from tractable.engines import fold
from tractable.statistics import BinCounts, Bins
from tractable.statistics.bin_counts import WEIGHTINGS


def _one_pass(estimator: Any) -> bool:
    """Whether the bins are known before any row is seen."""
    return edges_are_known(estimator.bins, estimator.bounds)


class Histogram(UnivariateMixin, DensityMixin, OnePassEstimator):
    """A density that is constant in bins: p(x) = n_i / (N V_i), with n_i of N rows in bin i of volume V_i.

    The maximum of the likelihood over all such densities. Narrow bins follow the noise, wide ones lose the
    detail: the variance of a height is p_i (1 - p_i) / (N V_i²), and `distribution_.height_interval`
    says what that leaves open. In several columns bins are the cells of a product grid, whose number grows
    with the power of the columns: a grid of more than 2²⁴ cells is refused.

    Where bins are known in advance (edges, or a number of bins and `bounds`) a fit is exact in one pass:
    `partial_fit`, `merge` and `summarize` exist, and rows can be discarded after counting. Otherwise the bins
    are chosen in passes before the one that counts, two or three for most rules and seven for "fd", which
    work for files larger than memory too; only "blocks" holds the distinct numbers of a column.

    Parameters
    ----------
    bins : int, array of edges, {"scott", "fd", "blocks", "loo"}, or tuple
        - a number of bins of one width between the bounds or, without any, the least and the greatest row;
        - edges, increasing, the same for each column;
        - "scott": bins of width 3.49 σ n^(-1/(d + 2)), right for data like a Gaussian;
        - "fd", Freedman and Diaconis: 2 IQR n^(-1/(d + 2)), which outliers do not widen (Scott's where the
          quartiles are equal);
        - "blocks", Bayesian blocks (Scargle et al., 2013): for each column by itself, uneven bins of greatest
          penalised likelihood, by an exact dynamic programme;
        - "loo": of many even widths, the one of greatest leave-one-out likelihood, with half a pseudo-count
          in every bin, as one row alone in its bin would otherwise rule a width out. Not for rounded rows:
          where many are equal, bins narrower than the rounding predict them ever better, and those of
          "scott" are taken, with an `UnsettledBandwidthWarning`;
        - a tuple, or a list of arrays: one of these for each column ("loo" for all or none).
    bounds : pair (low, high), or array of shape (n_features, 2), optional
        What lies beyond is left out, and counted in `n_outside_`. Edges that are given need none.
    weighting : {"plain", "linear"}
        With "linear" a row is shared between the bins whose middles it lies between. Shared counts vary less
        than whole ones: bands of `distribution_.height_interval`, which take counts to be binomial, are then
        too wide, and one of 90 % holds the expected height about 96 % of the time.

    Attributes
    ----------
    distribution_ : HistogramDensity
        The fitted distribution; it conditions, marginalises and samples, by column name where it has names.
    edges_ : tuple of n_features arrays
        Where bins begin and end. A column that is constant has one bin, eight roundings wide.
    counts_ : array of shape (b_1, …, b_d)
        Weight of the rows in each bin.
    n_outside_ : float
        Weight of the rows outside of all bins; the density is of those inside.
    search_ : BinSearch
        With "loo", what was tried: `n_bins` and `scores`.
    statistic_ : BinCounts
        The sufficient statistic of the rows.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    Notes
    -----
    A region of volume V that holds K of N rows has the density K / (N V), about: large enough for K to be
    sure, small enough for the density to be constant in it. Histograms and kernel densities fix V and count
    K; densities by nearest neighbours fix K and find V. Beyond its bins a histogram has density 0, and
    `score_samples` says -inf there; `bounds` that hold all rows to come avoid it in cross-validation.

    See Also
    --------
    tractable.HistogramDensity : the distribution itself.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[0.2], [0.9], [1.1], [3.5], [0.4]])
    >>> model = tractable.Histogram(bins=[0.0, 1.0, 2.0, 4.0]).fit(X)
    >>> model.counts_, model.distribution_.heights
    (array([3., 1., 1.]), array([0.6, 0.2, 0.1]))
    >>> model.partial_fit([[1.5], [9.0]]).counts_, model.n_outside_
    (array([3., 2., 1.]), 1.0)
    """

    def __init__(self, bins: Any = "scott", *, bounds: Any = None, weighting: str = "plain") -> None:
        self.bins = bins
        self.bounds = bounds
        self.weighting = weighting

    @property
    def model_tags(self) -> ModelTags:  # type: ignore[override]
        """See `tractable.tags`: exact in one pass where the bins are known in advance."""
        passes = "exact in one pass" if _one_pass(self) else "exact over several passes"
        return ModelTags(kind="generative", parametric=_one_pass(self), streaming=passes)  # type: ignore[arg-type]

    @available_if(_one_pass)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        return super().partial_fit(X, y, sample_weight)

    @available_if(_one_pass)
    def merge(self, other: Any) -> Self:
        return super().merge(other)

    @available_if(_one_pass)
    def summarize(self, X: Any, y: Any = None, sample_weight: Any = None) -> BinCounts:
        return super().summarize(X, y, sample_weight)

    @available_if(_one_pass)
    def from_statistic(self, statistic: BinCounts) -> Self:
        return super().from_statistic(statistic)

    def _check_parameters(self) -> None:
        check_choice("weighting", self.weighting, WEIGHTINGS)

    def _statistic(self) -> Callable[..., Any]:
        raise ValueError("bins must be known before rows are counted")

    def _require_kind(self, statistic: Any) -> None:
        if not isinstance(statistic, BinCounts):
            raise ValueError(f"statistic must be BinCounts, got {type(statistic).__name__}")
        specs, bounds = self._specs(statistic.dim)
        if not self._bins(known_edges(specs, bounds)).same_as(statistic.bins):
            raise ValueError(
                "statistic must be of counts in this model's bins; its edges or weighting are others"
            )

    def _fold(self, subject: Any, X: Any, y: Any, sample_weight: Any, **options: Any) -> BinCounts:
        if is_foreign_array(X):
            raise ValueError(
                "X is an array of another library, which is not moved to the host silently; "
                "convert it to NumPy first, or count with HistogramDensity.fit"
            )
        # The pass for the ends of the rows finds NaN and infinity too.
        ends_are_sought = not _one_pass(self) and self.bounds is None
        rows = check_rows(subject, X, y, sample_weight, finite=not ends_are_sought, **options)
        specs, bounds = self._specs(subject.n_features_in_)
        if _one_pass(self):
            return fold(self._bins(known_edges(specs, bounds)).of, rows.data, weights=rows.weights)
        edges, search = choose_edges(specs, bounds, rows.data, rows.weights)
        if search is not None:
            subject.search_ = search
        return fold(self._bins(edges).of, rows.data, weights=rows.weights)

    def _specs(self, dim: int) -> tuple[tuple[Any, ...], Any]:
        return as_column_bins(self.bins, dim), as_bounds(self.bounds, dim)

    def _bins(self, edges: tuple[np.ndarray, ...]) -> Bins:
        try:
            return Bins(edges=edges, weighting=self.weighting)
        except ValueError as error:
            raise ValueError(f"bins: {error}") from None

    def _learn(self, statistic: BinCounts) -> None:
        if not statistic.weight > 0:
            raise NotYetDetermined("X has no row of positive weight inside the bins")
        names = getattr(self, "feature_names_in_", None)
        self.statistic_ = statistic
        self.distribution_ = HistogramDensity.from_statistic(
            statistic, names=None if names is None else tuple(names)
        )
        self.edges_, self.counts_ = self.distribution_.edges, self.distribution_.counts
        self.n_outside_ = statistic.outside
