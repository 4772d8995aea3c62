# ruff: noqa: SLF001  (parts of smoothed samples ask them)
"""Where quadrature parts the density of smoothed numbers: at its corners, and about its points."""

import math
from typing import Any

import numpy as np

from tractable.arrays.namespace import to_numpy
from tractable.smoothing import WINDOWS, Window

__all__ = ["corners", "panels"]

#: The most corners, and the most panels, that quadrature begins with.
_MOST = 4000

#: How many panels lie about those that hold points: nearly all mass of any window that has a rule for it.
_BESIDE = np.array([-32, -16, -8, -4, -3, -2, -1, 0, 1, 2, 3, 4, 8, 16, 32])

#: Where known windows have corners, or jumps, in units of the bandwidth.
_CORNERS = {"gaussian": (), "laplace": (0.0,), "triangular": (-1.0, 0.0, 1.0)}


def corners(d: Any) -> np.ndarray:
    """Return where a density of numbers has a corner or jumps, in order; of users' windows, what is known."""
    window: Window = d._window
    if WINDOWS.get(window.name) is window:
        places = _CORNERS.get(window.name, (-1.0, 1.0))
    else:
        places = (0.0,) if math.isinf(window.support) else (-window.support, 0.0, window.support)
    steps = np.asarray(places) * float(d._widths[0])
    return _folded(d, (to_numpy(d._rows)[:, :1] + steps).ravel())


def panels(d: Any) -> np.ndarray:
    """Return the ends of panels, two bandwidths wide about the points, and the corners where they are few."""
    x, width = to_numpy(d._rows)[:, 0], 2.0 * float(d._widths[0])
    start = float(x.min())
    held = np.unique(np.floor((x - start) / width))
    ends = np.unique(held[:, None] + np.append(_BESIDE, 5))
    ends = ends[:: math.ceil(len(ends) / _MOST)]
    found, known = start + width * ends, corners(d)
    found = _folded(d, np.append(found, [start, float(x.max())]))
    return np.unique(np.append(found, known)) if len(known) <= _MOST else found


def _folded(d: Any, x: np.ndarray) -> np.ndarray:
    """Bring places into the domain, with the walls that they reach."""
    if d._domain is None:
        low, high = (to_numpy(end).reshape(()) for end in d.support)
        return np.unique(np.clip(x, low, high))
    inside = np.unique(to_numpy(d._domain.fold(x[:, None]))[:, 0])
    ends = np.array([d._domain.low[0], d._domain.high[0]])
    reached = [d._domain.wraps[0] or np.any(x <= ends[0]), d._domain.wraps[0] or np.any(x >= ends[1])]
    return np.unique(np.append(inside, ends[np.array(reached)]))
