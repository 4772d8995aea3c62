"""Hot loops, a package a family; each function picks its implementation by the type and size of its arrays.

In every family ``compiled*.py`` holds Numba functions for NumPy arrays, and ``agnostic.py`` the same
functions in the array API: for every other library, for NumPy arrays so small that compiling would take
longer than the work itself, and to test the compiled ones.
"""

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array

#: Elementary operations from which on a call runs compiled code: NumPy takes about a millisecond for them.
COMPILED_WORK = 2**20

#: Numbers that overflow give no warnings, as in compiled code: callers see infinities, and say what they
#: mean.
SILENT = np.errstate(over="ignore", divide="ignore", invalid="ignore")


def runs_compiled(x: Array, work: float) -> bool:
    """Return whether a call on the array x runs compiled code.

    The answer depends on the type of x and on shapes alone, never on what has been compiled before, so that
    equal calls have equal results.

    Parameters
    ----------
    x : array
    work : float
        About how many elementary operations the other implementation takes.

    Examples
    --------
    >>> import numpy as np
    >>> runs_compiled(np.zeros((500, 5)), 2500), runs_compiled(np.zeros((500, 5)), 1e9)
    (False, True)
    """
    return is_numpy_array(x) and work >= COMPILED_WORK


def as_double(x: Array) -> Array:
    """Return a NumPy array in double precision, in which compiled code computes; others as they are."""
    return np.asarray(x, dtype=np.float64) if is_numpy_array(x) else x
