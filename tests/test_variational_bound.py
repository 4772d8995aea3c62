"""The bound of variational mixtures: against draws of all that is unknown, and against exact evidence."""

import numpy as np
import pytest

import tractable
from quick import some
from rows.bayesian_gaussian_mixture import DIRICHLET, EM_ROWS, PROCESS, SHAPES, clusters
from tractable.base import Rows
from tractable.mixture import BayesianGaussianMixture
from tractable.value import replace
from variational_checks import (
    N_DRAWS,
    few_iterations,
    the_bound_is_the_mean_of_draws,
    the_search_rests_at_a_maximum,
)
from variational_draws import draws, log_joint

#: Full and tied covariances take longer, and wait for `make test-all` where the bound itself has shown them.
QUICK = [pytest.param(s, marks=pytest.mark.slow if s in {"full", "tied"} else ()) for s in SHAPES]
KINDS = pytest.mark.parametrize("kind", [PROCESS, DIRICHLET], ids=["process", "dirichlet"])


@pytest.mark.parametrize("shape", QUICK)
@KINDS
@pytest.mark.spec("GMM-18")
def test_the_bound_is_the_mean_of_draws(shape, kind, rng):
    X = clusters(rng)
    prior = {"weight_concentration_prior": 1.5, "mean_precision_prior": 0.3, "mean_prior": [1.0, 2.0]}
    model = few_iterations(X, 3, covariance_type=shape, degrees_of_freedom_prior=3.5, **prior, **kind)
    the_bound_is_the_mean_of_draws(model, X, rng)


@pytest.mark.parametrize("shape", QUICK)
@pytest.mark.spec("GMM-18")
def test_a_bound_with_missing_entries_is_the_mean_of_draws(shape, rng):
    X = clusters(rng, n=16)
    X[rng.random(X.shape) < 0.25] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    model = few_iterations(X, 2, covariance_type=shape, weight_concentration_prior=1.5)
    the_bound_is_the_mean_of_draws(model, X, rng)


@pytest.mark.parametrize("row", some(EM_ROWS, 4), ids=lambda row: row.name)
def test_the_search_rests_at_a_maximum(row):
    the_search_rests_at_a_maximum(row.make())


@KINDS
@pytest.mark.spec("GMM-18", "GMM-19")
def test_of_one_component_the_bound_is_the_evidence(kind, rng):
    X = clusters(rng)
    # Of a process with α₀ near 0 the first component has everything.
    model = BayesianGaussianMixture(1, reg_covar=0.0, weight_concentration_prior=1e-9, **kind).fit(X)
    prior = tractable.NormalWishart(
        mean=model.mean_prior_,
        strength=model.mean_precision_prior_,
        dof=model.degrees_of_freedom_prior_,
        scale=np.linalg.inv(model.covariance_prior_),
    )
    exact = tractable.MultivariateNormalModel(prior=prior)
    evidence = exact.log_evidence(exact.summarize(X))
    assert len(X) * model.lower_bound_ == pytest.approx(evidence, rel=1e-9)
    after, found = exact.update_rows(X), model.posterior_.components
    np.testing.assert_allclose(model.predictive_.log_prob(X), after.predictive().log_prob(X), rtol=1e-9)
    np.testing.assert_allclose(found.scale[0], after.prior.scale, rtol=1e-8)
    np.testing.assert_allclose(found.location[0], after.prior.location)
    assert (model.posterior_.weights is None) == (kind is DIRICHLET)


@pytest.mark.spec("GMM-18", "GMM-19")
def test_of_columns_by_themselves_the_bound_is_the_evidence(rng):
    X = clusters(rng)
    model = BayesianGaussianMixture(1, reg_covar=0.0, covariance_type="diag", **DIRICHLET).fit(X)
    found = model.posterior_.components
    evidence = 0.0
    for j in range(2):
        prior = tractable.NormalGamma(
            mean=model.mean_prior_[j], strength=1.0, shape=1.0, rate=0.5 * model.covariance_prior_[j]
        )
        exact = tractable.NormalModel(prior=prior)
        evidence += exact.log_evidence(exact.summarize(X[:, j]))
        assert found.rate[0, j] == pytest.approx(float(exact.update_rows(X[:, j]).prior.rate))
    assert len(X) * model.lower_bound_ == pytest.approx(evidence, rel=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_raised_variances_lower_the_bound(shape, rng):
    """With reg_covar it is a bound still: lower by half the expected precisions times what is added."""
    X = clusters(rng)
    model = few_iterations(X, 1, covariance_type=shape)
    problem = model._em_problem(Rows(data=X), fitted=True)

    def bound(size):
        raised = replace(problem, floor=np.full(2, size))
        return problem.data.reduce(raised.expect(model._params_)).objective

    plain, raised = bound(0.0), bound(0.1)
    difference = 0.5 * 0.1 * len(X) * np.trace(model._params_.structure.precision().reshape(-1, 2, 2)[0])
    assert plain - raised == pytest.approx(difference)


@pytest.mark.parametrize("shape", QUICK)
def test_the_predictive_is_the_mean_of_draws(shape, rng):
    X = clusters(rng, n=10)
    model = BayesianGaussianMixture(2, covariance_type=shape, random_state=0, **DIRICHLET).fit(X)
    drawn = draws(model, rng, N_DRAWS)
    for x in X[::7] + 0.3:
        density = sum(np.exp(log_joint(x[None], drawn, k)) for k in range(2))
        error = density.std() / np.sqrt(N_DRAWS)
        assert abs(density.mean() - model.predictive_.prob(x)) < 5 * error
    # It knows that it has seen few rows: its tails are the heavier.
    far = X.mean(0) + 20.0 * X.std(0)
    assert model.predictive_.log_prob(far) > model.distribution_.log_prob(far)
