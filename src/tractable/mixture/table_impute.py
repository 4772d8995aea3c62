"""The holes of a table: what the rest of each row says of them."""

from typing import Any

import numpy as np

from tractable.distributions import Bernoulli, Categorical, Mixture, Normal

__all__ = ["drawn", "expected"]

#: Entries of the arrays that a block of rows makes.
BLOCK_ENTRIES = 2**20


def expected(mixture: Mixture, x: np.ndarray) -> np.ndarray:
    """Return rows of numbers with means and likeliest categories in their holes; counts are whole."""
    shares = mixture.responsibilities(x)
    found = x.copy()
    for j, part in enumerate(mixture.components.parts):  # type: ignore[attr-defined]
        holes = np.isnan(x[:, j])
        found[holes, j] = _best(part, shares[holes])
    return found


def drawn(mixture: Mixture, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return rows of numbers with draws in their holes: first a component, given the rest of the row."""
    edges = np.cumsum(mixture.responsibilities(x), axis=1)
    labels = np.sum(rng.random((len(x), 1)) * edges[:, -1:] >= edges[:, :-1], axis=1)
    found = x.copy()
    for j, part in enumerate(mixture.components.parts):  # type: ignore[attr-defined]
        holes = np.isnan(x[:, j])
        for k in np.unique(labels[holes]):
            of_k = holes & (labels == k)
            found[of_k, j] = part[k].sample(int(of_k.sum()), rng=rng)
    return found


def _best(part: Any, shares: np.ndarray) -> np.ndarray:
    if isinstance(part, Categorical):
        rows = max(1, BLOCK_ENTRIES // part.probabilities.shape[1])
        blocks = [shares[i : i + rows] for i in range(0, len(shares), rows)]
        return np.concatenate([np.zeros(0), *(np.argmax(r @ part.probabilities, axis=1) for r in blocks)])
    mean = shares @ part.mean
    if isinstance(part, Bernoulli):
        return mean > 0.5
    return mean if isinstance(part, Normal) else np.rint(mean)
