"""Which index suits some points."""

from typing import Any

from tractable.spatial.brute import Brute
from tractable.spatial.checks import as_rows
from tractable.spatial.index import Index
from tractable.spatial.kd_tree import KDTree
from tractable.spatial.metric import Metric
from tractable.spatial.metrics import as_metric

__all__ = ["as_index", "choose_index"]

#: Columns up to which a tree is chosen.
LARGEST_TREE = 9

EXACT: dict[str, type[Index]] = {"brute": Brute, "kd_tree": KDTree}


def choose_index(points: Any, metric: Metric | str = "euclidean") -> Index:
    """Return the exact index that is likely to be the faster: a k-d tree in at most nine dimensions.

    The two meet at 8 to 12 dimensions for a thousand to a hundred thousand points without structure; data of
    fewer inner dimensions would let a tree go on, but that is not looked into.

    Parameters
    ----------
    points : array (n, d)
    metric : Metric or str

    Examples
    --------
    >>> import numpy as np
    >>> choose_index(np.zeros((5000, 2))).name, choose_index(np.zeros((5000, 40))).name
    ('kd_tree', 'brute')
    """
    metric = as_metric(metric)
    suits = "kd_tree" in metric.served_by and as_rows("points", points).shape[1] <= LARGEST_TREE
    return (KDTree if suits else Brute)(points, metric)


def as_index(points: Any, metric: Metric | str = "euclidean", index: str | type[Index] = "auto") -> Index:
    """Return an index of points, by name: "auto", "brute", "kd_tree", or by its class.

    Examples
    --------
    >>> as_index([[0.0], [1.0]], index="kd_tree").name
    'kd_tree'
    """
    if index == "auto":
        return choose_index(points, metric)
    known = EXACT.get(index) if isinstance(index, str) else index
    if not (isinstance(known, type) and issubclass(known, Index)):
        raise ValueError(f"index must be one of auto, {', '.join(EXACT)} or an Index class, got {index!r}")
    make: Any = known
    return make(points, metric)
