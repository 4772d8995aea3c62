"""The width of bins under which rows best foretell each other."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.density.bin_columns import Inside, Several
from tractable.engines import fold
from tractable.statistics import Bins, even_edges
from tractable.value import value

__all__ = ["BinSearch", "leave_one_out"]

#: Counted in advance in every bin: without it one row alone in its bin makes a width impossible.
_PSEUDOCOUNT = 0.5

_N_WIDTHS, _MOST_BINS, _MOST_CELLS = 60, 2000, 2**20


@value
class BinSearch:
    """Numbers of bins that were tried and the leave-one-out log-likelihood of each, per unit of weight.

    Parameters
    ----------
    n_bins : array (k, d)
        Of each column.
    scores : array (k,)
        Relative to one bin in all, so that units do not matter.
    settled : bool
        False where ever narrower bins are ever better, and Scott's were taken.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.random.default_rng(0).standard_normal((200, 1))
    >>> search = tractable.Histogram("loo").fit(X).search_
    >>> int(search.n_bins[np.argmax(search.scores), 0])
    5
    """

    n_bins: np.ndarray
    scores: np.ndarray
    settled: bool = True


def leave_one_out(
    low: np.ndarray,
    high: np.ndarray,
    spread: np.ndarray,
    n: float,
    data: Any,
    weights: Any,
    *,
    constant: Callable[[float], np.ndarray],
) -> tuple[tuple[np.ndarray, ...], BinSearch]:
    """Return the edges of even bins of greatest leave-one-out likelihood, and the search.

    With n_i of N rows in bin i of B, of volume V, a row of that bin is foretold by the others with density
    (n_i - 1 + c) / ((N - 1 + c B) V), half a count c being there in advance. All widths are counted in one
    pass; those of several columns are in proportion to their spreads.
    """
    tried = _candidates(low, high, spread, n)
    grids = tuple(_grid(low, high, shape, constant) for shape in tried)
    columns = list(range(len(low)))
    several = Several(grids=tuple((columns, grid) for grid in grids))
    found = fold(Inside(bounds=(low, high), of=several), data, weights=weights)
    scores = np.array([_score(part.counts) for part in found.parts])
    best = int(np.argmax(scores))
    # Rows that all differ foretell each other no better in the narrowest bins than in one.
    settled = best < len(scores) - 1 or not scores[best] > 0.0
    return grids[best].edges, BinSearch(n_bins=tried, scores=scores, settled=settled)


def _score(counts: np.ndarray) -> float:
    """Return the log-likelihood per unit of weight; volumes are parts of the whole: units do not matter."""
    n, n_cells = counts.sum(), counts.size
    foretold = np.log(np.maximum(counts - 1.0, 0.0) + _PSEUDOCOUNT)
    before = np.log(max(n - 1.0, 0.0) + _PSEUDOCOUNT * n_cells)
    return float((counts * foretold).sum() / n - before + np.log(n_cells))


def _candidates(low: np.ndarray, high: np.ndarray, spread: np.ndarray, n: float) -> np.ndarray:
    """Return numbers of bins of each column, (k, d), from one bin in all to far more than any rule."""
    reach = np.where(high > low, 1.0 / np.where(high > low, spread, 1.0), 0.0)
    reach = reach / (reach.max() or 1.0)
    most = min(_MOST_BINS, int(8.0 * np.sqrt(n)) + 1)
    widest = np.unique(np.rint(np.geomspace(1.0, most, _N_WIDTHS)))
    tried = np.unique(np.maximum(np.rint(widest[:, None] * reach), 1.0).astype(int), axis=0)
    cells = np.prod(tried.astype(float), axis=1)
    return tried[cells <= max(min(8.0 * n, _MOST_CELLS), 1.0)]


def _grid(
    low: np.ndarray, high: np.ndarray, shape: np.ndarray, constant: Callable[[float], np.ndarray]
) -> Bins:
    axes = [
        np.unique(even_edges(a, b, n)) if a < b else constant(a)
        for a, b, n in zip(low, high, shape, strict=True)
    ]
    return Bins(edges=tuple(axes))
