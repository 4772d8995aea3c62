"""Models whose data add to the symbols of the belief, as counts add to pseudocounts."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from tractable.arrays.namespace import Array, to_numpy
from tractable.conjugate.model import ConjugateModel
from tractable.conjugate.search import Search

__all__ = ["AdditiveModel"]


class AdditiveModel(ConjugateModel):
    """A conjugate model with hyper-parameters η > 0 such that η(posterior) = η(prior) + t(statistic).

    With A(η) the log of the constant that normalises the belief, the log evidence is A(η + t) - A(η), and
    what the likelihood does not share with the belief (its base measure). A function of t alone may move from
    the one to the other, where both are large and cancel. A model writes `_symbols`, `_gain`,
    `_with_symbols` and `_log_base`, how much A rises, and the derivatives of A; the rest follows.
    """

    @abstractmethod
    def _symbols(self) -> Array:
        """Return η as one vector."""

    @abstractmethod
    def _with_symbols(self, symbols: Array) -> Self:
        """Return the same model believing in another η."""

    @abstractmethod
    def _gain(self, statistic: Any) -> Array:
        """Return what data add to η, the statistic checked."""

    @abstractmethod
    def _log_base(self, statistic: Any) -> Any:
        """Return the log of what the likelihood multiplies the kernel by, and what `_rise` left out."""

    @staticmethod
    @abstractmethod
    def _rise(symbols: Array, gain: Array) -> Array:
        """Return A(η + t) - A(η) over the last axis, with its digits, less what `_log_base` took over."""

    @staticmethod
    @abstractmethod
    def _slope(symbols: np.ndarray) -> np.ndarray:
        """Return ∂A/∂η, for many η at once."""

    @staticmethod
    @abstractmethod
    def _curvature(symbols: np.ndarray) -> np.ndarray:
        """Return ∂²A/∂η², for many η at once."""

    def update(self, statistic: Any) -> Self:
        """See `ConjugateModel.update`: η + t."""
        return self._with_symbols(self._symbols() + self._gain(statistic))

    def log_evidence(self, statistic: Any) -> float:
        """See `ConjugateModel.log_evidence`: A(η + t) - A(η), and the base measure of the rows."""
        rise = self._rise(self._symbols(), self._gain(statistic))
        return float(rise) + float(self._log_base(statistic))

    def _search(self, statistics: Sequence[Any]) -> Search:
        gains = np.stack([to_numpy(self._gain(s)) for s in statistics])
        base = sum(float(self._log_base(s)) for s in statistics)

        def objective(logs: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
            """Minus the summed log evidence of η = exp(logs), its gradient and its Hessian."""
            eta = np.exp(logs)
            rise = np.sum(self._rise(eta, gains))
            slope = eta * np.sum(self._slope(eta + gains) - self._slope(eta), axis=0)
            bend = np.sum(self._curvature(eta + gains) - self._curvature(eta), axis=0)
            return -(rise + base), -slope, -(bend * eta[:, None] * eta + np.diag(slope))

        return Search(
            start=np.log(to_numpy(self._symbols()).astype(np.float64)),
            objective=objective,
            model=lambda logs: self._with_symbols(np.exp(logs)),
        )
