"""Loops that know no model: the fold, expectation-maximisation, Newton's and Robbins and Monro's methods."""

from tractable.engines.em import EMResult, em
from tractable.engines.fold import fold
from tractable.engines.newton import NewtonResult, newton
from tractable.engines.robbins_monro import RobbinsMonroResult, StepSize, robbins_monro, sequential_mle

__all__ = [
    "EMResult",
    "NewtonResult",
    "RobbinsMonroResult",
    "StepSize",
    "em",
    "fold",
    "newton",
    "robbins_monro",
    "sequential_mle",
]
