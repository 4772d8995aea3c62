"""Mixtures of regressions: estimators, and their pairs of EM steps."""

from functools import partial

import numpy as np

from rows.row import Row
from tractable.base import Rows
from tractable.mixture import MixtureOfExperts, MixtureOfRegressors
from tractable.mixture.regression.steps import RegressionProblem, RegressionSummary
from tractable.testing.em_laws import EMCase


def problem(*, shared=True, alpha=0.0, gate_alpha=None, kind=RegressionProblem):
    """Rows of two regressions, the first of which is seen on the left more often."""
    rng = np.random.default_rng(7)
    X, w = rng.uniform(-1.0, 1.0, (80, 2)), rng.uniform(0.5, 2.0, 80)
    first = rng.random(80) < 1.0 / (1.0 + np.exp(4.0 * X[:, 0]))
    y = np.where(first, 1.0 + X @ [2.0, 0.5], -1.0 + X @ [-1.0, 1.0]) + 0.5 * rng.standard_normal(80)
    summary = RegressionSummary.of(X, y, w)
    return kind(
        data=Rows(data=X, y=y, weights=w).source,
        summary=summary,
        standardizer=summary.standardizer(fit_intercept=True),
        n_components=2,
        alpha=alpha,
        shared=shared,
        floor=1e-9,
        gate_alpha=gate_alpha,
    )


def em_problem(**options):
    steps = problem(**options)
    return EMCase(
        expect=steps.expect,
        maximize=steps.maximize,
        data=steps.data,
        start=steps.initial(np.random.default_rng(1)),
        numbers=lambda p: np.concatenate([p.coef.ravel(), p.intercept, p.noise, p.gate.ravel()]),
    )


EM_ROWS = [
    Row("regressions", em_problem),
    Row("regressions, separate noise", partial(em_problem, shared=False)),
    Row("penalised regressions", partial(em_problem, alpha=2.0)),
    Row("penalised regressions, separate noise", partial(em_problem, alpha=2.0, shared=False)),
    Row("regressions behind a gate", partial(em_problem, gate_alpha=0.01)),
    Row(
        "penalised regressions behind a gate, separate noise",
        partial(em_problem, gate_alpha=1.0, alpha=1.0, shared=False),
    ),
]
ROWS = [
    Row("MixtureOfRegressors", lambda: MixtureOfRegressors(n_init=1, random_state=0)),
    Row(
        "MixtureOfRegressors-separate",
        lambda: MixtureOfRegressors(noise="separate", alpha=0.1, n_init=3, random_state=0),
    ),
    Row("MixtureOfRegressors-one", lambda: MixtureOfRegressors(1)),
    Row(
        "MixtureOfRegressors-origin",
        lambda: MixtureOfRegressors(3, fit_intercept=False, n_init=2, random_state=0),
    ),
    Row("MixtureOfExperts", lambda: MixtureOfExperts(n_init=1, tol=1e-4, random_state=0)),
    Row(
        "MixtureOfExperts-separate",
        lambda: MixtureOfExperts(noise="separate", gate_alpha=1.0, n_init=2, tol=1e-4, random_state=0),
    ),
    Row("MixtureOfExperts-one", lambda: MixtureOfExperts(1)),
]
