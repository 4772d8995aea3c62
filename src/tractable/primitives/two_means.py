"""Groups of rows parted by k-means with two centres."""

import numpy as np

from tractable.primitives.plane_growth import Split

__all__ = ["two_means"]


def two_means(
    x: np.ndarray, ids: np.ndarray, ptr: np.ndarray, uniforms: np.ndarray, max_iter: int = 50
) -> Split:
    """Part each group by 2-means: the plane half-way between two centres, each the mean of its side.

    Seeds are greedy k-means++; Lloyd's steps go on until no row changes sides.

    Parameters
    ----------
    x : array (n, d)
    ids, ptr : arrays
        Rows of group g are ``ids[ptr[g]:ptr[g + 1]]``.
    uniforms : array (groups, 2, trials)
        For the seeds, see `tractable.primitives.seeding.kmeans_plus_plus`.
    max_iter : int

    Returns
    -------
    Split
        Groups whose rows are all equal are `whole`.

    Examples
    --------
    >>> x, uniforms = np.array([[0.0], [8.0], [1.0], [9.0]]), np.full((1, 2, 2), 0.6)
    >>> found = two_means(x, np.arange(4, dtype=np.int32), np.array([0, 4]), uniforms)
    >>> found.offsets.tolist(), found.ids.tolist(), found.ptr.tolist()
    ([4.5], [0, 2, 1, 3], [0, 2, 4])
    """
    from tractable.primitives._compiled.two_means import part

    groups = len(ptr) - 1
    normals, offsets = np.empty((groups, x.shape[1])), np.empty(groups)
    parts, ends = np.empty(len(ids), np.int32), np.empty(2 * groups, np.int64)
    part(x, ids, ptr, uniforms, max_iter, normals, offsets, parts, ends)
    bounds = np.concatenate([[0], ends])
    sizes = np.diff(bounds).reshape(-1, 2)
    return Split(
        normals=normals, offsets=offsets, ids=parts, ptr=bounds, whole=sizes.min(axis=1, initial=len(x)) == 0
    )
