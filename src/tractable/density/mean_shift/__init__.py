"""Mean shift: clustering by the modes of a kernel density estimate."""

from tractable.density.mean_shift.estimator import MeanShift

__all__ = ["MeanShift"]
