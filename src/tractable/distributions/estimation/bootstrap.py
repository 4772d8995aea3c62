"""Bootstrap intervals: a statistic on resampled rows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.namespace import freeze
from tractable.arrays.random import as_generator, either_seed_name
from tractable.distributions.checks import check_coverage
from tractable.distributions.empirical import Empirical
from tractable.distributions.normal import Normal
from tractable.value import set_fields, value

METHODS = ("bca", "percentile", "basic")


@value
class Bootstrap:
    """A statistic of a sample, and of samples drawn from its rows: the value of `bootstrap`.

    Parameters
    ----------
    value : array (*shape)
        The statistic of the rows themselves.
    draws : array (r, *shape)
        The statistic of each resample.
    left_out : array (n, *shape) or None
        The statistic without each group of rows in turn, for the acceleration of BCa intervals.
    """

    value: np.ndarray
    draws: np.ndarray
    left_out: np.ndarray | None = None

    def __post_init__(self) -> None:
        set_fields(self, value=freeze(self.value), draws=freeze(self.draws))

    @property
    def standard_error(self) -> np.ndarray:
        """Standard deviation of the draws."""
        return self.draws.std(axis=0, ddof=1)

    @property
    def bias(self) -> np.ndarray:
        """Mean of the draws less the value: an estimate of the bias of the statistic."""
        return self.draws.mean(axis=0) - self.value

    @property
    def distribution(self) -> Empirical:
        """The empirical distribution of the draws."""
        return Empirical(values=self.draws)

    def interval(self, coverage: float = 0.9, method: str = "bca") -> tuple[np.ndarray, np.ndarray]:
        """Return a confidence interval (low, high).

        Parameters
        ----------
        coverage : float
            The probability that intervals like it hold the truth.
        method : {"bca", "percentile", "basic"}
            Quantiles of the draws, corrected for median bias and skewness (Efron 1987); the quantiles
            themselves; or reflected about the value.
        """
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
        tail = 0.5 * (1.0 - check_coverage(coverage))
        if method == "bca" and self.left_out is not None:
            levels = self._corrected(np.array([tail, 1.0 - tail]))
        else:
            levels = np.broadcast_to(
                np.array([tail, 1.0 - tail]).reshape(2, *[1] * self.value.ndim), (2, *self.value.shape)
            )
        flat, shape = self.draws.reshape(len(self.draws), -1), self.value.shape
        ends = np.array(
            [[np.quantile(flat[:, k], q) for k, q in enumerate(row.ravel())] for row in levels]
        ).reshape(2, *shape)
        if method == "basic":
            return 2.0 * self.value - ends[1], 2.0 * self.value - ends[0]
        return ends[0], ends[1]

    def _corrected(self, levels: np.ndarray) -> np.ndarray:
        """Return the levels Φ(z₀ + (z₀ + z) / (1 - a (z₀ + z))), (2, *shape)."""
        unit = Normal(mean=0.0, stddev=1.0)
        n = len(self.draws)
        below = (np.sum(self.draws < self.value, axis=0) + 0.5 * np.sum(self.draws == self.value, axis=0)) / n
        z0 = unit.icdf(np.clip(below, 0.5 / n, 1.0 - 0.5 / n))
        away = self.left_out.mean(axis=0) - self.left_out  # type: ignore[union-attr]
        square = np.sum(away**2, axis=0)
        skew = np.sum(away**3, axis=0) / np.where(square > 0, 6.0 * square**1.5, 1.0)
        z = unit.icdf(levels).reshape(2, *[1] * self.value.ndim)
        moved = z0 + (z0 + z) / np.maximum(1.0 - skew * (z0 + z), 1e-6)
        return np.asarray(unit.cdf(moved))

    def __str__(self) -> str:
        if self.value.ndim:
            return f"statistic of shape {self.value.shape}, {len(self.draws)} resamples"
        low, high = self.interval(0.9)
        return f"{float(self.value):.5g} ± {float(self.standard_error):.2g}, 90% from {low:.5g} to {high:.5g}"


@either_seed_name
def bootstrap(
    statistic: Callable[..., Any],
    *data: Any,
    n_resamples: int = 2000,
    groups: Any = None,
    rng: Any = None,
) -> Bootstrap:
    """Return a statistic of rows with its bootstrap distribution: rows are drawn with replacement.

    Parameters
    ----------
    statistic : callable
        ``statistic(*data)`` returns a number or an array; of rows drawn with replacement it must be finite.
    *data : arrays with the same number of rows
        Whose rows are drawn together.
    n_resamples : int
        Number of resamples.
    groups : array (n,), optional
        Rows with the same label are drawn together: repeated measurements of one subject.
    rng : None, int or Generator
        Source of randomness; with a seed the result is repeatable.

    Returns
    -------
    Bootstrap
        With `standard_error`, `bias` and `interval`; `tractable.plot` draws it.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).exponential(2.0, size=60)
    >>> found = bootstrap(np.mean, rows, rng=0)
    >>> round(float(found.standard_error), 2), [round(float(end), 2) for end in found.interval(0.9)]
    (0.27, [1.77, 2.7])
    """
    if not callable(statistic):
        raise ValueError(f"statistic must be a function of rows, got {statistic!r}")
    arrays = [np.asarray(x) for x in data]
    lengths = {len(x) if x.ndim else 0 for x in arrays}
    if len(lengths) != 1 or lengths.pop() < 2:
        raise ValueError("data must be arrays with the same number of rows, at least two")
    if isinstance(n_resamples, bool) or not isinstance(n_resamples, (int, np.integer)) or n_resamples < 10:
        raise ValueError(f"n_resamples must be a whole number from 10, got {n_resamples!r}")
    n = len(arrays[0])
    members = _members(groups, n)
    found = _evaluated(statistic, arrays, None)
    rng = as_generator(rng)
    draws = np.empty((int(n_resamples), *found.shape))
    for r in range(len(draws)):
        drawn = rng.integers(len(members), size=len(members)) if members else rng.integers(n, size=n)
        rows = np.concatenate([members[k] for k in drawn]) if members else drawn
        draw = _evaluated(statistic, arrays, rows)
        if draw.shape != found.shape:
            raise ValueError(
                f"statistic must have one shape, got {found.shape} and {draw.shape} of a resample"
            )
        draws[r] = draw
    return Bootstrap(value=found, draws=draws, left_out=_left_out(statistic, arrays, members, n))


def _members(groups: Any, n: int) -> list[np.ndarray]:
    if groups is None:
        return []
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise ValueError(f"groups must have one label a row, shape ({n},), got {labels.shape}")
    codes = np.unique(labels, return_inverse=True)[1]
    found = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    if len(found) < 2:
        raise ValueError("groups must have at least two labels")
    return found


def _left_out(
    statistic: Any, arrays: list[np.ndarray], members: list[np.ndarray], n: int
) -> np.ndarray | None:
    """Return the statistic without blocks of rows in turn, at most 200; None where it is not defined."""
    blocks = members or np.array_split(np.arange(n), min(n, 200))
    rest = [np.setdiff1d(np.arange(n), block, assume_unique=True) for block in blocks]
    try:
        return np.stack([_evaluated(statistic, arrays, rows) for rows in rest])
    except ValueError:
        return None


def _evaluated(statistic: Any, arrays: list[np.ndarray], rows: np.ndarray | None) -> np.ndarray:
    found = np.asarray(statistic(*(x if rows is None else x[rows] for x in arrays)), dtype=np.float64)
    if not np.all(np.isfinite(found)):
        what = "the rows" if rows is None else "rows drawn with replacement"
        raise ValueError(f"statistic must be finite, and is {found!r:.60} for {what}")
    return found
