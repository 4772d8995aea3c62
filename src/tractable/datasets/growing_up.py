"""Simulated people whose height and vocabulary depend on each other through their age alone."""

from typing import Any

import numpy as np

#: Bins, in years, feet and words.
AGES = ("≤ 5", "5-10", "10-15", "15-20", "20-25", "≥ 25")
HEIGHTS = ("≤ 3'", "3'-4'", "4'-5'", "5'-6'", "≥ 6'")
VOCABULARIES = ("≤ 5K", "5K-10K", "10K-15K", "15K-20K", "≥ 20K")

#: p(age), p(height | age) and p(vocabulary | age), a row each age.
PROBABILITIES = (
    (0.10, (0.60, 0.38, 0.02, 0.00, 0.00), (0.90, 0.09, 0.01, 0.00, 0.00)),
    (0.12, (0.03, 0.52, 0.43, 0.02, 0.00), (0.30, 0.50, 0.17, 0.03, 0.00)),
    (0.13, (0.00, 0.03, 0.50, 0.44, 0.03), (0.05, 0.25, 0.45, 0.20, 0.05)),
    (0.15, (0.00, 0.00, 0.10, 0.70, 0.20), (0.02, 0.08, 0.25, 0.40, 0.25)),
    (0.15, (0.00, 0.00, 0.07, 0.70, 0.23), (0.02, 0.05, 0.18, 0.35, 0.40)),
    (0.35, (0.00, 0.00, 0.08, 0.70, 0.22), (0.01, 0.04, 0.15, 0.30, 0.50)),
)
AGE_PROBABILITIES, HEIGHT_PROBABILITIES, VOCABULARY_PROBABILITIES = zip(*PROBABILITIES, strict=True)


def make_height_vocabulary_age(
    n: int, random_state: Any = None, *, rng: Any = None
) -> tuple[Any, np.ndarray]:
    """Draw people: their height and vocabulary, in five bins each, and their age, in six.

    Children are short and know few words, so height and vocabulary depend on each other; given the age they
    are independent, which is what naive Bayes assumes.

    Parameters
    ----------
    n : int
        How many.
    random_state, rng : None, int or Generator
        Source of randomness, by either name; with a seed the result is repeatable.

    Returns
    -------
    X : pandas frame (n, 2)
        Ordered categories "height" and "vocabulary"; those of `HEIGHTS` and `VOCABULARIES`, seen or not.
    age : array (n,)
        Of `AGES`.

    Examples
    --------
    >>> X, age = make_height_vocabulary_age(3, random_state=0)
    >>> X.shape, age.tolist()
    ((3, 2), ['20-25', '10-15', '≤ 5'])
    """
    import pandas as pd

    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"n must be a whole number from 1, got {n!r}")
    if random_state is not None and rng is not None:
        raise ValueError("rng and random_state name the same thing: give one of them")
    rng = np.random.default_rng(random_state if rng is None else rng)
    years = rng.choice(len(AGES), size=n, p=AGE_PROBABILITIES)
    tables = (HEIGHT_PROBABILITIES, VOCABULARY_PROBABILITIES)
    heights, words = (_drawn(rng, np.array(table)[years]) for table in tables)
    X = pd.DataFrame({
        "height": pd.Categorical.from_codes(heights, HEIGHTS, ordered=True),
        "vocabulary": pd.Categorical.from_codes(words, VOCABULARIES, ordered=True),
    })  # fmt: skip
    return X, np.array(AGES)[years]


def _drawn(rng: np.random.Generator, probabilities: np.ndarray) -> np.ndarray:
    """Return one bin for each row of probabilities, by inverting the distribution function."""
    below = np.cumsum(probabilities, axis=1)[:, :-1]
    return (rng.random(len(probabilities))[:, None] >= below).sum(axis=1)
