"""A tree that keeps the points near a plane on both of its sides."""

from math import ceil, log2
from typing import Any, ClassVar, Literal

import numpy as np

from tractable.primitives.neighbors.hyperplane_trees import Split, grow, halve, halved_sizes
from tractable.spatial.checks import as_real, as_seed, as_whole
from tractable.spatial.hyperplane_index import HyperplaneIndex
from tractable.spatial.metrics import Metric
from tractable.value import value


@value
class SpillTree(HyperplaneIndex):
    """A tree of medians in which points within a margin of a plane go to both of its sides; approximate.

    A search goes down to one leaf and never looks back (defeatist): it opens at most ``depth + 1`` nodes,
    depth being about log(n / leaf_size) / log(1 / (1/2 + τ)). It misses neighbours that lie behind a plane,
    and the margin is there to have them on its own side: recall rises with τ. So does memory: every level
    multiplies the points that are kept by 1 + 2τ, where 2τ is the share of a node's points within the margin,
    (1 + 2τ)^depth in all, which `n_stored` counts. A tree that would keep more than `max_copies` of each
    point is refused before it is grown.

    The hybrid tree (Liu, Moore, Gray and Yang 2004) spills in the upper half of its levels, or fewer where
    copies would be too many; below it has plain planes, behind which a search looks where a nearer point may
    be. It finds all that a defeatist search of the same seed finds, and more, with the root of its copies,
    and opens more nodes for it. With τ = 0 it finds every neighbour and is `exact`.

    Directions are those between far points of a node; the margin is a share of points rather than a distance
    (Dasgupta and Sinha 2015), so that units of the data do not matter.

    Parameters
    ----------
    points : array (n, d)
        The points to search.
    metric : Metric or str
        Euclidean, Mahalanobis or cosine.
    tau : float
        τ, the share of a node's points on either side of its plane that go to both; from 0 to below 1/2.
    leaf_size : int
        The most points of a leaf; a search finds at most so many neighbours.
    search : {"defeatist", "hybrid"}
        Search of one leaf without backtracking, or with backtracking in the lower levels.
    max_copies : float
        The most copies of each point, on average.
    random_state : None, int or numpy.random.Generator
        Source of randomness; with a seed the result is repeatable.

    Examples
    --------
    >>> points = np.random.default_rng(0).normal(size=(1000, 4))
    >>> tree = SpillTree(points, tau=0.1, random_state=0)
    >>> distances, indices, report = tree.query(points[:2], k=3, report=True)
    >>> indices[:, 0].tolist(), bool(np.all(report.visited == tree.depth + 1))
    ([0, 1], True)
    """

    name: ClassVar[str] = "spill_tree"

    tau: float
    leaf_size: int
    search: str
    max_copies: float

    def __init__(
        self,
        points: Any,
        metric: Metric | str = "euclidean",
        *,
        tau: float = 0.05,
        leaf_size: int = 64,
        search: Literal["defeatist", "hybrid"] = "defeatist",
        max_copies: float = 16.0,
        random_state: Any = None,
    ) -> None:
        tau, leaf_size = as_real("tau", tau, 0.0, 0.5), as_whole("leaf_size", leaf_size, 2)
        if not isinstance(search, str) or search not in {"defeatist", "hybrid"}:
            raise ValueError(f"search must be 'defeatist' or 'hybrid', got {search!r}")
        max_copies = as_real("max_copies", max_copies, 1.0, np.inf)
        seed = as_seed(random_state)
        rows = self._about_centre(points, metric)
        affordable = spilled_levels(len(rows), leaf_size, tau, max_copies)
        too_many = (
            f"tau={tau:g} would keep more than max_copies={max_copies:g} of each of {len(rows)} points in"
            f" leaves of {leaf_size}: (1 + 2 tau)^depth; take less tau, larger leaves, or search='hybrid'"
        )
        if affordable is not None and search == "defeatist":
            raise ValueError(too_many)
        spilled = np.inf
        if search == "hybrid":
            half = ceil(log2(max(1.0, len(rows) / leaf_size))) // 2
            spilled = 0 if not tau else half if affordable is None else min(half, affordable)
        rng = np.random.default_rng(seed)

        def split(ids: np.ndarray, ptr: np.ndarray, level: int) -> Split:
            plain = level >= spilled
            margin = 0.0 if plain else tau
            uniforms = rng.random((len(ptr) - 1, 2))
            found = halve(rows, ids, ptr, uniforms, margin=margin, far=True, look_back=plain)
            if len(found.ids) > max_copies * len(rows):  # ties make it deeper than counted on
                raise ValueError(too_many)
            return found

        tree = grow(rows, leaf_size, split)
        self._set(tau=tau, leaf_size=leaf_size, search=search, max_copies=max_copies, random_state=seed)
        self._arrange(tree)
        self._keep(tree)

    @property
    def exact(self) -> bool:
        """Whether all neighbours are found: where a search may look behind every plane."""
        return self.search == "hybrid" and self.tau == 0.0


def spilled_levels(n: int, leaf_size: int, tau: float, max_copies: float) -> int | None:
    """Return how many levels can spill before leaves hold too many copies; None where all can.

    Sizes of parts are known before any point is looked at.

    Examples
    --------
    >>> spilled_levels(1000, 10, 0.1, 16.0) is None, spilled_levels(1000, 10, 0.4, 16.0)
    (True, 4)
    """
    sizes, done, level = {n: 1}, 0, 0
    while sizes:
        done += sum(size * times for size, times in sizes.items() if size <= leaf_size)
        parts: dict[int, int] = {}
        for size, times in sizes.items():
            if size > leaf_size:
                for part in halved_sizes(size, tau):
                    parts[part] = parts.get(part, 0) + times
        if done + sum(size * times for size, times in parts.items()) > max_copies * n:
            return level
        sizes, level = parts, level + 1
    return None
