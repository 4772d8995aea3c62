"""ROC and precision-recall with bands, parts of the Brier score, calibration, agreement of clusters."""

import numpy as np
import pytest
from sklearn import metrics as theirs

from tractable import (
    brier_decomposition,
    brier_score,
    class_calibration,
    cluster_agreement,
    precision_recall_curve,
    roc_curve,
)

RNG = np.random.default_rng(0)
Y = RNG.random(300) < 0.35
SCORES = np.round(Y + RNG.normal(size=300), 1)  # with ties
WEIGHTS = RNG.integers(0, 4, 300)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_curves_are_those_of_scikit_learn(weights):
    ours = roc_curve(Y, SCORES, sample_weight=weights, n_resamples=10)
    some = np.ones(300, bool) if weights is None else weights > 0
    own = None if weights is None else weights[some]
    x, y, _ = theirs.roc_curve(Y[some], SCORES[some], sample_weight=own, drop_intermediate=False)
    np.testing.assert_allclose([ours.x, ours.y], [x, y], atol=1e-12)
    assert ours.area == pytest.approx(theirs.roc_auc_score(Y, SCORES, sample_weight=weights))
    found = precision_recall_curve(Y, SCORES, sample_weight=weights, n_resamples=10)
    assert found.area == pytest.approx(theirs.average_precision_score(Y, SCORES, sample_weight=weights))
    precision, recall, _ = theirs.precision_recall_curve(Y, SCORES, sample_weight=weights)
    for p, r in zip(found.y[1:], found.x[1:], strict=True):
        assert np.min(np.abs(precision - p) + np.abs(recall - r)) < 1e-9


def test_weights_are_repetitions():
    for curve in (roc_curve, precision_recall_curve):
        weighted = curve(Y, SCORES, sample_weight=WEIGHTS, n_resamples=10)
        repeated = curve(np.repeat(Y, WEIGHTS), np.repeat(SCORES, WEIGHTS), n_resamples=10)
        assert weighted.area == pytest.approx(repeated.area)
        np.testing.assert_allclose(weighted.y, repeated.y)
    assert weighted.base_rate == pytest.approx(repeated.base_rate)
    one, two = (roc_curve(*a, sample_weight=w, n_resamples=10).area_error for a, w in (
        ((Y, SCORES), WEIGHTS), ((np.repeat(Y, WEIGHTS), np.repeat(SCORES, WEIGHTS)), None)
    ))  # fmt: skip
    assert one == pytest.approx(two)


def test_the_area_is_the_chance_of_the_right_order():
    a, b = SCORES[Y], SCORES[~Y]
    chance = np.mean((a[:, None] > b) + 0.5 * (a[:, None] == b))
    found = roc_curve(Y, SCORES, n_resamples=400)
    assert found.area == pytest.approx(chance)
    assert roc_curve(~Y, -SCORES, n_resamples=10).area == pytest.approx(chance)
    assert roc_curve(Y, SCORES, label=False, n_resamples=10).area == pytest.approx(1 - chance)
    # DeLong's standard error is that of samples drawn again.
    areas = []
    for _ in range(300):
        drawn = RNG.random(300) < 0.35
        areas.append(theirs.roc_auc_score(drawn, drawn + RNG.normal(size=300)))
    assert found.area_error == pytest.approx(np.std(areas), rel=0.2)
    assert np.all(found.low <= found.high)


@pytest.mark.slow
def test_bands_hold_the_curve_as_often_as_they_say():
    from scipy.stats import norm

    inside = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y = np.arange(200) < 80
        found = roc_curve(y, y + rng.normal(size=200), coverage=0.9, n_resamples=200)
        truth = norm.sf(norm.isf(found.grid[[20, 50]]) - 1.0)
        inside.append((found.low[[20, 50]] <= truth) & (truth <= found.high[[20, 50]]))
    assert np.all(np.abs(np.mean(inside, axis=0) - 0.9) < 0.07)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_parts_of_the_brier_score_add_up(weights):
    p = RNG.dirichlet(np.ones(3), size=300)
    labels = np.array([RNG.choice(3, p=q) for q in p])
    found = brier_decomposition(labels, p, sample_weight=weights)
    assert found.score == pytest.approx(brier_score(labels, p, sample_weight=weights))
    assert found.miscalibration >= 0
    assert found.discrimination >= 0
    wrong = brier_decomposition(labels, p[:, [1, 2, 0]], sample_weight=weights)
    assert wrong.miscalibration > 3 * found.miscalibration
    constant = np.broadcast_to(np.bincount(labels) / 300, (300, 3))
    flat = brier_decomposition(labels, constant)
    assert flat.discrimination == pytest.approx(0.0, abs=1e-12)
    assert flat.score == pytest.approx(flat.uncertainty)
    assert "uncertainty" in str(found)


def test_the_calibration_error_is_judged_by_what_chance_gives():
    p = RNG.random(2000)
    y = RNG.random(2000) < p
    right, wrong = class_calibration(y, p), class_calibration(y, p**3)
    low, high = right.error_if_right(0.99)
    assert low < right.error < high
    assert wrong.error > 2 * wrong.error_if_right(0.99)[1]
    with pytest.raises(ValueError, match="coverage"):
        right.error_if_right(1.5)


@pytest.mark.slow
def test_the_interval_of_the_calibration_error_holds_its_coverage():
    inside = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        p = rng.random(600)
        found = class_calibration(rng.random(600) < p, p)
        low, high = found.error_if_right(0.9)
        inside.append(low <= found.error <= high)
    assert abs(np.mean(inside) - 0.9) < 5 * np.sqrt(0.09 / 300)


@pytest.mark.spec("PRACT-06")
@pytest.mark.parametrize("seed", range(3))
def test_agreement_is_that_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 4, 120)
    b = np.where(rng.random(120) < 0.6, a, rng.integers(0, 3, 120))
    found = cluster_agreement(a, b)
    assert found.adjusted_rand == pytest.approx(theirs.adjusted_rand_score(a, b))
    assert found.mutual_information == pytest.approx(theirs.mutual_info_score(a, b))
    assert found.homogeneity == pytest.approx(theirs.homogeneity_score(a, b))
    assert found.completeness == pytest.approx(theirs.completeness_score(a, b))
    assert found.normalized_mutual_information == pytest.approx(theirs.normalized_mutual_info_score(a, b))
    weights = rng.integers(0, 3, 120)
    weighted = cluster_agreement(a, b, sample_weight=weights)
    repeated = cluster_agreement(np.repeat(a, weights), np.repeat(b, weights))
    for name in ("adjusted_rand", "mutual_information", "variation_of_information"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name))
    names = np.array(["w", "x", "y", "z"])
    same = cluster_agreement(a, names[(a + 1) % 4])
    assert same.adjusted_rand == pytest.approx(1.0)
    assert same.variation_of_information == pytest.approx(0.0, abs=1e-12)
    assert "homogeneity" in str(same)


def test_agreement_by_chance_is_zero():
    a, b = RNG.integers(0, 3, (2, 3000))
    assert abs(cluster_agreement(a, b).adjusted_rand) < 0.01
    assert cluster_agreement([1, 1, 1], [2, 2, 2]).adjusted_rand == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: roc_curve([1, 1], [0.1, 0.2]), "two classes"),
        (lambda: roc_curve([0, 1, 2], [0.1, 0.2, 0.3]), "two classes"),
        (lambda: roc_curve([0, 1], [0.1, np.nan]), "NaN"),
        (lambda: roc_curve([0, 1], [0.1]), "one number a row"),
        (lambda: roc_curve([0, 1], [0.1, 0.2], coverage=2.0), "coverage"),
        (lambda: roc_curve([0, 1], [0.1, 0.2], n_resamples=0), "n_resamples"),
        (lambda: roc_curve([0, 1], [0.1, 0.2], sample_weight=[0, 1]), "both classes"),
        (lambda: roc_curve([0, 1], [0.1, 0.2], label="x"), "label"),
        (lambda: cluster_agreement([0, 1], [0]), "one label a row"),
        (lambda: brier_decomposition([0, 1], [[0.5, 0.6], [0.5, 0.5]]), "probabilities"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("curve", [roc_curve, precision_recall_curve])
def test_scores_may_be_infinite(curve, rng):
    """Log odds of certain rows are infinite, and ranked as any greatest numbers."""
    y = rng.integers(2, size=60)
    s = y + rng.normal(size=60)
    most = np.where(s > 1.5, np.inf, s)
    assert curve(y, most).area == curve(y, np.where(s > 1.5, 9.0, s)).area
