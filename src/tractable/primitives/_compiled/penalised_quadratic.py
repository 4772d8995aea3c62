"""See `tractable.primitives.penalised_quadratic`."""

import numpy as np
from numba import njit

__all__ = ["coordinate_sweeps"]


@njit(nogil=True, cache=True, error_model="numpy")
def coordinate_sweeps(
    hessian: np.ndarray, slope: np.ndarray, price: np.ndarray, x: np.ndarray, n_sweeps: int
) -> tuple[np.ndarray, np.ndarray]:
    """See `tractable.primitives.penalised_quadratic.coordinate_sweeps`."""
    u, q = x.copy(), slope.copy()
    for _ in range(n_sweeps):
        moved = False
        for j in range(len(u)):
            a = hessian[j, j]
            if a <= 0.0:
                continue
            pull = a * u[j] - q[j]
            rest = max(abs(pull) - price[j], 0.0) / a
            step = (rest if pull > 0.0 else -rest) - u[j]
            if step != 0.0:
                moved = True
                u[j] += step
                for i in range(len(u)):
                    q[i] += step * hessian[j, i]
        if not moved:
            break
    return u, q
