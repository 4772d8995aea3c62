"""A model's evidence as a function of free numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.value import value

__all__ = ["Search"]


@value
class Search:
    """What empirical Bayes needs of a model: where to start, what to minimise, and the way back.

    Parameters
    ----------
    start : array (p,)
        The model's own hyper-parameters as free numbers of order one; a positive one by its logarithm.
    objective : callable
        Minus the summed log evidence at such numbers, with its gradient and Hessian.
    model : callable
        The model with those hyper-parameters.
    """

    start: np.ndarray
    objective: Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]]
    model: Callable[[np.ndarray], Any]
