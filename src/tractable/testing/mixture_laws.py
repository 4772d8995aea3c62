"""Laws of mixtures: the sum that they are, and what follows from it."""

from typing import Any

import numpy as np

from tractable.testing.assertions import assert_mean, check_laws, laws_above, standardized
from tractable.value import parameters, replace


def density_is_the_weighted_sum(d: Any, rng: np.random.Generator) -> None:
    """The density is the sum of the components', each times its weight."""
    x = d.sample(6, rng=rng)
    parts = [d.weights[..., k] * d.components[..., k].prob(x) for k in range(d.n_components)]
    np.testing.assert_allclose(d.prob(x), np.sum(parts, axis=0), rtol=1e-11)


def responsibilities_are_bayes_rule(d: Any, rng: np.random.Generator) -> None:
    """Bayes' rule p(k | x) p(x) = π_k p_k(x): they sum to one."""
    x = d.sample(6, rng=rng)
    responsibilities = d.responsibilities(x)
    np.testing.assert_allclose(responsibilities.sum(axis=-1), 1.0, rtol=1e-13)
    for k in range(d.n_components):
        joint = d.weights[..., k] * d.components[..., k].prob(x)
        np.testing.assert_allclose(responsibilities[..., k] * d.prob(x), joint, rtol=1e-11, atol=1e-300)


def order_of_components_is_immaterial(d: Any, rng: np.random.Generator) -> None:
    """Components in another order are the same mixture."""
    order = np.arange(d.n_components)[::-1]
    reordered = replace(d, weights=d.weights[..., order], components=d.components[..., order])
    x = d.sample(6, rng=rng)
    np.testing.assert_allclose(reordered.log_prob(x), d.log_prob(x), rtol=1e-12)
    np.testing.assert_allclose(reordered.mean, d.mean, rtol=1e-12, atol=1e-12 * np.max(d.stddev))
    np.testing.assert_allclose(reordered.variance, d.variance, rtol=1e-12)


def absent_components_change_nothing(d: Any, rng: np.random.Generator) -> None:
    """A component of weight zero is never drawn and changes no density."""
    more = np.append(np.arange(d.n_components), 0)
    none = np.zeros((*d.batch_shape, 1))
    wider = replace(d, weights=np.concatenate([d.weights, none], axis=-1), components=d.components[..., more])
    x, labels = wider.sample_labelled(200, rng=rng)
    assert np.all(labels < d.n_components)
    np.testing.assert_allclose(wider.log_prob(x), d.log_prob(x), rtol=1e-14, atol=1e-14)
    np.testing.assert_array_equal(wider.responsibilities(x)[..., -1], 0.0)
    np.testing.assert_allclose(wider.variance, d.variance, rtol=1e-14)


def splitting_a_component_changes_nothing(d: Any, rng: np.random.Generator) -> None:
    """Two equal components are one, of the sum of their weights."""
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
        assert_mean(chosen, d.weights[..., k], f"frequency of component {k}")
        one = d.components[..., k]
        z = standardized(x, one.mean, one.stddev)
        here = chosen.reshape(chosen.shape + (1,) * len(d.event_shape))
        assert_mean(np.where(here, z, 0.0), 0.0, f"draws of component {k}")


def modes_are_local_maxima(d: Any, rng: np.random.Generator) -> None:
    """No point near a mode is denser; modes come highest first, and the first is the mode."""
    for i in np.ndindex(d.batch_shape):
        one = d[i] if d.batch_shape else d
        modes = one.modes()
        heights = one.log_prob(modes)
        assert np.all(heights[1:] <= heights[:-1] + 1e-12)
        np.testing.assert_array_equal(modes[0], one.mode)
        smallest = np.min(one.components.stddev, axis=0)
        for size in (1e-3, 1e-2):
            near = modes + size * smallest * rng.standard_normal((50, *modes.shape))
            assert np.all(one.log_prob(near) <= heights + 1e-9), f"{modes} are not all modes"


def modes_on_a_line_are_the_maxima_on_a_grid(d: Any, rng: np.random.Generator) -> None:
    """The modes of numbers are the local maxima on a grid fine beside every component: all, and no others."""
    if d.event_shape:
        return
    for i in np.ndindex(d.batch_shape):
        one = d[i] if d.batch_shape else d
        grid = _fine_grid(one)
        maxima = _local_maxima(one.log_prob(grid))
        modes = np.sort(one.modes())
        assert len(modes) == len(maxima), f"{modes} for maxima at {[float(grid[a]) for a, _ in maxima]}"
        for mode, (first, last) in zip(modes, maxima, strict=True):
            assert grid[max(first - 1, 0)] <= mode <= grid[min(last + 1, len(grid) - 1)]


def _fine_grid(d: Any) -> np.ndarray:
    """Return points as fine as each component is narrow, with gaps between supports, or every integer."""
    parts = [d.components[k] for k in np.flatnonzero(d.weights)]
    ends = [(float(c.icdf(1e-4)), float(c.icdf(1.0 - 1e-4))) for c in parts]
    if d.discrete:
        return np.arange(min(low for low, _ in ends), max(high for _, high in ends) + 1.0)
    lines = [np.linspace(low, high, 4001) for low, high in ends]
    edges = np.array([float(c.icdf(q)) for c in parts for q in (0.0, 1.0)] + [float(c.mode) for c in parts])
    grid = np.unique(np.concatenate([*lines, edges[np.isfinite(edges)]]))
    return np.unique(np.concatenate([grid, 0.5 * (grid[1:] + grid[:-1])]))


def _local_maxima(heights: np.ndarray, least: float = 1e-9) -> list[tuple[int, int]]:
    """Return the first and last index of each maximum that exceeds both adjacent minima by `least`."""
    found, top, low, rising = [], 0, np.inf, True
    for i, h in enumerate([*heights, -np.inf]):
        if rising and i < len(heights) and h >= heights[top]:
            top = i
        elif rising and h < heights[top] - least:
            same = np.flatnonzero(heights[top:i] >= heights[top] - least)
            first = top
            while first > 0 and heights[first - 1] >= heights[top] - least:
                first -= 1
            found.append((first, top + int(same[-1])))
            rising, low = False, h
        elif not rising and h > low + least:
            rising, top = True, i
        else:
            low = min(low, h)
    return found


def separate_components_have_a_mode_each(d: Any, rng: np.random.Generator) -> None:
    """Components moved apart, whatever their family, have one mode each, near their own."""
    centre = next((name for name in ("location", "mean") if name in parameters(d.components)), None)
    if d.batch_shape or centre is None or not (np.all(d.weights > 0) and np.all(np.isfinite(d.stddev))):
        return
    size = np.max(d.components.stddev)
    order = np.arange(d.n_components).reshape(-1, *(1,) * len(d.event_shape))
    for apart, atol in ((1e3, 1e-6), (40.0, 0.02)):
        centres = apart * size * order * np.ones((d.n_components, *d.event_shape))
        moved = replace(d, components=replace(d.components, **{centre: centres}))
        found = moved.modes()
        assert found.shape == centres.shape, f"{found} for components at {centres}"
        found = found[np.argsort(found.reshape(d.n_components, -1)[:, 0])]
        np.testing.assert_allclose(found, centres, rtol=1e-9, atol=atol * size)


MIXTURE_LAWS = laws_above(globals())


def check_mixture(mixture: Any, rng: Any = 0) -> None:
    """Run every law of mixtures on one.

    Examples
    --------
    >>> from tractable import Mixture, Normal
    >>> check_mixture(Mixture(weights=[0.2, 0.8], components=Normal(mean=[0.0, 3.0], variance=1.0)))
    """
    check_laws(MIXTURE_LAWS, mixture, rng)
