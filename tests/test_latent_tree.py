"""Latent trees against sums over all states, and the mode against all rows."""

from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp

from rows.compound import LATENT_TREES
from tractable.distributions import Categorical, LatentTree
from tractable.distributions.latent_tree import most_probable_states


def random_tree(rng, parents=(-1, 0, 0, 2), n_states=3, levels=(2, 3, 2, 4), **options):
    """A tree of categories with random tables."""
    transitions = rng.dirichlet(np.ones(n_states), (len(parents), n_states))
    transitions[parents.index(-1)] = transitions[parents.index(-1)][0]
    leaves = [Categorical(probabilities=rng.dirichlet(np.ones(k), n_states)) for k in levels]
    return LatentTree(parents=parents, transitions=transitions, leaves=leaves, **options)


def brute_force(d, x):
    """log Σ_z p(z) Π_i p(x_i | z) of one row, over all states of all nodes; NaN says nothing."""
    terms = []
    for z in product(range(d.n_states), repeat=len(d.parents)):
        term = sum(np.log(d.transitions[j][z[p] if p >= 0 else 0, z[j]]) for j, p in enumerate(d.parents))
        term += sum(np.log(d.evidence[..., j, z[j]]) for j in range(len(z)))
        for leaf, j, v in zip(d.leaves, d.nodes, x, strict=True):
            term += 0.0 if np.isnan(v) else leaf[z[j]].log_prob(v)
        terms.append(term)
    return logsumexp(terms)


@pytest.mark.parametrize("row", LATENT_TREES[:2], ids=lambda row: row.name)
def test_densities_are_sums_over_all_states(row, rng):
    d = row.make()
    x = d.sample(6, rng=rng)
    x[rng.random(x.shape) < 0.3] = np.nan
    np.testing.assert_allclose(d.log_prob(x), [brute_force(d, one) for one in x], rtol=1e-10, atol=1e-12)


def test_all_rows_have_probability_one_and_the_declared_moments(rng):
    d = random_tree(rng)
    x = np.array(list(product(*(range(leaf.probabilities.shape[-1]) for leaf in d.leaves))), dtype=float)
    p = np.exp(d.log_prob(x))
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(d.mean, p @ x, rtol=1e-12)
    step = x - p @ x
    np.testing.assert_allclose(d.covariance, (p * step.T) @ step, atol=1e-12)
    given = d.condition([1, 3], [2.0, 0.0])
    some = (x[:, 1] == 2) & (x[:, 3] == 0)
    np.testing.assert_allclose(given.mean, p[some] @ x[some][:, [0, 2]] / p[some].sum(), rtol=1e-12)
    step = x[some][:, [0, 2]] - given.mean
    np.testing.assert_allclose(given.covariance, (p[some] * step.T) @ step / p[some].sum(), atol=1e-12)


def test_the_mode_of_small_tables_is_found(rng):
    found = 0
    for _ in range(20):
        d = random_tree(rng)
        x = np.array(list(product(*(range(leaf.probabilities.shape[-1]) for leaf in d.leaves))), dtype=float)
        best = d.log_prob(x).max()
        at = float(d.log_prob(d.mode))
        assert at <= best + 1e-12
        found += at > best - 1e-9
        change = np.repeat(d.mode[None], 4, axis=0)  # no single column improves it
        for i, leaf in enumerate(d.leaves):
            for v in range(leaf.probabilities.shape[-1]):
                change[i, i] = v
                assert d.log_prob(change[i]) <= at + 1e-12
    assert found >= 15  # a search: the greatest is intractable in general


def test_the_most_probable_states_are_those_of_all(rng):
    d = random_tree(rng)
    evidence = rng.random((4, 3))
    scores = {
        z: np.prod(
            [
                d.transitions[j][z[p] if p >= 0 else 0, z[j]] * evidence[j, z[j]]
                for j, p in enumerate(d.parents)
            ]
        )
        for z in product(range(3), repeat=4)
    }
    found = most_probable_states(d.transitions, d.parents, d.order, evidence)
    assert tuple(found.tolist()) == max(scores, key=scores.get)


def test_a_column_is_a_mixture(rng):
    d = random_tree(rng).condition([0], [1.0])
    one = d.marginal([2])
    assert one.as_univariate().cdf(1.0) == pytest.approx(np.exp(one.log_prob([[0.0], [1.0]])).sum())


def test_values_that_no_state_explains_say_nothing(rng):
    d = random_tree(rng)
    np.testing.assert_allclose(d.condition([1], [7.0]).mean, d.marginal([0, 2, 3]).mean)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"parents": (0, 0, 0, 2)}, "parents"),
        ({"parents": (-1, -1, 0, 2)}, "parents"),
        ({"parents": (-1, 2, 1, 2)}, "parents"),
        ({"parents": (-1, 0, 0)}, "transitions"),
        ({"transitions": np.full((4, 3, 3), 0.5)}, "transitions"),
        ({"nodes": (0, 1, 2, 9)}, "nodes"),
        ({"leaves": [Categorical(probabilities=[0.5, 0.5])] * 4}, "leaves"),
        ({"evidence": np.ones((2, 3))}, "evidence"),
    ],
)
def test_what_is_no_tree_is_refused(change, said, rng):
    d = random_tree(rng)
    given = {"parents": d.parents, "transitions": d.transitions, "leaves": d.leaves}
    with pytest.raises(ValueError, match=said):
        LatentTree(**{**given, **change})
