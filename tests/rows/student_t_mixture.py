"""Mixtures of Student-t vectors."""

from rows.discrete_mixtures import EXEMPT
from rows.row import Row
from tractable.mixture import StudentTMixture

ROWS = [
    Row("StudentTMixture", StudentTMixture),
    Row("StudentTMixture-2", lambda: StudentTMixture(2, random_state=0), EXEMPT),
    Row("StudentTMixture-fixed", lambda: StudentTMixture(2, dof=4.0, random_state=0, n_init=2), EXEMPT),
    Row("StudentTMixture-diag", lambda: StudentTMixture(2, covariance_type="diag", random_state=0), EXEMPT),
]
