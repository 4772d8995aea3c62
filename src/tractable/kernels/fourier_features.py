"""Random Fourier features."""

from typing import Any, Self

import numpy as np

from tractable.arrays.namespace import Array, device, freeze, namespace_of
from tractable.arrays.random import as_generator
from tractable.kernels.base import Kernel, as_rows
from tractable.spatial.checks import as_whole
from tractable.value import set_fields, value


@value
class FourierFeatures:
    """Random features of a stationary kernel: φ_i(x) = √(2v/n) cos(ω_iᵀx + b_i), Rahimi and Recht (2007).

    φ(x)ᵀφ(x') is k(x, x') on average over the frequencies and phases, with an error of order 1/√n. It is
    made by `Kernel.random_features`, and ``Feature(φ)`` is the kernel of these features.

    Parameters
    ----------
    frequencies : array (n, d)
        ω, in radians.
    phases : array (n,)
        b.
    variance : float
        v, the kernel at distance zero.

    Examples
    --------
    >>> from tractable.kernels import RBF
    >>> phi = RBF(2.0).random_features(1000, rng=0)
    >>> phi([[0.0], [1.0]]).shape
    (2, 1000)
    """

    frequencies: np.ndarray
    phases: np.ndarray
    variance: float

    def __post_init__(self) -> None:
        frequencies, phases = (np.asarray(a, dtype=np.float64) for a in (self.frequencies, self.phases))
        if frequencies.ndim != 2 or phases.shape != frequencies.shape[:1]:
            raise ValueError(
                f"frequencies and phases must have shapes (n, d) and (n,), "
                f"got {frequencies.shape} and {phases.shape}"
            )
        if not self.variance > 0.0:
            raise ValueError(f"variance must be positive, got {self.variance!r}")
        set_fields(self, frequencies=freeze(frequencies), phases=freeze(phases))

    @classmethod
    def of(cls, kernel: Kernel, n: Any, rng: Any, columns: int) -> Self:
        """Draw the features of a stationary kernel; see `Kernel.random_features`.

        Parameters
        ----------
        kernel : Kernel
            A stationary kernel.
        n : int
            The number of features.
        rng : int, Generator or None
            Source of randomness.
        columns : int
            The columns of x.
        """
        n, columns = as_whole("n", n, 1), as_whole("columns", columns, 1)
        if not kernel.is_stationary:
            raise ValueError(f"{kernel!r} is not stationary, and has no spectral density")
        generator = as_generator(rng)
        frequencies = kernel.frequencies(n, columns, generator)
        variance = float(kernel.diagonal(np.zeros((1, columns)))[0])
        return cls(frequencies=frequencies, phases=generator.uniform(0.0, 2.0 * np.pi, n), variance=variance)

    def __call__(self, x: Any) -> Array:
        """Return φ(x), (rows, n)."""
        x = as_rows("x", x)
        xp, (n, d) = namespace_of(x), self.frequencies.shape
        if x.shape[1] != d:
            raise ValueError(f"x must have {d} columns as the frequencies have, got {x.shape[1]}")
        frequencies, phases = (
            xp.asarray(a, dtype=x.dtype, device=device(x), copy=True) for a in (self.frequencies, self.phases)
        )
        return (2.0 * self.variance / n) ** 0.5 * xp.cos(x @ frequencies.T + phases)
