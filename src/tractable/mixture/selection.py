"""A choice of the number of components and the shape of their covariances."""

from typing import Any

import numpy as np

from tractable.engines.kmeans import KMeansFit
from tractable.value import value


@value
class ComponentChoice:
    """Which mixture was chosen, and the criteria of all that were tried; lower is better.

    Mixtures with a collapsed component are not chosen, unless there are no others: their likelihood has no
    bound, and no criterion means anything there. The table marks them with ``!``, and the chosen with ``*``.

    Parameters
    ----------
    n_components : array (m,) of int
        The numbers of components that were tried.
    covariance_types : tuple of t names
        The shapes of the covariances that were tried.
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
        i, j = self._chosen
        return int(self.n_components[j]), self.covariance_types[i]

    @property
    def best_model(self) -> Any:
        """The fitted mixture that was chosen."""
        i, j = self._chosen
        return self.models[i][j]

    @property
    def collapsed(self) -> np.ndarray:
        """Which mixtures have a collapsed component, (t, m)."""
        return np.array([[bool(np.any(model.collapsed_)) for model in fits] for fits in self.models])

    def position(self, criterion: str) -> tuple[int, int]:
        """Return the position (i, j) in the table of the mixture that "bic", "icl" or "aic" chooses."""
        table, collapsed = self.scores[criterion], self.collapsed
        open_to = np.ones_like(collapsed) if collapsed.all() else ~collapsed
        i, j = np.unravel_index(np.argmin(np.where(open_to, table, np.inf)), table.shape)
        return int(i), int(j)

    @property
    def _chosen(self) -> tuple[int, int]:
        return self.position(self.criterion)

    def __repr__(self) -> str:
        table, marks = self.scores[self.criterion], np.where(self.collapsed, "!", " ")
        marks[self._chosen] = "*"
        lines = [("K", *self.covariance_types)]
        for j, k in enumerate(self.n_components):
            cells = (f"{x:.6g}{mark}" for x, mark in zip(table[:, j], marks[:, j], strict=True))
            lines.append((str(k), *cells))
        return "\n".join([*_aligned(lines), *self._words()])

    def _words(self) -> list[str]:
        number, kind = self.best
        chosen = f"{number} component{'s' if number > 1 else ''}, {kind}: lowest {self.criterion}"
        if not self.collapsed.any():
            return [chosen]
        if self.collapsed.all():
            return [chosen, "components collapsed in all of them: no criterion means much"]
        return [chosen, "! components collapsed: left out of the choice"]


#: How each criterion chooses; of several equally good numbers, the smallest.
RULES = {
    "calinski_harabasz": "the largest ratio of scatter between to scatter within",
    "silhouette": "the largest mean silhouette",
    "davies_bouldin": "the smallest mean similarity",
    "gap": "the smallest K whose gap is within one standard error of the next one's, or above",
    "elbow": "the largest distance below the chord of the curve of scatter within",
}


@value
class NumberOfClusters:
    """A choice of the number of clusters, and what it was chosen by.

    Parameters
    ----------
    n_clusters : array (m,) of int
        The numbers that were tried, in order.
    scores : dict of arrays (m,)
        Of every criterion that was asked for. That of the elbow is the distance below the chord, where both
        axes run from 0 to 1.
    choices : dict of int
        What each criterion chooses.
    criterion : str
        The one that decides: the first that was asked for.
    inertias : array (m,)
        Scatter within clusters, W_K = Σ w |x - μ|².
    gap_errors : array (m,) or None
        Standard errors of the gaps, where these were asked for.
    fits : tuple
        The clusterings, one for each number: `centers`, `labels`, `inertia`, …
    """

    n_clusters: np.ndarray
    scores: dict[str, np.ndarray]
    choices: dict[str, int]
    criterion: str
    inertias: np.ndarray
    gap_errors: np.ndarray | None
    fits: tuple[KMeansFit, ...]

    @property
    def best(self) -> int:
        """The number of clusters that was chosen."""
        return self.choices[self.criterion]

    @property
    def best_fit(self) -> KMeansFit:
        """The clustering with that number of clusters."""
        return self.fits[int(np.flatnonzero(self.n_clusters == self.best)[0])]

    @property
    def rule(self) -> str:
        """How the criterion chooses."""
        return RULES[self.criterion]

    def __repr__(self) -> str:
        lines = [("K", "inertia", *self.scores)]
        for i, k in enumerate(self.n_clusters):
            marks = (f"{x[i]:.4g}{'*' if self.choices[c] == k else ' '}" for c, x in self.scores.items())
            lines.append((str(k), f"{self.inertias[i]:.4g}", *marks))
        chosen = f"{self.best} cluster{'s' if self.best > 1 else ''}: {self.rule}"
        return "\n".join([*_aligned(lines), chosen])


def _aligned(lines: list[tuple[str, ...]]) -> list[str]:
    """Return the lines of a table with its columns aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = ("  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)) for line in lines)
    return [row.rstrip() for row in rows]
