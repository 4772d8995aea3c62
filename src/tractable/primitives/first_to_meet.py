"""Which of many lines meets a falling one first."""

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.first_to_meet import first_to_meet as agnostic

__all__ = ["first_to_meet"]


def first_to_meet(
    heights: Array, slopes: Array, free: Array, level: float, positive: bool
) -> tuple[int, float]:
    """Return the j whose |heights_j - t slopes_j| reaches level - t first, and that t ≥ 0; infinity if none.

    Parameters
    ----------
    heights, slopes : array (p,)
    free : array (p,) of bool
        Which of them are asked.
    level : float
        Not below any |heights_j|, but for rounding.
    positive : bool
        Whether lines that come from below, meeting -(level - t), do not count.

    Examples
    --------
    >>> import numpy as np
    >>> both = np.array([True, True])
    >>> first_to_meet(np.array([1.0, -1.5]), np.array([0.0, 0.5]), both, 2.0, positive=False)
    (1, 0.3333333333333333)
    """
    if not is_numpy_array(heights):
        return agnostic(heights, slopes, free, level, positive)
    from tractable.primitives._compiled.first_to_meet import first_to_meet as compiled

    return compiled(heights, slopes, free, level, positive)
