"""One search for a penalty: each is fitted to the training rows of folds and judged by the rows left out."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tractable.base.validation import Rows, check_folds
from tractable.data.blocks import reduce_blocks
from tractable.metrics.penalties import CVCurve
from tractable.value import value


@value
class PenaltySearch:
    """Losses of all penalties on the rows left out, for each share of the absolute penalty that was tried."""

    curves: list[CVCurve]  # the mean losses over the folds, one for each share
    losses: np.ndarray  # (n_shares, n_penalties, n_folds)
    fits: list[Any]  # one for each fold

    @classmethod
    def over(
        cls,
        judge: Callable[[Rows, Rows], tuple[Any, Any]],
        rows: Rows,
        cv: Any,
        grids: Sequence[np.ndarray],
        *,
        labels: Any = None,
        score: str = "mean squared error",
        weighted: bool = True,
    ) -> "PenaltySearch":
        """Search on the folds of rows in memory, several folds at a time.

        Parameters
        ----------
        judge : callable
            ``judge(train, test)`` returns mean losses on test rows, (n_shares, n_penalties), and the fits.
        rows, cv
            Rows, and their folds as in scikit-learn.
        grids : sequence of arrays (n_penalties,)
            The penalties for each share, the largest first.
        labels : array (n,), optional
            The classes, which all folds have in equal proportions.
        score : str
            The name of the losses.
        weighted : bool
            Whether a fold counts by the weight of its test rows, or as any other.
        """
        folds = check_folds(
            cv, rows.data, rows.y if labels is None else labels, classifier=labels is not None
        )

        def judged(fold: tuple[np.ndarray, np.ndarray]) -> list[tuple[Any, float, Any]]:
            train, test = map(rows.part, fold)
            if train.weights is not None and not train.weights.any():
                raise ValueError(
                    "sample_weight must have a positive entry in the training rows of every fold"
                )
            weight = float(len(fold[1]) if test.weights is None else test.weights.sum())
            losses, fits = judge(train, test if weight > 0.0 else train)
            return [(np.asarray(losses) * (weight > 0.0), weight, fits)]

        found = reduce_blocks(judged, folds, n_rows=len(folds), label="cross-validating")
        losses = np.stack([part for part, _, _ in found], axis=2)
        weights = np.array([weight if weighted else 1.0 for _, weight, _ in found])
        curves = [CVCurve.of_folds(*each, weights, score=score) for each in zip(grids, losses, strict=True)]
        return cls(curves=curves, losses=losses, fits=[fits for _, _, fits in found])


def check_scorer(scoring: Any, model: Any) -> Callable[[Any, Any, Any, Any], float]:
    """Return ``score(model, X, y, weights)`` by a scorer of scikit-learn, given by its name or as it is."""
    from sklearn.metrics import check_scoring

    try:
        scorer: Any = check_scoring(model, scoring=scoring)
    except (TypeError, ValueError):
        scorer = None
    if scorer is None or isinstance(scoring, (list, tuple, set, dict)):  # several scores choose no penalty
        raise ValueError(f"scoring must be a scorer of scikit-learn or its name, got {scoring!r:.60}")
    return lambda model, X, y, weights: float(
        scorer(model, X, y, **({} if weights is None else {"sample_weight": weights}))
    )
