"""Laws of distributions.

A law that needs something not every family has (a distribution function, a fit, a support that is a box) asks
for it and holds trivially elsewhere; a law that a family breaks for a reason is exempted on its row.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.random import as_generator
from tractable.testing.distribution_density_laws import DENSITY_LAWS
from tractable.testing.distribution_print_laws import PRINT_LAWS
from tractable.testing.distribution_sample_laws import SAMPLE_LAWS
from tractable.testing.distribution_tail_laws import TAIL_LAWS
from tractable.testing.distribution_value_laws import VALUE_LAWS

__all__ = ["DISTRIBUTION_LAWS", "check_distribution"]

DISTRIBUTION_LAWS: tuple[Callable[[Any, np.random.Generator], None], ...] = (
    *VALUE_LAWS,
    *PRINT_LAWS,
    *DENSITY_LAWS,
    *TAIL_LAWS,
    *SAMPLE_LAWS,
)


def check_distribution(distribution: Any, rng: Any = 0) -> None:
    """Run every law of distributions on one; AssertionError says which it breaks and how.

    Examples
    --------
    >>> import tractable
    >>> check_distribution(tractable.Normal(mean=1.0, stddev=2.0))
    """
    for law in DISTRIBUTION_LAWS:
        law(distribution, as_generator(rng))
