"""Draws of mixtures: which component, then an event from it."""

from collections.abc import Callable
from typing import Any

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.random import uniform

__all__ = ["averaged_over_draws", "draw", "log_ratio"]


def draw(mixture: Any, n: int, rng: Any) -> tuple[Array, Array]:
    """Return n events and the components they come from, (n, *batch, *event) and (n, *batch)."""
    labels = _labels(mixture.weights, n, rng)
    return (_selected if mixture.batch_shape else _gathered)(mixture, labels, rng), labels


def averaged_over_draws(mixture: Any, f: Callable[[Array], Array], n_samples: int, rng: Any) -> Array:
    """Return E[f(x)] of one mixture: Σ_k π_k times the mean of f over draws of k, equally many of each."""
    xp = namespace_of(mixture.weights)
    k = mixture.n_components
    x = mixture.components.sample(max(1, n_samples // k), rng=rng)
    found = xp.reshape(f(xp.reshape(x, (-1, *mixture.event_shape))), tuple(x.shape[:2]))
    each = xp.mean(found, axis=0)
    # A component of weight zero may have no density where it draws.
    return xp.sum(mixture.weights * xp.where(mixture.weights > 0, each, xp.zeros_like(each)))


def _labels(weights: Array, n: int, rng: Any) -> Array:
    """Return numbers of components, each as often as its weight says; never one of weight zero."""
    xp = namespace_of(weights)
    shares = xp.astype(weights, xp.float64)
    total = xp.cumulative_sum(shares, axis=-1)
    bounds = total[..., :-1] / total[..., -1:]
    u = uniform(rng, (n, *weights.shape[:-1]), like=shares)
    if weights.ndim == 1:
        return xp.astype(xp.searchsorted(bounds, u, side="right"), xp.int64)
    return xp.sum(xp.astype(u[..., None] >= bounds, xp.int64), axis=-1)


def _gathered(mixture: Any, labels: Array, rng: Any) -> Array:
    """Draw as often from each component as it was chosen, and put the draws in their places."""
    xp = namespace_of(labels)
    order = xp.argsort(labels, stable=True)
    counts = [int(xp.sum(xp.astype(labels == k, xp.int64))) for k in range(mixture.n_components)]
    parts = [mixture.components[k].sample(count, rng=rng) for k, count in enumerate(counts) if count]
    if not parts:
        return mixture.components[0].sample(0, rng=rng)
    return xp.take(xp.concat(parts, axis=0), xp.argsort(order, stable=True), axis=0)


def _selected(mixture: Any, labels: Array, rng: Any) -> Array:
    """Draw from every component and keep the chosen one: for a batch, where few draws are of each mixture."""
    xp = namespace_of(labels)
    n_event = len(mixture.event_shape)
    x = mixture.components.sample(labels.shape[0], rng=rng)
    numbers = xp.arange(mixture.n_components, dtype=labels.dtype, device=device(labels))
    chosen = (labels[..., None] == numbers)[(..., *(None,) * n_event)]
    return xp.sum(xp.where(chosen, x, xp.zeros_like(x)), axis=-1 - n_event)


def log_ratio(p: Any, q: Any, x: Array) -> Array:
    """Return log p(x)/q(x), and 0 where there is no p."""
    ours, theirs = p.log_prob(x), q.log_prob(x)
    xp = namespace_of(ours)
    some = ours > -xp.inf
    return xp.where(some, ours, xp.zeros_like(ours)) - xp.where(some, theirs, xp.zeros_like(theirs))
