"""What a comparison of models says, in words, with no more claimed than was seen."""

import numpy as np

from tractable.data.names import number_of
from tractable.report.held_out import HeldOut, Importance
from tractable.report.logarithms import OfLogarithm, middle, skewed_columns
from tractable.report.model_rows import ModelRows
from tractable.report.rows import listed

__all__ = ["Ranked", "few_rows", "is_base", "is_clear", "meaning", "r_squared", "share_right"]

#: A difference of so many standard errors is no chance.
CLEAR = 2.0

#: Less than these shares is little: of the variance, and of what the most telling column is worth.
LITTLE, LITTLE_WORTH = 0.1, 0.05

Ranked = list[tuple[HeldOut, float, float]]


def meaning(
    rows: ModelRows, target: str, base: HeldOut, ranked: Ranked, worth: list[Importance], telling: list[str]
) -> str:
    """Say which model is best, by how much and from what; `telling` columns depend on the target."""
    if not is_clear(base, ranked):
        return _unclear(rows, target, base, ranked, telling)
    best = ranked[0][0]
    gain, error = next((-less, err) for one, less, err in ranked if one is base)
    times, what = float(np.exp(min(gain, 700.0))), "class" if rows.classes else "value"
    near = [
        one.name
        for one, less, err in ranked[1:]
        if not is_base(one) and -less <= CLEAR * err and one.mean > base.mean
    ]
    also = f" It cannot be told apart from {listed(near)}." if near else ""
    least = LITTLE_WORTH * max((one.loss for one in worth), default=0.0)
    matters = [one.column for one in worth if one.loss > max(least, CLEAR * one.standard_error)]
    most = f" What matters most: {listed(matters, 4)}." if matters else ""
    return (
        f"{best.name} predicts {target} best: on average the true {what} is {times:.3g} times as probable as "
        f"under {base.name} ({gain:.3f} ± {error:.3f} in logarithms).{_logarithms(rows, target, best)} "
        f"{_accuracy(rows, best)}{also}{most}"
    )


def is_base(one: HeldOut) -> bool:
    """Tell whether a candidate looks at no other column."""
    return one.name.startswith("the ")


def is_clear(base: HeldOut, ranked: Ranked) -> bool:
    """Tell whether the best model is better than none, beyond what chance explains."""
    return any(one is base and -less > CLEAR * error for one, less, error in ranked)


def share_right(rows: ModelRows, one: HeldOut) -> float:
    return float((one.gathered(lambda said, _: said.probabilities).argmax(1) == rows.y).mean())


def r_squared(rows: ModelRows, one: HeldOut) -> float:
    rest = one.gathered(lambda said, _: middle(said)) - rows.y
    return float(1.0 - np.mean(rest**2) / rows.y.var())


def few_rows(x: np.ndarray) -> int:
    """Return how many rows make half of a sum of sizes, where they are less than one in a hundred; else 0.

    Examples
    --------
    >>> few_rows(np.r_[np.ones(300), 1000.0]), few_rows(np.ones(300))
    (1, 0)
    """
    total = np.cumsum(np.sort(np.abs(x))[::-1])
    half = int(np.searchsorted(total, 0.5 * total[-1])) + 1
    return half if half < 0.01 * len(x) and total[-1] > 0.0 else 0


def _unclear(rows: ModelRows, target: str, base: HeldOut, ranked: Ranked, telling: list[str]) -> str:
    """Say that no model is clearly better; that columns say little, only where nothing speaks against it."""
    said = f"No model predicts {target} clearly better than {base.name}"
    doubts = []
    models = [one for one, _, _ in ranked if not is_base(one)]
    if models and (few := few_rows(models[0].log_p - base.log_p)):
        doubts.append(f"half of what {models[0].name} differs by is of {number_of(few, 'row')}")
    if not rows.classes and models:
        most = max(models, key=lambda one: r_squared(rows, one))
        explained = r_squared(rows, most)
        if explained > LITTLE:
            doubts.append(f"{most.name} explains {explained:.0%} of the variance")
    if telling:
        depend = "depends" if len(telling) == 1 else "depend"
        doubts.append(f"{listed(telling, 3)} {depend} on it by more than chance")
    if doubts:
        why = "; ".join(doubts)
        return f"{said}, by the log score. That is not to say that the columns tell nothing: {why}."
    if rows.n_unused:
        used, say = number_of(rows.X.shape[1], "column"), "says" if rows.X.shape[1] == 1 else "say"
        which = f"the {used} that could be used {say} little about it"
        return f"{said}: {which}; {rows.n_unused:,} could not be used."
    return f"{said}: the other columns say little about it."


def _logarithms(rows: ModelRows, target: str, best: HeldOut) -> str:
    if not isinstance(best.parts[0][2], OfLogarithm):
        return ""
    columns = skewed_columns(rows.X)
    also = f"; of {listed(columns)} the logarithm was used too" if columns else ""
    return f" {target} was modelled by its logarithm, for it is positive and strongly skewed{also}."


def _accuracy(rows: ModelRows, best: HeldOut) -> str:
    if rows.classes:
        right, common = share_right(rows, best), np.bincount(rows.y).max() / len(rows.y)
        said = f"It finds the class of {right:.1%} of rows; the most frequent has {common:.1%}."
        return said + _overlooked(rows, best)
    inside = best.gathered(lambda said, _: np.stack(said.interval(0.9), axis=-1))
    held = np.mean((inside[:, 0] <= rows.y) & (rows.y <= inside[:, 1]))
    centre = best.gathered(lambda said, _: middle(said))
    if isinstance(best.parts[0][2], OfLogarithm):
        factor = float(np.exp(np.median(np.abs(np.log(centre / rows.y)))))
        errs = f"Half of its predictions are within a factor of {factor:.3g} of what is true"
    else:
        error = np.sqrt(np.mean((centre - rows.y) ** 2))
        errs = f"It errs by {error:.4g} (root mean square; the standard deviation is {rows.y.std():.4g})"
    return f"{errs}, and its intervals of 90% hold {held:.0%} of the rows."


def _overlooked(rows: ModelRows, best: HeldOut) -> str:
    """Say which classes are never chosen, and how often a rare one is found: accuracy hides both."""
    assert rows.classes is not None
    chosen = best.gathered(lambda said, _: said.probabilities).argmax(1)
    counts = np.bincount(rows.y, minlength=len(rows.classes))
    never = [k for k in range(len(counts)) if not (chosen == k).any()]
    if never:
        names, there = listed([rows.classes[k] for k in never]), int(counts[never].sum())
        are = "row is" if there == 1 else "rows are"
        return (
            f" It never says {names}, though {there:,} {are}: look at its probabilities, not at its choices."
        )
    rare = int(counts.argmin())
    if counts[rare] >= 0.1 * len(rows.y):
        return ""
    found = int(((chosen == rare) & (rows.y == rare)).sum())
    return f" Of the {number_of(int(counts[rare]), 'row')} of {rows.classes[rare]} it finds {found:,}."
