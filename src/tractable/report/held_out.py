"""Predictions of rows that a model has not seen, and how good they are."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.report.candidates import Candidate, Predict
from tractable.value import value

__all__ = ["HeldOut", "Importance", "compared", "folds", "held_out", "importances"]

N_FOLDS = 5


@value
class HeldOut:
    """What a model said of each row when it was fitted to the others.

    Parameters
    ----------
    name : str
    log_p : array (n,)
        The log predictive density (of classes: probability) of each row's target.
    parts : list of (rows, Predict, distribution)
        By fold: the positions of the rows, the model, and what it said of them.
    """

    name: str
    log_p: np.ndarray
    parts: list[tuple[np.ndarray, Predict, Any]]

    @property
    def mean(self) -> float:
        return float(self.log_p.mean())

    @property
    def standard_error(self) -> float:
        return _error(self.log_p)

    def gathered(self, what: Any) -> np.ndarray:
        """Return what a function makes of each fold's distribution, in the order of the rows."""
        found = [(rows, np.asarray(what(said, rows))) for rows, _, said in self.parts]
        out = np.empty((len(self.log_p), *found[0][1].shape[1:]))
        for rows, values in found:
            out[rows] = values
        return out


@value
class Importance:
    """What a column is worth: how much log density is lost when its entries are dealt out at random.

    Parameters
    ----------
    column : str
    loss : float
        On average of a row.
    standard_error : float
        Over rows.
    """

    column: str
    loss: float
    standard_error: float


def folds(y: np.ndarray, *, classes: bool) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the rows to learn from and the rows to predict, five times; always the same."""
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = StratifiedKFold if classes else KFold
    return list(kind(N_FOLDS, shuffle=True, random_state=0).split(np.zeros((len(y), 1)), y))


def held_out(candidate: Candidate, X: Any, y: np.ndarray, splits: Any) -> HeldOut:
    """Return a model's predictions of rows it has not seen."""
    log_p, parts = np.empty(len(y)), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in splits:
            predict = candidate.learn(X.iloc[train], y[train])
            said = predict(X.iloc[test])
            log_p[test] = said.log_prob(y[test])
            parts.append((test, predict, said))
    if not np.isfinite(log_p).all():
        raise ValueError(f"{candidate.name} gives targets no finite density")
    return HeldOut(name=candidate.name, log_p=log_p, parts=parts)


def compared(found: Sequence[HeldOut]) -> list[tuple[HeldOut, float, float]]:
    """Return models by their mean log density, each with its difference from the best and the paired error.

    Rows that are hard for one model are hard for all: what they have in common cancels in the difference.
    """
    order = sorted(found, key=lambda one: -one.mean)
    best = order[0]
    return [(one, one.mean - best.mean, _error(one.log_p - best.log_p)) for one in order]


def importances(
    found: HeldOut, X: Any, y: np.ndarray, columns: Sequence[str], rng: np.random.Generator, repeats: int = 3
) -> list[Importance]:
    """Return what columns are worth to a model, the most important first, by permutations of each."""
    out = []
    for name in columns:
        loss = np.zeros(len(y))
        for rows, predict, _ in found.parts:
            part = X.iloc[rows]
            for _ in range(repeats):
                dealt = part.assign(**{name: part[name].to_numpy()[rng.permutation(len(rows))]})
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    loss[rows] += (found.log_p[rows] - predict(dealt).log_prob(y[rows])) / repeats
        out.append(Importance(column=name, loss=float(loss.mean()), standard_error=_error(loss)))
    return sorted(out, key=lambda one: -one.loss)


def _error(x: np.ndarray) -> float:
    return float(x.std(ddof=1) / np.sqrt(len(x)))
