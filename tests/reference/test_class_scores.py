"""Scores of classifiers against scikit-learn's, and what they are beyond them."""

import numpy as np
import pytest
from sklearn import metrics as peer
from sklearn.calibration import calibration_curve as peer_curve

from tractable import BayesClassifier, Categorical, Normal
from tractable.metrics import (
    ConfusionMatrix,
    accuracy_score,
    brier_score,
    class_calibration,
    confusion_matrix,
    log_loss,
)

WORDS = np.array(["ash", "birch", "cedar"])


@pytest.fixture
def said(rng):
    truth, guess = WORDS[rng.integers(0, 3, 200)], WORDS[rng.integers(0, 3, 200)]
    return truth, guess, rng.dirichlet(np.ones(3), 200), rng.uniform(size=200)


def test_confusion(said):
    truth, guess, _, w = said
    for weights in (None, w):
        ours = confusion_matrix(truth, guess, sample_weight=weights)
        np.testing.assert_allclose(ours.counts, peer.confusion_matrix(truth, guess, sample_weight=weights))
        options = {"average": None, "sample_weight": weights}
        np.testing.assert_allclose(ours.recall, peer.recall_score(truth, guess, **options))
        np.testing.assert_allclose(ours.precision, peer.precision_score(truth, guess, **options))
        np.testing.assert_allclose(ours.f1, peer.f1_score(truth, guess, **options))
        right = peer.accuracy_score(truth, guess, sample_weight=weights)
        np.testing.assert_allclose(
            [ours.accuracy, accuracy_score(truth, guess, sample_weight=weights)], right
        )
        np.testing.assert_allclose(
            ours.balanced_accuracy, peer.balanced_accuracy_score(truth, guess, sample_weight=weights)
        )
        np.testing.assert_allclose(ours.normalized().sum(axis=1), 1.0)


def test_confusions_add(said):
    truth, guess, *_ = said
    parts = [confusion_matrix(truth[s], guess[s], classes=WORDS) for s in (slice(50), slice(50, None))]
    np.testing.assert_array_equal((parts[0] + parts[1]).counts, confusion_matrix(truth, guess).counts)
    with pytest.raises(ValueError, match="classes"):
        parts[0] + confusion_matrix([0, 1], [0, 1])


def test_classes_without_rows_have_no_recall():
    found = confusion_matrix(["a", "b"], ["a", "c"])
    assert np.isnan(found.recall[2])
    assert np.isnan(found.precision[1])
    assert found.balanced_accuracy == 0.5


def test_proper_scores(said):
    truth, _, p, w = said
    for weights in (None, w):
        np.testing.assert_allclose(
            log_loss(truth, p, sample_weight=weights), peer.log_loss(truth, p, sample_weight=weights)
        )
        hot = np.eye(3)[np.searchsorted(WORDS, truth)]
        np.testing.assert_allclose(
            brier_score(truth, p, sample_weight=weights),
            np.average(np.sum((p - hot) ** 2, axis=1), weights=weights),
        )
    two = truth == "ash"
    np.testing.assert_allclose(brier_score(two, p[:, 0]) / 2, peer.brier_score_loss(two, p[:, 0]))
    np.testing.assert_allclose(log_loss(two, p[:, 0]), peer.log_loss(two, p[:, 0]))
    np.testing.assert_allclose(log_loss(truth, Categorical(probabilities=p)), log_loss(truth, p))


def test_what_was_impossible_costs_all():
    assert log_loss(["a", "b"], [[1.0, 0.0], [1.0, 0.0]]) == np.inf
    assert log_loss(["a", "b"], [[1.0, 0.0], [1.0, 0.0]], sample_weight=[1.0, 0.0]) == 0.0


def test_proper_scores_are_least_at_the_truth(rng):
    """Of all that could be promised, the true probability has the least expected score."""
    q = 0.3
    for score in (log_loss, brier_score):
        found = [
            q * score([1, 0], [p, p], sample_weight=[1, 0])
            + (1 - q) * score([1, 0], [p, p], sample_weight=[0, 1])
            for p in np.linspace(0.05, 0.95, 19)
        ]
        assert np.argmin(found) == 5


def test_calibration(rng):
    p = rng.uniform(size=3000)
    y = rng.uniform(size=3000) < p
    found = class_calibration(y, p, n_bins=7)
    observed, predicted = peer_curve(y, p, n_bins=7)
    np.testing.assert_allclose(found.predicted, predicted)
    np.testing.assert_allclose(found.observed, observed)
    assert np.all(np.abs(found.observed - found.predicted) < 5.0 * found.standard_errors)
    assert found.error < 0.05
    assert found.event == "True"
    bold = class_calibration(y, np.clip(2.0 * p - 0.5, 0.0, 1.0), n_bins=7)
    assert bold.error > 0.1


def test_calibration_of_several_classes(said):
    truth, _, p, _ = said
    top = class_calibration(truth, p, n_bins=5)
    assert top.event == "the most probable class"
    assert top.weight.sum() == 200
    one = class_calibration(truth, p, label="cedar", n_bins=5)
    same = class_calibration(truth == "cedar", p[:, 2], n_bins=5)
    np.testing.assert_allclose(one.observed, same.observed)
    assert one.event == "cedar"


def test_columns_are_in_the_order_of_the_classes(said):
    """A model whose classes are not sorted has columns that are not."""
    truth, guess, p, w = said
    turned = [2, 0, 1]
    order = {"classes": WORDS[turned], "sample_weight": w}
    for score in (log_loss, brier_score):
        np.testing.assert_allclose(score(truth, p[:, turned], **order), score(truth, p, sample_weight=w))
    for label in (None, "birch"):
        ours = class_calibration(truth, p[:, turned], label=label, n_bins=5, **order)
        there = class_calibration(truth, p, label=label, n_bins=5, sample_weight=w)
        np.testing.assert_allclose(ours.observed, there.observed)
        assert ours.event == there.event
    found = confusion_matrix(truth, guess, **order)
    np.testing.assert_array_equal(found.classes, WORDS[turned])
    np.testing.assert_allclose(
        found.counts, peer.confusion_matrix(truth, guess, labels=WORDS[turned], sample_weight=w)
    )


def test_the_loss_of_the_truth_is_its_entropy():
    """E[-log p(C | x)] of the classifier that made the rows, whose classes are not in the order of words."""
    best = BayesClassifier(
        class_distributions=Normal(mean=[0.0, 2.5], variance=1.0), priors=[0.9, 0.1], classes=["well", "ill"]
    )
    x, y = best.sample(20_000, rng=0)
    p = best.predict_proba(x)
    entropy = -np.sum(p * np.log(p), axis=1).mean()
    assert abs(log_loss(y, p, classes=best.classes) - entropy) < 0.01
    assert class_calibration(y, p, classes=best.classes).event == "ill"
    assert class_calibration(y, p, classes=best.classes).error < 0.01


def test_undecided_rows_are_counted():
    truth, guess, w = (
        ["a", "a", "b", "b"],
        np.array(["a", None, None, "a"], dtype=object),
        [1.0, 2.0, 3.0, 4.0],
    )
    found = confusion_matrix(truth, guess, sample_weight=w)
    np.testing.assert_array_equal(found.counts, [[1.0, 0.0], [4.0, 0.0]])
    np.testing.assert_array_equal(found.rejected, [2.0, 3.0])
    assert (found.total, found.accuracy, found.rejected_fraction, found.decided_accuracy) == (
        10.0,
        0.1,
        0.5,
        0.2,
    )
    np.testing.assert_allclose(found.recall, [1 / 3, 0.0])
    np.testing.assert_allclose(found.f1, [2 / (5 + 3), 0.0])
    np.testing.assert_allclose(found.normalized().sum(axis=1) + found.rejected / [3.0, 7.0], 1.0)
    assert accuracy_score(truth, guess) == 0.25
    np.testing.assert_array_equal((found + found).rejected, [4.0, 6.0])
    none = confusion_matrix([1, 2], [None, None])
    assert (none.rejected_fraction, none.accuracy) == (1.0, 0.0)
    assert np.isnan(none.decided_accuracy)
    # Numbers among None are objects; they are the numbers of y_true all the same.
    assert accuracy_score(np.array([1, 2, 1]), np.array([1, None, 2], dtype=object)) == 1 / 3


def test_an_absent_class_has_no_f1():
    assert np.isnan(confusion_matrix(["a"], ["a"], classes=["a", "b"]).f1[1])


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: confusion_matrix([1, 2], [1]), "y_pred"),
        (lambda: confusion_matrix([1, np.nan], [1, 1]), "y_true"),
        (lambda: confusion_matrix(["a", None], ["a", "a"]), "y_true"),
        (lambda: confusion_matrix(["a"], [1]), "y_pred"),
        (lambda: confusion_matrix(["a", "b"], ["a", "z"], classes=["a", "b"]), "y_pred has the label 'z'"),
        (lambda: confusion_matrix([1, 2], [1, 2], sample_weight=[1.0, -1.0]), "sample_weight"),
        (lambda: log_loss(["a", "b"], [[0.5, 0.6], [0.5, 0.5]]), "probabilities"),
        (lambda: log_loss(["a", "a"], [[0.5, 0.5], [0.5, 0.5]]), "give classes"),
        (lambda: log_loss(["a", "b"], [[0.5, 0.5]]), "probabilities"),
        (lambda: log_loss(["a", "b"], [[0.5, 0.5]] * 2, classes=["b", "b"]), "classes must be different"),
        (lambda: confusion_matrix(["a", "b"], ["a", "b"], classes=["b", "a", "b"]), "classes"),
        (lambda: confusion_matrix(["a", "b"], np.array(["a", np.nan], dtype=object)), "y_pred"),
        (lambda: confusion_matrix(["a", "b"], [None]), "y_pred must have one label a row"),
        (lambda: ConfusionMatrix(counts=[[1.0]], classes=["a"], rejected=[-1.0]), "rejected"),
        (lambda: class_calibration([0, 1], [0.5, 0.5], n_bins=0), "n_bins"),
        (lambda: class_calibration([0, 1], [0.5, 0.5], label=7), "label"),
        (lambda: ConfusionMatrix(counts=[[1.0, 2.0]], classes=["a"]), "counts"),
        (lambda: ConfusionMatrix(counts=[[1.0]], classes=["a", "b"]), "classes"),
    ],
)
def test_bad_arguments_are_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
