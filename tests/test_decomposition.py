"""PCA, probabilistic PCA, factor analysis and kernel PCA: the textbook's statements and worked examples."""

import tracemalloc

import numpy as np
import pytest
from sklearn import decomposition as scikit_learn
from sklearn.exceptions import ConvergenceWarning

import tractable
from tractable import PCA, FactorAnalysis, KernelPCA, ProbabilisticPCA, datasets
from tractable.base import DegenerateCovarianceWarning
from tractable.decomposition import kernel_pca
from tractable.decomposition.probabilistic.estimator import rotated
from tractable.decomposition.spectrum import bic_scores, log_evidences, log_likelihoods, optimal_threshold
from tractable.kernels import RBF, Linear, Matern, Polynomial, Sigmoid, center_gram

POINTS = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)


def food():
    """Four countries, and what is eaten there of seventeen foods."""
    return datasets.load("food").frame.set_index("food").T.astype(float)


def factors(rng, n=300, d=6, r=2, noise=0.5):
    return (
        rng.standard_normal((n, r)) @ rng.standard_normal((r, d)) * 2.0
        + noise * rng.standard_normal((n, d))
        + 4.0
    )


def with_gaps(rng, x, fraction=0.2):
    x = x.copy()
    x[rng.random(x.shape) < fraction] = np.nan
    return x


# -- principal components -----------------------------------------------------------------------------------


@pytest.mark.spec("DR-11", "W-10", "DR-08", "DR-10")
def test_of_four_countries_one_is_apart():
    pca = PCA(n_components=0.9).fit(food())
    np.testing.assert_allclose(pca.explained_variance_ratio_, [0.6744, 0.2905], atol=5e-5)
    scores = pca.transform(food())
    assert food().index[np.argmax(np.abs(scores[:, 0]))] == "n_ireland"
    others = np.delete(scores[:, 0], np.argmax(np.abs(scores[:, 0])))
    assert np.all(np.sign(others) == -np.sign(scores[np.argmax(np.abs(scores[:, 0])), 0]))


@pytest.mark.spec("W-20", "DR-01")
def test_eight_points_by_pca_and_two_kernels():
    pca = PCA(ddof=0).fit(POINTS)
    np.testing.assert_allclose(pca.get_covariance(), [[5.734375, -0.828125], [-0.828125, 6.859375]])
    np.testing.assert_allclose(pca.explained_variance_, [7.29797303, 5.29577697], rtol=1e-8)
    square = KernelPCA(4, kernel=Polynomial(degree=2)).fit(POINTS)
    np.testing.assert_allclose(square.eigenvalues_, [9740.35391, 5217.42978, 287.60196, 1.94196], rtol=1e-5)
    gaussian = KernelPCA(4, kernel=RBF(3.0)).fit(POINTS)
    np.testing.assert_allclose(
        gaussian.eigenvalues_, [2.04050906, 1.48642239, 0.54078383, 0.38040135], rtol=1e-7
    )


@pytest.mark.spec("DR-03", "DR-04", "DR-05", "DR-15")
def test_most_variance_kept_is_least_error_made(rng):
    x = factors(rng)
    everything = PCA(ddof=0).fit(x)
    for k in (1, 3, 5):
        pca = PCA(k, ddof=0).fit(x)
        back = pca.inverse_transform(pca.transform(x))
        error = np.mean(np.sum((x - back) ** 2, axis=1))
        left = everything.explained_variance_[k:].sum()
        np.testing.assert_allclose(error, left, rtol=1e-10)
        np.testing.assert_allclose(pca.projection_error_, left, rtol=1e-10)
        np.testing.assert_allclose(pca.projection_errors(x).mean(), left, rtol=1e-10)
        np.testing.assert_allclose(pca.denoise(x), back)
        # Tr S is what is kept and what is left; and no other subspace leaves less.
        np.testing.assert_allclose(
            pca.explained_variance_.sum() + left, np.trace(np.cov(x.T, ddof=0)), rtol=1e-12
        )
        other = np.linalg.qr(rng.standard_normal((6, k)))[0]
        centred = x - x.mean(axis=0)
        assert np.mean(np.sum((centred - centred @ other @ other.T) ** 2, axis=1)) > error
        # z_i = xᵀu_i for the components, constants b_i = x̄ᵀu_i for the others: the same rows.
        u = everything.components_
        z, b = x @ u[:k].T, x.mean(axis=0) @ u[k:].T
        np.testing.assert_allclose(z @ u[:k] + b @ u[k:], back, rtol=1e-10)


@pytest.mark.spec("DR-06")
def test_a_row_is_the_sum_of_its_projections(rng):
    x = factors(rng, n=20)
    u = PCA().fit(x).components_
    np.testing.assert_allclose(sum(np.outer(x @ v, v) for v in u), x, rtol=1e-12)


@pytest.mark.parametrize("n_components", [None, 2, 0.8, "mle"])
def test_names_and_numbers_are_scikit_learns(n_components, rng):
    x = factors(rng, noise=1.0)
    ours, theirs = PCA(n_components).fit(x), scikit_learn.PCA(n_components, svd_solver="full").fit(x)
    signs = np.sign(np.sum(ours.components_ * theirs.components_, axis=1))
    np.testing.assert_allclose(ours.components_, theirs.components_ * signs[:, None], atol=1e-10)
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9, err_msg=name)
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.score_samples(x), theirs.score_samples(x), rtol=1e-9)
    white = PCA(2, whiten=True).fit(x).transform(x)
    np.testing.assert_allclose(np.cov(white.T), np.eye(2), atol=1e-10)


def test_rows_in_pieces_make_the_same_components(rng):
    x = factors(rng, n=60)
    whole = PCA(2).fit(x)
    stream = PCA(2)
    for part in (x[:1], x[1:7], x[7:40], x[40:]):
        stream.partial_fit(part)
    np.testing.assert_allclose(stream.components_, whole.components_, atol=1e-12)
    nothing_yet = PCA(2).partial_fit(x[:1])
    with pytest.raises(ValueError, match="more rows are needed"):
        nothing_yet.transform(x)
    np.testing.assert_allclose(nothing_yet.merge(PCA(2).partial_fit(x[1:])).components_, whole.components_)


def test_a_randomised_fit_has_no_statistic_to_go_on_from(rng):
    x = rng.standard_normal((200, 30)) * 0.6 ** np.arange(30)
    near = PCA(3, svd_solver="randomized", random_state=0).fit(x)
    np.testing.assert_allclose(near.components_, PCA(3).fit(x).components_, atol=1e-6)
    with pytest.raises(ValueError, match="keep no statistic"):
        near.partial_fit(x)
    with pytest.raises(ValueError, match="keep no statistic"):
        near.merge(near)


def test_more_components_than_there_are_is_one_error(rng):
    x = factors(rng, n=20)
    with pytest.raises(ValueError, match="n_components=7 is more than min"):
        PCA(7).fit(x)
    for bad in (0, -1, 1.5, "some", True):
        with pytest.raises(ValueError, match="n_components"):
            PCA(bad).fit(x)
    with pytest.raises(ValueError, match="svd_solver must be one of"):
        PCA(svd_solver="power").fit(x)
    flat = np.column_stack([x[:, 0], np.full(20, 3.0), 2.0 * x[:, 0]])
    pca = PCA(3).fit(flat)  # one direction, and two of no variance
    np.testing.assert_allclose(pca.explained_variance_ratio_, [1.0, 0.0, 0.0], atol=1e-12)
    assert np.all(np.isfinite(pca.transform(flat)))
    with pytest.raises(ValueError, match="NaN"):
        PCA(1).fit(with_gaps(rng, x))
    with pytest.raises(ValueError, match="scores of shape"):
        PCA(2).fit(x).inverse_transform(np.ones((3, 5)))


# -- how many directions ------------------------------------------------------------------------------------


@pytest.mark.spec("DR-42")
def test_rows_fill_fewer_dimensions_than_they_have_columns(rng):
    t, height = rng.uniform(3, 9, 900), rng.uniform(0, 8, 900)
    roll = np.column_stack([t * np.cos(t), height, t * np.sin(t)])
    found = tractable.intrinsic_dimension(np.hstack([roll, roll @ rng.standard_normal((3, 4))]))
    assert found.n_features == 7
    assert 1.7 < found.maximum_likelihood < 2.3
    assert 1.7 < found.two_nearest < 2.3
    assert found.participation_ratio < found.effective_rank < 3.01
    round_cloud = tractable.intrinsic_dimension(rng.standard_normal((2000, 5)))
    np.testing.assert_allclose(round_cloud.participation_ratio, 5.0, atol=0.1)
    np.testing.assert_allclose(round_cloud.two_nearest, 5.0, atol=0.6)
    with pytest.raises(ValueError, match="four different rows"):
        tractable.intrinsic_dimension(np.ones((9, 2)))


def test_likelihoods_of_all_numbers_are_those_of_the_models(rng):
    x = factors(rng)
    variances = PCA(ddof=0).fit(x).explained_variance_
    found, bic = log_likelihoods(variances, 300), bic_scores(variances, 300)
    for k in (1, 2, 5):
        model = ProbabilisticPCA(k).fit(x)
        np.testing.assert_allclose(found[k], 300 * model.score(x), rtol=1e-10)
        np.testing.assert_allclose(bic[k], model.bic(x), rtol=1e-10)
    assert np.argmin(bic) == 2


def test_the_evidence_is_minkas(rng):
    from sklearn.decomposition._pca import _assess_dimension

    x = factors(rng, d=5)
    variances = PCA().fit(x).explained_variance_
    ours = log_evidences(variances, 300)
    theirs = np.array([_assess_dimension(variances, k, 300) for k in range(1, 5)])
    np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], rtol=1e-9)


def test_the_threshold_of_a_square_matrix_is_2_858_medians():
    np.testing.assert_allclose(optimal_threshold(np.ones(50), (50, 50)), 2.858, atol=2e-3)
    np.testing.assert_allclose(optimal_threshold(np.ones(50), (1000, 50)), 1.5194, atol=2e-3)  # β = 0.05


# -- probabilistic PCA and factor analysis ------------------------------------------------------------------


@pytest.mark.spec("W-21", "DR-21", "E004-08", "DR-20")
def test_foods_by_probabilistic_pca():
    one, two = (ProbabilisticPCA(k).fit(food()) for k in (1, 2))
    np.testing.assert_allclose(one.noise_variance_, 2377.468167, rtol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(one.loadings_, axis=0), [276.455315], rtol=1e-8)
    np.testing.assert_allclose(4 * one.score(food()), -367.798609, rtol=1e-8)
    np.testing.assert_allclose(two.noise_variance_, 272.884801, rtol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(two.loadings_, axis=0), [280.235837, 183.502953], rtol=1e-8)
    np.testing.assert_allclose(4 * two.score(food()), -308.173841, rtol=1e-8)
    # W of the eigenvectors themselves, unscaled, is far less likely.
    printed = tractable.MultivariateNormal(
        mean=two.mean_,
        covariance=tractable.covariance.LowRankPlusDiagonal(
            factor=two.components_.T, variances=np.full(17, two.noise_variance_)
        ),
    )
    assert printed.log_prob(food().to_numpy()).sum() < -350.0


@pytest.mark.spec("DR-16", "DR-17", "DR-18")
def test_the_model_is_a_sheet_with_noise(rng):
    x = factors(rng)
    model = ProbabilisticPCA(2).fit(x)
    dense = model.loadings_ @ model.loadings_.T + model.noise_variance_ * np.eye(6)
    np.testing.assert_allclose(model.get_covariance(), dense, rtol=1e-12)
    plain = tractable.MultivariateNormal(mean=model.mean_, covariance=dense)
    np.testing.assert_allclose(model.score_samples(x), plain.log_prob(x), rtol=1e-9)
    turn = np.linalg.qr(rng.standard_normal((2, 2)))[0]
    turned = model.loadings_ @ turn
    np.testing.assert_allclose(turned @ turned.T, model.loadings_ @ model.loadings_.T, atol=1e-12)
    draws = model.sample(40_000, random_state=0)
    error = 5.0 * np.sqrt((dense**2 + np.outer(np.diag(dense), np.diag(dense))) / 40_000)
    assert np.all(np.abs(np.cov(draws.T) - dense) < error)


@pytest.mark.spec("DR-22", "DR-19", "E004-07")
def test_the_latent_posterior_is_that_of_the_joint_gaussian(rng):
    x = factors(rng, n=50)
    model = ProbabilisticPCA(2).fit(x)
    w, s2 = model.loadings_, model.noise_variance_
    m = w.T @ w + s2 * np.eye(2)
    posterior = model.latent_posterior(x)
    np.testing.assert_allclose(posterior.mean, (x - model.mean_) @ w @ np.linalg.inv(m), rtol=1e-9)
    np.testing.assert_allclose(posterior.covariance[3], s2 * np.linalg.inv(m), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(model.transform(x), posterior.mean)
    c = model.get_covariance()
    np.testing.assert_allclose(
        (np.eye(6) - w @ np.linalg.inv(m) @ w.T) / s2, np.linalg.inv(c), rtol=1e-8, atol=1e-10
    )
    np.testing.assert_allclose(model.inverse_transform(posterior.mean), posterior.mean @ w.T + model.mean_)


def observed_log_likelihood(model, x):
    """Σ log N(x_o), a row at a time."""
    total = 0.0
    for row in x:
        seen = ~np.isnan(row)
        if seen.any():
            part = tractable.MultivariateNormal(
                mean=model.mean_[seen], covariance=model.get_covariance()[np.ix_(seen, seen)]
            )
            total += float(part.log_prob(row[seen]))
    return total


@pytest.mark.parametrize("kind", [ProbabilisticPCA, FactorAnalysis])
def test_missing_entries_are_marginalised(kind, rng):
    x = with_gaps(rng, factors(rng))
    x[7] = np.nan
    model = kind(2, tol=1e-11).fit(x)
    assert model.n_unseen_ == 1.0
    best = observed_log_likelihood(model, x)
    np.testing.assert_allclose(model.objective_trace_[-1] * 299, best, rtol=1e-9)
    assert np.all(np.diff(model.objective_trace_) > -1e-12)
    # No neighbour of the parameters is more likely.
    for name, size in (("loadings_", 1e-3), ("mean_", 1e-3)):
        changed = kind(2).fit(x)
        setattr(
            changed, name, getattr(changed, name) + size * rng.standard_normal(getattr(model, name).shape)
        )
        structure = tractable.covariance.LowRankPlusDiagonal(
            factor=changed.loadings_, variances=changed.distribution_.structure.variances
        )
        changed.distribution_ = tractable.MultivariateNormal(mean=changed.mean_, covariance=structure)
        assert observed_log_likelihood(changed, x) < best


@pytest.mark.parametrize("kind", [ProbabilisticPCA, FactorAnalysis])
def test_imputation_is_the_conditional_gaussian(kind, rng):
    x = factors(rng)
    model, row = kind(2).fit(x), x[:1].copy()
    row[0, [1, 4]] = np.nan
    filled, std = model.impute(row, return_std=True)
    wanted = model.condition([0, 2, 3, 5], row[0, [0, 2, 3, 5]])
    np.testing.assert_allclose(filled[0, [1, 4]], wanted.mean, rtol=1e-8)
    np.testing.assert_allclose(std[0, [1, 4]], wanted.stddev, rtol=1e-8)
    np.testing.assert_array_equal(std[0, [0, 2, 3, 5]], 0.0)
    draws = np.array([table[0, [1, 4]] for table in model.impute(row, 4000, random_state=0)])
    assert np.all(np.abs(draws.mean(axis=0) - wanted.mean) < 5.0 * wanted.stddev / np.sqrt(4000))
    np.testing.assert_allclose(np.cov(draws.T), wanted.covariance, atol=0.12 * wanted.covariance.max())
    np.testing.assert_allclose(filled, model.impute(row))


def test_imputed_intervals_cover(rng):
    x = factors(rng, n=600)
    gaps = with_gaps(rng, x, 0.25)
    filled, std = ProbabilisticPCA(2).fit(gaps).impute(gaps, return_std=True)
    lost = np.isnan(gaps)
    inside = np.mean(np.abs(filled - x)[lost] < 1.645 * std[lost])
    assert abs(inside - 0.9) < 5.0 * np.sqrt(0.09 / lost.sum()) + 0.01  # the parameters are estimates


@pytest.mark.parametrize("order", ["bic", "evidence", "ard"])
def test_the_order_is_found(order, rng):
    x = factors(rng, n=400, d=8, r=3)
    assert ProbabilisticPCA(order).fit(x).n_components_ == 3
    if order == "evidence":
        with pytest.raises(ValueError, match="complete rows"):
            ProbabilisticPCA(order).fit(with_gaps(rng, x))
    elif order == "bic":
        assert ProbabilisticPCA(order).fit(with_gaps(rng, x, 0.1)).n_components_ == 3


def test_relevance_prunes_with_missing_entries_too(rng):
    x = with_gaps(rng, factors(rng, n=300, d=5, r=2), 0.1)
    assert ProbabilisticPCA("ard").fit(x).n_components_ == 2


def test_factors_reach_the_likelihood_of_scikit_learn(rng):
    x = factors(rng) * [1.0, 10.0, 0.1, 5.0, 1.0, 2.0]
    ours = FactorAnalysis(2).fit(x)
    theirs = scikit_learn.FactorAnalysis(2, tol=1e-12, max_iter=5000, svd_method="lapack").fit(x)
    assert ours.score(x) >= theirs.score(x) - 1e-9
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(
        ours.communalities_, 1.0 - ours.noise_variance_ / np.diag(ours.get_covariance()), rtol=1e-12
    )
    scaled = FactorAnalysis(2).fit(x * 7.0)
    np.testing.assert_allclose(scaled.communalities_, ours.communalities_, rtol=1e-6)


def test_a_rotation_makes_loadings_simple_and_changes_no_density(rng):
    simple = np.zeros((9, 3))
    for j in range(3):
        simple[3 * j : 3 * j + 3, j] = rng.uniform(0.7, 1.0, 3)
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    for gamma in (0.0, 1.0):
        found = np.abs(rotated(simple @ turn, gamma))
        assert np.all((found > 0.5).sum(axis=1) == 1)
        assert np.all(found[found < 0.5] < 1e-6)
    x = rng.standard_normal((500, 3)) @ (simple @ turn).T + 0.3 * rng.standard_normal((500, 9))
    plain, varimax = FactorAnalysis(3).fit(x), FactorAnalysis(3, rotation="varimax").fit(x)
    np.testing.assert_allclose(varimax.score(x), plain.score(x), rtol=1e-9)
    assert np.sum(np.abs(varimax.loadings_) > 0.4) == 9


def orthomax(w, gamma):
    return np.sum(w**4) - gamma / len(w) * np.sum(np.sum(w**2, axis=0) ** 2)


@pytest.mark.parametrize("gamma", [0.0, 1.0])
def test_rotated_loadings_depend_on_no_start(gamma, rng):
    """Two blocks alike have factors (1, 1) and (1, -1), where the criterion is least and its slope zero."""
    simple = np.kron(np.eye(2), np.ones((3, 1)))
    least = simple @ np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2.0)
    np.testing.assert_allclose(rotated(least, gamma), simple, atol=1e-12)
    w = rng.standard_normal((7, 2))
    turns = [
        np.array([[np.cos(t), np.sin(t)], [-np.sin(t), np.cos(t)]]) for t in np.linspace(0.0, np.pi, 400)
    ]
    found = rotated(w, gamma)
    assert orthomax(found, gamma) >= max(orthomax(w @ turn, gamma) for turn in turns)
    np.testing.assert_allclose(found @ found.T, w @ w.T, atol=1e-12)
    for turn in (*turns[::80], np.diag([1.0, -1.0]), np.eye(2)[::-1]):
        np.testing.assert_allclose(rotated(w @ turn, gamma), found, atol=1e-9)
    assert np.all(np.diff(np.sum(found**2, axis=0)) <= 0.0)
    assert np.all(rotated(np.zeros((3, 2)), gamma) == 0.0)


def test_what_leaves_no_noise_or_no_data_is_said(rng):
    x = factors(rng)
    line = np.column_stack([x[:, 0], 2.0 * x[:, 0], -x[:, 0]])
    with pytest.warns(DegenerateCovarianceWarning, match="noise has no variance"):
        assert np.all(np.isfinite(ProbabilisticPCA(1).fit(line).score_samples(line)))
    empty = x.copy()
    empty[:, 2] = np.nan
    for kind in (ProbabilisticPCA, FactorAnalysis):
        with pytest.raises(ValueError, match=r"no observed value in the columns \[2\]"):
            kind(1).fit(empty)
    with pytest.raises(ValueError, match="n_components=6 must be at most 5"):
        ProbabilisticPCA(6).fit(x)
    with pytest.raises(ValueError, match="n_components=7 must be at most 6"):
        FactorAnalysis(7).fit(x)
    with pytest.warns(ConvergenceWarning, match="did not converge in 1"):
        FactorAnalysis(2, max_iter=1, tol=0.0).fit(with_gaps(rng, x))


# -- kernel PCA ---------------------------------------------------------------------------------------------


def rings(rng, n=150, noise=0.1):
    angle = rng.uniform(0, 2 * np.pi, 2 * n)
    radius = np.repeat([1.0, 3.0], n) + noise * rng.standard_normal(2 * n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), np.repeat([0, 1], n)


@pytest.mark.spec("DR-23", "DR-24", "DR-26", "DR-27", "E004-10")
def test_scores_have_variance_lambda_over_n(rng):
    x = rng.standard_normal((40, 3))
    model = KernelPCA(4, kernel=RBF(1.5)).fit(x)
    gram = center_gram(RBF(1.5)(x))
    values, vectors = np.linalg.eigh(gram)
    np.testing.assert_allclose(model.eigenvalues_, values[::-1][:4], rtol=1e-10)
    scores = model.transform(x)
    np.testing.assert_allclose(scores.var(axis=0), model.eigenvalues_ / 40, rtol=1e-10)
    np.testing.assert_allclose(scores, gram @ model.dual_coef_, atol=1e-12)
    np.testing.assert_allclose(np.sum(model.dual_coef_**2, axis=0), 1.0 / model.eigenvalues_, rtol=1e-10)
    # Without the scale 1/√λ, or without centring, scores have another variance.
    unscaled = gram @ vectors[:, -1]
    np.testing.assert_allclose(unscaled.var(), model.eigenvalues_[0] ** 2 / 40, rtol=1e-10)
    new = rng.standard_normal((5, 3))
    wanted = center_gram(RBF(1.5)(x), RBF(1.5)(new, x)) @ model.dual_coef_
    np.testing.assert_allclose(model.transform(new), wanted, atol=1e-12)


@pytest.mark.spec("DR-25")
def test_centred_matrices_are_of_centred_features(rng):
    x, new = rng.standard_normal((12, 2)), rng.standard_normal((3, 2))
    kernel = Polynomial(degree=2)
    phi, there = kernel.features(x), kernel.features(new)
    w = rng.integers(1, 4, 12).astype(float)
    mean = np.average(phi, axis=0, weights=w)
    matrix = kernel(x)
    np.testing.assert_allclose(center_gram(matrix, weights=w), (phi - mean) @ (phi - mean).T, atol=1e-9)
    np.testing.assert_allclose(
        center_gram(matrix, kernel(new, x), weights=w), (there - mean) @ (phi - mean).T, atol=1e-9
    )
    e = np.full((12, 12), 1 / 12)
    np.testing.assert_allclose(
        center_gram(matrix), matrix - e @ matrix - matrix @ e + e @ matrix @ e, atol=1e-10
    )
    for bad in (np.ones((2, 3)), np.ones(3)):
        with pytest.raises(ValueError, match="matrix must be square"):
            center_gram(bad)
    with pytest.raises(ValueError, match="cross must have 12 columns"):
        center_gram(matrix, np.ones((2, 3)))


@pytest.mark.spec("DR-30")
def test_the_linear_kernel_is_pca(rng):
    x = rng.standard_normal((30, 4)) * [3.0, 2.0, 1.0, 0.5]
    kernel, pca = KernelPCA(3, kernel=Linear(0.0)).fit(x), PCA(3).fit(x)
    scores = kernel.transform(x)
    signs = np.sign(np.sum(scores * pca.transform(x), axis=0))
    np.testing.assert_allclose(scores * signs, pca.transform(x), atol=1e-10)
    np.testing.assert_allclose(kernel.eigenvalues_, pca.singular_values_**2, rtol=1e-10)
    np.testing.assert_allclose(kernel.inverse_transform(scores), pca.denoise(x), atol=1e-10)


@pytest.mark.spec("DR-28", "DR-14")
def test_rings_come_apart_with_kernels_and_not_with_pca(rng):
    x, label = rings(rng)

    def best_error(scores):
        """The fewest mistakes of a threshold on one coordinate."""
        errors = []
        for z in scores.T:
            ordered = label[np.argsort(z)]
            wrong = np.cumsum(ordered) + np.cumsum(1 - ordered[::-1])[::-1] - (1 - ordered)
            errors.append(min(wrong.min(), len(x) - wrong.max()) / len(x))
        return min(errors)

    assert best_error(KernelPCA(3, kernel=Polynomial(degree=2)).fit(x).transform(x)) < 0.01
    assert best_error(KernelPCA(3, kernel=RBF(1.0)).fit(x).transform(x)) < 0.01
    assert best_error(PCA(2).fit(x).transform(x)) > 0.25


@pytest.mark.spec("DR-29")
@pytest.mark.parametrize(
    "kernel", [RBF(1.0), 2.0 * RBF(1.0), Matern(2.0, nu=2.5)], ids=["RBF", "scaled", "Matern"]
)
def test_a_curve_is_denoised_by_a_kernel_and_not_by_a_line(kernel, rng):
    t = rng.uniform(0, 4, 300)
    curve = 2.0 * np.column_stack([np.cos(t), np.sin(t)])
    noisy = curve + 0.15 * rng.standard_normal(curve.shape)

    def mse(rows):
        return np.mean(np.sum((rows - curve) ** 2, axis=1))

    model = KernelPCA(6, kernel=kernel).fit(noisy)
    assert mse(model.denoise(noisy)) < 0.75 * mse(noisy) < mse(PCA(1).fit(noisy).denoise(noisy))
    back = model.inverse_transform(model.transform(noisy))
    np.testing.assert_allclose(back, model.denoise(noisy), atol=1e-2)


@pytest.mark.parametrize("kernel", [RBF(2.0), Linear()])
def test_preimages_in_blocks_are_those_at_once(kernel, rng, monkeypatch):
    x = rng.standard_normal((60, 3))
    model = KernelPCA(2, kernel=kernel).fit(x)
    z = model.transform(x)
    at_once = model.inverse_transform(z)
    monkeypatch.setattr(kernel_pca, "HELD", 7 * 60)
    np.testing.assert_allclose(model.inverse_transform(z), at_once, atol=1e-12)
    monkeypatch.setattr(kernel_pca, "HELD", 1)
    np.testing.assert_allclose(model.denoise(x), model._preimages(z, x), atol=1e-12)


def test_preimages_of_many_scores_hold_little_memory(rng, monkeypatch):
    monkeypatch.setattr(kernel_pca, "HELD", 50_000)
    x = rng.standard_normal((700, 2))
    model = KernelPCA(8, kernel=RBF(1.0), max_iter=3, tol=1.0).fit(x)
    z = model.transform(x)
    model.inverse_transform(z)  # what is loaded and compiled once is not counted
    tracemalloc.start()
    try:
        model.inverse_transform(z)
        assert tracemalloc.get_traced_memory()[1] < 20e6  # all differences of scores are 31 MB
    finally:
        tracemalloc.stop()


def test_few_directions_of_many_rows_are_those_of_all(rng):
    x = rng.standard_normal((420, 3))
    few, everything = (KernelPCA(5, kernel=RBF(1.0), eigen_solver=s).fit(x) for s in ("arpack", "dense"))
    np.testing.assert_allclose(few.eigenvalues_, everything.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(few.transform(x[:20]), everything.transform(x[:20]), atol=1e-9)
    np.testing.assert_allclose(
        few.explained_variance_ratio_, everything.explained_variance_ratio_, rtol=1e-10
    )


def test_landmarks_near_the_whole_and_all_of_them_are_it(rng):
    x = rng.standard_normal((300, 2))
    whole = KernelPCA(3, kernel=RBF(1.0)).fit(x)
    every = KernelPCA(3, kernel=RBF(1.0), n_landmarks=300, random_state=0).fit(x)
    np.testing.assert_allclose(every.eigenvalues_, whole.eigenvalues_, rtol=1e-6)
    some = KernelPCA(3, kernel=RBF(1.0), n_landmarks=60, random_state=0).fit([x[:100], x[100:]])
    np.testing.assert_allclose(some.eigenvalues_, whole.eigenvalues_, rtol=0.02)
    signs = np.sign(np.sum(some.transform(x) * whole.transform(x), axis=0))
    np.testing.assert_allclose(some.transform(x) * signs, whole.transform(x), atol=0.05)


def test_kernels_that_are_none_are_refused(rng):
    x = rng.standard_normal((60, 2))
    with pytest.raises(ValueError, match="positive semi-definite"):
        KernelPCA(2, kernel=Sigmoid()).fit(x)
    with pytest.raises(ValueError, match="no variance in the features"):
        KernelPCA(2, kernel=RBF(1.0)).fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match="kernel must be one of"):
        KernelPCA(2, kernel="matern").fit(x)
    with pytest.raises(ValueError, match="pre-images exist for"):
        KernelPCA(2, kernel=Polynomial(degree=2)).fit(x).denoise(x)
    assert KernelPCA(9, kernel=Linear(0.0)).fit(x).n_components_ == 2  # no more than the kernel has


# -- criteria side by side ----------------------------------------------------------------------------------


def test_criteria_agree_where_factors_are_strong(rng):
    found = tractable.select_n_components(factors(rng, d=12, r=2), random_state=0)
    assert found.best == 2
    assert {k for name, k in found.choices.items() if name != "variance"} == {2}
    # The held-out likelihood is that of models fitted without the fold.
    x = factors(rng, n=60, d=4, r=1)
    from tractable.selection.n_components import held_out

    shuffled = np.array_split(np.random.default_rng(0).permutation(60), 3)
    for k in (1, 2):
        total = sum(
            len(fold) * ProbabilisticPCA(k).fit(np.delete(x, fold, axis=0)).score(x[fold])
            for fold in shuffled
        )
        np.testing.assert_allclose(
            held_out(x, 3, np.random.default_rng(0)).mean(axis=0)[k - 1], total / 60, rtol=1e-9
        )


def test_noise_alone_has_no_components_and_bad_arguments_are_named(rng):
    noise = rng.standard_normal((200, 5))
    assert tractable.select_n_components(noise, criterion="parallel_analysis", random_state=0).best <= 1
    for options, said in (
        ({"criterion": "elbow"}, "criterion must be one"),
        ({"n_folds": 1}, "n_folds"),
        ({"variance": 2.0}, "variance"),
    ):
        with pytest.raises(ValueError, match=said):
            tractable.select_n_components(noise, **options)
    with pytest.raises(ValueError, match="more rows than columns"):
        tractable.select_n_components(noise[:4])
    with pytest.raises(ValueError, match="vary in every direction"):
        tractable.select_n_components(np.column_stack([noise, noise[:, 0]]))


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_kernels_by_name_have_the_scores_of_scikit_learn(kernel):
    x = datasets.load("iris").frame.select_dtypes("number").to_numpy()[::5]
    ours = KernelPCA(3, kernel=kernel, gamma=0.2).fit(x)
    theirs = scikit_learn.KernelPCA(3, kernel=kernel, gamma=0.2).fit(x)
    np.testing.assert_allclose(np.abs(ours.transform(x)), np.abs(theirs.transform(x)), rtol=1e-6, atol=1e-8)
