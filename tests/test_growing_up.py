"""Height and vocabulary: dependent, and independent given the age."""

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency

import tractable
from tractable.datasets import growing_up, make_height_vocabulary_age


def joint():
    """p(age, height, vocabulary), as the tables have it."""
    ages, heights, words = map(
        np.array,
        (growing_up.AGE_PROBABILITIES, growing_up.HEIGHT_PROBABILITIES, growing_up.VOCABULARY_PROBABILITIES),
    )
    return np.einsum("a,ah,av->ahv", ages, heights, words)


def test_probabilities_sum_to_one():
    for table in (
        growing_up.AGE_PROBABILITIES,
        *growing_up.HEIGHT_PROBABILITIES,
        *growing_up.VOCABULARY_PROBABILITIES,
    ):
        assert abs(sum(table) - 1.0) < 1e-12
        assert min(table) >= 0.0


@pytest.mark.spec("CLS-31", "CLS-20")
def test_dependent_marginally_and_independent_given_age():
    X, age = make_height_vocabulary_age(20_000, random_state=0)
    height, words = X["height"].cat.codes.to_numpy(), X["vocabulary"].cat.codes.to_numpy()
    counts = np.zeros((6, 5, 5))
    np.add.at(counts, (_codes(age), height, words), 1.0)
    assert chi2_contingency(counts.sum(axis=0)).pvalue < 1e-300
    total, freedom = 0.0, 0
    for table in counts:  # given the age
        seen = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        found = chi2_contingency(seen, correction=False)
        total, freedom = total + found.statistic, freedom + found.dof
    assert chi2.sf(total, freedom) > 1e-6


def _codes(age):
    return np.array([growing_up.AGES.index(a) for a in age])


@pytest.mark.spec("CLS-31", "CLS-21")
def test_draws_follow_the_tables():
    n = 100_000
    X, age = make_height_vocabulary_age(n, random_state=1)
    counts = np.zeros((6, 5, 5))
    np.add.at(counts, (_codes(age), X["height"].cat.codes, X["vocabulary"].cat.codes), 1.0)
    p = joint()
    assert np.all(np.abs(counts / n - p) <= 5.0 * np.sqrt(p * (1 - p) / n) + 1e-12)


@pytest.mark.spec("CLS-19", "CLS-25", "CLS-31")
def test_naive_bayes_learns_the_posterior_of_the_tables():
    X, age = make_height_vocabulary_age(200_000, random_state=2)
    model = tractable.NaiveBayes().fit(X, age)
    cells = np.array([(h, v) for h in range(5) for v in range(5)])
    import pandas as pd

    rows = pd.DataFrame({
        "height": [growing_up.HEIGHTS[h] for h, _ in cells],
        "vocabulary": [growing_up.VOCABULARIES[v] for _, v in cells],
    })  # fmt: skip
    order = [growing_up.AGES.index(label) for label in model.classes_]
    p = joint()[:, cells[:, 0], cells[:, 1]]
    often = p.sum(axis=0) > 1e-3
    posterior = (p / np.where(often, p.sum(axis=0), 1.0)).T[:, order]
    np.testing.assert_allclose(model.predict_proba(rows)[often], posterior[often], atol=0.02)


def test_seeds_reproduce_and_bad_numbers_are_refused():
    a, b = (make_height_vocabulary_age(50, random_state=3) for _ in range(2))
    assert a[0].equals(b[0])
    assert a[1].tolist() == b[1].tolist()
    for bad in (0, -1, 2.5, True, None):
        with pytest.raises(ValueError, match="n must be"):
            make_height_vocabulary_age(bad)


def test_categories_are_public():
    X, y = tractable.datasets.make_height_vocabulary_age(200, random_state=0)
    assert tuple(X["height"].cat.categories) == tractable.datasets.HEIGHTS
    assert tuple(X["vocabulary"].cat.categories) == tractable.datasets.VOCABULARIES
    assert set(y) <= set(tractable.datasets.AGES)
