"""Pairs of EM steps."""

from functools import partial

import numpy as np

from rows import (
    bayesian_gaussian_mixture,
    decomposition,
    discrete_mixtures,
    gaussian_mixture,
    latent_tree,
    mixture_regression,
    networks,
    student_t_mixture,
)
from rows.em_kmeans import kmeans
from rows.row import Row
from tractable.arrays.log_space import log_softmax, log_sum_exp
from tractable.data import Whole, as_source
from tractable.distributions import student_t
from tractable.engines import incomplete_gaussian as steps
from tractable.linear_model import LaplaceNoise
from tractable.linear_model.robust.steps import RobustProblem, StandardizedRows
from tractable.statistics import IncompleteMoments, Standardizer
from tractable.testing.em_laws import EMCase
from tractable.value import replace, value


def incomplete_gaussian(missing=0.3):
    rng = np.random.default_rng(5)
    x = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 3))
    x[rng.random(x.shape) < missing] = np.nan
    return EMCase(
        expect=lambda params: steps.CompletionStep(params=params),
        maximize=steps.maximize,
        data=Whole(value=(steps.PatternMoments.of(IncompleteMoments.of(x), Standardizer.identity(3)),)),
        start=steps.SharedGaussians(means=np.zeros((1, 3)), covariance=np.eye(3)),
        numbers=lambda g: np.concatenate([g.means.ravel(), g.covariance.ravel()]),
    )


def robust_plane(noise, dof=None):
    rng = np.random.default_rng(6)
    X, w = rng.standard_normal((50, 2)), rng.uniform(0.5, 2.0, 50)
    y = 1.0 + X @ [2.0, -1.0] + rng.standard_t(2.0, 50)
    data, target = as_source(X, y, w), Standardizer(shift=1.0, scale=0.5, varies=True)
    rows = data.reduce(StandardizedRows(target=target))
    problem = RobustProblem(data=data, target=target, rows=rows, noise=noise, dof=dof)
    start = problem.initial()
    if isinstance(start.noise, LaplaceNoise):
        start = replace(start, noise=replace(start.noise, smooth=1e-2))
    return EMCase(
        expect=problem.expect,
        maximize=problem.maximize,
        start=start,
        numbers=lambda p: np.array([*p.linear.coef[0], *p.linear.intercept, p.noise.scale]),
        data=problem.data,
    )


def student_family(dof=None, tails=3.0):
    rng = np.random.default_rng(7)
    X, w = rng.standard_t(tails, (80, 2)), rng.uniform(0.5, 2.0, 80)
    steps = student_t._Steps(known=dof is not None)
    return EMCase(
        expect=steps.expect,
        maximize=steps.maximize,
        data=as_source(X, None, w / w.sum()),
        start=student_t._Params(dof=np.asarray([dof or 8.0]), location=np.zeros(2), scale=np.eye(2)),
        numbers=lambda p: np.concatenate([p.dof, p.location, p.scale.ravel()]),
    )


@value
class Locations:
    """Where the logistic densities of an equal mixture lie."""

    centres: np.ndarray


@value
class Pull:
    """The slope of Q at the centres it was made with, and how much weight pulls at each."""

    params: Locations
    slope: np.ndarray
    mass: np.ndarray
    objective: float


@value
class LogisticStep:
    """Responsibilities of logistic densities at their centres."""

    params: Locations

    def __call__(self, x):
        centres = self.params.centres
        away = np.abs(x[:, None] - centres)
        joint = -away - 2.0 * np.log1p(np.exp(-away)) - np.log(len(centres))
        q = np.exp(log_softmax(joint))
        slope = np.sum(q * np.tanh(0.5 * (x[:, None] - centres)), axis=0)
        objective = float(log_sum_exp(joint).sum())
        return Pull(params=self.params, slope=slope, mass=q.sum(axis=0), objective=objective)


def logistic_locations(rate=1.0):
    """A mixture of logistic densities: the M-step for a location has no closed form, so it takes one step.

    Q bends by no more than N_k/2 at each centre, so a step of its slope over that climbs: generalised EM.
    """
    rng = np.random.default_rng(8)
    x = np.concatenate([rng.logistic(-3.0, 1.0, 40), rng.logistic(3.0, 1.0, 60)])

    def maximize(pull):
        return Locations(centres=pull.params.centres + rate * pull.slope / (0.5 * pull.mass))

    return EMCase(
        expect=lambda params: LogisticStep(params=params),
        maximize=maximize,
        data=Whole(value=x),
        start=Locations(centres=np.array([-1.0, 1.5])),
        numbers=lambda p: p.centres,
    )


ROWS = [
    *bayesian_gaussian_mixture.EM_ROWS,
    *decomposition.EM_ROWS,
    *networks.EM_ROWS,
    *discrete_mixtures.EM_ROWS,
    *latent_tree.EM_ROWS,
    *gaussian_mixture.EM_ROWS,
    *mixture_regression.EM_ROWS,
    *student_t_mixture.EM_ROWS,
    Row("logistic densities, a gradient step for an M-step", logistic_locations),
    Row("plane in Laplace noise", partial(robust_plane, "laplace")),
    Row("plane in Student noise", partial(robust_plane, "student", 3.0)),
    Row("plane in Student noise, dof learnt", partial(robust_plane, "student")),
    Row("Student's t, dof known", partial(student_family, 4.0)),
    Row("Student's t, dof learnt", student_family),
    Row("Student's t, light tails", partial(student_family, tails=20.0)),
    Row("incomplete Gaussian", incomplete_gaussian),
    Row("k-means", kmeans),
    Row("k-means of weighted rows", partial(kmeans, weighted=True)),
    Row("k-means far from the origin, streamed", partial(kmeans, bounds=False, moved=1e8)),
    Row("Gaussian with little missing", partial(incomplete_gaussian, 0.05)),
]
