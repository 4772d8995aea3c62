"""What linear models and scores cannot use is refused by one ValueError that names it."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import tractable
from tractable import (
    GaussianBasis,
    LinearRegression,
    Ridge,
    SigmoidBasis,
    bias_variance,
    diagnose,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
)
from tractable.arrays.svd import pinv, truncated_svd

X = np.arange(12.0).reshape(6, 2) ** 1.5
Y = np.array([1.0, 3.0, 2.0, 5.0, 4.0, 7.0])
FITTED = LinearRegression().fit(X, Y)
CASES = [
    *(("coverage", FITTED.coef_interval, bad) for bad in ("a", None, 0.0, 1.0, [0.5])),
    *(("coverage", FITTED.intercept_interval, bad) for bad in ("a", None, 2.0)),
    *(("width", lambda w: GaussianBasis(width=w).fit(X), bad) for bad in ("a", 0.0, [1.0], np.nan)),
    *(("width", lambda w: SigmoidBasis(width=w).fit(X), bad) for bad in ("a", -1.0)),
    *(("k", lambda k: truncated_svd(X, k), bad) for bad in ("a", None, 1.5, 3, -1, True)),
    *(("rank_tol", lambda tol: pinv(X, rank_tol=tol), bad) for bad in (-1, 1.0, "a", np.nan)),
    *(("f", lambda f: bias_variance(LinearRegression(), f, 0.1, X), bad) for bad in (3, None, "a")),
    ("X", lambda x: bias_variance(LinearRegression(), lambda x: x[:, 0], 0.1, x), [["a"]]),
    *(("estimator", lambda e: diagnose(e, X, Y), bad) for bad in (None, 3, "a")),
    *(("level", lambda level: diagnose(FITTED, X, Y, level=level), bad) for bad in ("a", None, 0.0, 1.0)),
    ("prior_variance", lambda v: Ridge.from_prior(noise_variance=1e300, prior_variance=v), 1e-300),
    *(
        ("multioutput", lambda given, score=score: score(Y, Y + 1.0, multioutput=given), bad)
        for score in (mean_squared_error, mean_absolute_error, r2_score)
        for bad in ("x", [1.0, 2.0], [-1.0])
    ),
]


@pytest.mark.parametrize(("named", "call", "bad"), CASES)
def test_it_is_named(named, call, bad):
    with pytest.raises(ValueError, match=rf"^{named}\b"):
        call(bad)


@pytest.mark.parametrize("ask", ["coef_interval", "intercept_interval"])
def test_intervals_of_nothing(ask):
    with pytest.raises(NotFittedError):
        getattr(LinearRegression(), ask)()


@pytest.mark.parametrize("size", [1e140, 1e-140, 1.0])
def test_scores_in_any_units(size):
    """Two targets that are each predicted by the other are worse than their mean: R² is -3."""
    y, other = size * np.array([1.0, -1.0]), size * np.array([-1.0, 1.0])
    assert tractable.r2_score(y, other) == -3.0
    assert tractable.normalized_rmse(y, other) == 2.0
    assert tractable.root_mean_squared_error(y, other) == 2.0 * size
    assert tractable.r2_score(y, other, sample_weight=[1.0, 1.0]) == -3.0


@pytest.mark.parametrize("size", [1e200, 1e-200])
@pytest.mark.parametrize("score", [tractable.r2_score, tractable.root_mean_squared_error])
def test_scores_of_targets_that_cannot_be_squared_are_refused(score, size):
    with pytest.raises(ValueError, match="y_true has values so"):
        score([0.0, size], [size, 0.0])


def test_errors_that_dwarf_the_target_are_infinite():
    assert tractable.r2_score([0.0, 1e-140], [1e100, 1e100]) == -np.inf
    assert tractable.r2_score([0.0, 1e100], [1e-200, 1e100]) == 1.0


@pytest.mark.parametrize("at", [1e200, -1e200, 1e10])
def test_the_ranked_score_far_away_is_the_distance(at):
    for d in (
        tractable.StudentT(dof=3.0, location=0.0, scale=1.0),
        tractable.StudentT(dof=1.5, location=2.0, scale=4.0),
        tractable.Normal(mean=0.0, stddev=1.0),
    ):
        assert tractable.crps(d, [at]) == pytest.approx(abs(at), rel=1e-9)
