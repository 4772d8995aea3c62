"""The criteria of ridge regression obey their laws, and the laws have power."""

import numpy as np
import pytest

from tractable.linear_model import CVCurve, RidgeCV
from tractable.linear_model.ridge import leave_one_out
from tractable.linear_model.ridge.leave_one_out import LeaveOneOut
from tractable.testing import score_laws
from tractable.value import replace

ALPHAS = (0.01, 0.1, 3.0, 1e3)
PLACEMENTS = {
    "free": RidgeCV(ALPHAS),
    "penalised": RidgeCV(ALPHAS, penalize_intercept=True),
    "origin": RidgeCV(ALPHAS, fit_intercept=False),
}


@pytest.mark.parametrize("law", score_laws.CROSS_VALIDATION_LAWS)
@pytest.mark.parametrize("estimator", PLACEMENTS.values(), ids=PLACEMENTS)
@pytest.mark.spec("LIN-39", "LIN-41", "E001-17", "ASSESS-11")
def test_cross_validation_law(law, estimator, rng):
    law(estimator, rng)


right = leave_one_out._gcv


def unsquared(alphas, spectrum, centering, weight):
    """The course's misprint: MSE / (1 - Tr H / n)."""
    curve, rss = right(alphas, spectrum, centering, weight)
    left = np.sqrt(weight * rss.mean(axis=0) / curve.scores)  # n - Tr H
    return CVCurve(alphas=alphas, scores=rss.mean(axis=0) / left, method="gcv"), rss


def test_the_law_of_gcv_rejects_a_denominator_that_is_not_squared(monkeypatch, rng):
    monkeypatch.setattr(leave_one_out, "_gcv", unsquared)
    with pytest.raises(AssertionError):
        score_laws.generalised_is_the_formula(RidgeCV(ALPHAS), rng)


def test_the_law_of_leaving_out_rejects_leverages_without_the_intercept(monkeypatch, rng):
    """The classic slip: centred columns alone, without 1/n."""
    whole = LeaveOneOut.__call__

    def without(self, *rows, **weights):
        centering = replace(self.centering, free_intercept=False)
        return whole(replace(self, centering=centering), *rows, **weights)

    monkeypatch.setattr(LeaveOneOut, "__call__", without)
    with pytest.raises(AssertionError):
        score_laws.leaving_out_is_fitting_again(RidgeCV(ALPHAS), rng)


def test_the_law_of_leaving_out_rejects_the_constant_direction_of_few_rows(monkeypatch, rng):
    """Few rows: the direction of the intercept must not count as one that the penalty shrinks."""
    whole = leave_one_out.RowSpectrum.of
    monkeypatch.setattr(leave_one_out.RowSpectrum, "of", lambda *args: whole(*args[:3], None))
    with pytest.raises(AssertionError):
        score_laws.leaving_out_is_fitting_again(RidgeCV(ALPHAS), rng)


def test_the_law_of_copies_rejects_leaving_all_copies_out(monkeypatch, rng):
    """What scikit-learn's RidgeCV does with weights: the whole row goes."""
    whole = LeaveOneOut.__call__

    def all_copies(self, x, y, weights=None):
        return whole(self, x, y, weights if weights is None else np.minimum(weights, 1.0))

    monkeypatch.setattr(LeaveOneOut, "__call__", all_copies)
    with pytest.raises(AssertionError):
        score_laws.copies_are_left_out_one_by_one(RidgeCV(ALPHAS), rng)
