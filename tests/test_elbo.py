"""The evidence is the bound and the divergence, whatever q; EM climbs by both."""

import numpy as np
import pytest
from scipy.optimize import minimize

import tractable
from rows import em as rows
from tractable.data import Whole
from tractable.engines import best_of, decompose_evidence, elbo, em
from tractable.value import value


def pair(centre=0.0):
    return tractable.Mixture(
        weights=[0.3, 0.5, 0.2],
        components=tractable.MultivariateNormal(
            mean=[[centre, 0.0], [3.0, 1.0], [-2.0, 4.0]], covariance=[[1.0, 0.4], [0.4, 2.0]]
        ),
    )


def any_q(rng, n, k):
    return rng.dirichlet(np.full(k, 0.5), n)


@pytest.mark.spec("GMM-17", "GMM-18")
def test_the_evidence_is_the_bound_and_the_divergence_for_any_q(rng):
    mixture, x = pair(), rng.standard_normal((50, 2)) * 3.0
    for weights in (None, rng.integers(0, 4, 50)):
        for _ in range(5):
            parts = decompose_evidence(any_q(rng, 50, 3), mixture.log_joint(x), weights)
            assert parts.divergence > 0.0
            np.testing.assert_allclose(parts.bound + parts.divergence, parts.evidence, rtol=1e-12)
            np.testing.assert_allclose(parts.expected_complete + parts.entropy, parts.bound, rtol=1e-12)
        w = np.ones(50) if weights is None else weights
        np.testing.assert_allclose(parts.evidence, w @ mixture.log_prob(x))


@pytest.mark.spec("GMM-18")
def test_the_parts_are_their_sums(rng):
    mixture, x = pair(), rng.standard_normal((4, 2))
    q, joint = any_q(rng, 4, 3), mixture.log_joint(x)
    posterior = mixture.responsibilities(x)
    parts = decompose_evidence(q, joint)
    cells = [(i, k) for i in range(4) for k in range(3)]
    assert parts.divergence == pytest.approx(sum(q[c] * np.log(q[c] / posterior[c]) for c in cells))
    assert parts.entropy == pytest.approx(-sum(q[c] * np.log(q[c]) for c in cells))
    assert parts.expected_complete == pytest.approx(sum(q[c] * joint[c] for c in cells))
    assert elbo(q, joint) == parts.bound


@pytest.mark.spec("GMM-02", "GMM-17")
def test_the_joint_is_the_complete_data_likelihood_and_its_sum_the_incomplete(rng):
    mixture, x = pair(), rng.standard_normal((6, 2))
    z = np.array([0, 1, 2, 0, 2, 1])
    each = [
        mixture.components[k].log_prob(row) + np.log(mixture.weights[k]) for row, k in zip(x, z, strict=True)
    ]
    joint = mixture.log_joint(x)
    np.testing.assert_allclose(joint[np.arange(6), z], each)
    np.testing.assert_allclose(np.exp(joint).sum(axis=1), mixture.prob(x))
    one_hot = np.eye(3)[z]
    assert decompose_evidence(one_hot, joint).expected_complete == pytest.approx(sum(each))
    assert decompose_evidence(one_hot, joint).entropy == 0.0


@pytest.mark.spec("GMM-19", "E000-25")
def test_the_bound_touches_the_evidence_at_the_old_parameters_and_only_there(rng):
    old, x = pair(), rng.standard_normal((40, 2)) * 2.0
    q = old.responsibilities(x)
    tight = decompose_evidence(q, old.log_joint(x))
    assert abs(tight.divergence) < 1e-12 * abs(tight.evidence)
    np.testing.assert_allclose(tight.bound, tight.evidence, rtol=1e-13)
    for centre in (-1.0, 0.3, 2.0):
        moved = decompose_evidence(q, pair(centre).log_joint(x))
        assert moved.bound < moved.evidence - 1e-6


@pytest.mark.spec("GMM-20")
def test_what_raises_the_expected_complete_likelihood_raises_the_evidence_at_least_as_far(rng):
    old, x = pair(), rng.standard_normal((40, 2)) * 2.0 + 1.0
    q = old.responsibilities(x)
    before = decompose_evidence(q, old.log_joint(x))
    rises = []
    for centre in np.linspace(-1.0, 1.0, 41):
        after = decompose_evidence(q, pair(centre).log_joint(x))
        assert after.entropy == pytest.approx(before.entropy)
        rise = after.expected_complete - before.expected_complete
        assert after.evidence - before.evidence >= rise - 1e-9
        rises.append(rise)
    assert max(rises) > 0.0


def test_the_bound_is_below_everything_where_q_believes_the_impossible():
    joint = np.log(np.array([[0.2, 0.1], [0.4, 1.0]]))
    joint[1, 0] = -np.inf
    parts = decompose_evidence([[0.5, 0.5], [0.5, 0.5]], joint)
    assert (parts.bound, parts.divergence) == (-np.inf, np.inf)
    assert np.isfinite(parts.evidence)
    sure = decompose_evidence([[0.5, 0.5], [0.0, 1.0]], joint)
    assert sure.bound + sure.divergence == pytest.approx(sure.evidence)
    assert decompose_evidence([[0.5, 0.5], [0.5, 0.5]], joint, [1.0, 0.0]).bound > -np.inf


def test_the_same_parts_on_every_array_library(backend, rng):
    q, joint = any_q(rng, 5, 3), np.log(rng.random((5, 3)))
    mine, theirs = decompose_evidence(q, joint), decompose_evidence(*map(backend.asarray, (q, joint)))
    assert theirs.bound == pytest.approx(mine.bound)
    assert theirs.divergence == pytest.approx(mine.divergence)


@pytest.mark.parametrize(
    ("q", "joint", "weights", "named"),
    [
        ([[0.5, 0.4]], [[0.0, 0.0]], None, "q must"),
        ([[1.5, -0.5]], [[0.0, 0.0]], None, "q must"),
        ([[np.nan, 1.0]], [[0.0, 0.0]], None, "q must"),
        ([0.5, 0.5], [[0.0, 0.0]], None, "q must"),
        ([[0.5, 0.5]], [[0.0, 0.0, 0.0]], None, "q must"),
        ([[0.5, 0.5]], [[np.nan, 0.0]], None, "log_joint"),
        ([[0.5, 0.5]], [[-np.inf, -np.inf]], None, "log_joint"),
        ([[0.5, 0.5]], [[0.0, 0.0]], [-1.0], "weights"),
    ],
)
def test_bad_input_is_named(q, joint, weights, named):
    with pytest.raises(ValueError, match=named):
        decompose_evidence(q, joint, weights)


@value
class Steps:
    """Both steps of a mixture of unit normals of equal weight, of which only the centres are learnt."""

    x: np.ndarray

    def joint(self, params):
        return tractable.Mixture(components=tractable.Normal(mean=params.centres, variance=1.0)).log_joint(
            self.x
        )

    @property
    def data(self):
        return Whole(value=self)

    def expect(self, params):
        return lambda steps: steps.pull(params)

    def pull(self, params):
        joint = self.joint(params)
        q = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
        return rows.Pull(
            params=params,
            slope=(q.T @ self.x) - q.sum(axis=0) * params.centres,
            mass=q.sum(axis=0),
            objective=decompose_evidence(q, joint).evidence,
        )

    def maximize(self, pull, share=1.0):
        return rows.Locations(centres=pull.params.centres + share * pull.slope / pull.mass)


@pytest.mark.spec("GMM-21")
def test_a_step_that_only_climbs_ends_where_the_whole_step_does(rng):
    steps = Steps(x=np.concatenate([rng.normal(-2.0, 1.0, 60), rng.normal(2.5, 1.0, 40)]))
    start = rows.Locations(centres=np.array([-0.5, 0.5]))
    whole = em(steps.expect, steps.maximize, start, steps.data, tol=1e-15, max_iter=5000)
    part = em(
        steps.expect, lambda pull: steps.maximize(pull, 0.2), start, steps.data, tol=1e-16, max_iter=5000
    )
    assert whole.converged
    assert part.n_iter > whole.n_iter
    assert np.all(np.diff(part.trace) >= -1e-9 * np.abs(part.trace[:-1]))
    np.testing.assert_allclose(part.params.centres, whole.params.centres, atol=1e-5)


@pytest.mark.spec("GMM-21")
def test_generalised_em_finds_a_maximum_where_no_step_has_a_closed_form():
    problem = rows.logistic_locations()
    found = em(problem.expect, problem.maximize, problem.start, problem.data, tol=1e-15, max_iter=5000)
    assert found.converged
    direct = minimize(
        lambda centres: -problem.statistic(rows.Locations(centres=centres)).objective,
        problem.start.centres,
        method="BFGS",
        options={"gtol": 1e-9},
    )
    np.testing.assert_allclose(found.params.centres, direct.x, atol=1e-5)
    assert found.objective == pytest.approx(-direct.fun, rel=1e-10)


@pytest.mark.spec("E000-22")
def test_em_rests_where_the_slope_is_zero_and_restarts_find_better(rng):
    steps = Steps(x=np.concatenate([rng.normal(-3.0, 1.0, 50), rng.normal(3.0, 1.0, 50)]))

    def search(number):
        # Two centres in one place share every row, and stay together: a saddle, not a maximum.
        centres = np.array([0.4, 0.4]) if number == 0 else np.array([-1.0, 1.0])
        start = rows.Locations(centres=centres)
        return em(steps.expect, steps.maximize, start, steps.data, tol=1e-12, max_iter=500)

    saddle = search(0)
    assert saddle.converged
    np.testing.assert_allclose(steps.pull(saddle.params).slope, 0.0, atol=1e-9)
    best = best_of(search, 2)
    assert best.objective > saddle.objective + 10.0
