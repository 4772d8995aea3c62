"""Naive Bayes at the edges: columns that a class never shows, rows beyond all, sums that cannot be."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import tractable
from tractable import GaussianNB, KernelNB, MultinomialNB, NaiveBayes
from tractable.columns.counts import multinomial_probabilities
from tractable.conjugate import PoissonModel
from tractable.distributions import Gamma

NAN = np.nan


@pytest.mark.spec("CLS-20")
def test_a_column_that_a_class_never_shows_says_little_of_it():
    X, y = [[5, 3], [6, 2], [5, NAN], [6, NAN]], [0, 0, 1, 1]
    for alpha in (0.0, 1.0):
        model = MultinomialNB(alpha=alpha).fit(X, y)
        np.testing.assert_allclose(model.predict_proba([[5, 3]]), [[0.5, 0.5]], atol=0.01)
        np.testing.assert_array_equal(model.feature_count_, [[11.0, 5.0], [11.0, 0.0]])


@pytest.mark.parametrize("alpha", [0.0, 0.3, 2.0])
def test_shares_of_counts_with_holes_are_the_most_probable(alpha, rng):
    weight, counts = np.array([9.0, 4.0, 2.0, 7.0]), np.array([30.0, 5.0, 9.0, 14.0])

    def surprise(t):
        theta = np.exp(t - np.logaddexp.reduce(t))
        means = weight * theta
        # λ at its best, Σ S / Σ n θ
        return counts.sum() * np.log(means.sum()) - (counts + alpha) @ np.log(theta)

    best = minimize(surprise, rng.normal(size=4), method="BFGS", options={"gtol": 1e-10})
    found = multinomial_probabilities(counts[None], weight[None], alpha)[0]
    np.testing.assert_allclose(found, np.exp(best.x - np.logaddexp.reduce(best.x)), rtol=1e-5)
    whole = multinomial_probabilities(counts[None], np.full((1, 4), 9.0), alpha)[0]
    np.testing.assert_allclose(whole, (counts + alpha) / (counts.sum() + 4 * alpha), rtol=1e-12)


def test_shares_do_not_depend_on_how_long_the_rows_of_a_class_are(rng):
    theta = np.array([0.5, 0.3, 0.2])
    y = np.repeat([0, 1], 4000)
    X = rng.poisson(np.where(y[:, None] == 1, 90.0, 10.0) * theta).astype(float)
    X[rng.random(X.shape) < np.array([0.0, 0.3, 0.8])] = NAN
    model = MultinomialNB().fit(X, y)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [theta, theta], atol=0.01)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_codes_that_were_not_seen_may_be_missing(alpha):
    model = tractable.CategoricalNB(alpha=alpha, unseen="missing").fit([[0, 0], [1, 1], [1, 0]], [0, 1, 1])
    with pytest.warns(UserWarning, match="the column 0 .* such as 5"):
        found = model.predict_proba([[5, 0]])
    np.testing.assert_array_equal(found, model.predict_proba([[NAN, 0]]))


def test_only_the_column_that_lacks_a_category_is_asked_for_smoothing():
    model = tractable.CategoricalNB(alpha=0.0).fit([[0, 0], [1, 1]], [0, 1])
    with pytest.raises(ValueError, match="the column 1 has no category 7"):
        model.predict([[0, 7]])


@pytest.mark.parametrize("bandwidth", ["silverman", "scott", "loo", "lscv", "isj"])
def test_a_class_of_one_row_has_the_bandwidth_of_all(bandwidth, rng):
    X = np.append(rng.normal(size=200), 9.0)[:, None]
    model = KernelNB(bandwidth=bandwidth).fit(X, np.append(np.zeros(200), 1))
    member = model.class_distributions_.parts[0].members[1]
    np.testing.assert_allclose(np.ravel(member.bandwidth), X.std() * (4.0 / 3.0) ** 0.2, rtol=1e-12)
    light = KernelNB(bandwidth=bandwidth).fit(X[-3:], [0, 0, 1], sample_weight=[0.2, 0.3, 1.0])
    assert np.all(np.isfinite(light.predict_proba(X)))


def test_a_bandwidth_that_cannot_be_found_names_class_and_column():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 9.0]})
    with pytest.raises(ValueError, match=r"the column 'a' in class 'x'.*isj"):
        KernelNB(bandwidth="isj").fit(frame, ["x", "x", "x", "y"])
    with pytest.raises(ValueError, match=r"lscv.*gaussian"):
        KernelNB(bandwidth="lscv", kernel="tophat").fit([[1.0], [2.0]], [0, 1])


def test_statistics_of_different_events_do_not_add_up():
    X, y = [[0.2, 1.0], [0.7, 3.0]], [0, 1]
    low, high = (tractable.BernoulliNB(binarize=b).fit(X, y) for b in (0.0, 0.5))
    with pytest.raises(ValueError, match=r"binarize=0.0 and with binarize=0.5"):
        low.merge(high)
    with pytest.raises(ValueError, match=r"binarize=0.5, and this model has binarize=0.0"):
        tractable.BernoulliNB().from_statistic(high.statistic_)
    assert low.merge(tractable.BernoulliNB(binarize=0).fit(X, y)).class_count_.sum() == 4


def test_conjugate_models_of_different_priors_do_not_add_up():
    X, y = [[1.0], [3.0]], [0, 1]

    def fitted(rate):
        return NaiveBayes(PoissonModel(prior=Gamma(shape=1.0, rate=rate))).fit(X, y)

    assert fitted(2.0).merge(fitted(2.0)).class_count_.sum() == 4
    with pytest.raises(ValueError, match="same likelihoods"):
        fitted(2.0).merge(fitted(3.0))


def test_statistics_do_not_depend_on_the_estimate():
    X, y = [[1.0], [3.0], [4.0]], [0, 1, 1]
    map_, bayes = (NaiveBayes("poisson", estimate=e).fit(X, y) for e in ("map", "bayes"))
    both = NaiveBayes("poisson", estimate="bayes").from_statistic(map_.statistic_ + bayes.statistic_)
    twice = NaiveBayes("poisson", estimate="bayes").fit(X * 2, y * 2)
    np.testing.assert_allclose(both.log_evidence_, twice.log_evidence_, rtol=1e-12)
    np.testing.assert_allclose(map_.class_distributions_.parts[0].rate, [11 / 6, 29 / 9], rtol=1e-12)


@pytest.mark.parametrize(
    ("model", "farthest"),
    [(GaussianNB(), 1e149), (NaiveBayes(), 1e149), (KernelNB(), 1e8), (NaiveBayes("kernel"), 1e8)],
)
def test_rows_far_from_every_class_are_told_apart(model, farthest):
    X, y = [[0.0, 1.0], [1.0, 2.0], [5.0, 0.0], [9.0, 4.0], [3.0, 2.0], [3.5, 2.5]], [0, 0, 1, 1, 2, 2]
    model = model.fit(X, y)
    far = [[s * scale, NAN] for s in (1.0, -1.0) for scale in (1e5, farthest)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.predict_proba(far), [[0.0, 1.0, 0.0]] * len(far))
        assert list(model.predict(far)) == [1] * len(far)


def test_far_rows_heed_priors_and_shared_variances():
    X, y = [[0.0], [1.0], [5.0], [9.0]], [0, 0, 1, 1]
    assert GaussianNB(priors=[1.0, 0.0]).fit(X, y).predict_proba([[1e149]]).tolist() == [[1.0, 0.0]]
    shared = GaussianNB(shared_variance=True).fit(X, y)
    assert shared.predict_proba([[1e7], [-1e7]]).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    tied = GaussianNB(shared_variance=True).fit([[0.0], [1.0], [0.0], [1.0]], y)
    np.testing.assert_allclose(tied.predict_proba([[1e149]]), [[0.5, 0.5]])


def test_a_class_of_one_row_is_said():
    X, y = [[0.0], [1.0], [9.0]], [0, 0, 1]
    with pytest.warns(UserWarning, match=r'class 1 has a single row.*estimate="bayes"'):
        GaussianNB().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianNB(shared_variance=True).fit(X, y)
        few = NaiveBayes(estimate="bayes").fit(X, y)
    assert few.predict_proba([[8.9]])[0, 1] > 0.5


def test_one_multinomial_column_is_said_to_say_nothing():
    with pytest.warns(UserWarning, match=r"the column 0 alone .* cannot distinguish"):
        NaiveBayes({0: "multinomial"}).fit([[1, 0.0], [2, 1.0], [5, 3.0], [7, 2.0]], [0, 0, 1, 1])


def test_columns_of_another_type_are_refused():
    X = pd.DataFrame({"zone": ["1", "2", "1", "2"], "size": [1.0, 2.0, 5.0, 4.0]})
    model = NaiveBayes().fit(X, [0, 0, 1, 1])
    with pytest.raises(
        ValueError, match="'zone' holds int such as 1, and its categories are str such as '1'"
    ):
        model.predict(X.assign(zone=[1, 2, 1, 2]))
    assert model.predict(X.assign(zone=["3", None, None, None])).shape == (4,)
    codes = NaiveBayes({"zone": "categorical"}).fit(X.assign(zone=[1, 2, 1, 2]), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="'zone' holds str such as '1'"):
        codes.predict(X)


def test_the_target_among_the_columns_to_ask_is_said():
    frame = pd.DataFrame({"a": [1.0, 2.0, 5.0, 4.0], "kind": ["x", "x", "y", "y"]})
    for model in (GaussianNB(), NaiveBayes()):
        with pytest.raises(ValueError, match="the column 'kind' was not in fit"):
            model.fit(frame, y="kind").predict(frame)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"likelihoods": "BetaBinomial"}, "BetaBinomial needs n_trials"),
        ({"likelihoods": "Binomial"}, "Binomial needs n_trials"),
        ({"likelihoods": "HistogramDensity"}, "HistogramDensity is of vectors"),
        ({"likelihoods": tractable.MultivariateNormal}, "MultivariateNormal is of vectors"),
        ({"bandwidth": [1, 2]}, "bandwidth must be a rule"),
        ({"bandwidth": None}, "bandwidth must be a rule"),
        ({"bandwidth": True}, "bandwidth must be a rule"),
    ],
)
def test_what_no_column_can_have_is_refused_at_once(options, said):
    model = NaiveBayes(**options)
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=said):
            learn([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])


def test_messages_name_what_users_wrote():
    days = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    with pytest.raises(ValueError, match="say in likelihoods"):
        NaiveBayes().fit(days, [0, 1])
    with pytest.raises(ValueError, match="which is multinomial"):
        MultinomialNB().fit([[1, -1], [2, 0]], [0, 1])
    with pytest.raises(ValueError, match=r"class_prior must have one entry a class.*: \[0, 1\]"):
        MultinomialNB(class_prior=[1.0]).fit([[1, 1], [2, 0]], [0, 1])


@pytest.mark.parametrize("K", [2, 3])
def test_linear_weights_keep_their_digits_far_from_the_origin(K, rng):
    y = np.arange(300) % K
    X = 1e8 + rng.standard_normal((300, 2)) + 2.0 * y[:, None]
    model = GaussianNB(shared_variance=True).fit(X, y)
    weights, bias = model.linear_weights()
    scores = X @ weights.T + bias
    shares = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
    np.testing.assert_allclose(shares, model.predict_proba(X), atol=1e-6)


def test_families_are_saved_by_their_names(tmp_path):
    X, y = [[1.0], [2.0], [3.0], [5.0]], [0, 0, 1, 1]
    model = NaiveBayes({0: tractable.Gamma}).fit(X, y)
    tractable.save(model, tmp_path / "model")
    back = tractable.load(tmp_path / "model")
    assert back.likelihoods == {0: tractable.Gamma}
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))


def test_rows_that_no_class_explains_have_the_priors():
    veto = tractable.CategoricalNB(alpha=0.0).fit([[0, 1], [1, 0], [1, 0], [1, 0]], [0, 1, 1, 1])
    compact = KernelNB(kernel="tophat", bandwidth=1.0, priors=[1.0, 0.0]).fit([[0.0], [9.0]], [0, 1])
    for model, x, expected in [(veto, [[0, 0]], [[0.25, 0.75]]), (compact, [[50.0]], [[1.0, 0.0]])]:
        np.testing.assert_allclose(model.predict_proba(x), expected)
        np.testing.assert_allclose(model.distribution_.responsibilities(x), expected)
        assert model.predict(x)[0] == np.argmax(expected)


@pytest.mark.parametrize("threshold", [None, 0.0, 0.5, 2.0, -3.0, 1e30])
def test_rows_drawn_are_parted_by_the_threshold(threshold, rng):
    y = np.arange(400) % 2
    events = rng.random((400, 3)) < np.where(y[:, None] == 1, 0.9, 0.2)
    low, high = (0.0, 1.0) if threshold is None else (threshold, max(threshold + 1.0, 1.1 * threshold))
    model = tractable.BernoulliNB(binarize=threshold).fit(np.where(events, high, low), y)
    drawn, labels = model.sample(2000, random_state=0)
    assert np.mean(model.predict(drawn) == labels) > 0.85


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_zeros_and_ones_are_counted_as_categories_are(alpha, rng):
    X = (rng.random((60, 4)) < 0.4).astype(float)
    X[rng.random(X.shape) < 0.2] = NAN
    y, w = np.arange(60) % 3, rng.integers(0, 4, 60) + 0.5
    X[y == 2, 1] = NAN  # nothing is known of a column in one class
    fast = tractable.BernoulliNB(alpha=alpha, binarize=None).fit(X, y, sample_weight=w)
    slow = tractable.CategoricalNB(alpha=alpha, min_categories=2).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(fast.predict_proba(X), slow.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(fast.feature_count_, np.stack([c[:, 1] for c in slow.category_count_], axis=1))
    mixed = NaiveBayes(["bernoulli", "bernoulli", "categorical", "bernoulli"], pseudocounts=alpha)
    np.testing.assert_allclose(mixed.fit(X, y, w).predict_proba(X), slow.predict_proba(X), atol=1e-12)
