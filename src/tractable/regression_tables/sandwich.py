"""Robust covariances of coefficients: A⁻¹ B A⁻¹, from the products B of the scores of rows."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tractable.data import Source
from tractable.engines import LinearEstimate
from tractable.engines.fold import fold
from tractable.value import value

#: Covariances that are robust against unlike noise variances of rows (White; MacKinnon and White 1985).
ROBUST = ("HC0", "HC1", "HC2", "HC3")
#: A row with less freedom than this is fitted exactly, whatever its target.
NO_FREEDOM = 1e-10
#: The factor of each row's squared residual, of 1 - leverage.
FACTORS: dict[str, Callable[[Any], Any]] = {
    "HC0": np.ones_like,
    "HC1": np.ones_like,
    "HC2": lambda free: 1.0 / free,
    "HC3": lambda free: 1.0 / free**2,
}


def check_covariance_type(covariance: Any, clusters: Any, choices: tuple[str, ...] = ROBUST) -> str:
    """Return the kind of covariance that is asked for: "nonrobust", one of the choices, or "clustered".

    Parameters
    ----------
    covariance : str or None
        As given; None is "clustered" where there are clusters, and else "nonrobust".
    clusters : array or None
        As given.
    choices : tuple of str
        Robust covariances of the model.
    """
    kind = covariance if covariance is not None else "nonrobust" if clusters is None else "clustered"
    known = ("nonrobust", *choices, "clustered")
    if not (isinstance(kind, str) and kind in known):
        raise ValueError(f"covariance must be one of {list(known)}, got {covariance!r}")
    if (kind == "clustered") != (clusters is not None):
        raise ValueError(
            "clusters must be given, the cluster of each row, for covariance='clustered'"
            if clusters is None
            else f"clusters are for covariance='clustered', not for {kind!r}"
        )
    return kind


def squared_factor(kind: str, leverage: np.ndarray) -> np.ndarray:
    """Return the factor of each row's squared residual; 0 where a row is fitted exactly by itself.

    Examples
    --------
    >>> squared_factor("HC3", np.array([0.0, 0.5]))
    array([1., 4.])
    """
    free = 1.0 - np.asarray(leverage)
    alone = free <= NO_FREEDOM
    return np.where(alone, 0.0, FACTORS[kind](np.where(alone, 1.0, free)))


def score_products(scores: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return B = Σ w s sᵀ of a block of rows, (p, p); blocks add.

    Parameters
    ----------
    scores : array (n, p)
        The gradient of each row's log-likelihood.
    weights : array (n,), optional
        How often each row counts.
    """
    return scores.T @ (scores if weights is None else weights[:, None] * scores)


def clustered_products(
    scores: np.ndarray, weights: np.ndarray | None, clusters: Any
) -> tuple[np.ndarray, int]:
    """Return B = Σ_g (Σ w s)(Σ w s)ᵀ over clusters g of rows, and how many clusters there are.

    Parameters
    ----------
    scores : array (n, p)
        The gradient of each row's log-likelihood.
    weights : array (n,), optional
        How often each row counts; a cluster of rows that never count is none.
    clusters : array (n,)
        Which cluster each row belongs to.

    Examples
    --------
    >>> clustered_products(np.array([[1.0], [1.0], [3.0]]), None, ["a", "a", "b"])
    (array([[13.]]), 2)
    """
    labels = np.asarray(clusters)
    if labels.shape != (len(scores),):
        raise ValueError(
            f"clusters must have one entry a row, {len(scores)}; got an array of shape {labels.shape}"
        )
    weighted = scores if weights is None else weights[:, None] * scores
    if weights is not None:
        labels, weighted = labels[weights > 0], weighted[weights > 0]
    try:
        codes = np.unique(labels, return_inverse=True)[1].reshape(-1)
    except TypeError:
        raise ValueError("clusters must be labels of one type, words or numbers") from None
    n_clusters = int(codes.max(initial=-1)) + 1
    if n_clusters < 2:
        raise ValueError(f"clusters must be two at least, got {n_clusters}")
    sums = np.zeros((n_clusters, scores.shape[1]))
    np.add.at(sums, codes, weighted)
    return sums.T @ sums, n_clusters


@value
class RowScores:
    """Gradients of the log-likelihood of rows by offset and coefficients, with the factor of a covariance.

    Parameters
    ----------
    terms : callable
        ``terms(x, y)`` returns of rows the slopes of the log-likelihood by the linear predictors (n, c),
        minus its curvature (n,), and scores (n, q) of q further parameters, or None.
    estimate : LinearEstimate
        The fit; its root, of a scale of one, has the leverage of a row, times the curvature.
    inverse : array (p, p)
        A⁻¹, the inverse of the curvature of all parameters.
    n_rows, n_parameters : float
        Number of rows, as frequencies count them, and of parameters of the linear predictors.
    kind : {"HC0", "HC1", "HC2", "HC3", "clustered"}
        The covariance whose factors the scores have.
    """

    terms: Callable[..., Any]
    estimate: LinearEstimate
    inverse: np.ndarray
    n_rows: float
    n_parameters: float
    kind: str = "HC0"

    def __call__(self, x: Any, y: Any) -> np.ndarray:
        x = np.asarray(x, dtype=np.float64)
        slopes, curvature, further = self.terms(x, y)
        z = x - self.estimate.centre
        if self.estimate.has_intercept:
            z = np.column_stack([np.ones(len(z)), z])
        found = (slopes[:, :, None] * z[:, None, :]).reshape(len(z), -1)
        if further is not None:
            found = np.column_stack([found, further])
        if self.kind not in ("HC2", "HC3"):
            return found
        factor = squared_factor(self.kind, self.leverage(x, curvature))
        return np.sqrt(factor)[:, None] * found

    def leverage(self, x: np.ndarray, curvature: np.ndarray) -> np.ndarray:
        """Return the leverage of rows, of one copy of each."""
        root = self.estimate.covariance_root.at(x - self.estimate.centre)
        return np.minimum(curvature * np.sum(root.reshape(len(x), -1) ** 2, axis=1), 1.0)


def products_of_scores(
    of: Callable[..., np.ndarray], data: Source, clusters: Any
) -> tuple[np.ndarray, int | None]:
    """Return B of all rows of a source, by a pass over them, and the number of clusters, where there are any.

    Parameters
    ----------
    of : callable
        ``of(x, y)`` returns the scores (n, p) of a block.
    data : Source
        Rows; with clusters they are read into memory.
    clusters : array (n,) or None
        Which cluster each row belongs to.
    """
    if clusters is None:
        return fold(partial(_of_block, of=of), data, label="robust covariance"), None
    held = data.collect()
    return clustered_products(of(held.X, held.y), held.weights, clusters)


def _of_block(x: Any, y: Any, weights: Any = None, *, of: Callable[..., np.ndarray]) -> np.ndarray:
    return score_products(of(x, y), weights)


def sandwich(
    inverse: np.ndarray,
    products: np.ndarray,
    *,
    n_rows: float,
    n_parameters: float,
    kind: str,
    n_clusters: int | None = None,
) -> np.ndarray:
    """Return A⁻¹ B A⁻¹ with the correction for few rows of its kind.

    HC1 is corrected by n / (n - p), clusters by G / (G - 1) · (n - 1) / (n - p).

    Parameters
    ----------
    inverse : array (p, p)
        A⁻¹, the inverse of the curvature of the negative log-likelihood.
    products : array (p, p)
        B, from `score_products` or `clustered_products`.
    n_rows, n_parameters : float
        n, as frequencies count the rows, and p.
    kind : {"HC0", "HC1", "HC2", "HC3", "clustered"}
        Which.
    n_clusters : int, optional
        G.

    Examples
    --------
    >>> sandwich(np.eye(1), np.eye(1), n_rows=4.0, n_parameters=2, kind="HC1")
    array([[2.]])
    """
    found = inverse @ products @ inverse
    if kind == "HC1":
        found = found * (n_rows / (n_rows - n_parameters))
    if n_clusters is not None:
        found = found * (n_clusters / (n_clusters - 1.0) * (n_rows - 1.0) / (n_rows - n_parameters))
    return 0.5 * (found + found.T)
