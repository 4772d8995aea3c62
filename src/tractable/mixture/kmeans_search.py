"""The search for the best clusters: starts, steps, and the best of several."""

from typing import Any

import numpy as np

from tractable.engines import EMResult, best_of, em
from tractable.mixture.kmeans_frame import frame_of
from tractable.mixture.kmeans_steps import Centers, HeldRows, StreamedRows
from tractable.primitives.kmeans import kmeans_plus_plus, n_trials
from tractable.primitives.threads import single_threaded_blas
from tractable.value import value

__all__ = ["KMeansFit", "kmeans", "random_rows", "search", "seeded_rows"]

#: The square of a step that rounding can make.
ROUNDING = 1e-27


@value
class KMeansFit:
    """Where a search of k-means ended.

    Parameters
    ----------
    centers : array (K, d)
    labels : array (n,) of int, or None where rows were streamed
    counts : array (K,)
        Weight of the rows of each cluster.
    inertia : float
        J = Σ w |x - μ|², each row to its own centre.
    inertias : array (n_iter + 1,)
        J before the first step and after each; it never rises.
    n_iter : int
    converged : bool
    interrupted : bool
    """

    centers: np.ndarray
    labels: np.ndarray | None
    counts: np.ndarray
    inertia: float
    inertias: np.ndarray
    n_iter: int
    converged: bool
    interrupted: bool = False


def kmeans(
    x: np.ndarray,
    weights: np.ndarray | None,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_init: int = 1,
    max_iter: int = 100,
    tol: float = 1e-4,
) -> KMeansFit:
    """Cluster rows in memory: k-means++ seeds, Lloyd's steps, the best of `n_init`.

    Parameters
    ----------
    x : array (n, d)
    weights : array (n,) or None
    n_clusters : int
    rng : numpy.random.Generator
    n_init, max_iter : int
    tol : float
        The search ends when Σ_k |Δμ_k|² is below this share of the mean variance of the columns.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> found = kmeans(x, None, 2, np.random.default_rng(0))
    >>> sorted(found.centers[:, 0].tolist()), found.inertia
    ([0.5, 8.5], 1.0)
    """
    frame = frame_of(x, weights)
    rows = HeldRows(x, weights, frame)

    def start(_: int) -> np.ndarray:
        return x[seeded_rows(x, weights, n_clusters, rng)]

    found = search(rows, start, n_init=n_init, max_iter=max_iter, tol=tol)
    if found.interrupted:  # those who ask for a start have no use for half of one
        raise KeyboardInterrupt
    return found


def search(rows: StreamedRows, start: Any, *, n_init: int, max_iter: int, tol: float) -> KMeansFit:
    """Take Lloyd's steps from `n_init` starts, ``start(number) -> centres``, and keep the best."""
    frame = rows.frame

    def settled(before: Centers, after: Centers) -> bool:
        step = after.centers - before.centers
        # So small a step is rounding, in a frame where rows are of the size of 1.
        return bool(np.sum(step * step) <= max(tol * frame.variance, ROUNDING * step.size))

    def one(number: int) -> EMResult:
        first = Centers(centers=np.ascontiguousarray(frame.inside(start(number))))
        return em(
            rows.expect, rows.maximize, first, tol=0.0, max_iter=max_iter, label="k-means", settled=settled
        )

    with single_threaded_blas():
        found = best_of(one, n_init)
        labels, held = rows.finish(found.params)
    unit = frame.scale * frame.scale
    trace = -np.asarray(found.trace)
    trace[-1] = held.inertia
    return KMeansFit(
        centers=frame.outside(found.params.centers),
        labels=labels,
        counts=held.counts,
        inertia=held.inertia / unit,
        inertias=np.maximum.accumulate(trace[::-1])[::-1] / unit,
        n_iter=found.n_iter,
        converged=found.converged,
        interrupted=found.interrupted,
    )


def seeded_rows(x: np.ndarray, weights: Any, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Return the rows that greedy k-means++ begins with."""
    return kmeans_plus_plus(x, weights, n_clusters, rng.random((n_clusters, n_trials(n_clusters))))


def random_rows(x: np.ndarray, weights: Any, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows drawn by weight; rows that equal one drawn before are passed over while others are left.

    One uniform a draw, so that a row of weight two is drawn as two equal rows are.
    """
    count = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
    mass, chosen = count, []
    for u in rng.random(n_clusters):
        mass = mass if mass.any() else count
        held = np.cumsum(mass)
        row = min(int(np.searchsorted(held, u * held[-1], side="right")), int(np.flatnonzero(mass)[-1]))
        chosen.append(row)
        mass = np.where(np.all(x == x[row], axis=1), 0.0, mass)
    return np.asarray(chosen)
