"""Pairs of EM steps."""

from functools import partial

import numpy as np

from rows.row import Row
from tractable.density import incomplete_gaussian as steps
from tractable.linear_model import LaplaceNoise, RobustPlane
from tractable.linear_model.robust_steps import robust_steps, start_at_least_squares
from tractable.statistics import IncompleteMoments
from tractable.testing.em_laws import EMProblem
from tractable.value import replace


def incomplete_gaussian(missing=0.3):
    rng = np.random.default_rng(5)
    x = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 3))
    x[rng.random(x.shape) < missing] = np.nan
    return EMProblem(
        expect=partial(steps.expect, IncompleteMoments.of(x)),
        maximize=steps.maximize,
        start=steps.Gaussian(mean=np.zeros(3), covariance=np.eye(3)),
        numbers=lambda g: np.concatenate([g.mean, g.covariance.ravel()]),
    )


def robust_plane(noise, dof=None):
    rng = np.random.default_rng(6)
    X, w = rng.standard_normal((50, 2)), rng.uniform(0.5, 2.0, 50)
    y = 1.0 + X @ [2.0, -1.0] + rng.standard_t(2.0, 50)
    expect, maximize = robust_steps(X, y, w, 1e-10)
    start = start_at_least_squares(X, y, w, noise, dof, fit_intercept=True)
    if isinstance(start.noise, LaplaceNoise):
        start = RobustPlane(plane=start.plane, noise=replace(start.noise, smooth=1e-2))
    return EMProblem(
        expect=expect,
        maximize=maximize,
        start=start,
        numbers=lambda p: np.array([*p.plane.coef[0], *p.plane.intercept, p.noise.scale]),
    )


ROWS = [
    Row("plane in Laplace noise", partial(robust_plane, "laplace")),
    Row("plane in Student noise", partial(robust_plane, "student", 3.0)),
    Row("plane in Student noise, dof learnt", partial(robust_plane, "student")),
    Row("incomplete Gaussian", incomplete_gaussian),
    Row("Gaussian with little missing", partial(incomplete_gaussian, 0.05)),
]
