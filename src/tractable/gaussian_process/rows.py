"""Rows of a Gaussian process: equal ones joined, and targets with the same missing rows together."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tractable.arrays.batched import positions
from tractable.arrays.grouping import by_pattern, first_of_each, group_rows
from tractable.arrays.namespace import Array, is_numpy_array, namespace_of, to_numpy
from tractable.gaussian_process.posteriors.exact import Observations
from tractable.value import value


@value
class TrainingRows:
    """Rows, targets, weights and noise as they were given.

    Parameters
    ----------
    x : array (n, d)
        Rows.
    y : array (n, t)
        Targets, NaN where one is missing.
    weights : array (n,)
        How often each row counts.
    noise_scale : array (n,)
        Variance of the noise of each row, relative to σ².
    """

    x: Array
    y: Array
    weights: Array
    noise_scale: Array

    def __add__(self, other: "TrainingRows") -> "TrainingRows":
        """Return both, one after the other."""
        names = ("x", "y", "weights", "noise_scale")
        xp = namespace_of(self.x)
        return TrainingRows(
            **{name: xp.concat([getattr(self, name), getattr(other, name)]) for name in names}
        )

    def only(self, rows: Any, targets: Any = None) -> "TrainingRows":
        """Return some of the rows, and some of the targets or all, by their positions."""
        xp, at = namespace_of(self.x), positions(rows, self.x)
        y = xp.take(self.y, at, axis=0)
        return TrainingRows(
            x=xp.take(self.x, at, axis=0),
            y=y if targets is None else xp.take(y, positions(targets, self.x), axis=1),
            weights=xp.take(self.weights, at),
            noise_scale=xp.take(self.noise_scale, at),
        )

    def by_target(self) -> Iterator[tuple[tuple[int, ...], np.ndarray | None, "TrainingRows"]]:
        """Yield targets that the same rows have, which rows those are (None of all), and the rows."""
        xp, t = namespace_of(self.x), self.y.shape[1]
        known = ~xp.isnan(self.y)
        if bool(xp.all(known)):
            yield tuple(range(t)), None, self
            return
        # Which targets are known is asked on the host: a table of truth values, and no rows.
        for pattern, columns in by_pattern(to_numpy(known).T):
            if not pattern.any():
                raise ValueError(f"y has no entry for target {int(columns[0])}: all are missing")
            rows = np.flatnonzero(pattern)
            yield tuple(int(j) for j in columns), rows, self.only(rows, columns)

    def observations(self, mean: Any, *, join: bool, noise: float) -> Observations:
        """Return the rows with the functions of the mean; with `join`, equal rows as one.

        Targets of one x with noise variances σ² v are, for f, their mean with the weights p = w / v and a
        noise variance of σ² / Σ p.

        Parameters
        ----------
        mean : MeanFunction
            The functions of the mean.
        join : bool
            Whether equal rows become one.
        noise : float
            σ²; where it is zero, targets of equal rows that are joined must be equal.
        """
        xp = namespace_of(self.x)
        precision = self.weights / self.noise_scale
        groups = group_rows(self.x) if join and is_numpy_array(self.x) and self.x.shape[0] > 1 else None
        x, y, total = self.x, self.y, precision
        within = 0.0
        if groups is not None:
            first = first_of_each(groups)
            if len(first) == len(groups):
                groups = None
            else:
                order = np.argsort(first)  # in the order in which rows occur first
                place = np.empty_like(order)
                place[order] = np.arange(len(order))
                groups, first = place[groups], first[order]
                x = self.x[first]
                total = np.bincount(groups, precision)
                shift = self.y[first]
                gaps = self.y - shift[groups]
                mean_gap = np.stack(
                    [np.bincount(groups, precision * gaps[:, j]) / total for j in range(y.shape[1])], axis=1
                )
                y = shift + mean_gap
                within = float(np.sum(precision[:, None] * (gaps - mean_gap[groups]) ** 2))
        if within > 0.0 and noise == 0.0:
            raise ValueError(
                "X has equal rows with different targets y, which needs a noise_variance above 0"
            )
        log_repeats = xp.sum(self.weights * xp.log(self.noise_scale)) + xp.sum(xp.log(total))
        return Observations(
            x=x,
            y=y,
            basis=mean(x),
            noise_scale=1.0 / total,
            n_repeats=float(xp.sum(self.weights)) - x.shape[0],
            log_repeats=float(log_repeats),
            within=within,
            joined=groups,
        )


def all_differ(x: Array) -> bool:
    """Whether no two rows are equal."""
    if not is_numpy_array(x) or x.shape[0] < 2:
        return True
    groups = group_rows(x)
    return len(first_of_each(groups)) == len(groups)
