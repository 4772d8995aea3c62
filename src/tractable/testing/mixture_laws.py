"""Laws of mixtures: the sum that they are, and what follows from it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.random import as_generator
from tractable.testing.monte_carlo import assert_mean, standardized
from tractable.value import replace

__all__ = ["MIXTURE_LAWS", "check_mixture"]


def density_is_the_weighted_sum(d: Any, rng: np.random.Generator) -> None:
    """The density is the sum of the components', each times its weight."""
    x = d.sample(6, rng=rng)
    parts = [d.weights[..., k] * d.components[..., k].prob(x) for k in range(d.n_components)]
    np.testing.assert_allclose(d.prob(x), np.sum(parts, axis=0), rtol=1e-11)


def responsibilities_are_bayes_rule(d: Any, rng: np.random.Generator) -> None:
    """Bayes' rule p(k | x) p(x) = π_k p_k(x): shares that add up to one."""
    x = d.sample(6, rng=rng)
    shares = d.responsibilities(x)
    np.testing.assert_allclose(shares.sum(axis=-1), 1.0, rtol=1e-13)
    for k in range(d.n_components):
        joint = d.weights[..., k] * d.components[..., k].prob(x)
        np.testing.assert_allclose(shares[..., k] * d.prob(x), joint, rtol=1e-11, atol=1e-300)


def order_of_components_is_immaterial(d: Any, rng: np.random.Generator) -> None:
    """Components in another order are the same mixture."""
    order = np.arange(d.n_components)[::-1]
    turned = replace(d, weights=d.weights[..., order], components=d.components[..., order])
    x = d.sample(6, rng=rng)
    np.testing.assert_allclose(turned.log_prob(x), d.log_prob(x), rtol=1e-12)
    np.testing.assert_allclose(turned.mean, d.mean, rtol=1e-12, atol=1e-12 * np.max(d.stddev))
    np.testing.assert_allclose(turned.variance, d.variance, rtol=1e-12)


def absent_components_change_nothing(d: Any, rng: np.random.Generator) -> None:
    """A component of weight zero is never drawn and says nothing."""
    more = np.append(np.arange(d.n_components), 0)
    none = np.zeros((*d.batch_shape, 1))
    wider = replace(d, weights=np.concatenate([d.weights, none], axis=-1), components=d.components[..., more])
    x, labels = wider.sample_labelled(200, rng=rng)
    assert np.all(labels < d.n_components)
    np.testing.assert_allclose(wider.log_prob(x), d.log_prob(x), rtol=1e-14, atol=1e-14)
    np.testing.assert_array_equal(wider.responsibilities(x)[..., -1], 0.0)
    np.testing.assert_allclose(wider.variance, d.variance, rtol=1e-14)


def splitting_a_component_changes_nothing(d: Any, rng: np.random.Generator) -> None:
    """Two components that are alike are one, of the sum of their weights."""
    twice = np.append(np.arange(d.n_components), 0)
    weights = np.concatenate([d.weights, 0.25 * d.weights[..., :1]], axis=-1)
    weights[..., 0] *= 0.75
    split = replace(d, weights=weights, components=d.components[..., twice])
    x = d.sample(60, rng=rng)
    np.testing.assert_allclose(split.log_prob(x), d.log_prob(x), rtol=1e-12)
    np.testing.assert_allclose(split.variance, d.variance, rtol=1e-12)


def labels_follow_the_weights(d: Any, rng: np.random.Generator) -> None:
    """Component k is drawn with probability π_k, and its draws are its own."""
    x, labels = d.sample_labelled(20_000, rng=rng)
    assert x.shape == (20_000, *d.batch_shape, *d.event_shape)
    assert labels.shape == (20_000, *d.batch_shape)
    for k in range(d.n_components):
        chosen = labels == k
        assert_mean(chosen, d.weights[..., k], f"share of component {k}")
        one = d.components[..., k]
        z = standardized(x, one.mean, one.stddev)
        here = chosen.reshape(chosen.shape + (1,) * len(d.event_shape))
        assert_mean(np.where(here, z, 0.0), 0.0, f"draws of component {k}")


def modes_are_summits(d: Any, rng: np.random.Generator) -> None:
    """No point near a mode is denser; modes come highest first, and the first is the mode."""
    for i in np.ndindex(d.batch_shape):
        one = d[i] if d.batch_shape else d
        modes = one.modes()
        heights = one.log_prob(modes)
        assert np.all(np.diff(heights) <= 1e-12)
        np.testing.assert_array_equal(modes[0], one.mode)
        smallest = np.min(one.components.stddev, axis=0)
        for size in (1e-3, 1e-2):
            near = modes + size * smallest * rng.standard_normal((50, *modes.shape))
            assert np.all(one.log_prob(near) <= heights + 1e-9), f"{modes} are not all modes"


def distinct_hills_have_a_mode_each(d: Any, rng: np.random.Generator) -> None:
    """Components moved far apart have one mode each, near their own."""
    if d.batch_shape or not hasattr(d.components, "affine") or not np.all(d.weights > 0):
        return
    shift = 1e3 * np.max(d.stddev) * np.arange(d.n_components)
    eye = np.eye(d.event_shape[0])
    apart = replace(d, components=d.components.affine(eye, shift[:, None] * np.ones(d.event_shape)))
    assert apart.modes().shape == (d.n_components, *d.event_shape)
    found = np.sort(apart.modes()[:, 0])
    np.testing.assert_allclose(found, np.sort(apart.components.mean[:, 0]), rtol=1e-9, atol=1e-6)


MIXTURE_LAWS: tuple[Callable[[Any, np.random.Generator], None], ...] = (
    density_is_the_weighted_sum,
    responsibilities_are_bayes_rule,
    order_of_components_is_immaterial,
    absent_components_change_nothing,
    splitting_a_component_changes_nothing,
    labels_follow_the_weights,
    modes_are_summits,
    distinct_hills_have_a_mode_each,
)


def check_mixture(mixture: Any, rng: Any = 0) -> None:
    """Run every law of mixtures on one.

    Examples
    --------
    >>> from tractable import Mixture, Normal
    >>> check_mixture(Mixture(weights=[0.2, 0.8], components=Normal(mean=[0.0, 3.0], variance=1.0)))
    """
    for law in MIXTURE_LAWS:
        law(mixture, as_generator(rng))
