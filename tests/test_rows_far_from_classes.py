"""Rows of density 0 under every class, and rows far away from all classes."""

import numpy as np
import pytest

from tractable.classification import (
    BayesClassifier,
    GenerativeClassifier,
    LinearDiscriminant,
    QuadraticDiscriminant,
)
from tractable.density import Histogram
from tractable.distributions import Uniform

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.spec("CLS-12")]


def test_where_no_class_can_be_the_prior_is_the_answer(rng):
    X, y = rng.random((100, 1)), np.repeat(["often", "rare"], 50)
    model = GenerativeClassifier(Histogram(), priors=[0.9, 0.1]).fit(X, y)
    far = [[50.0]]
    assert np.all(model.predict_joint_log_proba(far) == -np.inf)
    assert model.score_samples(far) == -np.inf
    assert model.predict(far) == "often"
    np.testing.assert_allclose(model.predict_proba(far), [[0.9, 0.1]])
    np.testing.assert_allclose(model.predict_log_proba(far), np.log([[0.9, 0.1]]))
    np.testing.assert_allclose(model.decision_function(far), [-np.log(9.0)])


def test_known_classes_say_the_prior_too():
    both = BayesClassifier(class_distributions=Uniform(low=[0.0, 1.0], high=[2.0, 3.0]), priors=[0.9, 0.1])
    np.testing.assert_allclose(both.predict_proba(np.array([50.0])), [[0.9, 0.1]])
    np.testing.assert_allclose(both.predict_log_proba(np.array([50.0])), np.log([[0.9, 0.1]]))


@pytest.mark.parametrize("make", [LinearDiscriminant, QuadraticDiscriminant])
@pytest.mark.parametrize("size", [1e50, 1e100, 1e140])
def test_far_away_the_nearest_gaussian_wins(make, size, rng):
    y = np.arange(300) % 3
    shapes = rng.standard_normal((3, 4, 4))
    X = np.einsum("nij,nj->ni", shapes[y], rng.standard_normal((300, 4))) + rng.standard_normal((3, 4))[y]
    model = make(priors=[0.8, 0.1, 0.1]).fit(X, y)
    towards = rng.uniform(-1.0, 1.0, (200, 4))
    towards[::3, 1] = np.nan
    said = model.predict(towards * 1e12)
    assert len(set(said.tolist())) > 1
    np.testing.assert_array_equal(model.predict(towards * size), said)
    np.testing.assert_array_equal(model.predict_proba(towards * size)[np.arange(200), said], 1.0)


@pytest.mark.parametrize("make", [LinearDiscriminant, QuadraticDiscriminant])
def test_a_class_of_prior_zero_is_not_near(make, rng):
    X, y = rng.standard_normal((60, 2)), np.arange(60) % 3
    X += 4.0 * y[:, None]
    model = make(priors=[0.5, 0.5, 0.0]).fit(X, y)
    p = model.predict_proba(rng.standard_normal((50, 2)) * 1e140)
    assert not np.isnan(p).any()
    assert np.all(p[:, 2] == 0.0)


@pytest.mark.parametrize("make", [LinearDiscriminant, QuadraticDiscriminant])
@pytest.mark.parametrize("size", [1e160, 1e250, 1e307])
def test_rows_too_large_to_square_are_refused(make, size, rng):
    X, y = rng.standard_normal((60, 2)), np.arange(60) % 3
    model = make().fit(X, y)
    rows = X * size
    rows[0, 1] = np.nan
    with pytest.raises(ValueError, match=r"X .*overflow"):
        model.predict(rows)
    with pytest.raises(ValueError, match=r"X .*overflow"):
        make().fit(X * size, y)
