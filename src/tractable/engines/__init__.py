"""Loops and solvers that know no model: the fold, EM, least squares, Newton, Robbins and Monro."""

from tractable.engines.em import EMResult, best_of, em
from tractable.engines.fold import fold
from tractable.engines.least_squares import LeastSquares, least_squares
from tractable.engines.newton import NewtonResult, newton
from tractable.engines.robbins_monro import RobbinsMonroResult, StepSize, robbins_monro, sequential_mle

__all__ = [
    "EMResult",
    "LeastSquares",
    "NewtonResult",
    "RobbinsMonroResult",
    "StepSize",
    "best_of",
    "em",
    "fold",
    "least_squares",
    "newton",
    "robbins_monro",
    "sequential_mle",
]
