"""Pairs of EM steps."""

from functools import partial

import numpy as np

from rows.row import Row
from tractable.density import incomplete_gaussian as steps
from tractable.statistics import IncompleteMoments
from tractable.testing.em_laws import EMProblem


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


ROWS = [
    Row("incomplete Gaussian", incomplete_gaussian),
    Row("Gaussian with little missing", partial(incomplete_gaussian, 0.05)),
]
