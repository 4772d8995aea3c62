"""Comparison of distributions by their likelihood of the same rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, to_numpy
from tractable.distributions.checks import check_sample_weight
from tractable.distributions.distribution import Distribution
from tractable.statistics import DiagonalMoments
from tractable.value import value


@value
class LikelihoodComparison:
    """The log-likelihoods of several distributions on the same rows, best first where they are ranked.

    Parameters
    ----------
    names : tuple of str
        What the distributions are called, in the order given.
    log_likelihoods : array (m,)
        Σ_n log p_i(x_n).
    means, standard_errors : array (m,)
        The mean log-likelihood of a row, and its standard error.
    differences, difference_errors : array (m,)
        The log-likelihood less that of the best, and its standard error from the paired differences of rows:
        what rows have in common cancels. NaN where a log-likelihood is not finite.
    n_rows : float
        The number of rows, or their total weight.
    """

    names: tuple[str, ...]
    log_likelihoods: np.ndarray
    means: np.ndarray
    standard_errors: np.ndarray
    differences: np.ndarray
    difference_errors: np.ndarray
    n_rows: float

    @property
    def ranking(self) -> tuple[str, ...]:
        """The names, the likeliest first."""
        return tuple(self.names[i] for i in self._order)

    @property
    def best(self) -> str:
        """The name of the likeliest."""
        return self.ranking[0]

    @property
    def _order(self) -> np.ndarray:
        return np.argsort(-self.log_likelihoods, kind="stable")

    def __str__(self) -> str:
        width = max(len("distribution"), *map(len, self.names))
        lines = [f"{'distribution':<{width}}  {'log-likelihood':>15}  {'a row':>18}  {'difference':>19}"]
        for i in self._order:
            row = _with_error(self.means[i], self.standard_errors[i], 4)
            less = (
                "" if i == self._order[0] else _with_error(self.differences[i], self.difference_errors[i], 2)
            )
            lines.append(f"{self.names[i]:<{width}}  {self.log_likelihoods[i]:>15.2f}  {row:>18}  {less:>19}")
        return "\n".join(line.rstrip() for line in lines)


def compare_likelihood(
    distributions: Mapping[str, Distribution] | Sequence[Distribution], data: Any, sample_weight: Any = None
) -> LikelihoodComparison:
    """Compare distributions by the likelihood of data: choose the one with the larger Π_n p_i(x_n).

    The product is taken in log space, where it does not underflow. The likelihood of the rows that a
    distribution was fitted to is too high, the more so the more parameters it has; use held-out rows.

    Parameters
    ----------
    distributions : mapping of str to Distribution, or sequence
        Single distributions, of the same events; without names they are called by their families.
    data : array (n, *event)
        The sample.
    sample_weight : array (n,), optional
        How often each row counts.

    Examples
    --------
    >>> import numpy as np
    >>> from tractable import Normal
    >>> rows = np.random.default_rng(0).normal(1.0, 2.0, size=500)
    >>> found = compare_likelihood(
    ...     {"at zero": Normal(mean=0.0, stddev=2.0), "at one": Normal(mean=1.0, stddev=2.0)}, rows
    ... )
    >>> found.best
    'at one'
    >>> print(found)
    distribution   log-likelihood               a row           difference
    at one               -1063.07    -2.1261 ± 0.0362
    at zero              -1118.85    -2.2377 ± 0.0400       -55.78 ± 11.34
    """
    named = _named(distributions)
    scores = np.stack([_scored(name, d, data) for name, d in named.items()], axis=1)
    weights = check_sample_weight(sample_weight, len(scores), scores)
    if weights is not None:
        scores, weights = scores[weights > 0], weights[weights > 0]
    possible = np.isfinite(scores).all(axis=0)
    sound = np.where(possible, scores, 0.0)
    each = DiagonalMoments.of(sound, weights)
    total = float(each.total)
    sums = np.where(possible, total * each.mean, np.where((scores == -np.inf).any(axis=0), -np.inf, np.inf))
    best = int(np.argmax(sums))
    paired = DiagonalMoments.of(sound - sound[:, [best]], weights)
    both = possible & possible[best]
    return LikelihoodComparison(
        names=tuple(named),
        log_likelihoods=sums,
        means=sums / total,
        standard_errors=np.where(possible, _deviation(each) / np.sqrt(total), np.nan),
        differences=np.where(both, total * paired.mean, np.where(sums == sums[best], 0.0, -np.inf)),
        difference_errors=np.where(both, _deviation(paired) * np.sqrt(total), np.nan),
        n_rows=total,
    )


def _named(distributions: Any) -> dict[str, Distribution]:
    if not isinstance(distributions, Mapping):
        families = [type(d).__name__ for d in distributions]
        alone = [families.count(name) == 1 for name in families]
        numbers = [families[: i + 1].count(name) for i, name in enumerate(families)]
        names = [f if one else f"{f} {k}" for f, one, k in zip(families, alone, numbers, strict=True)]
        distributions = dict(zip(names, distributions, strict=True))
    if not distributions:
        raise ValueError("distributions must hold at least one distribution")
    for name, d in distributions.items():
        if not isinstance(d, Distribution) or d.batch_shape:
            raise ValueError(
                f"distributions must be single distributions, got {type(d).__name__} as {name!r}"
            )
    return dict(distributions)


def _scored(name: str, d: Distribution, data: Any) -> Array:
    scores = to_numpy(d.log_prob(data))
    if scores.ndim != 1 or not len(scores):
        raise ValueError(f"data must have rows of shape {d.event_shape} on its first axis, for {name!r}")
    if np.isnan(scores).any():
        raise ValueError(f"data must not be missing (NaN) where {name!r} needs it")
    return scores


def _deviation(moments: DiagonalMoments) -> np.ndarray:
    """Return the standard deviation of a row, without bias in its square; NaN for a single row."""
    rest = float(moments.total) - 1.0
    return np.sqrt(moments.scatter / rest) if rest > 0 else np.full_like(moments.scatter, np.nan)


def _with_error(x: float, error: float, digits: int) -> str:
    return f"{x:.{digits}f} ± {error:.{digits}f}" if np.isfinite(error) else f"{x:.{digits}f}"
