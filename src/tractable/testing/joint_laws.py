"""Laws of joint distributions: closed under marginals and conditioning, and exact about missing entries."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.random import as_generator

__all__ = ["JOINT_LAWS", "check_joint"]


def chain_rule_holds_for_columns(d: Any, rng: np.random.Generator) -> None:
    """The chain rule, log p(x) = log p(x_g) + log p(x_r | x_g), for every column g."""
    x = d.sample(4, rng=rng)
    for given in range(_dim(d)):
        rest = [j for j in range(_dim(d)) if j != given]
        if rest:
            conditional = d.condition([given], x[..., [given]])
            parts = d.marginal([given]).log_prob(x[..., [given]]) + conditional.log_prob(x[..., rest])
            _assert_close(parts, d.log_prob(x))


def conditioning_twice_is_conditioning_once(d: Any, rng: np.random.Generator) -> None:
    """Conditioning on a column and then on another is conditioning on both."""
    if _dim(d) < 3:
        return
    x = d.sample(2, rng=rng)
    first, last = x[0][..., [0]], x[0][..., [-1]]
    steps = d.condition([0], first).condition([-1], last)
    at_once = d.condition([-1, 0], x[0][..., [-1, 0]])
    _assert_close(steps.log_prob(x[1][..., 1:-1]), at_once.log_prob(x[1][..., 1:-1]))


def conditioning_on_nothing_is_idle(d: Any, rng: np.random.Generator) -> None:
    """p(x | nothing) = p(x)."""
    x = d.sample(3, rng=rng)
    _assert_close(d.condition([], np.empty(0)).log_prob(x), d.log_prob(x))


def values_become_batch_axes(d: Any, rng: np.random.Generator) -> None:
    """Many values at once are as many conditionals."""
    if _dim(d) < 2:
        return
    x = d.sample(3, rng=rng)
    many = d.condition([0], x[..., [0]])
    assert many.batch_shape == (3, *d.batch_shape)
    for i in range(3):
        one = d.condition([0], x[i][..., [0]])
        _assert_close(many[i].log_prob(x[i][..., 1:]), one.log_prob(x[i][..., 1:]))


def marginals_compose(d: Any, rng: np.random.Generator) -> None:
    """A marginal of a marginal is a marginal, in the order asked for; moments are those of the whole."""
    backwards = list(range(_dim(d)))[::-1]
    keep = backwards[: max(1, _dim(d) - 1)]
    turned, part = d.marginal(backwards), d.marginal(keep)
    x = d.sample(4, rng=rng)
    _assert_close(turned.log_prob(x[..., backwards]), d.log_prob(x))
    _assert_close(turned.marginal(range(len(keep))).log_prob(x[..., keep]), part.log_prob(x[..., keep]))
    np.testing.assert_allclose(part.mean, d.mean[..., keep], rtol=1e-12)
    np.testing.assert_allclose(part.variance, d.variance[..., keep], rtol=1e-12)


def missing_columns_are_integrated_out(d: Any, rng: np.random.Generator) -> None:
    """A NaN entry is integrated out; where nothing is observed the log probability is 0."""
    x = np.array(d.sample(_dim(d) + 1, rng=rng))
    for hole in range(_dim(d)):
        x[hole][..., hole] = np.nan
    x[-1] = np.nan
    scored = d.log_prob(x)
    np.testing.assert_allclose(scored[-1], 0.0, atol=1e-15)
    for hole in range(_dim(d)):
        seen = [j for j in range(_dim(d)) if j != hole]
        if seen:
            _assert_close(scored[hole], d.marginal(seen).log_prob(x[hole][..., seen]))


def names_are_positions(d: Any, rng: np.random.Generator) -> None:
    """Where columns have names, they work as positions do."""
    if getattr(d, "names", None) is None:
        return
    x = d.sample(2, rng=rng)
    last = d.names[-1]
    _assert_close(d.marginal(last).log_prob(x[..., [-1]]), d.marginal([-1]).log_prob(x[..., [-1]]))
    given = d.condition({last: x[0][..., -1]})
    assert given.names == d.names[:-1]
    _assert_close(given.log_prob(x[1][..., :-1]), d.condition([-1], x[0][..., [-1]]).log_prob(x[1][..., :-1]))


def _dim(d: Any) -> int:
    return int(d.event_shape[0])


def _assert_close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


JOINT_LAWS: tuple[Callable[[Any, np.random.Generator], None], ...] = (
    chain_rule_holds_for_columns,
    conditioning_twice_is_conditioning_once,
    conditioning_on_nothing_is_idle,
    values_become_batch_axes,
    marginals_compose,
    missing_columns_are_integrated_out,
    names_are_positions,
)


def check_joint(distribution: Any, rng: Any = 0) -> None:
    """Run every law of joint distributions on one.

    Examples
    --------
    >>> import tractable
    >>> check_joint(tractable.MultivariateNormal(mean=[0.0, 1.0], covariance=[[2.0, 1.0], [1.0, 2.0]]))
    """
    for law in JOINT_LAWS:
        law(distribution, as_generator(rng))
