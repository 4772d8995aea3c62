"""Mixtures of categories and of yes-or-no, against slow obvious EM and one another."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp, xlogy

import tractable


def bits(n=400, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.array([[0.9, 0.8, 0.1, 0.2, 0.5], [0.1, 0.3, 0.9, 0.7, 0.5]])
    return (rng.random((n, 5)) < truth[rng.integers(0, 2, n)]).astype(float)


def slow_bernoulli_em(x, pi, mu, alpha, n_iter):
    for _ in range(n_iter):
        joint = np.log(pi) + np.stack([(xlogy(x, m) + xlogy(1 - x, 1 - m)).sum(axis=1) for m in mu], axis=1)
        r = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
        pi = r.mean(axis=0)
        mu = (r.T @ x + alpha) / (r.sum(axis=0)[:, None] + 2.0 * alpha)
    return pi, mu


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_fit_rests_where_the_slow_loop_does(alpha):
    x = bits()
    model = tractable.BernoulliMixture(2, alpha=alpha, random_state=0, tol=1e-13, max_iter=5000).fit(x)
    pi, mu = slow_bernoulli_em(x, model.weights_, model.probabilities_, alpha, 3)
    np.testing.assert_allclose(model.weights_, pi, atol=1e-5)
    np.testing.assert_allclose(model.probabilities_, mu, atol=1e-5)
    order = np.argsort(-model.probabilities_[:, 0])
    np.testing.assert_allclose(
        model.probabilities_[order, :4], [[0.9, 0.8, 0.1, 0.2], [0.1, 0.3, 0.9, 0.7]], atol=0.15
    )


def test_yes_or_no_is_two_categories():
    x = bits()
    x[::9, 1] = np.nan
    a = tractable.BernoulliMixture(2, binarize=None, random_state=0).fit(x)
    b = tractable.CategoricalMixture(2, random_state=0).fit(x)
    np.testing.assert_allclose(a.score_samples(x), b.score_samples(x), rtol=1e-9)
    np.testing.assert_allclose(a.probabilities_[:, 0], b.probabilities_[0][:, 1], rtol=1e-9)


def test_entries_above_the_threshold_are_ones():
    x = np.random.default_rng(0).normal(size=(100, 3))
    a = tractable.BernoulliMixture(2, binarize=0.5, random_state=0).fit(x)
    b = tractable.BernoulliMixture(2, binarize=None, random_state=0).fit((x > 0.5).astype(float))
    np.testing.assert_array_equal(a.predict_proba(x), b.predict_proba((x > 0.5).astype(float)))
    streamed = tractable.BernoulliMixture(2, binarize=0.5, random_state=0).fit([x[:40], x[40:]])
    np.testing.assert_allclose(streamed.score_samples(x), a.score_samples(x))
    with pytest.raises(ValueError, match="whole"):
        tractable.BernoulliMixture(binarize=None).fit(np.abs(x))
    with pytest.raises(ValueError, match="binarize"):
        tractable.BernoulliMixture(binarize="half").fit(x)


def test_one_component_is_smoothed_shares():
    x = np.array([[0.0], [2.0], [2.0], [1.0]])
    model = tractable.CategoricalMixture(alpha=1.0).fit(x)
    np.testing.assert_allclose(model.probabilities_[0][0], [2 / 7, 2 / 7, 3 / 7])
    plain = tractable.CategoricalMixture(alpha=0.0).fit(x, sample_weight=[1, 2, 0, 1])
    np.testing.assert_allclose(plain.probabilities_[0][0], [0.25, 0.25, 0.5])


def words(n=300, seed=1):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 2, n)
    colour = np.where(rng.random(n) < 0.85, np.array(["red", "green"])[z], "blue")
    shape = np.where(rng.random(n) < 0.9, np.array(["round", "long"])[z], "flat")
    return np.column_stack([colour, shape]).astype(object), z


@pytest.mark.parametrize(
    "holder", [np.asarray, pd.DataFrame, lambda x: pd.DataFrame(x, dtype="category"), list]
)
def test_text_is_its_codes(holder):
    x, z = words()
    x[::11, 1] = None
    model = tractable.CategoricalMixture(2, random_state=0).fit(holder(x))
    codes = np.column_stack([pd.Categorical(c).codes.astype(float) for c in x.T])
    codes[codes < 0] = np.nan
    same = tractable.CategoricalMixture(2, random_state=0).fit(codes)
    np.testing.assert_allclose(model.score_samples(holder(x)), same.score_samples(codes))
    assert [*model.categories_.values()] == [("blue", "green", "red"), ("flat", "long", "round")]
    agree = np.mean(model.predict(holder(x)) == z)
    assert max(agree, 1.0 - agree) > 0.8
    with pytest.raises(ValueError, match="pink"):
        model.predict(holder(np.array([["pink", "long"]], dtype=object)))


def test_classes_explain_what_columns_share():
    """Given the class, columns are independent; over classes they are not."""
    x, _ = words()
    model = tractable.CategoricalMixture(2, random_state=0).fit(x)
    red, green = (model.condition({0: colour}).prob([[0], [1], [2]]) for colour in ("red", "green"))
    assert red[2] > 0.6
    assert green[1] > 0.6
    np.testing.assert_allclose(red.sum(), 1.0)


def test_maximum_likelihood_makes_the_unseen_impossible():
    x = np.array([[0.0], [2.0]])
    assert tractable.CategoricalMixture(alpha=0.0).fit(x).score_samples([[1.0]])[0] == -np.inf
    assert tractable.CategoricalMixture(alpha=0.1).fit(x).score_samples([[1.0]])[0] > -np.inf


@pytest.mark.parametrize("name", ["BernoulliMixture", "CategoricalMixture", "TableMixture"])
def test_rows_of_other_libraries_do_not_move_silently(name):
    import array_api_strict

    model, x = getattr(tractable, name)(), bits()
    with pytest.raises(ValueError, match="X is an array of array_api_strict"):
        model.fit(array_api_strict.asarray(x))
    with pytest.raises(ValueError, match="X is an array of array_api_strict"):
        model.fit(x).predict(array_api_strict.asarray(x))


@pytest.mark.spec("GMM-22")
def test_a_parametric_model_does_not_grow_with_its_rows():
    few, many = (tractable.BernoulliMixture(2, random_state=0).fit(bits(n)) for n in (50, 500))
    assert few.n_parameters_ == many.n_parameters_ == 1 + 2 * 5
    assert tractable.tags(few).parametric
    # No closed form: the likelihood is a sum of logarithms of sums, and EM climbs it.
    assert np.all(np.diff(many.objective_trace_) > -1e-9)


def test_what_is_given_is_compared_with_the_threshold():
    x = np.random.default_rng(0).normal(size=(100, 3))
    model = tractable.BernoulliMixture(2, binarize=0.5, random_state=0).fit(x)
    for given, bit in ((5.0, 1.0), (0.4, 0.0), (np.nan, np.nan)):
        raw, plain = model.condition({0: given}), model.distribution_.condition({0: bit})
        np.testing.assert_array_equal(raw.mean, plain.mean)
    assert model.score([x[:50], x[50:]]) == pytest.approx(model.score(x))
    assert model.summarize(x).objective == pytest.approx(model.lower_bound_ * 100, rel=1e-4)
    bits_alone = tractable.BernoulliMixture(2, binarize=None, random_state=0).fit((x > 0).astype(float))
    with pytest.raises(ValueError, match="zeros and ones"):
        bits_alone.condition({0: 5.0})
    with pytest.raises(ValueError, match="zeros and ones"):
        bits_alone.predict([[7.0, 0.0, 0.0]])


def test_categories_that_were_not_fitted_may_be_missing():
    x, _ = words()
    model = tractable.CategoricalMixture(2, unseen="missing", random_state=0).fit(x)
    with pytest.warns(UserWarning, match="taken as missing"):
        found = model.predict_proba(np.array([["pink", "long"]], dtype=object))
    np.testing.assert_array_equal(found, model.predict_proba(np.array([[None, "long"]], dtype=object)))
    codes = tractable.CategoricalMixture(2, random_state=0).fit(bits())
    with pytest.raises(ValueError, match="no category 9"):
        codes.predict([[9, 0, 0, 0, 0]])
