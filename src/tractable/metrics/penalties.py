"""Penalties: which are accepted, and the cross-validation score of each."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.value import value

#: Which penalty of a curve is taken.
RULES = ("least", "one_standard_error")


@value
class CVCurve:
    """Cross-validation scores of penalties; the smaller, the better.

    Parameters
    ----------
    alphas : array (k,)
        The penalties that were tried.
    scores : array (k,)
        Mean squared error of prediction, averaged over the targets, or another loss.
    standard_errors : array (k,), optional
        Of the scores, where they are means over rows.
    method : str
        Where the scores come from.
    score : str
        What the scores are, in words.
    """

    alphas: np.ndarray
    scores: np.ndarray
    method: str
    standard_errors: np.ndarray | None = None
    score: str = "mean squared error"

    def __post_init__(self) -> None:
        if not np.isfinite(self.scores).any():
            raise ValueError(
                "alphas must have a penalty that can be scored: with these, some coefficients depend on a "
                "single row; more rows or a positive penalty are needed"
            )

    @classmethod
    def of_folds(
        cls, alphas: np.ndarray, losses: np.ndarray, weights: np.ndarray, *, score: str = "mean squared error"
    ) -> "CVCurve":
        """Return the means over folds, with their standard errors.

        Parameters
        ----------
        alphas : array (k,)
            The penalties, the largest first.
        losses : array (k, n_folds)
            The mean loss on the rows that each fold leaves out.
        weights : array (n_folds,)
            The weight of these rows.
        score : str
            What the losses are, in words.
        """
        share = weights / weights.sum()
        mean = losses @ share
        # Of the mean of k folds: their unbiased variance over k, without fourth powers that overflow.
        unit = float(np.max(np.abs(mean))) or 1.0
        variance = ((losses / unit - mean[:, None] / unit) ** 2) @ share
        errors = unit * np.sqrt(variance / max(len(share) - 1, 1))
        named: Any = {"method": f"{len(share)} folds", "score": score}
        return cls(alphas=alphas, scores=mean, standard_errors=errors, **named)

    @property
    def simplest(self) -> int:
        """Index of the first score within one standard error of the smallest: of the largest penalty."""
        if self.standard_errors is None:
            raise ValueError("the curve has no standard errors")
        return int(np.argmax(self.scores <= self.scores[self.best] + self.standard_errors[self.best]))

    def chosen(self, rule: str) -> int:
        """Return the index that a rule of `RULES` takes: of the smallest score, or the simplest near it."""
        return self.best if rule == "least" else self.simplest

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


def check_ratios(name: str, given: Any) -> list[float]:
    """Return shares of the absolute penalty to try, each from 0 to 1.

    Examples
    --------
    >>> check_ratios("l1_ratio", [0.5, 1])
    [0.5, 1.0]
    """
    found = _vector(given)
    if not found.size or not np.all((found >= 0.0) & (found <= 1.0)):
        raise ValueError(f"{name} must be numbers from 0 to 1, got {given!r}")
    return [float(ratio) for ratio in found]


def check_penalties(name: str, given: Any) -> np.ndarray:
    """Return penalties, (k,), if they are numbers from 0."""
    found = _vector(given)
    if not found.size or not np.all((found >= 0.0) & np.isfinite(found)):
        raise ValueError(f"{name} must be numbers from 0, got {given!r}")
    return found


def _vector(given: Any) -> np.ndarray:
    """Return numbers as a vector; an empty one of what is none."""
    try:
        found = np.atleast_1d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        return np.empty(0)
    return found if found.ndim == 1 else np.empty(0)


def best_curve(curves: Sequence[CVCurve]) -> int:
    """Return the index of the curve that has the smallest score; of equal ones the first."""
    return int(np.argmin([curve.best_score for curve in curves]))
