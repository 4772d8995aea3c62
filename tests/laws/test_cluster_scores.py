"""Every law of scores of a clustering on every score; and each law rejects a planted bug."""

import numpy as np
import pytest

from tractable.metrics import calinski_harabasz_score, davies_bouldin_score, silhouette_score
from tractable.testing import score_laws

SCORES = [calinski_harabasz_score, davies_bouldin_score, silhouette_score]


@pytest.mark.spec("CLU-13")
@pytest.mark.parametrize("score", SCORES, ids=lambda score: score.__name__)
@pytest.mark.parametrize("law", score_laws.CLUSTER_SCORE_LAWS, ids=lambda law: law.__name__)
def test_law(law, score, rng):
    law(score, rng)


def right(X, labels, sample_weight=None):
    return calinski_harabasz_score(X, labels, sample_weight=sample_weight)


def reads_numbers_into_labels(X, labels, sample_weight=None):
    return right(X, labels, sample_weight) + (np.asarray(labels).dtype.kind == "U")


def looks_at_the_first_row(X, labels, sample_weight=None):
    return right(X, labels, sample_weight) + float(X[0, 0])


def by_raw_squares(X, labels, sample_weight=None):
    """The within scatter as Σ|x|² - n|μ|², which rounds it all away at 1e8."""
    parts = [X[labels == k] for k in np.unique(labels)]
    within = sum((p**2).sum() - len(p) * (p.mean(axis=0) ** 2).sum() for p in parts)
    total = (X**2).sum() - len(X) * (X.mean(axis=0) ** 2).sum()
    return (total - within) / within if within else np.inf


def in_units_of_the_data(X, labels, sample_weight=None):
    parts = [X[labels == k] for k in np.unique(labels)]
    return sum(((p - p.mean(axis=0)) ** 2).sum() for p in parts)


def in_city_blocks(X, labels, sample_weight=None):
    parts = [X[labels == k] for k in np.unique(labels)]
    within = sum(np.abs(p - p.mean(axis=0)).sum() for p in parts)
    return np.abs(X - X.mean(axis=0)).sum() / within


def counts_rows_not_weights(X, labels, sample_weight=None):
    """N - K with the number of rows, beside weighted scatters."""
    w = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    k = len(np.unique(labels))
    return right(X, labels, w) * (len(X) - k) / (w.sum() - k)


def counts_names_not_clusters(X, labels, sample_weight=None):
    return right(X, labels, sample_weight) * len(np.unique(labels))


def rewards_nothing(X, labels, sample_weight=None):
    return right(X, labels, sample_weight) * 0.0 + 1.0


def takes_anything(X, labels, sample_weight=None):
    return 1.0


MUTANTS = [
    (score_laws.names_do_not_matter, reads_numbers_into_labels),
    (score_laws.order_does_not_matter, looks_at_the_first_row),
    (score_laws.location_does_not_matter, by_raw_squares),
    (score_laws.scale_does_not_matter, in_units_of_the_data),
    (score_laws.directions_do_not_matter, in_city_blocks),
    (score_laws.weights_are_repetitions, counts_rows_not_weights),
    (score_laws.clusters_without_weight_are_not_there, counts_names_not_clusters),
    (score_laws.apart_and_together_is_better, rewards_nothing),
    (score_laws.bad_input_is_one_clear_error, takes_anything),
]


@pytest.mark.parametrize(("law", "mutant"), MUTANTS, ids=lambda f: f.__name__)
def test_law_rejects_a_planted_bug(law, mutant, rng):
    with pytest.raises(AssertionError):
        law(mutant, rng)


def test_every_law_has_a_mutant():
    assert {law for law, _ in MUTANTS} == set(score_laws.CLUSTER_SCORE_LAWS)
