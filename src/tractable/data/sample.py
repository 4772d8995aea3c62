"""Some of the rows, drawn evenly, from whatever can be walked."""

from typing import Any

import numpy as np

from tractable.data.dispatch import as_source

__all__ = ["sample_rows"]


def sample_rows(
    data: Any, weights: Any, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return at most n rows and their weights, in their order; every row is as likely as any other.

    One pass in bounded memory: each row draws a number, and the n smallest stay. The draw depends on the
    rows' order alone, so batches give what the array they came from gives.

    Parameters
    ----------
    data : array, frame, source or re-iterable of batches
    weights : array (n_samples,) or None
        They are carried along, and do not change which rows are drawn; rows of weight zero are left out.
    n : int
    rng : numpy.random.Generator

    Examples
    --------
    >>> rows, _ = sample_rows(np.arange(20.0)[:, None], None, 3, np.random.default_rng(0))
    >>> rows.shape
    (3, 1)
    """
    keys, kept, shares = np.zeros(0), list[np.ndarray](), list[np.ndarray]()
    for batch in as_source(data, None, weights).batches():
        w = np.ones(len(batch.X)) if batch.weights is None else np.asarray(batch.weights, dtype=np.float64)
        drawn = np.where(w > 0, rng.random(len(w)), np.inf)
        both = np.concatenate([keys, drawn])
        chosen = np.sort(np.argpartition(both, n)[:n]) if len(both) > n else np.arange(len(both))
        chosen = chosen[np.isfinite(both[chosen])]
        old, new = chosen[chosen < len(keys)], chosen[chosen >= len(keys)] - len(keys)
        kept = [*_rows(kept, old), np.asarray(batch.X[new], dtype=np.float64)]
        shares = [*_rows(shares, old), w[new]]
        keys = both[chosen]
    rows, counts = np.concatenate(kept), np.concatenate(shares)
    return rows, None if np.all(counts == 1.0) else counts


def _rows(parts: list[np.ndarray], chosen: np.ndarray) -> list[np.ndarray]:
    return [np.concatenate(parts)[chosen]] if parts else []
