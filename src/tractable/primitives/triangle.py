"""The triangular factor of rows."""

from collections.abc import Callable

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.primitives._agnostic.triangle import centred_triangle as agnostic_centred
from tractable.primitives._agnostic.triangle import triangle as agnostic
from tractable.primitives.reflections import reflect

__all__ = ["centred_triangle", "merged_triangle", "triangle"]

#: Rows folded at a time: the panel and the factor above it stay in cache. No power of two: columns that far
#: apart would fall on each other there.
PANEL = 1000


def triangle(rows: Array) -> Array:
    """Return R, upper triangular with a diagonal that is not negative, so that RᵀR = rowsᵀ rows.

    By Householder reflections, panel after panel under the running factor: R has the digits of a QR of all
    rows at once, whatever their condition.

    Parameters
    ----------
    rows : array (n, d), finite
        Any n, less than d included.

    Examples
    --------
    >>> triangle(np.array([[3.0, 1.0], [4.0, 3.0]]))
    array([[5., 3.],
           [0., 1.]])
    """
    if not is_numpy_array(rows):
        return agnostic(rows)
    rows = np.asarray(rows, dtype=np.float64)

    def fill(panel: np.ndarray, part: slice) -> None:
        panel[:] = rows[part]

    return _householder(len(rows), rows.shape[1], fill)


def centred_triangle(x: Array, y: Array, centre: Array, roots: Array | None = None) -> tuple[Array, Array]:
    """Return the triangular factor of the rows √w ([x, y] - centre), and Σ w ([x, y] - centre).

    The rows are never copied whole.

    Parameters
    ----------
    x : array (n, d)
    y : array (n, t)
    centre : array (d + t,)
    roots : array (n,), optional
        Roots of the weights.

    Examples
    --------
    >>> x, y = np.array([[1.0], [3.0]]), np.array([[2.0], [2.0]])
    >>> centred_triangle(x, y, np.array([0.0, 2.0]))
    (array([[3.16227766, 0.        ],
           [0.        , 0.        ]]), array([4., 0.]))
    """
    if not is_numpy_array(x):
        return agnostic_centred(x, y, centre, roots)
    n, d = x.shape
    rest = np.zeros(len(centre))

    def fill(panel: np.ndarray, part: slice) -> None:
        np.subtract(x[part], centre[:d], out=panel[:, :d])
        np.subtract(y[part], centre[d:], out=panel[:, d:])
        if roots is None:
            rest[:] += panel.sum(axis=0)
            return
        panel *= roots[part, None]
        rest[:] += roots[part] @ panel

    return _householder(n, len(centre), fill), rest


def merged_triangle(first: Array, second: Array, rows: Array) -> Array:
    """Return the triangular factor of two triangular factors and a few rows.

    A third of the work that the same rows would be if they were not triangles already.

    Parameters
    ----------
    first, second : array (d, d)
        Upper triangular.
    rows : array (k, d)

    Examples
    --------
    >>> merged_triangle(np.array([[3.0]]), np.array([[4.0]]), np.array([[12.0]]))
    array([[13.]])
    """
    if not is_numpy_array(first):
        return agnostic(namespace_of(first).concat([first, second, rows]))
    d = first.shape[1]
    below = np.asfortranarray(np.concatenate([rows, second]))
    return _upright(_reflected(np.array(first, order="F"), below, triangular=d))


def _householder(n: int, d: int, fill: Callable[[np.ndarray, slice], None]) -> np.ndarray:
    """Reflect panel after panel into the running factor; `fill` writes the rows of a part into a panel."""
    factor = np.zeros((d, d), order="F")
    for start in range(0, n if d else 0, PANEL):
        stop = min(start + PANEL, n)
        panel = np.empty((stop - start, d), order="F")
        fill(panel, slice(start, stop))
        # A panel that is not tall would be reflected into nothing but zeros.
        few = start == 0 and stop < 3 * d
        factor = _alone(panel) if few else _reflected(factor, panel)
    return _upright(factor)


def _alone(panel: np.ndarray) -> np.ndarray:
    """Return the factor of a panel."""
    from scipy.linalg import lapack

    m, d = panel.shape
    factor = np.zeros((d, d), order="F")
    factor[:m] = np.triu(lapack.dgeqrf(panel, lwork=32 * d, overwrite_a=1)[0][:d])
    return factor


def _reflected(factor: np.ndarray, below: np.ndarray, triangular: int = 0) -> np.ndarray:
    """Return the factor of what is below the factor too; both are overwritten."""
    d = len(factor)
    width = min(d, 8 if d < 200 else 16)  # columns reflected at a time
    return reflect(factor, below, triangular, width) if d else factor


def _upright(factor: np.ndarray) -> np.ndarray:
    """Turn rows so that the diagonal is not negative."""
    sign = np.where(np.diagonal(factor) < 0, -1.0, 1.0)
    return np.ascontiguousarray(factor * sign[:, None]) + 0.0  # and no zero either
