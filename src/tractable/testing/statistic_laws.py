"""Laws of sufficient statistics: a commutative monoid, exact wherever the data lie."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np

from tractable.testing.assertions import check_laws, laws_above, refused
from tractable.value import value


def _any_numbers(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.standard_normal(shape) + 2.0


@value
class StatisticOfRows:
    """A statistic under examination, and how to draw rows of three columns that it is for.

    The statistic has ``of(x, weights)`` and ``empty(dim)``; one of rows and targets, ``of(x, y, weights)``
    and ``empty(dim, n_targets)``, where the last `n_targets` columns are targets.
    """

    statistic: Any
    draw: Callable[[np.random.Generator, tuple[int, int]], np.ndarray] = _any_numbers
    n_targets: int = 0

    def of(self, x: np.ndarray, weights: np.ndarray | None = None) -> Any:
        """Summarise rows."""
        if not self.n_targets:
            return self.statistic.of(x, weights)
        y = x[:, -1] if self.n_targets == 1 else x[:, -self.n_targets :]
        return self.statistic.of(x[:, : -self.n_targets], y, weights)

    def empty(self, dim: int) -> Any:
        """Return the statistic of no rows."""
        if not self.n_targets:
            return self.statistic.empty(dim)
        return self.statistic.empty(dim - self.n_targets, self.n_targets)


def assert_same_statistic(a: Any, b: Any, rtol: float = 1e-10, atol: float = 1e-10) -> None:
    """Raise unless two statistics are equal, in their `canonical()` form where they have one."""
    assert type(a) is type(b), f"{type(a).__name__} is not {type(b).__name__}"
    if hasattr(a, "canonical"):
        assert_same_statistic(a.canonical(), b.canonical(), rtol, atol)
    elif is_dataclass(a):
        for field in fields(a):
            assert_same_statistic(getattr(a, field.name), getattr(b, field.name), rtol, atol)
    elif isinstance(a, tuple):
        assert len(a) == len(b), f"{len(a)} parts are not {len(b)}"
        for mine, theirs in zip(a, b, strict=True):
            assert_same_statistic(mine, theirs, rtol, atol)
    elif isinstance(a, dict):
        assert a.keys() == b.keys(), f"{sorted(a)} are not {sorted(b)}"
        for key in a:
            assert_same_statistic(a[key], b[key], rtol, atol)
    else:
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=rtol, atol=atol)


def _blocks(statistic: Any, rng: np.random.Generator) -> list[np.ndarray]:
    """Draw a few rows, one row and some more, of three columns."""
    shapes = ((7, 3), (1, 3), (12, 3))
    if hasattr(statistic, "draw"):
        return [statistic.draw(rng, shape) for shape in shapes]
    shifts = (0.0, 5.0, -2.0)
    return [rng.standard_normal(shape) + shift for shape, shift in zip(shapes, shifts, strict=True)]


def empty_is_neutral(statistic: Any, rng: np.random.Generator) -> None:
    """0 + a = a = a + 0, and 0 + 0 = 0."""
    x = _blocks(statistic, rng)[0]
    a, nothing = statistic.of(x), statistic.of(x[:0])
    assert_same_statistic(nothing + a, a)
    assert_same_statistic(a + nothing, a)
    assert_same_statistic(nothing + nothing, nothing)
    assert_same_statistic(statistic.empty(x.shape[1]) + a, a)


def addition_is_associative(statistic: Any, rng: np.random.Generator) -> None:
    """(a + b) + c = a + (b + c)."""
    a, b, c = map(statistic.of, _blocks(statistic, rng))
    assert_same_statistic((a + b) + c, a + (b + c))


def addition_is_commutative(statistic: Any, rng: np.random.Generator) -> None:
    """A + b = b + a."""
    a, b, _ = map(statistic.of, _blocks(statistic, rng))
    assert_same_statistic(a + b, b + a)


def sum_is_the_statistic_of_both(statistic: Any, rng: np.random.Generator) -> None:
    """of(x) + of(y) = of(x and y)."""
    x, y, _ = _blocks(statistic, rng)
    assert_same_statistic(statistic.of(x) + statistic.of(y), statistic.of(np.concatenate([x, y])))


def weights_are_repetitions(statistic: Any, rng: np.random.Generator) -> None:
    """An integer weight counts a row so many times; zero leaves it out."""
    x = _blocks(statistic, rng)[0]
    times = rng.integers(0, 4, size=len(x))
    times[0], times[1] = 0, 2
    assert_same_statistic(statistic.of(x, times.astype(float)), statistic.of(np.repeat(x, times, axis=0)))


def row_order_does_not_matter(statistic: Any, rng: np.random.Generator) -> None:
    """A statistic summarises a set of rows."""
    x = _blocks(statistic, rng)[2]
    assert_same_statistic(statistic.of(x), statistic.of(x[::-1]))


def operands_are_left_alone(statistic: Any, rng: np.random.Generator) -> None:
    """Summarising and adding change neither rows nor statistics."""
    x, y, _ = _blocks(statistic, rng)
    before = x.copy()
    a, again = statistic.of(x), statistic.of(before)
    a + statistic.of(y)
    np.testing.assert_array_equal(x, before)
    assert_same_statistic(a, again, rtol=0, atol=0)


def discount_scales_weights_alone(statistic: Any, rng: np.random.Generator) -> None:
    """Half of the rows counted twice are the rows counted once."""
    x = _blocks(statistic, rng)[0]
    a = statistic.of(x)
    assert_same_statistic((a + a).discount(0.5), a)
    assert_same_statistic(a.discount(1.0), a)
    for rate in (0.0, -1.0, 1.5, float("nan")):
        refused(partial(a.discount, rate), "rate")


def weights_are_checked(statistic: Any, rng: np.random.Generator) -> None:
    """Negative, infinite and missing weights, and the wrong number of them, are one clear error."""
    x = _blocks(statistic, rng)[0]
    good = np.ones(len(x))
    for bad in (-good, good * np.inf, good * np.nan, good[:-1], good[:, None]):
        refused(partial(statistic.of, x, bad), "weights")


def other_widths_do_not_merge(statistic: Any, rng: np.random.Generator) -> None:
    """Statistics of other columns are not added by accident."""
    x = _blocks(statistic, rng)[0]
    refused(lambda: statistic.of(x) + statistic.of(x[:, :2]), "columns")


STATISTIC_LAWS = laws_above(globals())


def check_statistic(statistic: Any, rng: Any = 0) -> None:
    """Run every law of statistics on a statistic's class, or on one with rows of its own to draw.

    Examples
    --------
    >>> import tractable
    >>> check_statistic(tractable.Moments)
    >>> from tractable.statistics import Counts
    >>> check_statistic(StatisticOfRows(statistic=Counts, draw=lambda rng, shape: rng.integers(0, 4, shape)))
    """
    check_laws(STATISTIC_LAWS, statistic, rng)
