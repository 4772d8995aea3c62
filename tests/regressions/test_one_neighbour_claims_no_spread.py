"""One neighbour has a target and no spread: a variance of 0 was claimed for it."""

import numpy as np
import pytest

from tractable import KNeighborsRegressor


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("n_targets", [1, 2])
def test_one_neighbour_predicts_and_claims_no_spread(weights, n_targets, rng):
    X, y = rng.normal(size=(40, 2)), rng.normal(size=(40, n_targets))
    y = y[:, 0] if n_targets == 1 else y
    one, two = (KNeighborsRegressor(k, weights=weights).fit(X, y) for k in (1, 2))
    np.testing.assert_array_equal(one.predict(X), y)
    assert np.isfinite(one.score(X, y))
    for include_noise in (True, False):
        asked = {"include_noise": include_noise}
        for ask in (
            lambda m: m.predict(X, return_std=True, **asked),  # noqa: B023
            lambda m: m.predict_var(X, **asked),  # noqa: B023
            lambda m: m.predict_dist(X, **asked),  # noqa: B023
        ):
            with pytest.raises(ValueError, match=r"n_neighbors is 1: .*no spread.*at least 2"):
                ask(one)
            ask(two)


def test_one_neighbour_chosen_by_leave_one_out_is_refused_too(rng):
    X = np.repeat(rng.normal(size=(20, 1)), 2, axis=0)
    model = KNeighborsRegressor("loo", max_neighbors=1).fit(rng.normal(size=(2, 1)), [0.0, 1.0])
    assert model.n_neighbors_ == 1
    assert model.predict(X).shape == (40,)
    with pytest.raises(ValueError, match="no spread"):
        model.predict_var(X)
