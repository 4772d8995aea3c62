"""Bayesian logistic regression: mode, curvature, evidence and predictions against brute force."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_ndtr, ndtr
from sklearn.linear_model import LogisticRegression as Peer

import tractable
from tractable import BayesianLogisticRegression
from tractable.engines.glm import LossExpansion, Probit, class_loss


def two_classes(rng, n=80, d=2):
    X = rng.normal(size=(n, d)) * np.arange(1.0, d + 1) + 5.0
    y = rng.random(n) < expit((X - 5.0) @ np.linspace(1.0, -0.5, d))
    return X, np.where(y, "yes", "no")


def three_classes(rng, n=150):
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 2)) + np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 2.0]])[y], y


def log_likelihood(a, sign, link):
    return (log_ndtr(sign * a) if link == "probit" else -np.logaddexp(0.0, -sign * a)).sum(-1)


@pytest.mark.parametrize("loss", [class_loss(2), Probit(), class_loss(4)])
def test_the_expansion_is_of_the_loss(loss, rng):
    k = len(loss.contrasts)
    x, codes, w = rng.normal(size=(30, 2)), rng.integers(0, k, 30), rng.uniform(size=30)
    scaling = rng.normal(size=2), rng.uniform(0.5, 2.0, size=2)
    b = rng.normal(size=3 * (k - 1))

    def expanded(b):
        return LossExpansion.of(x, codes, w, loss=loss, scaling=scaling, coef=b.reshape(k - 1, 3))

    at, step = expanded(b), 1e-5
    for j in range(len(b)):
        up, down = (expanded(b + s * step * np.eye(len(b))[j]) for s in (1, -1))
        np.testing.assert_allclose(at.gradient.flat[j], (up.value - down.value) / (2 * step), rtol=1e-6)
        np.testing.assert_allclose(
            at.curvature[j], (up.gradient - down.gradient).ravel() / (2 * step), rtol=1e-6, atol=1e-8
        )


@pytest.mark.parametrize("make", [two_classes, three_classes])
def test_the_mode_is_the_penalised_minimum(make, rng):
    X, y = make(rng)
    ours = BayesianLogisticRegression(alpha=0.7).fit(X, y)
    peer = Peer(C=1 / 0.7, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-5)
    assert not np.allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-3)  # it is no plug-in


def test_the_mode_of_the_probit_link(rng):
    X, y = two_classes(rng)
    sign = np.where(y == "yes", 1.0, -1.0)
    model = BayesianLogisticRegression(alpha=[0.5, 2.0], link="probit").fit(X, y)

    def objective(theta):
        return (
            -log_likelihood(theta[0] + X @ theta[1:], sign, "probit") + 0.25 * theta[1] ** 2 + theta[2] ** 2
        )

    found = minimize(objective, np.append(model.intercept_, model.coef_) + 0.1, tol=1e-12)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_), found.x, atol=1e-4)
    np.testing.assert_allclose(model.alpha_, [0.5, 2.0], rtol=1e-12)


def brute_evidence(X, sign, alpha, link, *, located):
    """The integral over one coefficient, and the intercept where there is one, by a fine grid."""
    model = BayesianLogisticRegression(alpha=alpha, link=link, fit_intercept=located)
    model.fit(X, sign > 0)
    belief = model.posterior_
    sides = [m + s * np.linspace(-10.0, 10.0, 161) for m, s in zip(belief.mean, belief.stddev, strict=True)]
    theta = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, len(sides))
    phi = np.column_stack([np.ones(len(X)), X]) if located else X
    log_joint = np.concatenate(
        [log_likelihood(part @ phi.T, sign, link) for part in np.array_split(theta, 20)]
    )
    log_joint += 0.5 * np.log(alpha / (2 * np.pi)) - 0.5 * alpha * theta[:, -1] ** 2
    cell = np.prod([side[1] - side[0] for side in sides])
    peak = log_joint.max()
    return model.log_evidence_, peak + np.log(np.exp(log_joint - peak).sum() * cell)


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("located", [True, False])
def test_the_evidence_is_near_the_integral_and_nearer_with_more_rows(link, located, rng):
    gaps = []
    for n in (20, 80, 320):
        X = rng.normal(size=(n, 1)) + 0.3
        sign = np.where(rng.random(n) < expit(X[:, 0]), 1.0, -1.0)
        ours, brute = brute_evidence(X, sign, 0.5, link, located=located)
        gaps.append(abs(ours - brute))
    assert gaps[0] < 0.2
    assert gaps[2] < 0.01
    assert gaps[2] < gaps[0] / 4  # the error falls as 1/n


def test_the_posterior_is_near_the_exact_one(rng):
    """Mean and spread of a coefficient, by the grid of its exact posterior."""
    X = rng.normal(size=(400, 1))
    sign = np.where(rng.random(400) < expit(1.3 * X[:, 0]), 1.0, -1.0)
    model = BayesianLogisticRegression(alpha=1.0, fit_intercept=False).fit(X, sign)
    grid = np.linspace(0.0, 4.0, 4001)
    log_p = log_likelihood(grid[:, None] * X[:, 0], sign, "logit") - 0.5 * grid**2
    p = np.exp(log_p - log_p.max())
    mean = grid @ p / p.sum()
    spread = np.sqrt((grid - mean) ** 2 @ p / p.sum())
    np.testing.assert_allclose(model.posterior_.mean, mean, rtol=0.02)
    np.testing.assert_allclose(model.coef_std_errors_[0], spread, rtol=0.03)


@pytest.mark.slow
def test_predictions_average_over_the_posterior(rng):
    for X, y in (two_classes(rng), three_classes(rng)):
        model = BayesianLogisticRegression(alpha=0.3).fit(X[:25], y[:25])
        drawn = model.sample_functions(X, 20_000, random_state=0)
        assert drawn.shape == (20_000, len(X), len(model.classes_))
        error = drawn.std(axis=0) / np.sqrt(len(drawn))
        assert np.all(np.abs(drawn.mean(axis=0) - model.predict_proba(X)) <= 5.5 * error)
        np.testing.assert_allclose(model.predict_dist(X).probabilities, model.predict_proba(X))


def test_predictions_of_the_probit_link_are_exact(rng):
    X, y = two_classes(rng)
    model = BayesianLogisticRegression(link="probit").fit(X, y)
    mean, spread = model.predict_activation(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], ndtr(mean / np.sqrt(1 + spread**2)), rtol=1e-12)
    drawn = model.sample_functions(X[:9], 20_000, random_state=1)
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert np.all(np.abs(drawn.mean(axis=0) - model.predict_proba(X[:9])) <= 5.5 * error)


def test_far_from_the_rows_it_is_less_sure_than_its_plane(rng):
    X, y = two_classes(rng, n=30)
    model = BayesianLogisticRegression().fit(X, y)
    far = np.array([5.0, 5.0]) + 100.0 * np.array([[1.0, 0.0], [1.0, 1.0], [-1.0, 2.0]])
    plug_in = expit(model.intercept_ + far @ model.coef_[0])
    ours = model.predict_proba(far)[:, 1]
    assert np.all(np.abs(ours - 0.5) < np.abs(plug_in - 0.5))
    assert np.all(np.abs(ours - 0.5) < 0.4999)


@pytest.mark.parametrize("make", [two_classes, three_classes])
def test_mackays_fixed_point(make, rng):
    X, y = make(rng)
    model = BayesianLogisticRegression().fit(X, y)
    size = np.sum(model.alpha_ * model.coef_**2)
    np.testing.assert_allclose(size, model.gamma_, rtol=1e-7)
    assert 0 < model.gamma_ <= 2 * (len(model.classes_) - 1)
    # Beside it the evidence is not greater, up to what the fixed point neglects: how H moves with alpha.
    others = [
        BayesianLogisticRegression(alpha=model.alpha_ * factor).fit(X, y).log_evidence_
        for factor in (0.1, 10.0)
    ]
    assert model.log_evidence_ > max(others)


def test_columns_of_noise_get_a_strong_prior(rng):
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    model = BayesianLogisticRegression().fit(X, y)
    assert np.all(model.alpha_ > 10.0)
    assert np.all(np.abs(model.coef_) < 0.3)
    told = rng.normal(size=(300, 4))
    sharp = BayesianLogisticRegression().fit(told, told @ [1.0, 2.0, -1.0, 0.5] > 0.0)  # separable
    assert np.all(sharp.alpha_ < 0.5)
    assert np.all(np.isfinite(sharp.predict_log_proba(told)))


def test_units_do_not_matter(rng):
    X, y = two_classes(rng)
    plain = BayesianLogisticRegression().fit(X, y)
    moved = BayesianLogisticRegression().fit(X * [1e6, 1e-6] + [1e8, 0.0], y)
    np.testing.assert_allclose(
        moved.predict_proba(X * [1e6, 1e-6] + [1e8, 0.0]), plain.predict_proba(X), atol=1e-7
    )
    np.testing.assert_allclose(moved.log_evidence_, plain.log_evidence_, rtol=1e-8)


def test_the_posterior_has_names(rng):
    X, y = three_classes(rng)
    frame = pd.DataFrame(X, columns=["width", "height"])
    labels = np.array(["ash", "birch", "cedar"])[y]
    model = BayesianLogisticRegression().fit(frame, labels)
    assert model.posterior_.names[:4] == (
        "birch: intercept",
        "birch: width",
        "birch: height",
        "cedar: intercept",
    )
    odds = model.coef_[1:] - model.coef_[0]
    np.testing.assert_allclose(model.posterior_.marginal(["birch: width"]).mean, odds[0, :1], rtol=1e-10)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-12)
    two = BayesianLogisticRegression(alpha=1.0).fit(frame[labels != "ash"], labels[labels != "ash"])
    assert two.posterior_.names == ("intercept", "width", "height")
    np.testing.assert_allclose(two.posterior_.stddev[1:], two.coef_std_errors_[0], rtol=1e-10)
    low, high = two.posterior_.marginal(["width"]).interval(0.9)
    np.testing.assert_allclose(two.coef_interval(0.9)[0, 0], [np.squeeze(low), np.squeeze(high)], rtol=1e-9)


def test_streams_are_rows(rng, tmp_path):
    X, y = three_classes(rng)
    whole = BayesianLogisticRegression().fit(X, y)
    blocks = [(X[:1], y[:1]), (X[1:70], y[1:70]), (X[70:], y[70:])]
    np.testing.assert_allclose(BayesianLogisticRegression().fit(blocks).coef_, whole.coef_, rtol=1e-8)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(kind=np.array(["x", "y", "z"])[y])
    frame.to_parquet(tmp_path / "rows.parquet")
    source = tractable.scan(tmp_path / "rows.parquet", features=["a", "b"], target="kind")
    scanned = BayesianLogisticRegression().fit(source)
    assert list(scanned.classes_) == ["x", "y", "z"]
    np.testing.assert_allclose(scanned.coef_, whole.coef_, rtol=1e-8)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": "much"}, "alpha"),
        ({"alpha": [1.0, 2.0, 3.0]}, "alpha"),
        ({"alpha": np.nan}, "alpha"),
        ({"link": "cauchit"}, "link"),
        ({"link": "probit"}, "link"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_bad_parameters_are_named(options, named, rng):
    X, y = three_classes(rng)
    with pytest.raises(ValueError, match=named):
        BayesianLogisticRegression(**options).fit(X, y)


def test_bad_questions_are_named(rng):
    X, y = three_classes(rng)
    model = BayesianLogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="two classes"):
        model.predict_activation(X)
    with pytest.raises(ValueError, match="coverage"):
        model.coef_interval(1.0)
    with pytest.raises(ValueError, match="n_samples"):
        model.sample_functions(X, 0)
    with pytest.raises(ValueError, match="1 class"):
        BayesianLogisticRegression().fit(X, np.zeros(len(X)))


def test_many_classes_are_refused_before_any_work(rng):
    """(K - 1)(d + 1) coefficients have a covariance of the square of their number."""
    X, y = rng.standard_normal((900, 30)), np.arange(900) % 300
    with pytest.raises(ValueError, match=r"300 classes .* 9269 coefficients .* GiB.* LogisticRegression"):
        BayesianLogisticRegression().fit(X, y)


def test_many_classes_are_predicted_in_blocks(rng, monkeypatch):
    """The largest array of a prediction has K² d entries a row: blocks of rows bound it."""
    from tractable.classification import bayesian_logistic

    X, y = rng.standard_normal((40, 2)), np.arange(40) % 5
    model = BayesianLogisticRegression(alpha=1.0).fit(X, y)
    whole = model.predict_proba(X)
    sizes = []
    honest = bayesian_logistic.log_expected_softmax
    monkeypatch.setattr(bayesian_logistic, "BLOCK_ENTRIES", 3 * 12 * 4)
    monkeypatch.setattr(
        bayesian_logistic,
        "log_expected_softmax",
        lambda mean, *others: (sizes.append(len(mean)), honest(mean, *others))[1],
    )
    np.testing.assert_allclose(model.predict_proba(X), whole, rtol=1e-9)
    assert max(sizes) == 3
    assert sum(sizes) == 40


@pytest.mark.parametrize("make", [two_classes, three_classes])
def test_steps_are_counted_at_every_precision_that_was_tried(make, rng):
    """The last search may start at its mode, and needs none."""
    X, y = make(rng)
    learned = BayesianLogisticRegression().fit(X, y)
    assert learned.n_iter_ > BayesianLogisticRegression(alpha=1.0).fit(X, y).n_iter_ >= 1


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("make", [two_classes, three_classes])
def test_the_effective_number_of_coefficients_is_what_the_rows_take_from_the_prior(make, fit_intercept, rng):
    """γ = Σ_kj (1 - α_j Σ_kj,kj) over contrasts k of classes; a third column makes all axes different."""
    X, y = make(rng)
    X = np.column_stack([X, rng.standard_normal(len(X))])
    model = BayesianLogisticRegression(alpha=[0.3, 2.0, 50.0], fit_intercept=fit_intercept).fit(X, y)
    n_contrasts = len(model.classes_) - 1
    taken = model.alpha_ * model.coef_std_errors_**2  # of contrasts, which are orthonormal, as of classes
    np.testing.assert_allclose(model.gamma_, n_contrasts * X.shape[1] - taken.sum(), rtol=1e-9)
