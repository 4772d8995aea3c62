"""One pass of gradient steps for squared errors."""

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.gradient_pass import gradient_pass as agnostic

__all__ = ["gradient_pass"]


def gradient_pass(
    rows: Array, targets: Array, weights: Array, steps: Array, batch_size: int, start: Array
) -> tuple[Array, Array, float]:
    """Follow w ← w + η mean(weight (t - wᵀφ) φ) over the batches, in order.

    Parameters
    ----------
    rows : array (n, p)
        The features φ.
    targets : array (n,)
    weights : array (n,)
    steps : array (ceil(n / batch_size),)
        η of each batch.
    batch_size : int
    start : array (p,)
        w before the first step.

    Returns
    -------
    array (p,), array (p,), float
        w after the last step; the sum of w after each; the sum of weight (t - wᵀφ)², each before its step.

    Examples
    --------
    >>> import numpy as np
    >>> rows, targets = np.array([[1.0], [2.0]]), np.array([2.0, 4.0])
    >>> gradient_pass(rows, targets, np.ones(2), np.array([0.5, 0.25]), 1, np.zeros(1))
    (array([2.]), array([3.]), 8.0)
    """
    if not is_numpy_array(rows):
        return agnostic(rows, targets, weights, steps, batch_size, start)
    from tractable.primitives._compiled.gradient_pass import gradient_pass as compiled

    return compiled(rows, targets, weights, steps, batch_size, start)
