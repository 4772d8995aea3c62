"""Fourier basis functions."""

from math import pi

from tractable.arrays.namespace import Array, namespace_of
from tractable.base.parameters import check_number
from tractable.linear_model.basis.base import Basis, column_range


class FourierBasis(Basis):
    """Fourier basis sin(2πkx / T) and cos(2πkx / T), k = 1, …, n_frequencies, of each column.

    Parameters
    ----------
    n_frequencies : int
        Number of frequencies, multiples of 1 / T; 65,536 at most.
    period : float, optional
        The period T, in the units of the columns. By default the length of the range of each column, with the
        smallest value as origin.

    Attributes
    ----------
    period_, origin_ : arrays of shape (n_features,)
        Period T of each column, and the value at which it begins.

    Examples
    --------
    >>> import tractable
    >>> basis = tractable.FourierBasis(1, period=24.0).fit([[0.0], [6.0]])
    >>> basis.transform([[6.0], [12.0]]).round(12) + 0.0
    array([[ 1.,  0.],
           [ 0., -1.]])
    >>> list(basis.get_feature_names_out(["hour"]))
    ['sin1(hour)', 'cos1(hour)']
    """

    def __init__(self, n_frequencies: int = 3, *, period: float | None = None) -> None:
        self.n_frequencies = n_frequencies
        self.period = period

    def _check_parameters(self) -> None:
        check_number("n_frequencies", self.n_frequencies, least=1, most=1 << 16, whole=True)
        if self.period is not None:
            check_number("period, where it is not None,", self.period, above=0.0)

    def _learn(self, X: Array, weights: Array) -> None:
        self._check_parameters()
        xp = namespace_of(X)
        middle, half = column_range(X)
        if self.period is None:
            self.origin_, self.period_ = xp.min(X, axis=0), 2.0 * half
        else:
            self.origin_, self.period_ = xp.zeros_like(middle), xp.full_like(half, self.period)

    def _map(self, X: Array) -> list[Array]:
        xp = namespace_of(X)
        turns = (X - self.origin_) / self.period_
        return [
            wave(2.0 * pi * k * turns[:, j])
            for j in range(X.shape[1])
            for k in range(1, self.n_frequencies + 1)
            for wave in (xp.sin, xp.cos)
        ]

    def _names(self, inputs: list[str]) -> list[str]:
        return [
            f"{wave}{k}({name})"
            for name in inputs
            for k in range(1, self.n_frequencies + 1)
            for wave in ("sin", "cos")
        ]
