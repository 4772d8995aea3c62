"""Gradients of functions that are written in torch."""

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["torch_gradient"]


def torch_gradient(
    function: Callable[[Any], Any], x: np.ndarray, *, batch: bool = True, gradient: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of a function written in torch at points (n, ...), and its gradients there.

    Parameters
    ----------
    function : callable
        A number of one point, or one of each point of a batch, as a torch tensor.
    x : array (n, ...)
        The points, or one point where `batch` is false and there is no gradient to take.
    batch : bool
        Whether the function takes all points at once.
    gradient : bool
        Whether to differentiate; else the gradients are empty.
    """
    try:
        import torch
    except ImportError as error:
        raise ImportError('gradient="torch" needs torch: pip install torch') from error

    points = torch.tensor(np.asarray(x, dtype=np.float64), requires_grad=gradient)
    together = batch or not gradient
    found = function(points) if together else torch.stack([function(point) for point in points])
    if not gradient:
        return found.detach().cpu().numpy(), np.empty(0)
    # Points do not depend on each other, so the gradient of the sum is that of each.
    (slope,) = torch.autograd.grad(found.sum(), points)
    return found.detach().cpu().numpy(), slope.cpu().numpy()
