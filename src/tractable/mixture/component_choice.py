"""A choice of the number of components and the shape of their covariances."""

from typing import Any

import numpy as np

from tractable.value import value

__all__ = ["ComponentChoice"]


@value
class ComponentChoice:
    """Which mixture was chosen, and the criteria of all that were tried; lower is better.

    Parameters
    ----------
    n_components : array (m,) of int
    covariance_types : tuple of t names
    scores : dict of arrays (t, m)
        "bic", "icl" and "aic" of every mixture.
    criterion : str
        The one that decides.
    models : tuple of tuples
        The fitted mixtures, `models[i][j]` with `covariance_types[i]` and `n_components[j]`.
    """

    n_components: np.ndarray
    covariance_types: tuple[str, ...]
    scores: dict[str, np.ndarray]
    criterion: str
    models: tuple[tuple[Any, ...], ...]

    @property
    def best(self) -> tuple[int, str]:
        """The number of components and the covariance type that were chosen."""
        i, j = self._place
        return int(self.n_components[j]), self.covariance_types[i]

    @property
    def best_model(self) -> Any:
        """The fitted mixture that was chosen."""
        i, j = self._place
        return self.models[i][j]

    @property
    def _place(self) -> tuple[int, int]:
        i, j = np.unravel_index(np.argmin(self.scores[self.criterion]), self.scores[self.criterion].shape)
        return int(i), int(j)

    def __repr__(self) -> str:
        table = self.scores[self.criterion]
        lines = [("K", *self.covariance_types)]
        for j, k in enumerate(self.n_components):
            best = [(i, j) == self._place for i in range(len(table))]
            marks = (f"{x:.6g}{'*' if b else ' '}" for x, b in zip(table[:, j], best, strict=True))
            lines.append((str(k), *marks))
        width = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = ["  ".join(cell.rjust(w) for cell, w in zip(line, width, strict=True)) for line in lines]
        number, kind = self.best
        return "\n".join(
            [*(row.rstrip() for row in rows), f"{number} components, {kind}: lowest {self.criterion}"]
        )
