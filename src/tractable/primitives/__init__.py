"""Hot loops, a package a family; each function picks its implementation by the type and size of its arrays.

In every family ``compiled*.py`` holds Numba functions for NumPy arrays, and ``agnostic.py`` the same
functions in the array API: for every other library, for NumPy arrays so small that compiling would take
longer than the work itself, and to test the compiled ones.
"""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np

from tractable.arrays.devices import is_single, pass_over
from tractable.arrays.namespace import Array, is_foreign_array, is_numpy_array, namespace_of
from tractable.primitives.threads import core_with_threads

F = TypeVar("F", bound=Callable[..., Any])

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


def native(x: Array) -> Any:
    """Return the native core, which serves arrays of NumPy of any size; None for others, or without a core.

    Examples
    --------
    >>> native([1.0]) is None
    True
    """
    return core_with_threads() if is_numpy_array(x) else None


def native_rows(x: np.ndarray) -> np.ndarray:
    """Return an array as the core reads it: in single or double precision, with any strides.

    Examples
    --------
    >>> native_rows(np.arange(3)).dtype
    dtype('float64')
    """
    if x.dtype.char in "df" and x.dtype.isnative and x.flags.aligned:
        return x
    return np.asarray(x, dtype=np.float64, order="C")


def native_weights(weights: Array | None) -> np.ndarray | None:
    """Return weights as the core reads them, in double precision; None for None."""
    return None if weights is None else native_rows(np.asarray(weights, dtype=np.float64))


def native_matrix(x: Array) -> np.ndarray:
    """Return an array in double precision whose entries lie one after another."""
    return np.ascontiguousarray(x, dtype=np.float64)


def parameters_beside_rows(primitive: F) -> F:
    """Make a function of rows take parameters of NumPy with rows on a device: results are NumPy's then.

    The parameters, which are small, go to the rows, and the sums over rows come back: the rows stay where
    they are.
    """

    @wraps(primitive)
    def called(rows: Any, *args: Any, **options: Any) -> Any:
        x = getattr(rows, "flat", rows) if not hasattr(rows, "dtype") else rows
        if is_numpy_array(x) or not any(is_numpy_array(each) for each in args):
            return primitive(rows, *args, **options)
        return pass_over(x, partial(primitive, rows, **options), *args)

    return called  # type: ignore[return-value]


def few_pairs(x: Array, points: Array) -> bool:
    """Say whether all pairs of a row of x and a point are met in NumPy, or another library."""
    columns = max(points.shape[1] - 32, 0)  # of few, a product of matrices is not what takes the time
    return not runs_compiled(x, (4 + columns // 8) * x.shape[0] * points.shape[0])


def squared_distances(x: Array, points: Array, scale: float = 1.0) -> Array:
    """Return |x_i - y_j|² of every row and point, (m, n), by differences: nothing cancels.

    Differences are divided by `scale` before they are squared, which may be too small, or large, to square.

    Examples
    --------
    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 1.0]])).tolist()
    [[25.0, 1.0]]
    """
    if is_numpy_array(x) and scale == 1.0:
        from scipy.spatial.distance import cdist

        return cdist(x, points, "sqeuclidean")
    xp = namespace_of(x, points)
    if 0 < points.shape[0] < x.shape[1]:  # the shorter of two loops
        steps = ((x - points[k, :]) / scale for k in range(points.shape[0]))
        return xp.stack([xp.sum(step * step, axis=1) for step in steps], axis=1)
    squares = xp.zeros_like(x[:, :1] * points[:, 0])
    for j in range(x.shape[1]):
        squares = squares + ((x[:, j : j + 1] - points[:, j]) / scale) ** 2
    return squares


def as_double(x: Array) -> Array:
    """Return an array in double precision, in which sums are taken unless single precision is asked for."""
    if not is_foreign_array(x):
        return np.asarray(x, dtype=np.float64)
    xp = namespace_of(x)
    return x if x.dtype == xp.float64 or is_single(x) else xp.astype(x, xp.float64)
