"""Mixtures of Student-t vectors."""

from functools import partial

import numpy as np

from rows.row import Row
from tractable.base import Rows
from tractable.covariance.shapes import shape_of
from tractable.mixture import StudentTMixture
from tractable.mixture.student_t.steps import StudentTProblem
from tractable.statistics import ColumnSummary
from tractable.testing.em_laws import EMCase

ROWS = [
    Row("StudentTMixture", StudentTMixture),
    Row("StudentTMixture-2", lambda: StudentTMixture(2, random_state=0)),
    Row("StudentTMixture-fixed", lambda: StudentTMixture(2, dof=4.0, random_state=0, n_init=2)),
    Row("StudentTMixture-diag", lambda: StudentTMixture(2, covariance_type="diag", random_state=0)),
]


def heavy_rows(n=120, seed=0):
    """Rows of two components with heavy tails."""
    rng = np.random.default_rng(seed)
    x = rng.standard_t(2.5, (n, 2)) @ [[1.0, 0.5], [0.0, 1.0]]
    x[: n // 3] += 6.0
    return x


def student_t_problem(dof=None, diagonal=False, reg=1e-6):
    rng = np.random.default_rng(2)
    rows = Rows(data=heavy_rows(), weights=rng.uniform(0.5, 2.0, 120))
    summary = ColumnSummary.of(rows.data, rows.weights)
    steps = StudentTProblem(
        data=rows.source,
        total=summary.total,
        standardizer=summary.standardizer(),
        shape=shape_of("diag" if diagonal else "full"),
        n_components=2,
        dof=dof,
        floor=np.full(2, reg),
    )
    return EMCase(
        expect=steps.expect,
        maximize=steps.maximize,
        data=steps.data,
        start=steps.initial(rng),
        numbers=lambda p: np.concatenate([a.ravel() for a in (p.weights, p.locations, p.scales, p.dof)]),
    )


EM_ROWS = [
    Row("Student-t vectors", student_t_problem),
    Row("Student-t vectors, floor that bites", partial(student_t_problem, reg=0.05)),
    Row("Student-t vectors, dof fixed", partial(student_t_problem, dof=3.0)),
    Row("Student-t vectors, uncorrelated", partial(student_t_problem, diagonal=True)),
]
