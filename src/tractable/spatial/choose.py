"""The choice of a neighbour index."""

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from tractable.arrays.limits import check_squarable
from tractable.arrays.random import either_seed_name
from tractable.primitives import few_pairs
from tractable.spatial.brute import Brute
from tractable.spatial.checks import as_rows, as_seed
from tractable.spatial.index import Index
from tractable.spatial.kd_tree import LEAF_SIZE, KDTree
from tractable.spatial.metrics import Metric, as_metric
from tractable.spatial.randomized_forest import RandomizedForest
from tractable.spatial.spill_tree import SpillTree
from tractable.spatial.tsvq_tree import TSVQTree

#: Indexes by name; the first two are exact.
INDEXES: dict[str, type[Index]] = {
    made.name: made for made in (Brute, KDTree, SpillTree, TSVQTree, RandomizedForest)
}

#: Columns up to which a tree is taken without a trial, and above which none is tried.
FEW, MANY = 4, 64

#: Points up to which all are measured.
SCANNED = 512

#: Points up to which a tree of some of them, as many as are scanned, decides.
SAMPLED = 8192

#: Points a tree is tried on.
PROBES = 16

#: Nanoseconds that a scan by products takes for a row before it measures points, in NumPy and in compiled
#: code, which a block of so many rows decides; a tree takes 5 for a point, and 0.17 for each of its columns.
BY_NUMPY, COMPILED, SHARED_ROWS = 3400.0, 2400.0, 256

#: How many times as many points as are worthwhile a tree of a sample is to expect, so that none of all points
#: is tried: it expects too many where neighbours are fewer than the points that one of the sample stands for.
SURE = 1.1

#: Points of the part that is tried before all, as a multiple of those that a tree may measure.
PART = 1.4


def choose_index(points: Any, metric: Metric | str = "euclidean", *, k: int = 10) -> Index:
    """Return the exact index that is likely to be the faster for k neighbours: a k-d tree or a scan.

    Of at most 512 points, and above 64 dimensions, that is the scan; in at most four the tree. Between, the
    data decide: a tree is built and asked for the neighbours of 16 of its points, spread evenly; a tree of
    some 512 to 1023 of them before that, with smaller leaves and fewer neighbours in proportion, and of more
    than 8192 points one of every eighth. It is kept if it measures few enough of all points; a scan measures
    all of them, but each faster, by matrix products some ten times. So points that fill few dimensions of
    their own are given to a tree, however many columns they have.

    Parameters
    ----------
    points : array (n, d)
        The points to search.
    metric : Metric or str
        The distance, as a value of `tractable.spatial` or by name, such as "euclidean".
    k : int
        Number of neighbours that will be searched for: with more, more cells are opened.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> isotropic, planar = rng.normal(size=(5000, 16)), rng.normal(size=(5000, 2)) @ rng.normal(size=(2, 16))
    >>> choose_index(isotropic[:, :2]).name, choose_index(isotropic).name, choose_index(planar).name
    ('kd_tree', 'brute', 'kd_tree')
    """
    metric = as_metric(metric)
    rows = as_rows("points", points, missing=metric.missing)
    if not KDTree.serves(metric) or rows.shape[1] > MANY or len(rows) <= SCANNED:
        return Brute(points, metric)
    few, worthwhile = rows.shape[1] <= FEW, _most_measured(rows, metric)
    step = len(rows) // SCANNED
    if not few and step > 1 and _expected_measured(rows, step, metric, k) > SURE * worthwhile:
        if len(rows) <= SAMPLED:
            return Brute(points, metric)
        # A tree of all points measures more of them than one of a part, which may be too many already. The
        # part is larger than the share that is worthwhile: a smaller one could not measure too many.
        part = rows[:: int(1.0 / (PART * _relative_cost(metric)))]
        if len(part) > worthwhile and _mean_measured(KDTree(part, metric), k) > worthwhile:
            return Brute(points, metric)
    tree = KDTree(points, metric)
    if few or _mean_measured(tree, k) <= worthwhile:
        return tree
    rows = tree.points
    del tree  # before the scan copies the points in single precision, the tree's own copy of them goes
    return Brute(rows, metric)


def _relative_cost(metric: Metric) -> float:
    """Return what a scan takes for a point, over what a tree takes that measures it by itself.

    As timed on hosts of several kinds: a scan measures by matrix products, or else by a loop over tiles.
    """
    return 1.0 / 12.0 if metric.form == "euclidean" else 0.25


def _most_measured(rows: np.ndarray, metric: Metric) -> float:
    """Return how many of the points a tree may measure for a row and be no slower than a scan.

    A scan costs a row what the tree takes for some hundred points, and then its share of each. A tree that
    measures most of its points is never the faster one: it opens all of its nodes as well.
    """
    n, d = rows.shape
    before = 600.0
    if metric.form == "euclidean":
        before = (BY_NUMPY if few_pairs(rows[:SHARED_ROWS], rows) else COMPILED) / (5.0 + 0.17 * d)
    return min(0.6 * n, before + _relative_cost(metric) * n)


def _mean_measured(tree: KDTree, k: int) -> float:
    """Return how many points a tree measures, on average, to find the neighbours of some of its points."""
    n = len(tree)
    if n < 2:
        return 0.0
    some = np.unique(np.linspace(0, n - 1, PROBES).astype(np.int64))
    report = tree.query(tree.points[some], min(max(k, 1), n - 1), exclude=some, report=True)[2]
    return float(np.mean(report.measured))


def _expected_measured(rows: np.ndarray, step: int, metric: Metric, k: int) -> float:
    """Return how many points a tree of all rows is likely to measure, by a tree of every `step`-th.

    With leaves, and neighbours, fewer in proportion its cells are as large, and neighbours as far away.
    """
    tree = KDTree(rows[::step], metric, max(1, LEAF_SIZE // step))
    return step * _mean_measured(tree, max(1, k // step))


@either_seed_name
def as_index(
    points: Any,
    metric: Metric | str = "euclidean",
    index: str | Callable[..., Index] = "auto",
    *,
    k: int = 10,
    random_state: Any = None,
    name: str = "points",
) -> Index:
    """Return an index of points: by name, or made by what is given.

    Parameters
    ----------
    points : array (n, d)
        The points to search.
    metric : Metric or str
        The distance, as a value of `tractable.spatial` or by name, such as "euclidean".
    index : str or callable
        "auto" (see `choose_index`), "brute", "kd_tree", "spill_tree", "tsvq_tree", "randomized_forest"; or
        what makes an index of points and a metric: a class of `tractable.spatial`, or one with its options,
        as ``functools.partial(RandomizedForest, n_trees=8)``.
    k : int
        How many neighbours will be asked for, where the index is chosen.
    random_state : None, int, RandomState or Generator
        Where it is given, it is passed on to an index that takes one.
    name : str
        What to call the points in an error.

    Examples
    --------
    >>> as_index([[0.0], [1.0]], index="kd_tree").name
    'kd_tree'
    >>> as_index([[0.0], [1.0]], index="spill_tree", random_state=3).random_state
    3
    """
    seed = None if random_state is None else as_seed(random_state)
    if isinstance(points, np.ndarray) and points.dtype.kind == "f":
        check_squarable(name, points, nonzero=True)
        as_metric(metric).rows(name, points[:1])
    if isinstance(index, str) and index == "auto":
        return choose_index(points, metric, k=k)
    make: Any = INDEXES.get(index) if isinstance(index, str) else index
    if not callable(make) or (isinstance(make, type) and not issubclass(make, Index)):
        raise ValueError(
            f"index must be one of auto, {', '.join(INDEXES)}, an Index class, or a function of points and "
            f"metric that makes one, got {index!r}"
        )
    takes = seed is not None and "random_state" in signature(make).parameters
    found = make(points, metric, random_state=seed) if takes else make(points, metric)
    if not isinstance(found, Index):
        raise ValueError(f"index must make an Index, got {type(found).__name__} from {index!r}")
    return found


def recall(index: Index, points: Any, k: int, *, exclude: Any = None, n_threads: int | None = None) -> float:
    """Return the fraction of the k nearest neighbours of rows, or of a graph, that an index finds.

    1 for an exact index.

    A neighbour counts that is no farther than the k-th of the exact search, so that ties do not.

    Parameters
    ----------
    index : Index
        The index to assess.
    points : array (m, d) or None
        Rows to search for. None asks for the recall of ``index.graph(k)``: that of every point's neighbours.
    k : int
        Number of neighbours.
    exclude, n_threads
        Those of `Index.query`; a graph leaves out each point itself.

    Examples
    --------
    >>> index = Brute([[0.0], [1.0], [3.0]])
    >>> recall(index, [[0.4], [2.0]], k=2)
    1.0
    >>> recall(index, None, k=1)
    1.0
    """
    exact = Brute(index.points, index.metric)
    if points is None:
        if exclude is not None:
            raise ValueError("exclude must not be given for a graph, which leaves out each point itself")
        found, true = (one.graph(k, n_threads=n_threads)[0] for one in (index, exact))
        return _recall(found, true)
    options: dict[str, Any] = {"exclude": exclude, "n_threads": n_threads}
    found, _ = index.query(points, k, **options)
    if not len(found):
        raise ValueError("points must hold at least one row to search for")
    return _recall(found, exact.query(points, k, **options)[0])


def _recall(found: np.ndarray, true: np.ndarray) -> float:
    return float(np.mean(found <= true[:, -1:]))
