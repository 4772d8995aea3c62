"""Decisions of least expected loss."""

from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals

__all__ = ["check_class_loss", "expected_loss", "least_loss"]


def expected_loss(probabilities: Any, loss: Any = None) -> np.ndarray:
    """Return what each decision is expected to cost, R_j(x) = Σ_k L_kj p(C_k | x).

    Parameters
    ----------
    probabilities : array (n, K)
        p(C_k | x), one row a case.
    loss : array (K, J), optional
        L_kj, what decision j costs where class k is true; 1 for every mistake when not given.

    Returns
    -------
    array (n, J)

    Examples
    --------
    A missed illness costs a hundred times what a needless treatment does:

    >>> expected_loss([[0.98, 0.02]], loss=[[0.0, 1.0], [100.0, 0.0]])
    array([[2.  , 0.98]])
    """
    p = np.asarray(as_reals("probabilities", probabilities), dtype=np.float64)
    if p.ndim != 2 or not p.shape[1]:
        raise ValueError(f"probabilities must have shape (n, n_classes), got {p.shape}")
    if not (np.all(p >= 0.0) and np.allclose(p.sum(axis=1), 1.0, atol=1e-6)):
        raise ValueError("probabilities must not be negative, and one in sum in every row")
    if loss is None:
        return 1.0 - p
    cost = np.asarray(as_reals("loss", loss), dtype=np.float64)
    if cost.ndim != 2 or len(cost) != p.shape[1] or not np.all(np.isfinite(cost)):
        raise ValueError(f"loss must be finite, of shape ({p.shape[1]}, n_decisions), got shape {cost.shape}")
    return p @ cost


def least_loss(probabilities: Any, *, loss: Any = None, reject_loss: float | None = None) -> np.ndarray:
    """Return the decision of least expected loss of each case, or -1 where rejecting it is cheaper.

    With the 0-1 loss that is the most probable class, and a case is rejected where even that is less
    probable than 1 - reject_loss (Chow's rule). Of tied decisions the first is taken.

    Parameters
    ----------
    probabilities : array (n, K)
    loss : array (K, J), optional
    reject_loss : float, optional
        What leaving a case undecided costs.

    Returns
    -------
    array (n,) of int

    Examples
    --------
    >>> least_loss([[0.98, 0.02], [0.55, 0.45]], reject_loss=0.1)
    array([ 0, -1])
    """
    risk = expected_loss(probabilities, loss)
    chosen = np.argmin(risk, axis=1)
    if reject_loss is None:
        return chosen
    if isinstance(reject_loss, bool) or not isinstance(reject_loss, (int, float, np.number)):
        raise ValueError(f"reject_loss must be a number, got {reject_loss!r}")
    if not np.isfinite(reject_loss):
        raise ValueError(f"reject_loss must be finite, got {reject_loss}")
    return np.where(risk.min(axis=1) > reject_loss, -1, chosen)


def check_class_loss(loss: Any, n_classes: int) -> None:
    """Refuse a loss that is none of decisions for classes: it has one row and one column for each.

    Examples
    --------
    >>> check_class_loss([[0.0, 1.0], [5.0, 0.0]], 2)
    """
    k = n_classes
    if loss is not None and np.shape(loss) != (k, k):
        raise ValueError(f"loss must have shape ({k}, {k}), one row and column a class, got {np.shape(loss)}")
