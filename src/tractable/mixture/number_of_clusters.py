"""A choice of the number of clusters."""

import numpy as np

from tractable.mixture.kmeans_search import KMeansFit
from tractable.value import value

__all__ = ["RULES", "NumberOfClusters"]

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
        widths = [max(len(line[j]) for line in lines) for j in range(len(lines[0]))]
        table = ["  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)) for line in lines]
        chosen = f"{self.best} cluster{'s' if self.best > 1 else ''}: {self.rule}"
        return "\n".join([*(line.rstrip() for line in table), chosen])
