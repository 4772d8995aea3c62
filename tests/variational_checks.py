"""What a variational mixture must pass: its bound is the mean of draws, and its rest a maximum."""

import warnings

import numpy as np

from tractable.engines import em
from tractable.mixture import BayesianGaussianMixture
from tractable.value import replace
from variational_draws import draws, log_joint, responsibilities

N_DRAWS = 20_000


def few_iterations(X, n_components, **options):
    """A fit that has not settled: components that are not yet empty have a say in every term."""
    model = BayesianGaussianMixture(
        n_components, reg_covar=0.0, max_iter=3, tol=0.0, random_state=0, **options
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


def the_bound_is_the_mean_of_draws(model, X, rng):
    """Σ_z q(z) E_q(θ) [log p(X, z, θ) - log q(z, θ)], within five standard errors."""
    drawn, r = draws(model, rng, N_DRAWS), responsibilities(model, X)
    found = drawn.log_p - drawn.log_q - np.sum(r * np.log(np.maximum(r, 1e-300)))
    for x, shares in zip(X, r, strict=True):
        for k, share in enumerate(shares):
            full, log_q = _completed(model.distribution_.components[k], x, rng)
            found = found + share * (log_joint(full, drawn, k) - log_q)
    error = found.std() / np.sqrt(N_DRAWS)
    assert error < 0.1
    away = found.mean() - len(X) * model.lower_bound_
    assert abs(away) < 5 * error, (
        f"the bound is {away:.3g} from that of draws, {error:.2g} the standard error"
    )


def the_search_rests_at_a_maximum(problem):
    """No small change of any belief raises the bound where the search has settled."""
    settled = em(
        problem.expect, problem.maximize, problem.start, problem.data, tol=1e-15, max_iter=5000
    ).params
    best = problem.statistic(settled).objective
    for name in ("concentration", "strength", "dof", "means"):
        for index in np.ndindex(getattr(settled, name).shape):
            _assert_no_better(problem, best, [_nudged(settled, name, index, size) for size in (-1e-3, 1e-3)])
    for size in (-1e-3, 1e-3):
        other = replace(settled, structure=settled.structure.scaled(1.0 + size))
        assert problem.statistic(other).objective < best


def _assert_no_better(problem, best, changed):
    for params in changed:
        assert problem.statistic(params).objective <= best + 1e-11 * abs(best)


def _nudged(params, name, index, size):
    numbers = getattr(params, name).copy()
    numbers[index] += size * max(1.0, abs(numbers[index])) if name == "means" else size * numbers[index]
    return replace(params, **{name: numbers})


def _completed(normal, x, rng):
    """Draw what is missing of a row, with its log density."""
    hidden = np.flatnonzero(np.isnan(x))
    full = np.tile(x, (N_DRAWS, 1))
    if not len(hidden):
        return full, 0.0
    given = normal.condition(np.flatnonzero(~np.isnan(x)), x[~np.isnan(x)])
    full[:, hidden] = given.sample(N_DRAWS, rng=rng)
    return full, given.log_prob(full[:, hidden])
