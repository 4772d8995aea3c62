"""Points that fill a cube evenly."""

import numpy as np

__all__ = ["lattice"]


def lattice(n: int, dim: int) -> np.ndarray:
    """Return n points of the unit cube, (n, dim): cells' middles on a line, else multiples of one step.

    The step is (1/g, 1/g², …) with g^(dim + 1) = g + 1, whose multiples, less their whole parts, are spread
    evenly however many are taken (Roberts 2018).

    Examples
    --------
    >>> lattice(2, 1).ravel().tolist()
    [0.25, 0.75]
    """
    if dim == 1:
        return ((np.arange(n) + 0.5) / n)[:, None]
    g = 2.0
    for _ in range(60):
        g = (1.0 + g) ** (1.0 / (dim + 1.0))
    return (0.5 + np.arange(1, n + 1)[:, None] * g ** -np.arange(1.0, dim + 1.0)) % 1.0
