"""Mixtures of multivariate Student-t distributions."""

from tractable.mixture.student_t.estimator import StudentTMixture
from tractable.mixture.student_t.steps import StudentTParameters, StudentTSums

__all__ = ["StudentTMixture", "StudentTParameters", "StudentTSums"]
