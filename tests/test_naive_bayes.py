"""Naive Bayes: worked formulas, scikit-learn's answers, and what is refused."""

import numpy as np
import pytest
import scipy.sparse
from sklearn import naive_bayes as peers

import tractable
from tractable import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes
from tractable.arrays.log_space import log_softmax
from tractable.data import SparseSource
from tractable.data.source import batch_rows


def numbers(n=300, d=4, K=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    spread = rng.uniform(0.5, 2.0, (K, d))[y]
    return rng.standard_normal((n, d)) * spread + rng.standard_normal((K, d))[y], y


@pytest.mark.parametrize("options", [{}, {"priors": [0.2, 0.5, 0.3]}, {"var_smoothing": 0.1}])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.spec("CLS-22", "CLS-24")
def test_gaussian_nb_is_scikit_learns(options, weighted, rng):
    X, y = numbers()
    w = rng.integers(1, 4, len(y)).astype(float) if weighted else None
    rows = (np.repeat(X, w.astype(int), axis=0), np.repeat(y, w.astype(int))) if weighted else (X, y)
    ours, peer = GaussianNB(**options).fit(X, y, sample_weight=w), peers.GaussianNB(**options).fit(*rows)
    for name in ("theta_", "var_", "class_prior_", "class_count_", "epsilon_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(peer, name), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-10)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), peer.predict_joint_log_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))


@pytest.mark.parametrize("alpha", [1.0, 0.3])
@pytest.mark.spec("CLS-21", "CLS-24", "E002-06")
def test_discrete_names_are_scikit_learns(alpha, rng):
    X, y = rng.integers(0, 4, (200, 5)), rng.integers(0, 3, 200)
    ours, peer = tractable.CategoricalNB(alpha=alpha).fit(X, y), peers.CategoricalNB(alpha=alpha).fit(X, y)
    for a, b in zip(ours.feature_log_prob_, peer.feature_log_prob_, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    for a, b in zip(ours.category_count_, peer.category_count_, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(ours.n_categories_, peer.n_categories_)
    pairs = [
        (ours, peer),
        (tractable.MultinomialNB(alpha=alpha).fit(X, y), peers.MultinomialNB(alpha=alpha).fit(X, y)),
        (tractable.BernoulliNB(alpha=alpha).fit(X, y), peers.BernoulliNB(alpha=alpha).fit(X, y)),
    ]
    for mine, theirs in pairs:
        np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
        np.testing.assert_allclose(mine.class_log_prior_, theirs.class_log_prior_, rtol=1e-12)
    for mine, theirs in pairs[1:]:
        np.testing.assert_allclose(mine.feature_log_prob_, theirs.feature_log_prob_, rtol=1e-12)
        np.testing.assert_allclose(mine.feature_count_, theirs.feature_count_, rtol=1e-12)


@pytest.mark.spec("CLS-21", "CLS-24")
def test_fractions_of_words_and_equal_priors_are_scikit_learns(rng):
    X, y = rng.gamma(0.5, size=(100, 6)), rng.integers(0, 3, 100)
    options = {"alpha": 0.7, "fit_prior": False}
    ours, peer = tractable.MultinomialNB(**options).fit(X, y), peers.MultinomialNB(**options).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-12)
    given = tractable.MultinomialNB(class_prior=[0.2, 0.3, 0.5]).fit(X, y)
    np.testing.assert_allclose(given.class_prior_, [0.2, 0.3, 0.5])
    with pytest.raises(ValueError, match="class_prior"):
        tractable.MultinomialNB(class_prior=[0.2, 0.3]).fit(X, y)


@pytest.mark.spec("CLS-25")
def test_counts_alone_score_categories(rng):
    X, y = rng.integers(0, 3, (90, 4)), rng.integers(0, 2, 90)
    model = tractable.CategoricalNB(alpha=0.0).fit(X, y)
    counted = np.zeros((90, 2))
    for k in range(2):
        own = X[y == k]
        same = (X[:, None, :] == own).sum(axis=1)  # #{x_nd = x_d, c}
        with np.errstate(divide="ignore"):
            counted[:, k] = np.log(len(own)) + np.log(same / len(own)).sum(axis=1)
    np.testing.assert_allclose(model.predict_log_proba(X), log_softmax(counted), atol=1e-12)


@pytest.mark.spec("CLS-26", "CLS-20")
def test_the_discriminant_is_quadratic():
    X, y = numbers()
    model = GaussianNB(var_smoothing=0.0).fit(X, y)
    counts, mean, var = model.class_count_, model.theta_, model.var_
    scores = np.log(counts) - np.sum(0.5 * np.log(var) + (X[:, None] - mean) ** 2 / (2.0 * var), axis=-1)
    np.testing.assert_allclose(model.predict_log_proba(X), log_softmax(scores), atol=1e-11)


@pytest.mark.parametrize(
    "options", [{"shared_variance": True}, {"variance": 2.5}, {"variance": [1.0, 2.0, 3.0, 0.5]}]
)
@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.spec("CLS-27", "CLS-28", "E002-04", "E002-05")
def test_shared_variances_make_a_linear_classifier(options, K):
    X, y = numbers(K=K)
    model = GaussianNB(var_smoothing=0.0, **options).fit(X, y)
    weights, bias = model.linear_weights()
    var = model.var_[0]
    middle = model.theta_.mean(axis=0)  # what all classes share is left out
    np.testing.assert_allclose(weights, (model.theta_ - middle) / var, rtol=1e-12)
    squares = ((model.theta_**2 - middle**2) / (2.0 * var)).sum(axis=1)
    np.testing.assert_allclose(bias, np.log(model.class_count_ / len(y)) - squares, rtol=1e-11)
    softmax = np.exp(log_softmax(X @ weights.T + bias))
    np.testing.assert_allclose(model.predict_proba(X), softmax, atol=1e-12)
    if K == 2:
        assert model.coef_.shape == (1, 4)
        np.testing.assert_allclose(model.decision_function(X), (X @ model.coef_.T + model.intercept_)[:, 0])
    else:
        np.testing.assert_array_equal(model.coef_, weights)
        np.testing.assert_allclose(model.intercept_, bias)
    if "variance" in options:
        np.testing.assert_allclose(model.var_, np.broadcast_to(options["variance"], model.var_.shape))
    else:
        within = sum(((X[y == k] - X[y == k].mean(axis=0)) ** 2).sum(axis=0) for k in range(K)) / len(y)
        np.testing.assert_allclose(var, within, rtol=1e-12)


def test_own_variances_have_no_linear_weights():
    X, y = numbers()
    model = GaussianNB().fit(X, y)
    assert not hasattr(model, "coef_")
    with pytest.raises(AttributeError, match="shared_variance"):
        model.linear_weights()


@pytest.mark.parametrize("shift", [1e7, -1e9])
@pytest.mark.spec("CLS-22")
def test_rows_far_from_the_origin_keep_their_digits(shift):
    X, y = numbers()
    X = np.round(X * 2**10) / 2**10  # so that the shift rounds nothing away
    near, far = GaussianNB().fit(X, y), GaussianNB().fit(X + shift, y)
    np.testing.assert_allclose(far.var_, near.var_, rtol=1e-12)
    np.testing.assert_allclose(far.predict_proba(X + shift), near.predict_proba(X), atol=1e-6)


@pytest.mark.spec("CLS-24")
def test_thousands_of_columns_do_not_underflow(rng):
    y = np.arange(40) % 2
    X = rng.standard_normal((40, 3000)) + 0.1 * y[:, None]
    model = NaiveBayes().fit(X, y)
    p = model.predict_proba(X)
    assert np.all(np.isfinite(model.predict_joint_log_proba(X)))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert model.score(X, y) == 1.0


@pytest.mark.spec("CLS-23")
def test_kernel_columns_are_sums_of_windows():
    X, y = numbers(n=60, d=2, K=2)
    model = tractable.KernelNB(bandwidth=0.7).fit(X, y)
    joint = np.empty((60, 2))
    for k in range(2):
        own = X[y == k]
        u = (X[:, None, :] - own) / 0.7
        density = (np.exp(-0.5 * u**2) / np.sqrt(2.0 * np.pi) / 0.7).mean(axis=1)
        joint[:, k] = np.log(np.mean(y == k)) + np.log(density).sum(axis=1)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-9)
    by_rule = tractable.KernelNB().fit(X, y).class_distributions_.parts[0].members[1]
    np.testing.assert_allclose(by_rule.bandwidth, tractable.smoothing.silverman(X[y == 1, :1])[0])


def test_evidence_prefers_columns_that_tell_classes_apart(rng):
    y = np.arange(200) % 2
    X = rng.standard_normal((200, 1)) + 3.0 * y[:, None]
    apart = NaiveBayes(estimate="bayes").fit(X, y).log_evidence_
    assert apart > NaiveBayes(estimate="bayes").fit(X, rng.permutation(y)).log_evidence_ + 50.0
    assert not hasattr(NaiveBayes().fit(X, y), "log_evidence_")
    assert not hasattr(NaiveBayes("kernel", estimate="bayes").fit(X, y), "log_evidence_")


@pytest.mark.parametrize(
    "model", [NaiveBayes(), NaiveBayes(estimate="bayes"), GaussianNB(), tractable.KernelNB()]
)
@pytest.mark.filterwarnings("ignore:y. the class 1 has a single row")
def test_few_rows_and_constant_columns_are_answered(model):
    one = model.fit([[1.0, 2.0], [3.0, 2.0]], ["a", "a"])
    np.testing.assert_array_equal(one.predict([[9.0, 9.0]]), ["a"])
    np.testing.assert_allclose(one.predict_proba([[1.0, 2.0]]), [[1.0]])
    X, y = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [9.0, 5.0]]), [0, 0, 0, 1]  # one row of the second
    fitted = model.fit(X, y)
    assert np.all(np.isfinite(fitted.predict_joint_log_proba(X)))
    assert fitted.predict([[9.0, 5.0]])[0] == 1


def test_a_promised_class_that_was_not_seen():
    X, y = numbers(K=2)
    for kind in ("normal", "kernel"):
        model = NaiveBayes(kind).partial_fit(X, y, classes=[0, 1, 2])
        np.testing.assert_allclose(model.predict_proba(X)[:, 2], 0.0)
        assert set(model.predict(X)) <= {0, 1}
    given = GaussianNB(priors=[0.3, 0.3, 0.4]).partial_fit(X, y, classes=[0, 1, 2])
    np.testing.assert_allclose(given.theta_[2], X.mean(axis=0), rtol=1e-12)


def test_counts_given_their_total_are_multinomial(rng):
    X, y = rng.poisson(3.0, (120, 4)), rng.integers(0, 2, 120)
    model = tractable.MultinomialNB().fit(X, y)
    rates = np.stack([part.rate for part in model.class_distributions_.parts], axis=1)
    np.testing.assert_allclose(rates.sum(axis=1), X.sum(axis=1).mean(), rtol=1e-12)
    np.testing.assert_allclose(model.score_samples(X), model.distribution_.log_prob(X), rtol=1e-10)
    drawn, _ = model.sample(20_000, random_state=0)
    length = X.sum(axis=1).mean()
    assert abs(drawn.sum(axis=1).mean() - length) < 5.0 * np.sqrt(length / 20_000)


def test_zero_shares_forbid_without_warnings():
    X, y = np.array([[2, 0], [1, 0], [0, 3], [1, 1]]), [0, 0, 1, 1]
    model = tractable.MultinomialNB(alpha=0.0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[0, 1], [1, 0]])[0], [0.0, 1.0])
    veto = tractable.BernoulliNB(alpha=0.0).fit(X, y)
    np.testing.assert_allclose(veto.predict_proba([[1, 1]]), [[0.0, 1.0]])
    nobody = tractable.CategoricalNB(alpha=0.0).fit([[0, 0], [1, 1]], [0, 1])
    np.testing.assert_allclose(nobody.predict_proba([[0, 1]]), [[0.5, 0.5]])


def test_large_counts_keep_their_digits():
    y = np.arange(60) % 2
    X = (10**9 + 50_000 * y + np.arange(60) * 100)[:, None].astype(float)
    model = NaiveBayes("poisson", pseudocounts=0.0).fit(X, y)
    rates = [X[y == k].mean() for k in (0, 1)]
    x = X[:5, 0]
    odds = x * np.log1p((rates[1] - rates[0]) / rates[0]) - (rates[1] - rates[0])
    np.testing.assert_allclose(model.decision_function(X[:5]), odds, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("model", "X", "said"),
    [
        (tractable.MultinomialNB(), [[1, -1], [2, 0]], "Negative values in data"),
        (tractable.CategoricalNB(), [[0.5], [1.0]], "whole numbers"),
        (tractable.BernoulliNB(binarize=None), [[2], [0]], "zeros and ones"),
        (NaiveBayes("poisson"), [[1.5], [1.0]], "whole numbers"),
        (NaiveBayes("gauss"), [[1.5], [1.0]], "likelihoods must be of"),
        (NaiveBayes({3: "normal"}), [[1.5], [1.0]], "likelihoods: no column 3"),
        (NaiveBayes(["normal"] * 2), [[1.5], [1.0]], "likelihoods must have one entry a column"),
        (NaiveBayes("multinomial", estimate="bayes"), [[1], [2]], "multinomial"),
        (NaiveBayes(estimate="ml"), [[1.5], [1.0]], "estimate"),
        (NaiveBayes(estimate="bayes", pseudocounts=0.0), [[1.5], [1.0]], "pseudocounts"),
        (NaiveBayes(pseudocounts=-1.0), [[1.5], [1.0]], "pseudocounts"),
        (NaiveBayes(unseen="drop"), [[1.5], [1.0]], "unseen"),
        (NaiveBayes(priors=[0.5, 0.6]), [[1.5], [1.0]], "priors"),
        (NaiveBayes("Gamma"), [[-1.0], [1.0]], "X"),
        (NaiveBayes(), [[np.nan], [np.nan]], "no observed value in the column 0"),
        (tractable.KernelNB(), [[np.nan], [np.nan]], "no observed value in the column 0"),
        (tractable.CategoricalNB(min_categories=0), [[1], [0]], "min_categories"),
        (tractable.CategoricalNB(min_categories=[1, 2]), [[1], [0]], "min_categories"),
        (GaussianNB(variance=[1.0, 2.0]), [[1.5], [1.0]], "variance"),
        (GaussianNB(variance=-1.0), [[1.5], [1.0]], "variance"),
        (GaussianNB(var_smoothing=-1.0), [[1.5], [1.0]], "var_smoothing"),
        (tractable.CategoricalNB(alpha=np.nan), [[1], [0]], "alpha"),
        (tractable.KernelNB(bandwidth="wide"), [[1.5], [1.0]], "bandwidth"),
        (tractable.KernelNB(bandwidth=0.0), [[1.5], [1.0]], "bandwidth"),
    ],
)
def test_what_cannot_be_is_one_clear_error(model, X, said):
    with pytest.raises(ValueError, match=said):
        model.fit(X, [0, 1])
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("make", [MultinomialNB, BernoulliNB])
@pytest.mark.parametrize("form", ["csr_array", "csc_matrix", "coo_array", "lil_array"])
def test_sparse_rows_are_the_dense_ones(make, form, rng):
    """Fits, statistics and predictions of sparse counts, weighted or not, are those of the dense array."""
    X, y = rng.poisson(0.4, size=(60, 7)), rng.choice(["a", "b", "c"], 60)
    sparse, w = getattr(scipy.sparse, form)(X), rng.integers(0, 3, 60).astype(float)
    for weights in (None, w):
        dense, found = (make().fit(rows, y, sample_weight=weights) for rows in (X, sparse))
        np.testing.assert_allclose(found.feature_log_prob_, dense.feature_log_prob_, rtol=1e-12)
        np.testing.assert_allclose(found.class_prior_, dense.class_prior_, rtol=1e-12)
        for method in ("predict_proba", "predict_joint_log_proba"):  # sums in another order
            np.testing.assert_allclose(getattr(found, method)(sparse), getattr(found, method)(X), rtol=1e-12)
        np.testing.assert_array_equal(found.predict(sparse), found.predict(X))
        assert found.score(sparse, y) == found.score(X, y)
    parts = make().partial_fit(sparse.tocsr()[:20], y[:20]).partial_fit(sparse.tocsr()[20:], y[20:])
    np.testing.assert_allclose(parts.feature_log_prob_, make().fit(X, y).feature_log_prob_, rtol=1e-12)
    both = make().fit(X, y)
    again = make().from_statistic(both.summarize(sparse, y))
    np.testing.assert_allclose(again.feature_log_prob_, both.feature_log_prob_, rtol=1e-12)


def test_sparse_rows_are_dense_a_block_at_a_time(rng):
    """A sparse table whose dense form is 4 GB."""
    n, d = 50_000, 10_000
    rows, columns = np.arange(n), rng.integers(0, d, n)
    X = scipy.sparse.csr_array((np.ones(n), (rows, columns)), shape=(n, d))
    source = SparseSource(X=X)
    block = next(source.blocks(2**20))
    assert (block.n_rows, source.n_rows) == (batch_rows(d), n)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (scipy.sparse.csr_array([[1.0, -1.0], [0.0, 1.0]]), [0, 1], "Negative values in data"),
        (scipy.sparse.csr_array([[1.0, np.inf], [0.0, 1.0]]), [0, 1], "X contains infinity"),
        (scipy.sparse.csr_array([[1.0, 2.0], [0.0, 1.0]]), [0, 1, 1], "y has 3 rows, but X has 2"),
        (scipy.sparse.csr_array([[1.0, 2.0], [0.0, 1.0]]), None, "requires y"),
        (scipy.sparse.csr_array([[1j, 2.0], [0.0, 1.0]]), [0, 1], "X must be real numbers"),
    ],
)
def test_sparse_rows_that_are_no_counts(X, y, message):
    with pytest.raises(ValueError, match=message):
        MultinomialNB().fit(X, y)


@pytest.mark.parametrize("model", [GaussianNB(), CategoricalNB()])
def test_models_of_other_columns_refuse_sparse_rows(model):
    with pytest.raises((TypeError, ValueError), match="toarray"):
        model.fit(scipy.sparse.csr_array(np.eye(3)), [0, 1, 1])
