"""What statistics share: checks of rows and weights, forgetting, and the merge of means."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.limits import too_large
from tractable.arrays.namespace import Array, all_true, any_true, device, freeze, is_sparse, namespace_of
from tractable.arrays.weights import check_weights
from tractable.value import replace

#: Below, sums of squares may have lost their digits.
SMALLEST_SQUARES = float(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)

#: Below, squares may be lost for their weights, however the rows vary.
SMALLEST_WEIGHT = 1e-100


class NotYetDetermined(ValueError):  # noqa: N818
    """The rows seen so far do not determine the model; more may."""


class Statistic(ABC):
    """A sufficient statistic: ``of(rows, weights)`` summarises a block, and ``+`` merges two.

    Statistics form a commutative monoid whose neutral element is the statistic of no rows. A class names in
    `_extensive` the fields that are proportional to the weights, or are such statistics themselves;
    `discount` scales these.
    """

    _extensive: ClassVar[tuple[str, ...]] = ("weight",)

    #: Fields that are arrays to be made immutable.
    _frozen: ClassVar[tuple[str, ...]] = ()
    of: ClassVar[Any]

    def __post_init__(self) -> None:
        for name in self._frozen:
            object.__setattr__(self, name, freeze(getattr(self, name)))

    @classmethod
    def empty(cls, dim: int) -> Self:
        """Return the statistic of no rows of `dim` columns."""
        return cls.of(np.zeros((0, dim)))

    def __add__(self, other: Self) -> Self:
        """Merge: return the statistic of both sets of rows."""
        if not (isinstance(other, type(self)) or isinstance(self, type(other))):
            return NotImplemented
        check_same_width(self, other)
        return self._merged(other)

    @abstractmethod
    def _merged(self, other: Any) -> Any:
        """Return the statistic of both sets of rows, of the same kind and columns."""

    def discount(self, rate: float) -> Self:
        """Return the statistic of the same rows with `rate` times their weights, 0 < rate ≤ 1: forgetting."""
        rate = check_rate(rate)
        return replace(self, **{name: _discounted(getattr(self, name), rate) for name in self._extensive})


class MeanStatistic(Statistic):
    """A statistic that has a mean of each column, (..., d)."""

    mean: Array

    @property
    def dim(self) -> int:
        """Number of columns."""
        return int(self.mean.shape[-1])


def _discounted(x: Any, rate: float) -> Any:
    """Return a number or an array times the rate, and a statistic, or several, discounted."""
    if hasattr(x, "discount"):
        return x.discount(rate)
    if isinstance(x, tuple):
        return tuple(_discounted(part, rate) for part in x)
    if isinstance(x, dict):
        return {key: _discounted(part, rate) for key, part in x.items()}
    return None if x is None else x * rate


def pairwise_update(a: Any, b: Any) -> tuple[Any, Any, Any]:
    """Return the weight of two statistics, the fraction that b has of it, and the step between their means.

    The mean of both is a.mean + fraction · step; their scatter is larger than the sum of the scatters by
    a.weight · fraction · step stepᵀ (Chan, Golub and LeVeque, 1983).
    """
    weight, step = a.weight + b.weight, b.mean - a.mean
    if hasattr(a, "rest"):  # far from the origin the means are equal but for their last digits
        step = step + (b.rest - a.rest)
    return weight, b.weight / or_one(weight, namespace_of(a.mean)), step


def merged_mean(a: Any, b: Any, fraction: Any, step: Array) -> tuple[Array, Array]:
    """Return the mean of two statistics that hold the `rest` of theirs, and its rest.

    The mean is a sum of two numbers, as if it were that of rows less a row: it has all digits of what the
    rows differ by, however far from the origin they are.

    Parameters
    ----------
    a, b : statistics
        With means (..., d).
    fraction : float or array
        The part of the weight that b has, of the dimensions of the mean where there are several.
    step : array (..., d)
        As `pairwise_update` returns it.
    """
    xp = namespace_of(a.mean)
    if xp is np and np.ndim(fraction) == 0:  # from the mean of that with most of the weight
        near = bool(fraction <= 0.5)
        base, moved = (
            (a.mean, a.rest + fraction * step) if near else (b.mean, b.rest - (1.0 - fraction) * step)
        )
    else:
        near = fraction <= 0.5
        base = xp.where(near, a.mean, b.mean)
        moved = xp.where(near, a.rest + fraction * step, b.rest - (1.0 - fraction) * step)
    mean = base + moved
    return mean, moved - (mean - base)


def as_rows(x: Any) -> Array:
    """Return a block as a two-dimensional float64 array of its own library; a sparse one stays sparse."""
    if type(x) is np.ndarray and x.ndim == 2 and x.dtype == np.float64:
        return x
    if is_sparse(x):
        return x.astype(np.float64, copy=False)
    xp = namespace_of(x)
    x = xp.asarray(x)
    if x.ndim != 2:
        raise ValueError(f"x must be a block of rows, two-dimensional; got shape {tuple(x.shape)}")
    return x if x.dtype == xp.float64 else xp.astype(x, xp.float64)


def as_weights(weights: Any, x: Array) -> Array | None:
    """Return the weights of the rows of x as float64, or None where every row counts once."""
    if weights is None:
        return None
    return check_weights(weights, x.shape[0], like=np.empty(0) if is_sparse(x) else x)


def weighted_rows(x: Any, weights: Any) -> tuple[Array, Array | None, Array, Array]:
    """Return rows, their weights or None where every row counts once, the weights (n,), and their sum."""
    x = as_rows(x)
    w = as_weights(weights, x)
    one = counts(w, x)
    return x, w, one, namespace_of(x).sum(one)


def check_same_width(a: Any, b: Any) -> None:
    """Raise unless two statistics have the same number of columns."""
    if a.dim != b.dim:
        raise ValueError(f"cannot merge statistics of {a.dim} and of {b.dim} columns")


def counts(weights: Array | None, x: Array) -> Array:
    """Return the weights of the rows of x, ones where None."""
    if weights is not None:
        return weights
    if is_sparse(x):
        return np.ones(x.shape[0])
    return namespace_of(x).ones(x.shape[0], dtype=x.dtype, device=device(x))


def or_one(weight: Any, xp: Any) -> Array:
    """Return a weight to divide by: 1 in place of 0, so that 0 / 0 = 0."""
    weight = xp.asarray(weight, dtype=xp.float64)
    return xp.where(weight > 0, weight, xp.ones_like(weight))


def plain_squares(squares: Array) -> bool:
    """Return whether sums of squares are finite, and none so small that digits may have been lost."""
    some = type(squares) is np.ndarray and squares.size > 0
    return some and bool(squares.min() >= SMALLEST_SQUARES) and bool(squares.max() < np.inf)


def keeps_squares(squares: np.ndarray, x: np.ndarray, mean: np.ndarray, edges: np.ndarray) -> bool:
    """Return whether sums of squares of groups of rows, (K, d), are plain, or 0 where rows are constant.

    Group k has the rows of x from edges[k] to edges[k + 1]. Where not, entries are missing, or too large or
    too small to square: `check_squares` says which.
    """
    if plain_squares(squares):
        return True
    if not all_true(np.isfinite(squares)):
        return False
    steps = np.abs(x - np.repeat(mean, edges[1:] - edges[:-1], axis=0))
    step = np.maximum.reduceat(steps, edges[:-1], axis=0)
    varies = step > 4.0 * float(np.finfo(np.float64).eps) * np.abs(mean)
    return not any_true((squares < SMALLEST_SQUARES) & varies)


def check_squares(squares: Array, x: Array, mean: Array, weights: Array | None = None) -> None:
    """Raise where sums of squares, one a column, overflow or underflow though the rows are finite."""
    if plain_squares(squares):
        return
    xp = namespace_of(squares)
    if not bool(xp.all(xp.isfinite(squares))):
        raise too_large("X")
    limits = np.finfo(np.float64)
    if x.shape[0] and bool(xp.any(squares < SMALLEST_SQUARES)):
        step = xp.abs(x - mean)
        unseen = xp.isnan(step) if weights is None else xp.isnan(step) | (weights <= 0)[:, None]
        step = xp.max(xp.where(unseen, xp.zeros_like(step), step), axis=0)
        lost = (squares < SMALLEST_SQUARES) & (step > 4.0 * float(limits.eps) * xp.abs(mean))
        if bool(xp.any(lost)):
            if weights is not None and float(xp.max(weights)) < SMALLEST_WEIGHT:
                raise ValueError(
                    f"sample_weight is so small, at most {float(xp.max(weights)):g}, that weighted squares "
                    "underflow; divide it by its largest entry"
                )
            raise ValueError(
                "X has columns that vary by so little that their squares underflow; rescale them"
            )


def check_rate(rate: Any) -> float:
    """Return a rate of forgetting, in (0, 1]."""
    if not (isinstance(rate, (int, float)) and 0.0 < rate <= 1.0):
        raise ValueError(f"rate must be in (0, 1], got {rate!r}")
    return float(rate)


def as_whole_numbers(x: Any) -> Array:
    """Return a block of counts or labels as float64, rows on the first axis: 0, 1, 2, … and nothing else."""
    xp = namespace_of(x)
    x = xp.asarray(x)
    if x.ndim < 1:
        raise ValueError("X must be a block of rows, got a single number")
    if not xp.isdtype(x.dtype, ("bool", "numeric")):
        raise ValueError(f"X must be whole numbers, got an array of {x.dtype}")
    x = x if x.dtype == xp.float64 else xp.astype(x, xp.float64)
    # Written so that NaN is rejected too.
    if not bool(xp.all((x >= 0) & (x == xp.floor(x)) & xp.isfinite(x))):
        raise ValueError("X must be whole numbers from 0 on, with no NaN")
    return x
