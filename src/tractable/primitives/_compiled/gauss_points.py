"""See `tractable.primitives.line_sums`: sums of Gaussian windows at the points themselves.

Within a bin of half a bandwidth the sum is so smooth that a polynomial through 14 Chebyshev nodes is the sum
to rounding: with n nodes on |v| ≤ a the error of exp(-(t - v)²/2) is at most 2 (a/2)^n / √n!, 1e-18 here.
Where a bin holds many points, they are so many cheap polynomials and 14 sums.
"""

import numpy as np
from numba import njit

from tractable.primitives._compiled.gauss_transform import _TOLERANCE, _binned

__all__ = ["sums_at_points"]

NODES = 14
#: Bins of fewer points are summed point by point.
_FEW = 18
_ANGLES = np.pi * (np.arange(NODES) + 0.5) / NODES
_PLACES = np.cos(_ANGLES)
#: From values at the nodes to coefficients of Chebyshev's polynomials.
_COEFFICIENTS = (
    np.cos(np.arange(NODES)[:, None] * _ANGLES) * np.where(np.arange(NODES) > 0, 2.0, 1.0)[:, None]
)
_COEFFICIENTS = _COEFFICIENTS / NODES


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def sums_at_points(x, weights, h, total_weight, starts, first, centres, moments, begin, out):  # type: ignore[no-untyped-def]
    """Write Σ_j w_j exp(-((x_i - x_j)/h)²/2) for the sorted points from `begin` on."""
    end, i = begin + len(out), begin
    values, coefficients = np.empty(NODES), np.empty(NODES)
    b = np.searchsorted(first, begin, "right") - 1
    while i < end:
        stop = min(first[b + 1], end)
        if stop - i < _FEW or centres[b] == starts[b]:
            for k in range(i, stop):
                reach = np.sqrt(2.0 * np.log(total_weight / (weights[k] * _TOLERANCE)))
                out[k - begin] = _binned(x, weights, h, starts, first, centres, moments, x[k], reach)
        else:
            least = weights[i]
            for k in range(i, stop):
                least = min(least, weights[k])
            reach = np.sqrt(2.0 * np.log(total_weight / (least * _TOLERANCE)))
            for k in range(NODES):
                q = centres[b] + 0.25 * h * _PLACES[k]
                values[k] = _binned(x, weights, h, starts, first, centres, moments, q, reach)
            for m in range(NODES):
                coefficients[m] = 0.0
                for k in range(NODES):
                    coefficients[m] += _COEFFICIENTS[m, k] * values[k]
            _interpolated(x, 4.0 / h, centres[b], coefficients, i, stop, out[i - begin : stop - begin])
        i, b = stop, b + 1


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def _interpolated(x, scale, centre, coefficients, begin, end, out):  # type: ignore[no-untyped-def]
    """Clenshaw's sum of Chebyshev's polynomials at the points of a bin."""
    for i in range(begin, end):
        s = (x[i] - centre) * scale
        later = latest = 0.0
        for m in range(NODES - 1, 0, -1):
            latest, later = later, coefficients[m] + 2.0 * s * later - latest
        out[i - begin] = coefficients[0] + s * later - latest
