"""The laws reject what usually goes wrong in variational mixtures: a term is missing."""

import numpy as np
import pytest

from rows.bayesian_gaussian_mixture import clusters, steps
from tractable.mixture.bayesian_gaussian import steps as module
from tractable.mixture.bayesian_gaussian.steps import BayesianGaussianProblem
from tractable.testing import em_laws
from tractable.value import replace
from variational_checks import (
    few_iterations,
    the_bound_is_the_mean_of_draws,
    the_search_rests_at_a_maximum,
)

honest = {name: getattr(BayesianGaussianProblem, name) for name in ("log_weights", "divergence", "maximize")}


def forgets_that_means_are_uncertain(self, params):
    """E log p without d/β."""
    return honest["log_weights"](self, params) + 0.5 * params.means.shape[1] / params.strength


def plugs_weights_in(self, params):
    """log E π in place of E log π."""
    wrong = np.log(params.weights) - module.expected_log_weights(params.concentration)
    return honest["log_weights"](self, params) + wrong


def plugs_precisions_in(self, params):
    """log |E Λ| in place of E log |Λ|."""
    return honest["log_weights"](self, params) - 0.5 * module.expected_log_det(params)


def forgets_the_prior_of_means(self, params):
    """KL of the precisions and weights alone."""
    return honest["divergence"](
        self,
        replace(
            params, strength=1.0 + 0.0 * params.strength, means=self.mixture_prior.mean + 0.0 * params.means
        ),
    )


def forgets_the_divergence(self, params):
    """The expected log likelihood, as if it were the bound."""
    return 0.0


def forgets_the_scatter_of_means(self, sums):
    """W⁻¹ without β₀N/(β₀ + N) (x̄ - m₀)(x̄ - m₀)ᵀ."""
    good = honest["maximize"](self, sums)
    n = good.strength - self.mixture_prior.strength
    step = (good.means - self.mixture_prior.mean) * (good.strength / np.maximum(n, 1e-300))[:, None]
    between = (
        (self.mixture_prior.strength * n / good.strength)[:, None, None] * step[:, :, None] * step[:, None]
    )
    dense = good.structure.dense() - between / good.dof[:, None, None]
    return replace(good, structure=type(good.structure)(matrix=dense))


def counts_a_row_too_many(self, sums):
    """ν = ν₀ + N + 1, as (10.63) is printed."""
    good = honest["maximize"](self, sums)
    scale = good.dof / (good.dof + 1.0)
    return replace(good, dof=good.dof + 1.0, structure=good.structure.scaled(scale))


def gives_sticks_what_comes_before(self, sums):
    """Beta(1 + N_k, α₀ + Σ_{j<k} N_j)."""
    good = honest["maximize"](self, sums)
    n = good.strength - self.mixture_prior.strength
    before = np.concatenate([[0.0], np.cumsum(n)[:-1]])
    return replace(good, concentration=np.stack([1.0 + n, self.mixture_prior.concentration + before]))


@pytest.mark.parametrize(
    ("name", "mutant"),
    [
        ("log_weights", forgets_that_means_are_uncertain),
        pytest.param("log_weights", plugs_weights_in, marks=pytest.mark.slow),
        pytest.param("log_weights", plugs_precisions_in, marks=pytest.mark.slow),
        pytest.param("divergence", forgets_the_prior_of_means, marks=pytest.mark.slow),
        ("divergence", forgets_the_divergence),
    ],
)
def test_a_bound_without_a_term_is_not_the_mean_of_draws(name, mutant, monkeypatch, rng):
    X = clusters(rng)
    monkeypatch.setattr(BayesianGaussianProblem, name, mutant)
    with pytest.raises(AssertionError, match="from that of draws"):
        the_bound_is_the_mean_of_draws(
            few_iterations(X, 3, covariance_type="diag", weight_concentration_prior=1.5), X, rng
        )


@pytest.mark.parametrize(
    "mutant", [forgets_the_scatter_of_means, counts_a_row_too_many, gives_sticks_what_comes_before]
)
def test_a_wrong_update_does_not_rest_at_a_maximum(mutant, monkeypatch):
    monkeypatch.setattr(BayesianGaussianProblem, "maximize", mutant)
    with pytest.raises(AssertionError):
        the_search_rests_at_a_maximum(steps(mean_prior=[9.0, 9.0]))


@pytest.mark.parametrize(
    ("name", "mutant"),
    [
        ("log_weights", plugs_precisions_in),
        ("maximize", gives_sticks_what_comes_before),
    ],
)
def test_a_wrong_bound_falls(name, mutant, monkeypatch, rng):
    problem = {"mean_prior": [9.0, 9.0]}
    em_laws.the_objective_never_decreases(steps(**problem), rng)
    monkeypatch.setattr(BayesianGaussianProblem, name, mutant)
    with pytest.raises(AssertionError):
        em_laws.the_objective_never_decreases(steps(**problem), rng)
