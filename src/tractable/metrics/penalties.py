"""Penalties: which are accepted, and the cross-validation score of each."""

from typing import Any

import numpy as np

from tractable.value import value


@value
class CVCurve:
    """Cross-validation scores of penalties; the smaller, the better.

    Parameters
    ----------
    alphas : array (k,)
        The penalties that were tried.
    scores : array (k,)
        Mean squared error of prediction, averaged over the targets.
    standard_errors : array (k,), optional
        Of the scores, where they are means over rows.
    method : str
        Where the scores come from.
    """

    alphas: np.ndarray
    scores: np.ndarray
    method: str
    standard_errors: np.ndarray | None = None

    def __post_init__(self) -> None:
        if not np.isfinite(self.scores).any():
            raise ValueError(
                "alphas must have a penalty that can be scored: with these, some coefficients depend on a "
                "single row; more rows or a positive penalty are needed"
            )

    @property
    def best(self) -> int:
        """Index of the smallest score; of equal ones the first."""
        return int(np.argmin(np.where(np.isfinite(self.scores), self.scores, np.inf)))

    @property
    def best_alpha(self) -> float:
        """The penalty with the smallest score."""
        return float(self.alphas[self.best])

    @property
    def best_score(self) -> Any:
        """Its score."""
        return float(self.scores[self.best])


def check_penalties(name: str, given: Any) -> np.ndarray:
    """Return penalties, (k,), if they are numbers from 0."""
    try:
        found = np.atleast_1d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim != 1 or not found.size or not np.all((found >= 0.0) & np.isfinite(found)):
        raise ValueError(f"{name} must be numbers from 0, got {given!r}")
    return found
