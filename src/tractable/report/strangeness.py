"""How strange a row is under a mixture, and which of its entries make it so."""

from typing import Any

import numpy as np

from tractable.distributions import Mixture, Normal
from tractable.value import value

__all__ = ["N_DRAWS", "Blame", "Strangeness", "blamed", "strangeness"]

#: Draws from the model that a row is compared with, fewer where few rows have the same holes.
N_DRAWS, FEWER_DRAWS = 20_000, 4_000

#: Patterns of missing entries that are looked at, and that are common.
MOST_PATTERNS, COMMON = 100, 5

#: An entry is blamed from this probability of one as strange, given the rest of the row.
BLAMED = 0.01


@value
class Blame:
    """An entry that the rest of its row did not lead to expect.

    Parameters
    ----------
    column : str
    entry : float or str
    expected : str
        In words: nine tenths of what was to be expected, or the likeliest category.
    tail : float
        The probability of an entry as strange or stranger, given the rest of the row.
    """

    column: str
    entry: Any
    expected: str
    tail: float


@value
class Strangeness:
    """How strange rows are under a model.

    Parameters
    ----------
    tails : array (n,)
        P(log p(X) ≤ log p(x)), by draws X of the model with the holes of x; NaN for rows not judged.
    below : array (n,)
        How far log p(x) is below the middle of log p(X).
    usual : array (m,)
        The same of draws, with the holes that most rows have.
    """

    tails: np.ndarray
    below: np.ndarray
    usual: np.ndarray

    @property
    def order(self) -> np.ndarray:
        """The rows that were judged, the strangest first."""
        order = np.lexsort((-self.below, self.tails))
        return order[~np.isnan(self.tails[order])]


def strangeness(model: Any, frame: Any, rng: np.random.Generator) -> Strangeness:
    """Return how strange rows are: rows with holes are compared with draws that have the same holes.

    Rows whose holes few other rows share are not judged.
    """
    scores = np.asarray(model.score_samples(frame))
    patterns, which, counts = np.unique(
        frame.isna().to_numpy(), axis=0, return_inverse=True, return_counts=True
    )
    drawn = model.sample(N_DRAWS, random_state=rng)[0]
    tails, below = np.full(len(frame), np.nan), np.full(len(frame), np.nan)
    common = np.argsort(-counts, kind="stable")[:MOST_PATTERNS]
    usual = {}
    for rank, k in enumerate(common):
        some = drawn if rank < COMMON else drawn[:FEWER_DRAWS]
        usual[k] = np.sort(np.asarray(model.score_samples(_with_holes(some, patterns[k], frame))))
        mine = which.ravel() == k
        tails[mine] = np.searchsorted(usual[k], scores[mine], side="right") / len(usual[k])
        below[mine] = np.median(usual[k]) - scores[mine]
    most = usual[common[0]]
    return Strangeness(tails=tails, below=below, usual=np.median(most) - most)


def blamed(model: Any, row: dict[str, Any], categories: tuple[str, ...], most: int = 3) -> list[Blame]:
    """Return the entries of a row (its missing ones left out) that the others did not lead to expect.

    The strangest entry is taken first and forgotten, so that it does not throw suspicion on the others.
    """
    found: list[Blame] = []
    known = dict(row)
    while known and len(found) < most:
        rests = {name: _rest(model, known, name, name in categories) for name in known}
        name = min(known, key=lambda one: _suspicion(rests[one], known[one]))
        tail = _suspicion(rests[name], known[name])[0]
        if found and tail > BLAMED:
            break
        found.append(Blame(column=name, entry=known.pop(name), expected=_expected(rests[name]), tail=tail))
    return found


def _rest(model: Any, known: dict[str, Any], name: str, category: bool) -> Any:
    """Return the distribution of a column given the other entries: of numbers, or the share of each level."""
    given = {other: entry for other, entry in known.items() if other != name}
    rest = (model.condition(given) if given else model.distribution_).marginal([name])
    if not category:
        return _on_a_line(rest)
    levels = model.categories_[name]
    shares = np.asarray(rest.prob(np.arange(len(levels), dtype=np.float64)[:, None]))
    return dict(zip(levels, shares.tolist(), strict=True))


def _suspicion(rest: Any, entry: Any) -> tuple[float, float]:
    """Return the probability of an entry as strange, and a number that falls on where that is zero."""
    if isinstance(rest, dict):
        mine = rest.get(entry, 0.0)
        return sum(share for share in rest.values() if share <= mine * (1.0 + 1e-9)), 0.0
    tail = 2.0 * min(float(rest.cdf(entry)), float(rest.survival(entry)))
    return min(1.0, tail), -abs(float(entry) - float(rest.mean)) / float(rest.stddev)


def _expected(rest: Any) -> str:
    if isinstance(rest, dict):
        best = max(rest, key=lambda level: rest[level])
        return f"{best} ({rest[best]:.0%})"
    low, high = (float(end) for end in rest.interval(0.9))
    return f"{low:.4g} to {high:.4g}"


def _on_a_line(rest: Any) -> Any:
    """Return a mixture of one column as a mixture of numbers, which has tails and quantiles."""
    parts = rest.components
    if hasattr(parts, "parts"):
        return Mixture(weights=rest.weights, components=parts.parts[0])
    mean, stddev = parts.mean[..., 0], np.sqrt(parts.covariance[..., 0, 0])
    return Mixture(weights=rest.weights, components=Normal(mean=mean, stddev=stddev))


def _with_holes(drawn: Any, holes: np.ndarray, frame: Any) -> Any:
    """Return drawn rows as a frame with some columns empty."""
    import pandas as pd

    table = pd.DataFrame(drawn, columns=frame.columns) if isinstance(drawn, np.ndarray) else drawn
    if not holes.any():
        return table
    return table.assign(
        **{str(name): None if table[name].dtype == object else np.nan for name in frame.columns[holes]}
    )
