"""Curves of a binary decision over its threshold: ROC and precision-recall, with bands."""

from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import freeze
from tractable.arrays.random import as_generator, either_seed_name
from tractable.metrics.checks import with_source_targets
from tractable.metrics.classification import as_codes, as_labels, row_weights
from tractable.value import set_fields, value

#: Points of the horizontal axis at which bands are given.
_GRID = np.linspace(0.0, 1.0, 101)


@value
class ThresholdCurve:
    """A curve of a binary decision over all thresholds, with a bootstrap band.

    Parameters
    ----------
    kind : {"roc", "precision-recall"}
        True positives over false positives, or precision over recall.
    x, y : array (m,)
        The points of the curve: rates of false and true positives, or recall and precision.
    thresholds : array (m,)
        The least score that is taken for the event at each point; infinite where none is.
    area : float
        The area below: of ROC the probability that a row of the event scores higher than another, with ties
        counted half; of precision and recall the average precision.
    area_error : float
        Its standard error: DeLong's of ROC, the bootstrap's of precision and recall.
    grid : array (g,)
        Where the band is given.
    low, high : array (g,)
        The band, pointwise with probability `coverage`.
    coverage : float
        The probability of the band.
    base_rate : float
        The fraction of rows of the event.
    """

    kind: str
    x: np.ndarray
    y: np.ndarray
    thresholds: np.ndarray
    area: float
    area_error: float
    grid: np.ndarray
    low: np.ndarray
    high: np.ndarray
    coverage: float
    base_rate: float

    def __post_init__(self) -> None:
        arrays = ("x", "y", "thresholds", "grid", "low", "high")
        set_fields(self, **{name: freeze(getattr(self, name)) for name in arrays})

    def __str__(self) -> str:
        name = "area below the ROC curve" if self.kind == "roc" else "average precision"
        return f"{name} {self.area:.4f} ± {self.area_error:.4f}"


@with_source_targets
@either_seed_name
def roc_curve(
    y_true: Any,
    scores: Any,
    *,
    label: Any = None,
    sample_weight: Any = None,
    coverage: float = 0.9,
    n_resamples: int = 200,
    rng: Any = 0,
) -> ThresholdCurve:
    """Return the rate of true positives over that of false positives for all thresholds of a score.

    Parameters
    ----------
    y_true : array of labels (n,), or source that has them
        Two classes.
    scores : array (n,), or (n, 2) of probabilities
        The higher, the more the event is believed: probabilities of the second class, or decision values.
    label : label, optional
        The class that is the event; the second, sorted, when not given.
    sample_weight : array (n,), optional
        How often each row counts.
    coverage : float
        The pointwise probability of the band.
    n_resamples : int
        Draws of weights of rows (Bayesian bootstrap) behind the band.
    rng : None, int or Generator
        Source of randomness; with a seed the result is repeatable.

    Returns
    -------
    ThresholdCurve
        With `area` and `area_error`; `tractable.plot` draws it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(400) < 0.4
    >>> found = roc_curve(y, y + rng.normal(size=400))
    >>> round(found.area, 2), round(found.area_error, 3)
    (0.76, 0.024)
    """
    event, s, w = _binary(y_true, scores, label, sample_weight)
    order, ends = _ordered(s)
    true, false = _rates(event[order], w[order], ends)
    x, y = np.concatenate([[0.0], false]), np.concatenate([[0.0], true])
    area = float(np.sum(np.diff(x) * 0.5 * (y[1:] + y[:-1])))
    draws = np.empty((_resamples(n_resamples), len(_GRID)))
    for r, drawn in enumerate(_weights(w, event, len(draws), rng)):
        true, false = _rates(event[order], drawn[order], ends)
        draws[r] = np.interp(_GRID, np.concatenate([[0.0], false]), np.concatenate([[0.0], true]))
    return ThresholdCurve(
        kind="roc",
        x=x,
        y=y,
        thresholds=np.concatenate([[np.inf], s[order][ends]]),
        area=area,
        area_error=_delong(event, s, w),
        base_rate=float(w[event].sum() / w.sum()),
        **_band(draws, coverage),
    )


@with_source_targets
@either_seed_name
def precision_recall_curve(
    y_true: Any,
    scores: Any,
    *,
    label: Any = None,
    sample_weight: Any = None,
    coverage: float = 0.9,
    n_resamples: int = 200,
    rng: Any = 0,
) -> ThresholdCurve:
    """Return precision over recall for all thresholds of a score; the average precision is its area.

    Parameters
    ----------
    y_true, scores, label, sample_weight, coverage, n_resamples, rng
        As in `roc_curve`.

    Returns
    -------
    ThresholdCurve
        With `area`, Σ (recall_k - recall_{k-1}) precision_k, which does not interpolate.

    Examples
    --------
    >>> found = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> round(found.area, 3), found.y.round(2)
    (0.833, array([1.  , 1.  , 0.5 , 0.67, 0.5 ]))
    """
    event, s, w = _binary(y_true, scores, label, sample_weight)
    order, ends = _ordered(s)
    recall, precision, area = _precision(event[order], w[order], ends)
    draws = np.empty((_resamples(n_resamples), len(_GRID)))
    areas = np.empty(len(draws))
    for r, drawn in enumerate(_weights(w, None, len(draws), rng)):
        across, up, areas[r] = _precision(event[order], drawn[order], ends)
        # Precision at a recall is that of the first threshold which reaches it.
        draws[r] = up[np.minimum(np.searchsorted(across, _GRID - 1e-12), len(up) - 1)]
    return ThresholdCurve(
        kind="precision-recall",
        x=recall,
        y=precision,
        thresholds=np.concatenate([[np.inf], s[order][ends]]),
        area=area,
        area_error=float(areas.std(ddof=1)),
        base_rate=float(w[event].sum() / w.sum()),
        **_band(draws, coverage),
    )


def _binary(y_true: Any, scores: Any, label: Any, sample_weight: Any) -> tuple[np.ndarray, ...]:
    """Return which rows are of the event, their scores and weights; rows of no weight are left out."""
    labels = as_labels("y_true", y_true)
    known = np.unique(labels)
    if len(known) != 2:
        raise ValueError(f"y_true must have two classes, got {len(known)}: {known.tolist()[:5]}")
    k = 1 if label is None else int(as_codes("label", [label], known)[0])
    s = np.asarray(as_reals("scores", scores), dtype=np.float64)
    if s.ndim == 2 and s.shape[1] == 2:
        s = s[:, k]
    if s.shape != labels.shape:
        raise ValueError(f"scores must have one number a row, {len(labels)}, got shape {s.shape}")
    if np.isnan(s).any():
        raise ValueError("scores contains NaN")
    w = row_weights(sample_weight, len(labels))
    some = w > 0
    event = (labels == known[k])[some]
    if event.all() or not event.any():
        raise ValueError("sample_weight must leave rows of both classes")
    return event, s[some], w[some]


def _ordered(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of falling scores, and the last position of each distinct score."""
    order = np.argsort(-s, kind="stable")
    ends = np.concatenate([np.flatnonzero(s[order][1:] != s[order][:-1]), [len(s) - 1]])
    return order, ends


def _rates(event: np.ndarray, w: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    true, false = np.cumsum(w * event)[ends], np.cumsum(w * ~event)[ends]
    return true / true[-1], false / false[-1]


def _precision(event: np.ndarray, w: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    true, all_ = np.cumsum(w * event)[ends], np.cumsum(w)[ends]
    recall, precision = true / true[-1], true / all_
    area = float(np.sum(np.diff(np.concatenate([[0.0], recall])) * precision))
    return np.concatenate([[0.0], recall]), np.concatenate([precision[:1], precision]), area


def _weights(w: np.ndarray, event: np.ndarray | None, n: int, rng: Any) -> Any:
    """Yield weights of rows drawn by the Bayesian bootstrap: gamma variates with the weights as shapes."""
    rng = as_generator(rng)
    for _ in range(n):
        drawn = rng.standard_gamma(w)
        # All drawn weights of a class could round to zero.
        yield drawn if event is None or (drawn[event].any() and drawn[~event].any()) else w


def _band(draws: np.ndarray, coverage: float) -> dict[str, Any]:
    """Return the fields of the band of a curve."""
    if not 0.0 < coverage < 1.0:
        raise ValueError(f"coverage must be between 0 and 1, got {coverage!r}")
    tail = 0.5 * (1.0 - coverage)
    low, high = np.quantile(draws, [tail, 1.0 - tail], axis=0)
    return {"grid": _GRID, "low": low, "high": high, "coverage": float(coverage)}


def _resamples(n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 10:
        raise ValueError(f"n_resamples must be a whole number from 10, got {n!r}")
    return int(n)


def _delong(event: np.ndarray, s: np.ndarray, w: np.ndarray) -> float:
    """Standard error of the area (DeLong, DeLong and Clarke-Pearson 1988), by weighted mid-ranks."""
    parts = []
    for own, other in ((event, ~event), (~event, event)):
        order = np.argsort(s[other], kind="stable")
        values, total = s[other][order], np.concatenate([[0.0], np.cumsum(w[other][order])])
        below = total[np.searchsorted(values, s[own], "left")]
        upto = total[np.searchsorted(values, s[own], "right")]
        placement = 0.5 * (below + upto) / total[-1]
        weight = w[own].sum()
        mean = np.average(placement, weights=w[own])
        spread = np.sum(w[own] * (placement - mean) ** 2) / max(weight - 1.0, 1.0)
        parts.append(spread / weight)
    return float(np.sqrt(sum(parts)))
