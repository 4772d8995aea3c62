"""The best division of a line into blocks of constant density."""

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.bayesian_blocks import best_blocks as agnostic

__all__ = ["best_blocks"]


def best_blocks(mass: Array, places: Array, penalty: float) -> Array:
    """Return where the blocks of greatest penalised likelihood begin and end, as indices of `places`.

    Scargle et al. (2013): a block of weight W and length T has fitness W log(W / T), and every block costs
    `penalty`. Dynamic programming finds the best of all 2^(m - 1) divisions. A beginning that has fallen
    behind by the penalty can never come back, as dividing a block never lowers its fitness; it is dropped,
    and the answer is exact.

    Parameters
    ----------
    mass : array (m,)
        Weight in each cell.
    places : array (m + 1,)
        Where cells begin and end, increasing.
    penalty : float

    Returns
    -------
    array of integers
        From 0 to m.

    Examples
    --------
    >>> import numpy as np
    >>> best_blocks(np.array([9.0, 9.0, 1.0, 1.0]), np.arange(5.0), 2.0).tolist()
    [0, 2, 4]
    """
    if not is_numpy_array(mass):
        return agnostic(mass, places, penalty)
    from tractable.primitives._compiled.bayesian_blocks import best_blocks as compiled

    return compiled(mass, places, float(penalty))
