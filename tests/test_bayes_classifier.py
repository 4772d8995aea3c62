"""Bayes' optimal classifier: what nothing is better than, and its error."""

import numpy as np
import pytest
from scipy.special import ndtr

import tractable
from tractable import (
    BayesClassifier,
    Gamma,
    Laplace,
    Mixture,
    MultivariateNormal,
    Normal,
    Poisson,
    bayes_error,
)

NORMALS = Normal(mean=[-1.0, 1.0], variance=1.0)
WITHIN = MultivariateNormal(mean=[[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]], covariance=np.eye(2))


@pytest.mark.spec("CLS-19")
def test_it_is_bayes_rule():
    best = BayesClassifier(class_distributions=NORMALS, priors=[0.8, 0.2], classes=["low", "high"])
    x = np.linspace(-3.0, 3.0, 13)
    joint = np.column_stack(
        [0.8 * Normal(mean=-1.0, variance=1.0).prob(x), 0.2 * Normal(mean=1.0, variance=1.0).prob(x)]
    )
    np.testing.assert_allclose(best.predict_proba(x), joint / joint.sum(axis=1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(best.score_samples(x), np.log(joint.sum(axis=1)), rtol=1e-12)
    np.testing.assert_allclose(best.predict_log_proba(x), np.log(best.predict_proba(x)), atol=1e-12)
    # The boundary is where the log odds are zero: x = ½ log(0.8/0.2).
    edge = 0.5 * np.log(4.0)
    assert best.predict([edge - 1e-9, edge + 1e-9]).tolist() == ["low", "high"]
    np.testing.assert_allclose(best.predict_dist(x).probabilities, best.predict_proba(x))


@pytest.mark.spec("CLS-19")
def test_the_error_of_two_normals_is_known():
    """Φ(-1), and of unequal priors the two tails beyond the boundary."""
    np.testing.assert_allclose(
        float(bayes_error(BayesClassifier(class_distributions=NORMALS))), ndtr(-1.0), rtol=1e-10
    )
    best = BayesClassifier(class_distributions=NORMALS, priors=[0.8, 0.2])
    edge = 0.5 * np.log(4.0)
    exact = 0.8 * ndtr(-(edge + 1.0)) + 0.2 * ndtr(edge - 1.0)
    found = bayes_error(best)
    np.testing.assert_allclose(found.value, exact, rtol=1e-10)
    assert abs(found.value - exact) <= max(found.standard_error, 1e-14)
    far = BayesClassifier(class_distributions=Normal(mean=[-10.0, 10.0], variance=1.0))
    np.testing.assert_allclose(float(bayes_error(far)), ndtr(-10.0), rtol=1e-8)


def test_the_error_of_counts_is_summed():
    best = BayesClassifier(class_distributions=Poisson(rate=[2.0, 7.0]))
    n = np.arange(200.0)
    exact = 0.5 * np.minimum(Poisson(rate=2.0).prob(n), Poisson(rate=7.0).prob(n)).sum()
    np.testing.assert_allclose(float(bayes_error(best)), exact, rtol=1e-11)


def test_families_may_differ():
    best = BayesClassifier(
        class_distributions=[Laplace(location=0.0, scale=1.0), Gamma(shape=3.0, rate=1.0)], priors=[0.3, 0.7]
    )
    x = np.linspace(-20.0, 60.0, 800_001)
    densities = [0.3 * Laplace(location=0.0, scale=1.0).prob(x), 0.7 * Gamma(shape=3.0, rate=1.0).prob(x)]
    exact = np.minimum(*densities).sum() * (x[1] - x[0])
    np.testing.assert_allclose(float(bayes_error(best)), exact, atol=1e-5)
    assert best.predict([-1.0]).tolist() == [0]
    several = BayesClassifier(
        class_distributions=[
            Mixture(weights=[0.5, 0.5], components=Normal(mean=[-3.0, 3.0], variance=1.0)),
            Normal(mean=0.0, variance=1.0),
        ]
    )
    assert several.predict([-3.0, 0.0, 3.0]).tolist() == [0, 1, 0]


@pytest.mark.spec("CLS-19")
def test_vectors_are_drawn_with_a_standard_error(rng):
    pair = MultivariateNormal(mean=[[0.0, 0.0], [2.0, 0.0]], covariance=np.eye(2))
    best = BayesClassifier(class_distributions=pair)
    found = bayes_error(best, n_samples=20_000, rng=1)
    assert abs(found.value - ndtr(-1.0)) < 5.0 * found.standard_error
    assert 0 < found.standard_error < 2e-3
    again = bayes_error(best, n_samples=20_000, rng=1)
    assert float(again) == float(found)
    drawn = bayes_error(BayesClassifier(class_distributions=NORMALS), n_samples=20_000)
    assert abs(drawn.value - ndtr(-1.0)) < 5.0 * drawn.standard_error


@pytest.mark.spec("CLS-19")
def test_nothing_is_right_more_often(rng):
    best = BayesClassifier(class_distributions=WITHIN, priors=[0.5, 0.3, 0.2], classes=["a", "b", "c"])
    X, y = best.sample(4000, rng=rng)
    fresh, truth = best.sample(20_000, rng=rng)
    error = np.mean(best.predict(fresh) != truth)
    least = bayes_error(best)
    se = np.hypot(np.sqrt(error * (1 - error) / 20_000), least.standard_error)
    assert abs(error - least.value) < 5.0 * se
    for other in (tractable.KNeighborsClassifier(15), tractable.Perceptron(keep="average", max_iter=5)):
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = other.fit(X, y).predict(fresh)
        assert np.mean(said != truth) > error - 5.0 * np.sqrt(np.mean(said != best.predict(fresh)) / 20_000)


def test_losses_and_rejections():
    best = BayesClassifier(class_distributions=NORMALS, classes=["well", "ill"])
    loss = [[0.0, 1.0], [100.0, 0.0]]
    x = np.linspace(-4.0, 4.0, 81)
    grave = best.decide(x, loss=loss)
    odds = 2.0 * x  # log p(ill)/p(well)
    np.testing.assert_array_equal(grave == "ill", odds > -np.log(100.0))
    unsure = best.decide(x, reject_loss=0.1)
    np.testing.assert_array_equal([label is None for label in unsure], np.abs(odds) < np.log(9.0))
    assert float(bayes_error(best, loss=loss)) > float(bayes_error(best))
    assert float(bayes_error(best, reject_loss=0.1)) < float(bayes_error(best))
    np.testing.assert_allclose(float(bayes_error(best, reject_loss=0.0)), 0.0, atol=1e-15)
    # Three decisions less than the whole: by the grid.
    z = np.linspace(-12.0, 12.0, 200_001)
    p = best.predict_proba(z)
    risk = np.minimum(100.0 * p[:, 1], p[:, 0])
    exact = np.sum(risk * np.exp(best.score_samples(z))) * (z[1] - z[0])
    np.testing.assert_allclose(float(bayes_error(best, loss=loss)), exact, rtol=1e-6)


def test_classes_of_no_prior_are_never_chosen():
    best = BayesClassifier(class_distributions=NORMALS, priors=[1.0, 0.0])
    assert best.predict([5.0]).tolist() == [0]
    assert float(bayes_error(best)) == 0.0


def test_priors_answer_every_question_about_what_no_class_explains():
    best = BayesClassifier(
        class_distributions=[Gamma(shape=2.0, rate=1.0), Gamma(shape=5.0, rate=1.0)], priors=[0.2, 0.8]
    )
    x = np.array([-1.0, 2.0])
    np.testing.assert_allclose(best.predict_proba(x)[0], [0.2, 0.8])
    np.testing.assert_allclose(np.exp(best.predict_log_proba(x)), best.predict_proba(x), rtol=1e-12)
    assert best.predict(x).tolist()[0] == best.decide(x).tolist()[0] == 1


def test_densities_and_probabilities_are_not_mixed():
    """At a count a density is nothing beside a probability: they have no Bayes error together."""
    mixed = [Normal(mean=2.0, variance=1.0), Poisson(rate=3.0)]
    with pytest.raises(ValueError, match="counted events or all of measured"):
        BayesClassifier(class_distributions=mixed)
    with pytest.raises(ValueError, match="counted events or all of measured"):
        tractable.Stacked(members=mixed)


def test_stacked_numbers_have_quantiles():
    members = [Normal(mean=2.0, variance=4.0), Laplace(location=-1.0, scale=0.5)]
    both, x = tractable.Stacked(members=members), np.array([[-1.0], [0.5], [3.0]])
    right = np.column_stack([member.cdf(x[:, 0]) for member in members])
    np.testing.assert_array_equal(both.cdf(x), right)
    np.testing.assert_allclose(both.icdf(right), np.broadcast_to(x, (3, 2)), rtol=1e-12)
    vectors = tractable.Stacked(members=[WITHIN[0], WITHIN[1]])
    assert not hasattr(vectors, "cdf")


def test_a_classifier_survives_saving(tmp_path):
    best = BayesClassifier(class_distributions=WITHIN, priors=[0.5, 0.3, 0.2], classes=["a", "b", "c"])
    tractable.save(best, tmp_path / "best")
    again = tractable.load(tmp_path / "best")
    x = np.zeros((1, 2))
    np.testing.assert_array_equal(again.predict_proba(x), best.predict_proba(x))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"class_distributions": Normal(mean=0.0, variance=1.0)}, "class_distributions"),
        ({"class_distributions": 3}, "class_distributions"),
        ({"class_distributions": [Normal(mean=0.0, variance=1.0), WITHIN[0]]}, "class_distributions"),
        ({"class_distributions": NORMALS, "priors": [0.5, 0.6]}, "priors"),
        ({"class_distributions": NORMALS, "priors": [-0.5, 1.5]}, "priors"),
        ({"class_distributions": NORMALS, "classes": ["a"]}, "classes"),
        ({"class_distributions": NORMALS, "classes": ["a", "a"]}, "classes"),
    ],
)
def test_bad_classes_are_refused(options, named):
    with pytest.raises(ValueError, match=named):
        BayesClassifier(**options)


def test_bad_losses_are_refused():
    best = BayesClassifier(class_distributions=NORMALS)
    with pytest.raises(ValueError, match="loss"):
        best.decide([0.0], loss=np.eye(3))
    with pytest.raises(ValueError, match="loss"):
        bayes_error(best, loss=np.eye(3))
    with pytest.raises(ValueError, match="reject_loss"):
        bayes_error(best, reject_loss=np.nan)
    with pytest.raises(ValueError, match="classifier"):
        bayes_error(NORMALS)
